"""Points in time as the target of each frame."""

import numpy as np

from keras_pleiades.datasets.boxes import bin_of
from keras_pleiades.datasets.clips import Clip
from keras_pleiades.datasets.frame_spec import FrameSpec
from keras_pleiades.events.labels import Labels


def point_target(
    labels: Labels,
    clip: Clip,
    spec: FrameSpec,
    sensor: tuple[int, int],
    rows: slice | None = None,
) -> tuple[np.ndarray, np.ndarray]:
    """Returns x, y, closed of each frame, in pixels of the frames, and the frames' weights.

    A frame's point is that of its end, drawn straight between the labels beside it; before the
    first label that one holds. Points that are NaN stand for a closed eye: such frames, those after
    the last label and those before `clip.counted_from` have weight 0.

    Args:
        labels: With `points` in pixels of the sensor and `points_t`.
        clip: Which frames.
        spec: Their size and length.
        sensor: (height, width) of the sensor.
        rows: Count only the frames in which these labels lie, each with that label itself.

    Example:
        >>> labels = Labels(points=[[0.0, 8.0], [4.0, 8.0]], points_t=[10_000, 30_000])
        >>> spec = FrameSpec(dt=10_000, shape=(8, 8))
        >>> target, weight = point_target(labels, Clip("", 0, 4), spec, sensor=(16, 16))
        >>> target[:, :2].tolist()
        [[0.0, 4.0], [1.0, 4.0], [2.0, 4.0], [2.0, 4.0]]
        >>> weight.tolist()
        [1.0, 1.0, 1.0, 0.0]
    """
    dt, t = spec.dt, labels.points_t
    ends = clip.start_us + dt * np.arange(1, clip.frames + 1)
    points = np.stack([np.interp(ends, t, column) for column in labels.points.T], axis=1)
    weight = ends <= t[-1]
    if rows is not None:
        at = bin_of(t[rows], clip.start_us, dt)
        inside = (at >= 0) & (at < clip.frames)
        points[at[inside]] = labels.points[rows][inside]
        weight = np.isin(np.arange(clip.frames), at)
    closed = np.isnan(points).any(axis=1)
    weight = weight & ~closed
    weight[: clip.counted_from] = False
    scale = spec.shape[1] / sensor[1], spec.shape[0] / sensor[0]
    points = np.where(closed[:, None], 0, points) * scale
    target = np.concatenate([points, closed[:, None]], axis=1)
    return target.astype(np.float32), weight.astype(np.float32)
