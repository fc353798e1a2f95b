"""Times the three orders of contraction over a grid of layer shapes, on one backend.

KERAS_BACKEND=jax python -m benchmarks.orders
"""

import argparse
import functools
import json

import keras
import numpy as np

import keras_pleiades as kp
from benchmarks.measure import seconds

# channels, filters, height and width, frames
GRID = [
    (2, 8, 128, 41),
    (2, 16, 64, 41),
    (8, 32, 32, 41),
    (16, 32, 64, 41),
    (32, 64, 32, 41),
    (64, 64, 16, 41),
    (64, 16, 16, 41),
    (128, 8, 16, 41),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=7)
    arguments = parser.parse_args()
    for channels, filters, size, frames in GRID:
        row = {"channels": channels, "filters": filters, "size": size, "frames": frames}
        x = np.random.default_rng(0).normal(size=(1, frames, size, size, channels))
        x = keras.ops.convert_to_tensor(x.astype("float32"))
        for order in (*kp.contraction.ORDERS, "auto"):
            inputs = keras.Input((frames, size, size, channels))
            model = keras.Model(inputs, kp.layers.PleiadesConv(filters, order=order)(inputs))
            step = functools.partial(model.predict_on_batch, x)
            times = seconds(step, arguments.repeats, warm_up=2)
            row[order] = times["best"]
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
