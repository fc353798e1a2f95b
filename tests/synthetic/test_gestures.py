"""Simulated gestures: pure, right-handed where they should be, and real to the authors' network."""

import numpy as np
import pytest

import keras_pleiades as kp
from keras_pleiades.datasets.synthetic import gestures
from keras_pleiades.datasets.synthetic._arms import FOREARM, UPPER_ARM, joints
from keras_pleiades.datasets.synthetic._random import SPLITS, frame_times, generator
from tests.backends import to_numpy

SHORT = 120_000


def values(label, **changes):
    middle = {
        name: np.mean(value) if isinstance(value, tuple) else value
        for name, value in {**gestures.CLIP, **gestures.GESTURES[label]}.items()
    }
    return {**middle, "build": 1.0, "jitter": 0.0, **changes}


def test_classes_are_in_the_checkpoints_order():
    assert len(gestures.CLASSES) == len(gestures.GESTURES) == 10
    assert gestures.CLASSES[0] == "hand clapping"
    assert gestures.CLASSES[7:] == ("arm roll", "air drums", "air guitar")


def test_a_clip_is_a_pure_function_of_its_arguments():
    events, labels = gestures.clip(13, "train", duration_us=SHORT)
    again, _ = gestures.clip(13, "train", duration_us=SHORT)
    np.testing.assert_array_equal(events, again)
    assert events.dtype == kp.events.EVENT_DTYPE
    assert labels.class_id == 3
    assert len(events) > 500
    assert (np.diff(events["t"]) >= 0).all()
    assert events["t"].max() < SHORT
    assert max(events["x"].max(), events["y"].max()) < 128
    for other in ((13, "test"), (23, "train"), (13, "validation")):
        assert not np.array_equal(events, gestures.clip(*other, duration_us=SHORT)[0])


def test_splits_share_no_random_numbers():
    # The first draws of thousands of streams: no two are equal, within or between splits.
    drawn = [
        generator("gestures", split, 0, subject).random()
        for split in SPLITS
        for subject in range(999)
    ]
    assert len(set(drawn)) == len(drawn)
    with pytest.raises(ValueError, match="split='training'"):
        generator("gestures", "training", 1)
    with pytest.raises(ValueError, match="negative"):
        gestures.clip(-1)


def test_ten_seeds_are_one_subject():
    kept = [gestures._values(seed, "train", seed % 10, None, {})[0] for seed in range(30, 50)]
    for name in (*gestures.SUBJECT, "threshold"):
        assert len({p[name] for p in kept[:10]}) == 1
    assert kept[0]["scale"] != kept[10]["scale"]
    assert len({p["freq"] for p in kept[:10]}) == 10


def test_arms_have_bones_of_one_length():
    t = np.linspace(0, 2, 200)
    for label in range(10):
        found = joints(label, values(label), t, np.random.default_rng(0))
        upper = np.linalg.norm(found[:, :, 1] - found[:, :, 0], axis=-1)
        fore = np.linalg.norm(found[:, :, 2] - found[:, :, 1], axis=-1)
        np.testing.assert_allclose(fore, FOREARM, rtol=1e-6)
        if label not in (1, 2):  # there the elbow is put by hand
            np.testing.assert_allclose(upper, UPPER_ARM, rtol=1e-6)


@pytest.mark.parametrize(
    ("label", "arm", "clockwise"), [(3, 0, 1), (4, 0, -1), (5, 1, 1), (6, 1, -1)]
)
def test_circles_turn_as_the_subject_sees_them(label, arm, clockwise):
    t = np.linspace(0, 1, 500)
    found = joints(label, values(label), t, np.random.default_rng(0))
    wrist = found[arm, :, 2, :2]
    around = wrist - wrist.mean(axis=0)
    step = np.diff(wrist, axis=0)
    turned = np.sign((around[:-1, 0] * step[:, 1] - around[:-1, 1] * step[:, 0]).sum())
    # x to the right and y down: a positive sense is clockwise to the camera, which faces them.
    assert turned == -clockwise
    still = found[1 - arm, :, 2]
    assert np.ptp(still, axis=0).max() < 1e-9


