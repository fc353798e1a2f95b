"""Simulated eye tracking: an eye before an event camera of 480x640 pixels, as in 3ET+.

Pictures are drawn at 1/2.5 of the sensor, and only their upper 280 rows of it, where the eyes of
3ET+ are: the rest is noise. Each event of a drawn pixel stands for the 6.25 of the sensor's pixels
that it covers: it becomes a Poisson number of events of that mean, spread over them and over a
millisecond. A network that bins 480x640 to 96x128 sees two by two drawn pixels in a cell.

The ranges below cover what the real sessions of 3ET+ at hand show: event rates, their spread over
10 ms bins, polarity, and how far from the pupil events are (`python -m benchmarks.eye_statistics`).
"""

import numpy as np

from keras_pleiades._checks import check_dt
from keras_pleiades.datasets.synthetic._camera import pixel_model
from keras_pleiades.datasets.synthetic._eye_image import EyeImage
from keras_pleiades.datasets.synthetic._gaze import gaze, openness
from keras_pleiades.datasets.synthetic._random import (
    check_changes,
    draw,
    frame_times,
    generator,
    smooth_noise,
)
from keras_pleiades.events.augment import Labels
from keras_pleiades.events.dtype import EVENT_DTYPE
from keras_pleiades.events.pixel_model import EventSimulator

SENSOR = (480, 640)
LABEL_US = 10_000
STEP = 2.5  # pixels of the sensor for one drawn
DRAWN = (112, 256)
# A pair is a range to draw from; lengths in pixels of the sensor.
SUBJECT = {
    "x": (150, 480),
    "y": (85, 150),
    "tilt": (-0.22, 0.22),
    "half_width": (105, 180),
    "upper": (48, 90),
    "lower": (30, 80),
    "skew": (-0.25, 0.25),
    "crease": (14, 34),
    "iris": (46, 90),
    "pupil": (0.32, 0.65),  # of the iris
    "ball": (1.8, 2.2),  # radius of the eyeball, of the iris
    "ball_dx": (-65, 65),
    "ball_dy": (-35, 12),
    "skin": (0.3, 0.6),
    "sclera": (0.4, 0.8),
    "iris_ratio": (0.3, 0.9),  # of the sclera's light
    "pupil_ratio": (0.3, 1.0),  # of the iris' light
    "iris_texture": (0.02, 0.12),
    "skin_texture": (0.006, 0.08, "log"),
    "falloff": (0.2, 1.5),
    "folds": (0, 5),
    "brow": (95, 180),
    "rim": (0.0, 1.0),  # below 0.5 the headset's edge is seen
    "lashes": (6, 60),
    "lash_length": (12, 60),
    "lash_width": (0.8, 2.5),
    "lash_dark": (0.2, 0.8),
    "lashes_down": (0.0, 1.0),
    "glints": (0, 5),
    "glint": (2.5, 6.0),
    "glint_light": (0.2, 1.2),
    "glint_spread": (15, 60),
    "soft": (3.0, 7.0),
}
CAMERA = {
    "threshold": (0.2, 0.5),
    "balance": (0.72, 1.05),
    "mismatch": (0.05, 0.15),
    "refractory_us": (100, 1000),
    "cutoff_hz": (20.0, 200.0),
    "noise_hz": (0.0005, 0.02, "log"),  # per pixel of the sensor
    "hot_pixels": (0, 8),
    "hot_hz": (5, 60),
}
GAZE = {
    "reach_x": (50, 140),
    "reach_y": (10, 70),
    "rest_s": (0.03, 0.4),
    "pursuit": (0.0, 1.0),  # how many of the motions are pursuit
    "small": (0.0, 0.5),  # how many are small
    "pursuit_speed": (10.0, 130.0),  # degrees a second
    "drift": (0.01, 0.1),  # degrees
    "blinks_hz": (0.0, 0.4),
    "squint": (0.0, 0.08),
    "head": (0.03, 2.5, "log"),  # pixels
    "hippus": (0.0, 0.03),
    "follow": (0.2, 0.7),
    "within": (0.65, 0.9),  # of the opening that the pupil keeps to
}


