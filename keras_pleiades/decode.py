"""What the networks' outputs mean: labels over time, points, boxes. NumPy; inverse of `losses`."""

from typing import Any

import keras
import numpy as np
from scipy.special import expit

from keras_pleiades.filters import (
    ExponentialFilter,
    HoldFilter,
    MajorityFilter,
    filter_clip,
    hold_clip,
)
from keras_pleiades.models import PleiadesDetector, PleiadesTracker

__all__ = [
    "ExponentialFilter",
    "HoldFilter",
    "MajorityFilter",
    "boxes",
    "filter_clip",
    "hold_clip",
    "output_strides",
    "points",
]


def output_strides(model: keras.Model) -> int:
    """Return how many pixels of the input frame a cell of the model's heatmap is wide.

    Example:
        >>> import keras_pleiades as kp
        >>> output_strides(kp.zoo.eye_tracking())
        32
    """
    if isinstance(model, PleiadesDetector):
        halvings = len(model.encoder) + len(model.spatial_filters) - model.decoder_stages
    elif isinstance(model, PleiadesTracker):
        halvings = len(model.blocks)
    else:
        raise ValueError(
            "Heatmaps come from a PleiadesTracker or a PleiadesDetector. "
            f"Received: model of {type(model).__name__}"
        )
    return 2**halvings


def points(outputs: np.ndarray, strides: int) -> tuple[np.ndarray, np.ndarray]:
    """Read one point a frame from a tracker's outputs: the best cell and its offset.

    Args:
        outputs: `(..., height', width', 3)`: heatmap logit, x offset, y offset in cells.
        strides: Pixels to a cell, see `output_strides`.

    Returns:
        `(..., 2)` x and y in pixels of the input frame, and `(...)` their probabilities.

    Example:
        >>> outputs = np.zeros((1, 3, 4, 3), "float32")
        >>> outputs[0, 1, 2] = 4.0, 0.5, 0.25
        >>> xy, score = points(outputs, strides=32)
        >>> xy.tolist(), score.round(2)
        ([[80.0, 40.0]], array([0.98], dtype=float32))
    """
    outputs = np.asarray(outputs, np.float32)
    height, width, channels = outputs.shape[-3:]
    flat = outputs.reshape(-1, height * width, channels)
    best = flat[..., 0].argmax(axis=1)
    logit, x, y = flat[np.arange(len(flat)), best].T
    xy = np.stack([best % width + x, best // width + y], axis=-1) * np.float32(strides)
    shape = outputs.shape[:-3]
    return xy.reshape(*shape, 2), expit(logit).reshape(shape)


def boxes(
    outputs: np.ndarray,
    num_classes: int,
    strides: int,
    top_k: int = 100,
    min_score: float = 0.05,
) -> Any:
    """Read boxes from a detector's outputs, without non-maximum suppression.

    A box is a cell that no neighbour (3 x 3, same class) exceeds. CenterNet's heatmap has one peak
    an object, so nothing needs suppressing.

    Args:
        outputs: `(..., height', width', num_classes + 4)`: heatmap logits, height, width, x offset
            and y offset in cells.
        num_classes: Number of heatmaps.
        strides: Pixels to a cell, see `output_strides`.
        top_k: Most boxes a frame.
        min_score: Boxes of a lower score are left out.

    Returns:
        For each frame, nested in lists as `outputs` is, an array `(boxes, 6)`: y and x of the
        center, height and width in pixels of the input frame, class, score; best first.

    Example:
        >>> frame = np.full((8, 8, 2 + 4), -9.0, "float32")
        >>> frame[2, 5] = -9.0, 3.0, 2.0, 3.0, 0.5, 0.25
        >>> boxes(frame, num_classes=2, strides=4).round(2)
        array([[ 9.  , 22.  ,  8.  , 12.  ,  1.  ,  0.95]], dtype=float32)
    """
    outputs = np.asarray(outputs, np.float32)
    if outputs.shape[-1] != num_classes + 4:
        raise ValueError(
            f"A detector of {num_classes} classes has {num_classes + 4} output channels. "
            f"Received: outputs.shape={outputs.shape}"
        )
    if outputs.ndim > 3:
        return [boxes(one, num_classes, strides, top_k, min_score) for one in outputs]
    logits = outputs[..., :num_classes]
    found = np.argwhere((logits == _max_3x3(logits)) & (expit(logits) >= min_score))
    row, column, label = found.T
    logit = logits[row, column, label]
    best = np.argsort(-logit, kind="stable")[:top_k]
    row, column, label = row[best], column[best], label[best]
    height, width, x, y = outputs[row, column, num_classes:].T
    centers_and_sizes = np.stack(
        [row + y, column + x, np.maximum(height, 0), np.maximum(width, 0)], axis=-1
    ) * np.float32(strides)
    return np.column_stack([centers_and_sizes, label, expit(logit[best])]).astype(np.float32)


def _max_3x3(maps):
    """The largest of each cell's 3 x 3 neighbourhood: maps (H, W, C)."""
    padded = np.pad(maps, ((1, 1), (1, 1), (0, 0)), constant_values=-np.inf)
    height, width, _ = maps.shape
    shifted = [padded[i : i + height, j : j + width] for i in range(3) for j in range(3)]
    return np.max(shifted, axis=0)