@pytest.mark.parametrize(("label", "side"), [(1, -1), (2, 1), (3, -1), (5, 1)])
def test_the_right_arm_is_at_the_image_left(label, side):
    events, _ = gestures.clip(0, label=label, duration_us=400_000, cx=64, shot_hz=0, hot_pixels=0)
    assert np.sign(np.median(events["x"].astype(int)) - 64) == side


class TestVariations:
    def rate(self, seconds=0.2, **arguments):
        return len(gestures.clip(0, duration_us=int(seconds * 1e6), **arguments)[0]) / seconds

    def test_noise(self):
        more = self.rate(shot_hz=3.0) - self.rate(shot_hz=0.0)
        assert abs(more / (3 * 128 * 128) - 1) < 0.1

    def test_thinned(self):
        assert abs(self.rate(variation="thinned") / self.rate() - 0.1) < 0.02

    def test_flicker_has_120_hz(self):
        events, _ = gestures.clip(5, duration_us=500_000, flicker=0.3, threshold=0.1)
        sign = np.where(events["p"], 1.0, -1.0)
        signal = np.histogram(events["t"], 500, (0, 500_000), weights=sign)[0]  # each millisecond
        spectrum = np.abs(np.fft.rfft(signal - signal.mean()))
        assert np.fft.rfftfreq(500, 1e-3)[spectrum.argmax()] == 120

    def test_scale(self):
        def spread(**arguments):
            events, _ = gestures.clip(
                0, duration_us=600_000, shot_hz=0, hot_pixels=0, cy=40, cx=64, **arguments
            )
            return events["x"].astype(float).std()

        assert spread(variation="large") > 1.4 * spread(variation="small")

    def test_moving_background_is_everywhere(self):
        def corners(**arguments):
            events, _ = gestures.clip(
                7, duration_us=300_000, shot_hz=0, hot_pixels=0, scale=80, **arguments
            )
            return len(np.unique(events["x"][events["y"] < 8])) / 128

        assert corners(variation="moving background") > 0.8
        assert corners() < 0.3

    def test_any_draws_among_all(self):
        drawn = [gestures._values(seed, "train", 0, "any", {})[0] for seed in range(200)]
        for name, change in gestures.VARIATIONS.items():
            key, value = next(iter(change.items()))
            low, high = value if isinstance(value, tuple) else (value, value)
            share = np.mean([low <= p[key] <= high for p in drawn])
            assert 0.04 < share < 0.3, name

    def test_errors(self):
        with pytest.raises(ValueError, match="variation='dark'"):
            gestures.clip(0, variation="dark")
        with pytest.raises(ValueError, match="'colour' is none"):
            gestures.clip(0, colour=1)
        with pytest.raises(ValueError, match="label=10"):
            gestures.clip(0, label=10)


def test_frame_times_bound_the_motion():
    rng = np.random.default_rng(0)
    t = np.arange(2000) * 500.0
    moved = rng.random(2000) ** 4 * 0.5
    chosen = frame_times(t, moved, step=1.5, longest_us=6_000)
    assert chosen[0] == 0
    assert chosen[-1] == 1999
    path = np.cumsum(moved)
    assert np.diff(path[chosen]).max() <= 1.5 + 0.5  # one fine step more at most
    assert np.diff(t[chosen]).max() <= 6_500


def test_the_authors_network_knows_the_gestures(shared):
    checkpoint = shared / "reference" / "dvs128_ckpt.pt"
    model = kp.zoo.gesture(pretrained=checkpoint)
    right = 0
    for seed in range(1000, 1020):
        events, labels = gestures.clip(seed, "test", duration_us=1_000_000)
        frames = model.to_frames(events, gestures.SENSOR, start_us=0, frames=100)
        answers = to_numpy(model.predict_on_batch(frames[None]))[0].argmax(-1)
        right += np.bincount(answers, minlength=10).argmax() == labels.class_id
    assert right >= 18