def clip(
    seed: int, split: str = "train", duration_us: int = 2_000_000, **changes
) -> tuple[np.ndarray, Labels]:
    """Returns the events of one eye and where its pupil is: a pure function of its arguments.

    Each seed is another subject; no subject is in two splits.

    Args:
        seed: Which recording, from 0.
        split: "train", "validation" or "test".
        duration_us: Length of the recording.
        **changes: Values or (low, high) ranges in place of those in `SUBJECT`, `CAMERA`, `GAZE`.

    Returns:
        `(events, labels)`; `labels.points` is x, y of the pupil's centre in pixels of the sensor at
        the end of every 10 ms (`labels.points_t`), NaN where the lids hide most of the pupil. The
        sensor is `SENSOR`. `rows` turns them into the rows of a 3ET+ label file.

    Example:
        >>> events, labels = clip(3, "test", duration_us=50_000)
        >>> labels.points.shape, labels.points_t[:2], bool(events["y"].max() < 480)
        ((5, 2), array([10000, 20000]), True)
    """
    duration_us = check_dt(duration_us, "duration_us")
    p, rng = _values(seed, split, changes)
    t = np.linspace(0, duration_us - 1, max(2, duration_us // 1000 + 1))
    eye = Eye(p, t * 1e-6, rng)
    camera = EventSimulator(DRAWN, pixel_model(p), rng)
    parts = [np.empty(0, EVENT_DTYPE)]
    for index in frame_times(t, eye.moved, 1.0, LABEL_US):
        parts.append(camera(eye.image(index), t[index]))
    events = _to_sensor(np.concatenate(parts), duration_us, rng)
    events = np.concatenate([events, _noise(p, duration_us, rng)])
    events = events[np.argsort(events["t"], kind="stable")]
    return events, eye.labels(duration_us)


def rows(labels: Labels) -> np.ndarray:
    """Returns labels as the rows of a 3ET+ label file: x, y, closed.

    While the eye is closed the last known place stays, as in the real files.

    Example:
        >>> rows(Labels(points=[[3.0, 4.0], [np.nan, np.nan]]))
        array([[3., 4., 0.],
               [3., 4., 1.]])
    """
    points = labels.points.copy()
    closed = np.isnan(points).any(axis=1)
    for k in np.flatnonzero(closed):
        points[k] = points[k - 1] if k else 0
    return np.concatenate([points, closed[:, None]], axis=1)


def _values(seed, split, changes):
    rng = generator("eyes", split, seed)
    check_changes(changes, SUBJECT, CAMERA, GAZE)
    ranges = {**SUBJECT, **CAMERA, **GAZE}
    p = draw({name: changes.get(name, value) for name, value in ranges.items()}, rng)
    p["ball_x"], p["ball_y"] = p["x"] + p["ball_dx"], p["y"] + p["ball_dy"]
    p["iris_light"] = p["sclera"] * p["iris_ratio"]
    p["pupil_light"] = p["iris_light"] * p["pupil_ratio"]
    return p, rng


class Eye:
    """A subject's eye over given times (seconds): its motion, its pictures, its labels."""

    def __init__(self, p: dict, t: np.ndarray, rng: np.random.Generator):
        self.p, self.t = p, t
        pixels_per_degree = p["ball"] * p["iris"] * np.pi / 180
        path = gaze(p, t, pixels_per_degree, rng)
        self.head = np.clip(p["head"] * smooth_noise(rng, t, 1.5, 2), -16, 16)
        middle = np.array([p["x"], p["y"]])
        place = path + np.array([p["ball_dx"], p["ball_dy"]])
        # Nobody looks where the lids are: the path is bent back into the opening.
        across = np.where(place[:, 1] < 0, p["upper"], p["lower"]) * p["within"]
        beyond = np.hypot(place[:, 0] / (p["within"] * p["half_width"]), place[:, 1] / across)
        self.pupil = middle + place / np.maximum(beyond, 1)[:, None] + self.head
        self.open = openness(p, t, rng)
        self.follow = p["follow"] * path[:, 1]
        self.size = 1 + p["hippus"] * smooth_noise(rng, t, 1.0)[:, 0]
        self.picture = EyeImage(p, DRAWN, STEP, rng)
        lid = self.open * (p["upper"] + p["lower"])
        moved = np.maximum(
            np.hypot(*np.diff(self.pupil, axis=0, prepend=self.pupil[:1]).T),
            np.abs(np.diff(lid, prepend=lid[0])),
        )
        self.moved = moved / STEP

    def image(self, index: int) -> np.ndarray:
        """Returns the picture at one of the times."""
        return self.picture(*self._state(index))

    def labels(self, duration_us: int) -> Labels:
        """Returns the pupil's place at the end of every 10 ms."""
        ends = np.arange(LABEL_US, duration_us + 1, LABEL_US)
        at = np.clip(np.searchsorted(self.t * 1e6, ends), 0, len(self.t) - 1)
        points = self.pupil[at].copy()
        for row, index in enumerate(at):
            pupil, _, opened, follow, head = self._state(index)
            if self.picture.covered(pupil, opened, follow, head):
                points[row] = np.nan
        return Labels(points=points, points_t=ends)

    def _state(self, index):
        return (
            self.pupil[index],
            self.size[index],
            self.open[index],
            self.follow[index],
            self.head[index],
        )


def _to_sensor(events, duration_us, rng):
    """Each drawn event becomes those of the sensor's pixels that it covers."""
    events = np.repeat(events, rng.poisson(STEP * STEP, len(events)))
    for name, size in (("x", SENSOR[1]), ("y", SENSOR[0])):
        place = (events[name] + rng.random(len(events), np.float32)) * STEP
        events[name] = np.minimum(place, size - 1)
    later = rng.integers(0, 1000, len(events))
    events["t"] = np.minimum(events["t"] + later, duration_us - 1)
    return events


def _noise(p, duration_us, rng):
    """Shot noise and hot pixels over the whole sensor."""
    count = rng.poisson(p["noise_hz"] * SENSOR[0] * SENSOR[1] * duration_us * 1e-6)
    hot = int(p["hot_pixels"])
    counts = rng.poisson(rng.uniform(0, 2 * p["hot_hz"], hot) * duration_us * 1e-6)
    events = np.empty(count + counts.sum(), EVENT_DTYPE)
    for name, size in (("x", SENSOR[1]), ("y", SENSOR[0])):
        places = rng.integers(0, size, count + hot)
        events[name] = np.concatenate([places[:count], np.repeat(places[count:], counts)])
    events["t"] = rng.integers(0, duration_us, len(events))
    events["p"] = rng.random(len(events)) < 0.5
    return events
