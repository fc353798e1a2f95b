"""Boxes as a detector's target: padded, in pixels of its input, and which frames have labels."""

import numpy as np

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
    boxes: np.ndarray,
    classes: np.ndarray,
    t: np.ndarray,
    start_us: int,
    frames: int,
    dt: int,
    sensor: tuple[int, int],
    shape: tuple[int, int],
    max_boxes: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Sorts boxes into frames.

    A label belongs to the frame of `bin_of`. Where labels of several times fall into one frame, the
    latest time's are taken. Where a frame has more than `max_boxes`, the largest are.

    Args:
        boxes: (N, 4) left, top, right, bottom in pixels of the sensor.
        classes: (N,).
        t: (N,) microseconds.
        start_us: Where the first frame begins.
        frames: How many frames.
        dt: Length of a frame.
        sensor: (height, width) that the boxes are in.
        shape: (height, width) of the network's input.
        max_boxes: Rows for each frame.

    Returns:
        (frames, max_boxes, 5) float32: y of the centre, x of the centre, height, width, in pixels
        of the input, and the class, which is -1 in rows that are empty; and (frames,) float32,
        which is 1 where a frame has labels and 0 elsewhere.

    Example:
        >>> target, labelled = box_target(
        ...     boxes=np.array([[100, 200, 140, 280]]), classes=np.array([2]), t=np.array([15]),
        ...     start_us=0, frames=2, dt=10, sensor=(720, 1280), shape=(180, 320), max_boxes=1)
        >>> target[1], labelled
        (array([[60., 30., 20., 10.,  2.]], dtype=float32), array([0., 1.], dtype=float32))
    """
    target = np.zeros((frames, max_boxes, 5), np.float32)
    target[..., 4] = EMPTY
    labelled = np.zeros(frames, np.float32)
    boxes, t = np.asarray(boxes, np.float64).reshape(-1, 4), np.asarray(t, np.int64)
    classes = np.asarray(classes)
    at = bin_of(t, start_us, dt)
    for k in np.unique(at[(at >= 0) & (at < frames)]):
        rows = np.flatnonzero(at == k)
        rows = rows[t[rows] == t[rows].max()]
        left, top, right, bottom = boxes[rows].T
        sizes = (right - left) * (bottom - top)
        kept = np.sort(np.argsort(-sizes, kind="stable")[:max_boxes])
        rows = rows[kept]
        left, top, right, bottom = boxes[rows].T
        columns = ((top + bottom) / 2, (left + right) / 2, bottom - top, right - left)
        scale = (shape[0] / sensor[0], shape[1] / sensor[1]) * 2
        target[k, : len(rows), :4] = np.stack(columns, axis=1) * scale
        target[k, : len(rows), 4] = classes[rows]
        labelled[k] = 1
    return target, labelled
