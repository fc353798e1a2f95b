"""A short recording, and weights of small networks that fit it."""

import numpy as np
import pytest

import keras_pleiades as kp

SENSOR, FRAME = (24, 32), (16, 16)


@pytest.fixture(scope="session")
def recording(tmp_path_factory):
    """0.2 s of events; the file does not say the sensor's size."""
    rng = np.random.default_rng(0)
    t = np.sort(rng.integers(5_000_000, 5_200_000, 4000))
    t[0] = 5_000_000
    events = kp.events.make_events(
        t, x=rng.integers(0, SENSOR[1], t.size), y=rng.integers(0, SENSOR[0], t.size), p=t % 2
    )
    path = tmp_path_factory.mktemp("recording") / "short.npz"
    kp.events.write(path, events)
    return str(path)


@pytest.fixture(scope="session")
def weights(tmp_path_factory):
    """A gesture network of three classes, which is not what the zoo makes by default."""
    path = tmp_path_factory.mktemp("weights") / "three.weights.h5"
    kp.zoo.gesture(3, input_shape=(None, *FRAME, 2)).save_weights(path)
    return str(path)


@pytest.fixture
def gesture(recording, weights):
    """The arguments that predict on the recording."""
    options = ["--model", "gesture", "--weights", weights, "--size", "16x16"]
    return ["predict", recording, *options, "--sensor", "24x32"]
