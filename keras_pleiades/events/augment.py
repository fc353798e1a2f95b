"""Augmentation of events, with their labels, and of frames.

Pure functions: fresh arrays out, the caller's as they were. Whatever is random takes a
`numpy.random.Generator`: the same seed gives the same result. All functions on events return
`(events, labels)`, so that they can follow one another; `labels` is None where none was given.
"""

from collections.abc import Mapping

import numpy as np

from keras_pleiades.events.dtype import EVENT_DTYPE, check_events, check_sensor
from keras_pleiades.events.labels import Labels, map_points

__all__ = [
    "Labels",
    "add_noise",
    "affine",
    "drop_events",
    "flip_horizontal",
    "flip_polarity",
    "flip_vertical",
    "jitter_time",
    "mask_prefix",
    "reverse_time",
    "scale_time",
]


def affine(
    events: np.ndarray,
    sensor: tuple[int, int],
    rng: np.random.Generator,
    labels: Labels | None = None,
    degrees: float = 10.0,
    translate: float = 0.1,
    scale: tuple[float, float] = (1.0, 1.1),
) -> tuple[np.ndarray, Labels | None]:
    """Turns, moves and scales the picture about the middle of the sensor.

    The defaults are those of the paper's gesture recipe. Events that leave the sensor are left out.

    Args:
        events: The events.
        sensor: (height, width).
        rng: Source of the angle, the shift and the scale.
        labels: Points and boxes are moved along. A box becomes the upright box around its turned
            corners, cut off at the sensor's edge; a box that has left the sensor is left out.
        degrees: The angle is drawn from -degrees to degrees; positive is clockwise to the eye.
        translate: The shift is drawn from -translate to translate of height and width each.
        scale: The scale is drawn from here; above 1 enlarges.

    Example:
        >>> from keras_pleiades.events import make_events
        >>> events = make_events(t=[0, 1], x=[64, 0], y=[64, 0], p=[1, 0])
        >>> rng = np.random.default_rng(0)
        >>> turned, labels = affine(events, (128, 128), rng, Labels(points=[[64.0, 64.0]]))
        >>> turned["x"].tolist(), turned["y"].tolist()  # the corner has left the picture
        ([58], [52])
        >>> labels.points.round(1).tolist()
        [[58.1, 52.3]]
    """
    events = check_events(events)
    height, width = check_sensor(sensor)
    angle = np.deg2rad(rng.uniform(-degrees, degrees))
    shift = rng.uniform(-translate, translate, 2) * (width, height)
    factor = rng.uniform(*scale)
    turn = factor * np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
    # Coordinates of a pixel are those of its centre.
    middle = np.array([(width - 1) / 2, (height - 1) / 2])
    offset = middle + shift - turn @ middle

    xy = np.stack([events["x"], events["y"]], axis=1).astype(np.float64) @ turn.T + offset
    xy = np.floor(xy + 0.5)
    inside = (xy >= 0).all(axis=1) & (xy < (width, height)).all(axis=1)
    moved = _fresh(events[inside])
    moved["x"], moved["y"] = xy[inside].T
    return moved, map_points(labels, lambda points: points @ turn.T + offset, (height, width))


def flip_horizontal(
    events: np.ndarray,
    sensor: tuple[int, int],
    labels: Labels | None = None,
    swap_classes: Mapping[int, int] | None = None,
) -> tuple[np.ndarray, Labels | None]:
    """Exchanges left and right.

    Args:
        events: The events.
        sensor: (height, width).
        labels: Points and boxes are mirrored.
        swap_classes: Classes that become others in the mirror, such as `{1: 2, 2: 1}` for right and
            left hand waving.

    Example:
        >>> from keras_pleiades.events import make_events
        >>> events = make_events(t=[0], x=[10], y=[20], p=[1])
        >>> events, labels = flip_horizontal(events, (128, 128), Labels(class_id=1), {1: 2, 2: 1})
        >>> int(events["x"][0]), labels.class_id
        (117, 2)
    """
    return _flip(events, sensor, labels, swap_classes, axis=1)


