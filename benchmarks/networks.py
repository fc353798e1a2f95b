"""Times one network on one backend: run by `python -m benchmarks`, in a process of its own.

KERAS_BACKEND=jax python -m benchmarks.networks gesture forward --frames 150
"""

import argparse
import json

import keras
import numpy as np

import keras_pleiades as kp
from benchmarks.measure import peak_megabytes, reset_peak, seconds
from keras_pleiades.cost import multiply_adds


def clip(model, batch: int, frames: int) -> np.ndarray:
    """Return event counts: one pixel in twenty sees an event in a bin."""
    rng = np.random.default_rng(0)
    return rng.poisson(0.05, (batch, frames, *model.input_shape[2:])).astype("float32")


def forward(model, x):
    return lambda: model.predict_on_batch(x)


def train(model, x):
    shape = model.compute_output_shape(x.shape)
    if len(shape) == 3:
        loss = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        y = np.zeros(shape[:2], "int32")
    else:
        loss, y = "mean_squared_error", np.zeros(shape, "float32")
    model.compile(optimizer=keras.optimizers.AdamW(1e-3, weight_decay=1e-3), loss=loss)
    return lambda: model.train_on_batch(x, y)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=kp.zoo.list_models())
    parser.add_argument("what", choices=["forward", "train"])
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--frames", type=int, required=True)
    parser.add_argument("--repeats", type=int, default=5)
    arguments = parser.parse_args()
    model = getattr(kp.zoo, arguments.name)()
    x = clip(model, arguments.batch, arguments.frames)
    reset_peak()
    before = peak_megabytes()
    run = {"forward": forward, "train": train}[arguments.what](model, x)
    times = seconds(run, arguments.repeats, warm_up=2)
    macs = multiply_adds(model) * arguments.batch * arguments.frames
    peak = peak_megabytes()
    print(json.dumps({**times, "peak_mb": peak, "used_mb": peak - before, "multiply_adds": macs}))


if __name__ == "__main__":
    main()
