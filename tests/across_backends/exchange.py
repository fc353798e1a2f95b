"""Saves or loads the networks on one backend; `test_exchange.py` runs it on each.

python -m tests.across_backends.exchange save|load FOLDER
"""

import pathlib
import sys

import keras
import numpy as np

import keras_pleiades as kp
from tests.backends import randomize

SHAPE = (None, 32, 32, 2)


def networks():
    yield kp.zoo.gesture(input_shape=SHAPE)
    yield kp.zoo.gesture(input_shape=SHAPE, name="gesture_resampled").resample(7_000)
    yield kp.zoo.gesture(input_shape=SHAPE, degree=None, name="gesture_free")
    yield kp.zoo.eye_tracking(input_shape=SHAPE)
    yield kp.zoo.detector(input_shape=SHAPE)


def clip(model):
    shape = (1, model.context_frames + 2, *SHAPE[1:])
    return np.random.default_rng(0).poisson(0.5, shape).astype("float32")


def save(folder):
    for seed, model in enumerate(networks()):
        randomize(model, seed)
        model.save(folder / f"{model.name}.keras")
        model.save_weights(folder / f"{model.name}.weights.h5")
        np.save(folder / f"{model.name}.npy", model.predict(clip(model), verbose=0))


def load(folder):
    compared = 0
    for model in networks():
        for origin in sorted(path for path in folder.iterdir() if path.is_dir()):
            expected = np.load(origin / f"{model.name}.npy")
            model.load_weights(origin / f"{model.name}.weights.h5")
            whole = keras.saving.load_model(origin / f"{model.name}.keras")
            assert whole.dt == model.dt
            for form, some in (("weights", model), ("whole", whole)):
                error = abs(some.predict(clip(model), verbose=0) - expected).max()
                scale = max(1.0, abs(expected).max())
                print(f"{model.name} {form} from {origin.name}: {error:.1e} of {scale:.1e}")
                assert error < 1e-4 * scale
                compared += 1
    print(f"compared {compared}")


if __name__ == "__main__":
    {"save": save, "load": load}[sys.argv[1]](pathlib.Path(sys.argv[2]))