def flip_vertical(
    events: np.ndarray,
    sensor: tuple[int, int],
    labels: Labels | None = None,
    swap_classes: Mapping[int, int] | None = None,
) -> tuple[np.ndarray, Labels | None]:
    """Exchanges top and bottom; the arguments are those of `flip_horizontal`."""
    return _flip(events, sensor, labels, swap_classes, axis=0)


def _flip(events, sensor, labels, swap_classes, axis):
    sensor = check_sensor(sensor)
    events = _fresh(check_events(events))
    name, last = "yx"[axis], sensor[axis] - 1
    if len(events) and events[name].max() > last:
        raise ValueError(
            f"an event at {name}={events[name].max()} lies outside the sensor. `sensor` is "
            f"(height, width). Received: sensor={sensor}"
        )
    events[name] = last - events[name]

    def mirror(points):
        points = points.copy()
        points[:, 1 - axis] = last - points[:, 1 - axis]
        return points

    labels = map_points(labels, mirror, sensor, cut=False)
    return events, labels if labels is None else labels.swapped(swap_classes)


def reverse_time(
    events: np.ndarray,
    labels: Labels | None = None,
    swap_classes: Mapping[int, int] | None = None,
) -> tuple[np.ndarray, Labels | None]:
    """Plays the recording backwards: time runs the other way and ON becomes OFF.

    A pixel that became brighter becomes darker when time is turned round, hence the polarity.

    Args:
        events: The events.
        labels: Times of points and boxes are turned round with the events'.
        swap_classes: Classes that become others, such as clockwise and counter-clockwise.

    Example:
        >>> from keras_pleiades.events import make_events
        >>> events = make_events(t=[100, 130, 140], x=[1, 2, 3], y=[0, 0, 0], p=[1, 1, 0])
        >>> events, _ = reverse_time(events)
        >>> events["t"].tolist(), events["x"].tolist(), events["p"].tolist()
        ([100, 110, 140], [3, 2, 1], [True, False, False])
    """
    events = _fresh(check_events(events)[::-1])
    if not len(events):
        return events, labels if labels is None else labels.swapped(swap_classes)
    both = events["t"].min() + events["t"].max()
    events["t"] = both - events["t"]
    events["p"] = ~events["p"]
    if labels is not None:
        labels = labels.with_times(lambda t: both - t).swapped(swap_classes)
    return events, labels


def scale_time(
    events: np.ndarray,
    rng: np.random.Generator,
    labels: Labels | None = None,
    scale: tuple[float, float] = (0.8, 1.25),
) -> tuple[np.ndarray, Labels | None]:
    """Plays the recording slower or faster; the earliest event stays in place.

    Args:
        events: The events.
        rng: Source of the factor.
        labels: Times of points and boxes are scaled along.
        scale: Durations are multiplied by a factor drawn from here; above 1 is slower.

    Example:
        >>> from keras_pleiades.events import make_events
        >>> events = make_events(t=[100, 200], x=[1, 2], y=[0, 0], p=[1, 1])
        >>> scale_time(events, np.random.default_rng(0), scale=(2, 2))[0]["t"].tolist()
        [100, 300]
    """
    events = _fresh(check_events(events))
    if not 0 < scale[0] <= scale[1]:
        raise ValueError(f"`scale` must be two positive numbers. Received: scale={scale}")
    factor = rng.uniform(*scale)
    if not len(events):
        return events, labels
    start = events["t"].min()

    def scaled(t):
        return start + np.rint((t - start) * factor).astype(np.int64)

    events["t"] = scaled(events["t"])
    return events, None if labels is None else labels.with_times(scaled)


def jitter_time(
    events: np.ndarray,
    rng: np.random.Generator,
    labels: Labels | None = None,
    std_us: float = 100.0,
) -> tuple[np.ndarray, Labels | None]:
    """Moves each event in time by a normal deviate, then sorts by time.

    Args:
        events: The events.
        rng: Source of the deviates.
        labels: Returned as they are.
        std_us: Standard deviation in microseconds.
    """
    events = _fresh(check_events(events))
    events["t"] += np.rint(rng.normal(0.0, std_us, len(events))).astype(np.int64)
    return events[np.argsort(events["t"], kind="stable")], labels


