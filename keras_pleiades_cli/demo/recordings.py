"""Fresh simulated recordings, with the truth about them."""

import dataclasses
from typing import Any

import numpy as np

# Scores in the model cards are of the first recordings of the test split; these come after them.
FIRST = 10_000


@dataclasses.dataclass(frozen=True)
class Settings:
    """How long recordings are, and how large a network's frames.

    Attributes:
        gestures: How many gestures follow each other, at most 10.
        gesture_us: How long each is made: a multiple of the largest bin size.
        eye_us: Length of the recording of an eye.
        road_us: Length of the recording of a road.
        sizes: Height and width of a network's frames, by its name, where not its own.
    """

    gestures: int = 10
    gesture_us: int = 1_000_000
    eye_us: int = 2_000_000
    road_us: int = 1_000_000
    sizes: dict[str, tuple[int, int]] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Recording:
    """Events from time 0 on, and what they show.

    Attributes:
        events: The events.
        sensor: (height, width).
        duration_us: Its length.
        truth: Of gestures, the class of each; else `keras_pleiades.events.Labels`.
    """

    events: np.ndarray
    sensor: tuple[int, int]
    duration_us: int
    truth: Any

    def __str__(self):
        height, width = self.sensor
        seconds, events = self.duration_us / 1e6, len(self.events)
        return f"{seconds:.1f} s, {events:,} events, sensor {height} x {width}"


def gestures(seed: int, settings: Settings) -> Recording:
    """Return several gestures of one subject, one after the other, in an order by lot."""
    from keras_pleiades.datasets.synthetic import gestures as task

    classes = len(task.CLASSES)
    order = np.random.default_rng(seed).permutation(classes)[: settings.gestures]
    parts = []
    for position, label in enumerate(order):
        # Ten seeds in a row are one subject.
        which = classes * (FIRST + seed) + int(label)
        events, _ = task.clip(which, "test", duration_us=settings.gesture_us)
        events["t"] += position * settings.gesture_us
        parts.append(events)
    duration = len(order) * settings.gesture_us
    return Recording(np.concatenate(parts), task.SENSOR, duration, order)


def eye(seed: int, settings: Settings) -> Recording:
    """Return an eye that looks around."""
    from keras_pleiades.datasets.synthetic import eyes as task

    events, labels = task.clip(FIRST + seed, "test", duration_us=settings.eye_us)
    return Recording(events, task.SENSOR, settings.eye_us, labels)


def road(seed: int, settings: Settings) -> Recording:
    """Return a drive on a road with cars and people; without boxes too small to be counted."""
    from keras_pleiades.datasets.synthetic import roads as task

    events, labels = task.clip(
        # Never an empty road: there would be nothing to see.
        *(FIRST + seed, "test"),
        duration_us=settings.road_us,
        cars=(3, 7),
        pedestrians=(2, 6),
    )
    left, top, right, bottom = labels.boxes.T
    kept = np.hypot(right - left, bottom - top) >= task.MIN_DIAGONAL
    labels = dataclasses.replace(
        labels,
        boxes=labels.boxes[kept],
        boxes_t=labels.boxes_t[kept],
        box_classes=labels.box_classes[kept],
    )
    return Recording(events, task.SENSOR, settings.road_us, labels)
