"""How good answers are: accuracy over time, distance in pixels, and average precision of boxes."""

import keras
import numpy as np
from keras import ops

from keras_pleiades import decode
from keras_pleiades._checks import check_dt
from keras_pleiades.detection_metrics import box_iou, coco_map, labelled_frames, paper_map
from keras_pleiades.heatmaps import read_cells
from keras_pleiades.losses import per_frame

__all__ = [
    "FrameAccuracy",
    "PointDistance",
    "accuracy_latency",
    "box_iou",
    "coco_map",
    "frame_accuracy",
    "labelled_frames",
    "paper_map",
    "point_distances",
]

PAPER_SIZE = (60, 80)  # height and width of the picture that eye-tracking distances are given in


@keras.saving.register_keras_serializable(package="keras_pleiades")
class FrameAccuracy(keras.metrics.Mean):
    """Share of frames whose largest logit is that of the right class, for use in `fit`.

    Takes what `losses.FrameCrossentropy` takes. Give it to `compile` as one of `weighted_metrics`
    if frames have weights.

    Example:
        >>> metric = FrameAccuracy()
        >>> metric.update_state(np.array([1]), np.eye(2, dtype="float32")[[[1, 1, 1, 0]]])
        >>> float(metric.result())
        0.75
    """

    def __init__(self, name: str = "accuracy", **kwargs):
        super().__init__(name=name, **kwargs)

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Add a batch: classes `(batch,)` or `(batch, time)`, logits `(batch, time, classes)`."""
        shape = ops.shape(y_pred)[:2]
        found = ops.cast(ops.argmax(y_pred, axis=-1), self.dtype)
        right = ops.cast(found == per_frame(y_true, shape, self.dtype), self.dtype)
        weight = per_frame(1.0 if sample_weight is None else sample_weight, shape, self.dtype)
        super().update_state(right, weight)


@keras.saving.register_keras_serializable(package="keras_pleiades")
class PointDistance(keras.metrics.Mean):
    """Mean distance of the tracked point in pixels of a 60 x 80 picture, or pN, for use in `fit`.

    Takes what `losses.CenterPointLoss` takes: frames with closed eyes or of weight 0 do not count.

    Args:
        strides: Pixels of the input frame to a cell, see `decode.output_strides`.
        input_size: Height and width of the model's input frame.
        within: Where given, the metric is the percentage of points at most so many pixels off
            (p10, p5 and p3 of the paper), and not the distance.
        size: Height and width of the picture that pixels are counted in.
        name: Name of the metric; "distance" or "p10" by default.
        **kwargs: `dtype`.

    Example:
        >>> outputs = np.full((1, 1, 3, 4, 3), -9.0, "float32")
        >>> outputs[0, 0, 1, 2] = 9.0, 0.5, 0.25  # x = 80, y = 40 of 128 x 96
        >>> metric = PointDistance(strides=32, input_size=(96, 128))
        >>> metric.update_state(np.array([[[96.0, 40.0, 0.0]]]), outputs)
        >>> float(metric.result())  # 16 pixels of 128 are 10 of 80
        10.0
    """

    def __init__(
        self,
        strides: int,
        input_size: tuple[int, int],
        within: float | None = None,
        size: tuple[int, int] = PAPER_SIZE,
        name: str | None = None,
        **kwargs,
    ):
        super().__init__(name=name or ("distance" if within is None else f"p{within:g}"), **kwargs)
        self.strides = strides
        self.input_size = tuple(input_size)
        self.within = within
        self.size = tuple(size)

    def update_state(self, y_true, y_pred, sample_weight=None):
        """Add a batch: points `(batch, time, 3)`, outputs `(batch, time, height', width', 3)`."""
        y_true = ops.cast(y_true, self.dtype)
        batch, time, height, width, _ = ops.shape(y_pred)
        maps = ops.reshape(ops.cast(y_pred, self.dtype), (-1, height, width, 3))
        best = ops.argmax(ops.reshape(maps[..., 0], (-1, height * width)), axis=-1)
        cell = ops.cast(ops.stack([best // width, best % width], axis=-1), self.dtype)  # y, x
        offset = read_cells(maps[..., 1:], cell[:, None])[:, 0]  # x, y
        xy = (ops.flip(cell, axis=-1) + offset) * self.strides
        scale = [self.size[i] / self.input_size[i] for i in (1, 0)]
        true = ops.reshape(y_true[..., :2], (-1, 2))
        open_eye = ops.reshape(y_true[..., 2] < 0.5, (-1,))
        square = ops.sum(ops.square((xy - true) * ops.array(scale, self.dtype)), axis=-1)
        distance = ops.sqrt(ops.where(open_eye, square, 0.0))
        if self.within is not None:
            distance = 100.0 * ops.cast(distance <= self.within, self.dtype)
        weight = per_frame(
            1.0 if sample_weight is None else sample_weight, (batch, time), self.dtype
        )
        weight = ops.reshape(weight, (-1,)) * ops.cast(open_eye, self.dtype)
        super().update_state(distance, weight)

    def get_config(self):
        """Return the constructor's arguments."""
        config = {
            "strides": self.strides,
            "input_size": self.input_size,
            "within": self.within,
            "size": self.size,
        }
        return {**super().get_config(), **config}


