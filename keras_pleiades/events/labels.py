"""The labels of a recording, and how they move with its events."""

from dataclasses import dataclass, replace

import numpy as np


@dataclass(frozen=True)
class Labels:
    """A recording's labels: a class, points, boxes, each where there is one.

    Attributes:
        class_id: The class of the whole recording.
        points: (N, 2) x, y in pixels, such as the pupil's centre.
        points_t: (N,) time of each point in microseconds, where it has one.
        boxes: (N, 4) left, top, right, bottom in pixels.
        boxes_t: (N,) time of each box in microseconds, where it has one.
        box_classes: (N,) class of each box.

    Example:
        >>> labels = Labels(class_id=3, points=[[10, 20]])
        >>> labels.points
        array([[10., 20.]])
    """

    class_id: int | None = None
    points: np.ndarray | None = None
    points_t: np.ndarray | None = None
    boxes: np.ndarray | None = None
    boxes_t: np.ndarray | None = None
    box_classes: np.ndarray | None = None

    def __post_init__(self):
        for name, dtype, shape in (
            ("points", np.float64, (-1, 2)),
            ("points_t", np.int64, (-1,)),
            ("boxes", np.float64, (-1, 4)),
            ("boxes_t", np.int64, (-1,)),
            ("box_classes", np.int64, (-1,)),
        ):
            value = getattr(self, name)
            if value is not None:
                value = np.array(value, dtype)
                if value.ndim != len(shape) or value.shape[1:] != shape[1:]:
                    wanted = "(N,)" if len(shape) == 1 else f"(N, {shape[1]})"
                    raise ValueError(
                        f"`{name}` must have the shape {wanted}. Received: shape={value.shape}"
                    )
                object.__setattr__(self, name, value)
        for rows, of in (("points_t", "points"), ("boxes_t", "boxes"), ("box_classes", "boxes")):
            value, whole = getattr(self, rows), getattr(self, of)
            if value is not None and (whole is None or len(value) != len(whole)):
                raise ValueError(
                    f"`{rows}` must have one entry for each of `{of}`. "
                    f"Received: {len(value)} for {0 if whole is None else len(whole)}"
                )

    def swapped(self, classes) -> "Labels":
        """Returns the labels with `class_id` and `box_classes` exchanged by the mapping."""
        if not classes:
            return self
        found = self.box_classes
        if found is not None:
            found = np.array([classes.get(int(one), int(one)) for one in found], np.int64)
        return replace(self, class_id=classes.get(self.class_id, self.class_id), box_classes=found)

    def with_times(self, function) -> "Labels":
        """Returns the labels with their times mapped; rows are sorted by time again."""
        changed = {}
        for rows, others in (("points_t", ("points",)), ("boxes_t", ("boxes", "box_classes"))):
            t = getattr(self, rows)
            if t is None:
                continue
            t = function(t)
            order = np.argsort(t, kind="stable")
            changed[rows] = t[order]
            for name in others:
                if getattr(self, name) is not None:
                    changed[name] = getattr(self, name)[order]
        return replace(self, **changed)


def map_points(labels, function, sensor, cut=True) -> Labels | None:
    """Maps points and the corners of boxes.

    Args:
        labels: The labels, or None.
        function: From (N, 2) x, y to (N, 2) x, y.
        sensor: (height, width).
        cut: Whether boxes are cut off at the sensor's edge and left out when nothing remains.
    """
    if labels is None:
        return None
    changed = {}
    if labels.points is not None:
        changed["points"] = function(labels.points)
    if labels.boxes is not None:
        left, top, right, bottom = labels.boxes.T
        x = np.stack([left, right, right, left], axis=1)
        y = np.stack([top, top, bottom, bottom], axis=1)
        corners = function(np.stack([x, y], axis=2).reshape(-1, 2)).reshape(-1, 4, 2)
        boxes = np.concatenate([corners.min(axis=1), corners.max(axis=1)], axis=1)
        kept = np.ones(len(boxes), bool)
        if cut:
            height, width = sensor
            boxes = np.clip(boxes, 0, (width - 1, height - 1, width - 1, height - 1))
            kept = (boxes[:, 2] > boxes[:, 0]) & (boxes[:, 3] > boxes[:, 1])
        changed["boxes"] = boxes[kept]
        for name in ("boxes_t", "box_classes"):
            if getattr(labels, name) is not None:
                changed[name] = getattr(labels, name)[kept]
    return replace(labels, **changed)
