"""What training means for each family of networks: its loss, its metrics, its score."""

from typing import Any

import keras
import numpy as np
from keras import ops

from keras_pleiades import decode, losses, metrics
from keras_pleiades.models import PleiadesClassifier, PleiadesDetector, PleiadesTracker


class ClassifierTask:
    """Per-frame classes. The score is the accuracy over frames."""

    score, higher_is_better = "accuracy", True

    def __init__(self, model: PleiadesClassifier, loss: dict, evaluation: dict):
        self.dt, self.window_us = model.dt, evaluation["window_us"]
        self.skipped = evaluation["skip_us"] // model.dt
        self.loss = losses.FrameCrossentropy(**loss)
        self.metrics = [metrics.FrameAccuracy()]
        self.reset()

    def reset(self):
        """Forget all batches."""
        self._right, self._filtered, self._weight = [], [], []
        self._clips = []

    def update(self, y_true, outputs, weight, events=None):
        """Add a batch: classes, logits `(batch, time, classes)`, weights `(batch, time)`."""
        labels = y_true if y_true.ndim > 1 else y_true[:, None]
        weight = _skip(weight, self.skipped)
        majority = decode.filter_clip(outputs, decode.MajorityFilter(self.window_us, self.dt))
        self._right.append((outputs.argmax(-1) == labels).ravel())
        self._filtered.append((majority == labels).ravel())
        self._weight.append(weight.ravel())
        # The mode of a clip's decisions against the label of its last frame: one answer a clip.
        votes = keras.utils.to_categorical(outputs.argmax(-1), outputs.shape[-1])
        answer = (votes * weight[..., None]).sum(axis=1).argmax(-1)
        self._clips.append((answer == labels[:, -1])[weight.any(axis=1)])

    def result(self) -> dict[str, float]:
        """Return accuracies over all frames that have a weight, and over clips."""
        weight = np.concatenate(self._weight)
        parts = {"accuracy": self._right, "filtered_accuracy": self._filtered}
        scores = {
            name: float(np.average(np.concatenate(part), weights=weight))
            for name, part in parts.items()
        }
        return {**scores, "clip_accuracy": float(np.concatenate(self._clips).mean())}


class TrackerTask:
    """One point a frame. The score is the mean distance in pixels of 60 x 80."""

    score, higher_is_better = "distance", False

    def __init__(self, model: PleiadesTracker, loss: dict, evaluation: dict):
        self.strides, self.size = decode.output_strides(model), model.input_shape[2:4]
        self.skipped = evaluation["skip_us"] // model.dt
        self.held = decode.HoldFilter(model.dt, hold_us=evaluation["hold_us"])
        if None in self.size:
            raise ValueError(
                "Distances are given in pixels of 60 x 80, so height and width of the network's "
                f"input must be known. Received: input_shape={model.input_shape[1:]}"
            )
        self.loss = losses.CenterPointLoss(self.strides, **loss)
        self.metrics = [metrics.PointDistance(self.strides, self.size)]
        self.reset()

    def reset(self):
        """Forget all batches."""
        self._true, self._found, self._held = [], [], []

    def update(self, y_true, outputs, weight, events):
        """Add a batch: points `(batch, time, 3)`, outputs, weights and events `(batch, time)`."""
        labelled = _skip(weight, self.skipped) > 0
        found, scores = decode.points(outputs, self.strides)
        self._true.append(y_true[labelled])
        self._found.append(found[labelled])
        self._held.append(decode.hold_clip(found, scores, events, self.held)[labelled])

    def result(self) -> dict[str, float]:
        """Return the distance, p10, p5 and p3 over all frames with an open eye.

        First of each frame's answer, then of what the hold filter makes of them.
        """
        true = np.concatenate(self._true)
        scores = metrics.point_distances(true, np.concatenate(self._found), self.size)
        held = metrics.point_distances(true, np.concatenate(self._held), self.size)
        return scores | {f"held_{name}": value for name, value in held.items()}


