"""What the networks' outputs mean: labels over time, points, boxes. NumPy; inverse of `losses`."""

import collections
from typing import Any

import keras
import numpy as np
from scipy.special import expit, softmax

from keras_pleiades._checks import check_dt
from keras_pleiades.models import PleiadesDetector, PleiadesTracker


class MajorityFilter:
    """The label that most frames of the last `window_us` voted for, frame by frame.

    Of labels with as many votes, the one voted for last wins. The paper's window is 0.15 s.

    Args:
        window_us: How far to look back, in microseconds; the newest frame included.
        dt: Bin size in microseconds.

    Example:
        >>> filtered = MajorityFilter(window_us=30_000, dt=10_000)
        >>> [filtered.update(one) for one in np.eye(3)[[0, 0, 1, 1, 2, 1]]]
        [0, 0, 0, 1, 1, 1]
    """

    def __init__(self, window_us: int, dt: int):
        self.window_us, self.dt = check_dt(window_us, "window_us"), check_dt(dt)
        self.frames = max(1, self.window_us // self.dt)
        self.reset()

    def reset(self) -> None:
        """Forget all frames."""
        self._votes = collections.deque(maxlen=self.frames)

    def update(self, frame_logits: np.ndarray) -> int:
        """Take one frame's logits `(num_classes,)` and return the label now."""
        self._votes.append(int(np.argmax(frame_logits)))
        count = collections.Counter(self._votes)
        most = max(count.values())
        return next(label for label in reversed(self._votes) if count[label] == most)


class ExponentialFilter:
    """Probabilities whose weight falls by e every `tau_us`, frame by frame.

    The average starts at the first frame, so that it sums to 1 from there on.

    Args:
        tau_us: Time constant in microseconds.
        dt: Bin size in microseconds.

    Example:
        >>> filtered = ExponentialFilter(tau_us=150_000, dt=10_000)
        >>> filtered.update(np.array([5.0, 0.0])).round(3).tolist()
        [0.993, 0.007]
        >>> filtered.update(np.array([0.0, 5.0])).round(3).tolist()  # one frame of 10 ms
        [0.93, 0.07]
    """

    def __init__(self, tau_us: int, dt: int):
        self.tau_us, self.dt = check_dt(tau_us, "tau_us"), check_dt(dt)
        self.keep = float(np.exp(-self.dt / self.tau_us))
        self.reset()

    def reset(self) -> None:
        """Forget all frames."""
        self._mean = None

    def update(self, frame_logits: np.ndarray) -> np.ndarray:
        """Take one frame's logits `(num_classes,)` and return the averaged probabilities."""
        new = softmax(np.asarray(frame_logits, np.float64))
        mean = new if self._mean is None else self.keep * self._mean + (1 - self.keep) * new
        self._mean = mean
        return mean.copy()


def filter_clip(logits: np.ndarray, by: MajorityFilter | ExponentialFilter) -> np.ndarray:
    """Filter a whole clip, frame by frame, and return labels.

    Args:
        logits: `(..., time, num_classes)`.
        by: A filter, which is reset before each clip and after the last.

    Returns:
        Labels `(..., time)`.

    Example:
        >>> logits = np.eye(2)[None, [0, 0, 1, 0]]
        >>> filter_clip(logits, MajorityFilter(150_000, 10_000)).tolist()
        [[0, 0, 0, 0]]
    """
    logits = np.asarray(logits)
    clips = logits.reshape(-1, *logits.shape[-2:])
    labels = np.empty(clips.shape[:2], np.int64)
    for clip, out in zip(clips, labels, strict=True):
        by.reset()
        for t, frame in enumerate(clip):
            answer = by.update(frame)
            out[t] = answer if np.ndim(answer) == 0 else np.argmax(answer)
    by.reset()
    return labels.reshape(logits.shape[:-1])


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