def flip_polarity(
    events: np.ndarray, labels: Labels | None = None
) -> tuple[np.ndarray, Labels | None]:
    """Makes ON of OFF and OFF of ON.

    Example:
        >>> from keras_pleiades.events import make_events
        >>> flip_polarity(make_events(t=[0, 1], x=[1, 2], y=[0, 0], p=[1, 0]))[0]["p"]
        array([False,  True])
    """
    events = _fresh(check_events(events))
    events["p"] = ~events["p"]
    return events, labels


def drop_events(
    events: np.ndarray,
    rng: np.random.Generator,
    labels: Labels | None = None,
    fraction: float = 0.1,
) -> tuple[np.ndarray, Labels | None]:
    """Leaves out each event with the probability `fraction`.

    Args:
        events: The events.
        rng: Decides which.
        labels: Returned as they are.
        fraction: From 0 to 1.
    """
    events = _fresh(check_events(events))
    if not 0 <= fraction <= 1:
        raise ValueError(f"`fraction` must be from 0 to 1. Received: fraction={fraction}")
    return events[rng.random(len(events)) >= fraction], labels


def add_noise(
    events: np.ndarray,
    sensor: tuple[int, int],
    rng: np.random.Generator,
    labels: Labels | None = None,
    rate_hz: float = 0.1,
) -> tuple[np.ndarray, Labels | None]:
    """Adds events at random pixels, times and polarities, as a sensor in the dark gives them.

    Args:
        events: The events; the noise fills the time from the earliest to the latest.
        sensor: (height, width).
        rng: Source of the noise.
        labels: Returned as they are.
        rate_hz: Noise events per pixel and second.

    Example:
        >>> from keras_pleiades.events import make_events
        >>> events = make_events(t=[0, 1_000_000], x=[1, 2], y=[0, 0], p=[1, 1])
        >>> noisy, _ = add_noise(events, (10, 10), np.random.default_rng(0), rate_hz=5.0)
        >>> len(noisy)  # about 5 * 100 pixels * 1 s
        511
    """
    height, width = check_sensor(sensor)
    events = _fresh(check_events(events))
    if rate_hz < 0:
        raise ValueError(f"`rate_hz` must not be negative. Received: rate_hz={rate_hz}")
    if not len(events):
        return events, labels
    start, end = events["t"].min(), events["t"].max()
    count = rng.poisson(rate_hz * height * width * (end - start) / 1e6)
    noise = np.empty(count, EVENT_DTYPE)
    noise["t"] = rng.integers(start, end, count, endpoint=True)
    noise["x"] = rng.integers(0, width, count)
    noise["y"] = rng.integers(0, height, count)
    noise["p"] = rng.integers(0, 2, count)
    both = np.concatenate([events, noise])
    return both[np.argsort(both["t"], kind="stable")], labels


def mask_prefix(
    frames: np.ndarray, rng: np.random.Generator, probability: float = 0.5
) -> np.ndarray:
    """Sets the beginning of a clip to zero, so that a network learns to answer early.

    With `probability`, a frame is drawn uniformly from the first half; it and all before it become
    zero (the paper's recipe).

    Args:
        frames: (time, height, width, channels), or any array with time in front; not changed.
        rng: Decides whether, and which frame.
        probability: How often.

    Example:
        >>> mask_prefix(np.ones((6, 1)), np.random.default_rng(1), probability=1.0).ravel()
        array([0., 0., 0., 1., 1., 1.])
    """
    frames = frames.copy()
    masked = rng.random() < probability
    half = len(frames) // 2
    if masked and half:
        frames[: rng.integers(half) + 1] = 0
    return frames


def _fresh(events):
    """Copies events into an array of EVENT_DTYPE."""
    if events.dtype == EVENT_DTYPE:
        return events.copy()
    fresh = np.empty(len(events), EVENT_DTYPE)
    for name in "txy":
        fresh[name] = events[name]
    fresh["p"] = events["p"] > 0  # also from -1 and 1
    return fresh