class DetectorTask:
    """Boxes. The score is the paper's mAP; COCO's beside it where pycocotools is installed."""

    score, higher_is_better = "mAP_paper", True

    def __init__(self, model: PleiadesDetector, loss: dict, evaluation: dict):
        self.num_classes, self.strides = model.num_classes, decode.output_strides(model)
        self.classes, self.top_k = evaluation["classes"], evaluation["top_k"]
        self.skipped = evaluation["skip_us"] // model.dt
        self.loss = losses.CenterNetLoss(self.num_classes, self.strides, **loss)
        self.metrics = []
        self.reset()

    def reset(self):
        """Forget all batches."""
        self._true, self._found = [], []

    def update(self, y_true, outputs, weight, events=None):
        """Add a batch: boxes `(batch, time, n, 5)`, outputs, weights `(batch, time)`."""
        weight = _skip(weight, self.skipped)
        true, found = metrics.labelled_frames(
            y_true, outputs, weight, self.num_classes, self.strides, top_k=self.top_k
        )
        self._true += true
        self._found += found

    def result(self) -> dict[str, float]:
        """Return average precisions over all labelled frames."""
        scores = {"mAP_paper": metrics.paper_map(self._true, self._found, self.classes)}
        try:
            coco = metrics.coco_map(self._true, self._found, self.classes)
        except ImportError:
            return scores
        return {**scores, **{f"{name}_coco": value for name, value in coco.items()}}


FAMILIES: dict[type, Any] = {
    PleiadesClassifier: ClassifierTask,
    PleiadesTracker: TrackerTask,
    PleiadesDetector: DetectorTask,
}


def task_of(model: keras.Model, loss: dict, evaluation: dict):
    """Return the task of a network's family."""
    for family, task in FAMILIES.items():
        if isinstance(model, family):
            return task(model, loss, evaluation)
    known = ", ".join(family.__name__ for family in FAMILIES)
    raise ValueError(f"Recipes train {known}. Received: {type(model).__name__}")


def evaluate_task(task, data, predict, devices: int = 1, on_batch=lambda: None) -> dict:
    """Return loss and metrics of a network on a data set.

    Args:
        task: See `task_of`.
        data: Batches `(x, y)` or `(x, y, sample_weight)`.
        predict: From frames to outputs.
        devices: How many share a batch. Every batch is filled up to the size of the first, and that
            to a multiple of `devices`, with rows of weight 0: one shape is compiled.
        on_batch: Called after each batch.
    """
    task.reset()
    loss = _compiled(task.loss)
    total = seen = 0.0
    size = 0
    for index in range(len(data)):
        x, y, *given = (np.asarray(part) for part in data[index])
        rows = len(x)
        size = max(size, -(-rows // devices) * devices)
        outputs = np.asarray(predict(_fill(x, size - rows)), np.float32)
        weight = _weights(given, outputs.shape[:2], rows)
        value = ops.convert_to_numpy(loss(_fill(y, size - rows), outputs, weight))
        count = float(weight.sum())
        total, seen = total + float(value) * count, seen + count
        # The frames that have answers are the last ones; those before are context.
        events = x[:, -outputs.shape[1] :].sum(axis=(2, 3, 4))
        task.update(y, outputs[:rows], weight[:rows], events)
        on_batch()
    return {"loss": total / max(seen, 1.0), **task.result()}


def _skip(weight, frames):
    """Return weights (batch, time) without those of the first frames of each clip."""
    return np.where(np.arange(weight.shape[1]) < frames, 0.0, weight)


def _fill(array, count):
    return np.concatenate([array, np.repeat(array[-1:], count, axis=0)]) if count else array


def _weights(given, shape, rows):
    """Return (batch, time) weights; rows that were filled in have none."""
    weight = np.zeros(shape, np.float32)
    each = given[0] if given else np.ones(rows)
    weight[:rows] = each if each.ndim == 2 else each[:, None]
    return weight


def _compiled(function):
    """One graph on the backends that have one: in pieces a loss takes seconds to compile."""
    backend = keras.backend.backend()
    if backend == "jax":
        import jax

        return jax.jit(function)
    if backend == "tensorflow":
        import tensorflow as tf

        return tf.function(function, reduce_retracing=True)
    return function