def frame_accuracy(
    labels: np.ndarray,
    logits: np.ndarray,
    window_us: int | None = None,
    dt: int | None = None,
    first_frame: int = 0,
) -> float:
    """Return the share of frames with the right answer, raw or after a majority filter.

    Args:
        labels: Classes `(clips,)` or `(clips, time)`.
        logits: `(clips, time, num_classes)`.
        window_us: Window of the majority filter in microseconds (the paper: 150_000), or `None`
            for raw answers.
        dt: Bin size in microseconds; needed with a window.
        first_frame: Frames before it are not counted. The paper counts from `context_frames` on,
            where all temporal layers have seen whole windows.

    Example:
        >>> logits = np.eye(2)[None, [0, 1, 1, 1, 0, 1]]  # one clip; class 1 but for frames 0 and 4
        >>> frame_accuracy([1], logits, first_frame=1)
        0.8
        >>> frame_accuracy([1], logits, window_us=30_000, dt=10_000, first_frame=1)
        1.0
    """
    logits = np.asarray(logits)
    if window_us is None:
        found = logits.argmax(axis=-1)
    else:
        found = decode.filter_clip(logits, decode.MajorityFilter(window_us, dt))
    return float(_right(labels, found)[:, first_frame:].mean())


def accuracy_latency(
    labels: np.ndarray, logits: np.ndarray, dt: int, window_us: int | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the accuracy of each frame against the time since the recording began.

    Frame k of a clip that was fed from its first event on, with `context_frames` frames of zeros in
    front, has seen (k + 1) dt of it: that is its latency, as in the paper. Draw the curve with
    `plots.accuracy_latency`.

    Args:
        labels: Classes `(clips,)` or `(clips, time)`.
        logits: `(clips, time, num_classes)`.
        dt: Bin size in microseconds.
        window_us: Window of a majority filter, or `None` for raw answers.

    Returns:
        Latencies in microseconds, int64 `(time,)`, and accuracies `(time,)`.

    Example:
        >>> logits = np.eye(2)[[[0, 1, 1], [0, 0, 1]]]  # two clips of class 1, late and later
        >>> latency_us, accuracy = accuracy_latency([1, 1], logits, dt=10_000)
        >>> latency_us.tolist(), accuracy.tolist()
        ([10000, 20000, 30000], [0.0, 0.5, 1.0])
    """
    dt, logits = check_dt(dt), np.asarray(logits)
    if window_us is None:
        found = logits.argmax(axis=-1)
    else:
        found = decode.filter_clip(logits, decode.MajorityFilter(window_us, dt))
    return np.arange(1, logits.shape[1] + 1) * dt, _right(labels, found).mean(axis=0)


def point_distances(
    points: np.ndarray,
    found: np.ndarray,
    input_size: tuple[int, int],
    size: tuple[int, int] = PAPER_SIZE,
) -> dict[str, float]:
    """Return the paper's eye-tracking scores: mean distance and p10, p5, p3.

    Args:
        points: `(..., 3)` x, y in pixels of the model's input frame and 1 where the eye is closed,
            which leaves the point out; or `(..., 2)` without.
        found: `(..., 2)` x, y, see `decode.points`.
        input_size: Height and width of the model's input frame.
        size: Height and width of the picture that pixels are counted in.

    Returns:
        "distance" in pixels, and the percentages of points at most 10, 5 and 3 pixels off. NaN
        where there is no open eye.

    Example:
        >>> true = np.array([[80.0, 40.0, 0], [0.0, 0.0, 0], [9.0, 9.0, 1]])
        >>> point_distances(true, np.array([[84.0, 40.0], [8.0, 0.0], [90.0, 90.0]]), (96, 128))
        {'distance': 3.75, 'p10': 100.0, 'p5': 100.0, 'p3': 50.0}
    """
    points = np.asarray(points, np.float64)
    found = np.asarray(found, np.float64).reshape(-1, 2)
    true = points.reshape(-1, points.shape[-1])
    if true.shape[-1] == 3:
        is_open = true[:, 2] < 0.5
        true, found = true[is_open, :2], found[is_open]
    scale = size[1] / input_size[1], size[0] / input_size[0]
    distance = np.linalg.norm((true - found) * scale, axis=-1)
    if not len(distance):
        return {"distance": np.nan, "p10": np.nan, "p5": np.nan, "p3": np.nan}
    within = {f"p{n}": 100.0 * float((distance <= n).mean()) for n in (10, 5, 3)}
    return {"distance": float(distance.mean()), **within}


def _right(labels, found):
    labels = np.asarray(labels)
    return found == (labels[:, None] if labels.ndim == 1 else labels)
