"""Boxes as a detector's target: padded, in pixels of its input, and which frames have labels."""

import numpy as np

from keras_pleiades.datasets.clips import Clip
from keras_pleiades.datasets.frame_spec import FrameSpec
from keras_pleiades.events.labels import Labels

EMPTY = -1


def bin_of(t: np.ndarray, start_us: int, dt: int) -> np.ndarray:
    """Returns the frame that a label at time `t` belongs to: the first that ends at `t` or later.

    Frame k covers `(start + k * dt, start + (k + 1) * dt]` as far as labels are concerned: its
    answer, given at its end, is the first to know all that happened up to the label.

    Example:
        >>> bin_of(np.array([1, 10, 11, 20]), start_us=0, dt=10)
        array([0, 0, 1, 1])
    """
    return -(-(np.asarray(t, np.int64) - start_us) // dt) - 1


def box_target(
    labels: Labels,
    clip: Clip,
    spec: FrameSpec,
    sensor: tuple[int, int],
    max_boxes: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Sorts boxes into frames.

    A label belongs to the frame of `bin_of`. Where labels of several times fall into one frame, the
    latest time's are taken. Where a frame has more than `max_boxes`, the largest are.

    Args:
        labels: With `boxes` in pixels of the sensor, `boxes_t` and `box_classes`.
        clip: Which frames.
        spec: Their size and length.
        sensor: (height, width) of the sensor.
        max_boxes: Rows for each frame.

    Returns:
        (frames, max_boxes, 5) float32: y of the centre, x of the centre, height, width, in pixels
        of the input, and the class, which is -1 in rows that are empty; and (frames,) float32,
        which is 1 where a frame has labels and 0 elsewhere.

    Example:
        >>> labels = Labels(boxes=[[100, 200, 140, 280]], boxes_t=[15], box_classes=[2])
        >>> spec = FrameSpec(dt=10, shape=(180, 320))
        >>> target, labelled = box_target(labels, Clip("", 0, 2), spec, (720, 1280), max_boxes=1)
        >>> target[1], labelled
        (array([[60., 30., 20., 10.,  2.]], dtype=float32), array([0., 1.], dtype=float32))
    """
    target = np.zeros((clip.frames, max_boxes, 5), np.float32)
    target[..., 4] = EMPTY
    labelled = np.zeros(clip.frames, np.float32)
    at = bin_of(labels.boxes_t, clip.start_us, spec.dt)
    for k in np.unique(at[(at >= 0) & (at < clip.frames)]):
        rows = np.flatnonzero(at == k)
        rows = rows[labels.boxes_t[rows] == labels.boxes_t[rows].max()]
        left, top, right, bottom = labels.boxes[rows].T
        sizes = (right - left) * (bottom - top)
        kept = np.sort(np.argsort(-sizes, kind="stable")[:max_boxes])
        rows = rows[kept]
        left, top, right, bottom = labels.boxes[rows].T
        columns = ((top + bottom) / 2, (left + right) / 2, bottom - top, right - left)
        scale = (spec.shape[0] / sensor[0], spec.shape[1] / sensor[1]) * 2
        target[k, : len(rows), :4] = np.stack(columns, axis=1) * scale
        target[k, : len(rows), 4] = labels.box_classes[rows]
        labelled[k] = 1
    return target, labelled
