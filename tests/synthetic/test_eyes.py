"""Simulated eyes: labels that are where the pupil is drawn, motion by the textbook."""

import numpy as np
import pytest

import keras_pleiades as kp
from keras_pleiades.datasets.synthetic import eyes
from keras_pleiades.datasets.synthetic._gaze import gaze, openness

SHORT = 100_000
PLAIN = {"glints": 0, "lashes": 0, "iris_texture": 0.0, "soft": 3.0, "pupil_ratio": 0.3}


def test_a_clip_is_a_pure_function_of_its_arguments():
    events, labels = eyes.clip(4, "train", duration_us=SHORT)
    again, same = eyes.clip(4, "train", duration_us=SHORT)
    np.testing.assert_array_equal(events, again)
    np.testing.assert_array_equal(labels.points, same.points)
    assert events.dtype == kp.events.EVENT_DTYPE
    assert (np.diff(events["t"]) >= 0).all()
    assert events["t"].max() < SHORT
    assert events["x"].max() < 640
    assert events["y"].max() < 480
    np.testing.assert_array_equal(labels.points_t, 10_000 * np.arange(1, 11))
    for other in ((4, "test"), (5, "train")):
        assert not np.array_equal(events, eyes.clip(*other, duration_us=SHORT)[0])


@pytest.mark.parametrize("seed", range(6))
def test_the_label_is_where_the_pupil_is_drawn(seed):
    changes = {**PLAIN, "blinks_hz": 0.0, "squint": 0.0, "within": 0.5, "upper": 90, "lower": 80}
    p, rng = eyes._values(seed, "train", {**changes, "iris": 50, "pupil": 0.5, "tilt": 0.0})
    t = np.linspace(0, 0.5, 501)
    eye = eyes.Eye(p, t, rng)
    for index in (0, 250, 500):
        image = eye.image(index)
        x, y = np.meshgrid(
            (np.arange(image.shape[1]) + 0.5) * eyes.STEP - 0.5,
            (np.arange(image.shape[0]) + 0.5) * eyes.STEP - 0.5,
        )
        near = np.hypot(x - eye.pupil[index, 0], y - eye.pupil[index, 1]) < 1.15 * 25
        dark = near & (image < (p["pupil_light"] + p["iris_light"]) / 2)
        found = np.array([x[dark].mean(), y[dark].mean()])
        # The lid's shadow and the pixels of 2.5 by 2.5 move the mean by less than this.
        assert np.abs(found - eye.pupil[index]).max() < 2.5


def test_events_of_a_saccade_lie_around_the_pupil():
    changes = {**PLAIN, "noise_hz": 0.0, "hot_pixels": 0, "head": 0.0, "skin_texture": 0.0}
    events, labels = eyes.clip(2, duration_us=600_000, blinks_hz=0.0, squint=0.0, **changes)
    at = np.minimum(events["t"] // 10_000, 59)
    away = np.hypot(*(labels.points[at] - np.stack([events["x"], events["y"]], 1)).T)
    assert np.nanmedian(away) < 100


def test_saccades_follow_the_main_sequence():
    p = {name: np.mean(value[:2]) for name, value in eyes.GAZE.items()}
    p |= {"pursuit": 0.0, "drift": 0.0, "small": 0.0, "reach_y": 0.0, "reach_x": 100.0}
    t = np.arange(0, 20, 1e-4)
    scale = 2.4  # pixels a degree
    path = gaze(p, t, scale, np.random.default_rng(0))[:, 0] / scale
    speed = np.abs(np.diff(path)) / 1e-4
    moving = np.flatnonzero(np.diff(np.r_[0, speed > 1e-6, 0]))
    checked = 0
    for start, end in moving.reshape(-1, 2)[1:-1]:
        size, takes = abs(path[end] - path[start]), (end - start) * 1e-4
        if size > 2:
            assert abs(takes - (0.021 + 0.0022 * size)) < 1e-3
            # A minimum-jerk motion peaks at 15/8 of its mean speed.
            assert abs(speed[start:end].max() / (1.875 * size / takes) - 1) < 0.05
            checked += 1
    assert checked > 20


def test_pursuit_is_slow_and_smooth():
    p = {name: np.mean(value[:2]) for name, value in eyes.GAZE.items()}
    p |= {"pursuit": 1.0, "drift": 0.0, "pursuit_speed": 20.0}
    t = np.arange(0, 10, 1e-3)
    path = gaze(p, t, 2.4, np.random.default_rng(0)) / 2.4
    speed = np.hypot(*np.diff(path, axis=0).T) / 1e-3
    assert speed.max() < 1.5 * 20 + 1
    assert np.median(speed) > 5


def test_blinks():
    p = {"blinks_hz": 1.0, "squint": 0.0}
    t = np.arange(0, 60, 1e-3)
    opened = openness(p, t, np.random.default_rng(1))
    assert opened.min() < 0.1
    assert opened.max() == 1
    shut = np.flatnonzero(np.diff((opened < 0.5).astype(int)) == 1)
    # Each blink takes about half a second beside the waiting of a second: 40 in a minute.
    assert 25 < len(shut) < 55


def test_closed_eyes_have_no_label():
    p, rng = eyes._values(0, "train", {"blinks_hz": 3.0, "squint": 0.0})
    eye = eyes.Eye(p, np.linspace(0, 3, 3001), rng)
    labels = eye.labels(3_000_000)
    at = np.searchsorted(eye.t * 1e6, labels.points_t)
    closed = np.isnan(labels.points[:, 0])
    assert closed[eye.open[np.minimum(at, 3000)] < 0.05].all()
    assert closed.any()
    assert not closed.all()
    rows = eyes.rows(labels)
    np.testing.assert_array_equal(rows[:, 2], closed)
    assert np.isfinite(rows).all()


def test_real_sessions_are_within_reach(shared):
    """The simulation's rates and polarity cover those of the real sessions."""
    h5py = pytest.importorskip("h5py")
    clips = [eyes.clip(seed, "validation", duration_us=700_000)[0] for seed in range(24)]
    rates = [len(events) / 0.7 for events in clips]
    on = [events["p"].mean() for events in clips]
    for session in ("5_1", "7_3", "7_4", "12_2"):
        with h5py.File(shared / "data" / "eye_3et" / "train" / session / f"{session}.h5") as file:
            t, p = file["events"]["t"][:], file["events"]["p"][:]
        assert min(rates) < len(t) / (t[-1] - t[0]) * 1e6 < max(rates)
        assert min(on) < (p > 0).mean() < max(on)
