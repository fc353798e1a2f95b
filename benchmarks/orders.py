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
    parser.add_argument("--repeats", type=int, default=30)
    arguments = parser.parse_args()
    for channels, filters, size, frames in GRID:
        row = {"channels": channels, "filters": filters, "size": size, "frames": frames}
        x = np.random.default_rng(0).normal(size=(1, frames, size, size, channels))
        x = keras.ops.convert_to_tensor(x.astype("float32"))
        orders = kp.contraction.ORDERS
        steps = {order: functools.partial(_model(order, filters, x), x) for order in orders}
        for step in steps.values():
            seconds(step, repeats=1)
        # In turns, so that a machine that slows down for a while slows all of them.
        rounds = [
            {order: seconds(step, 1)["best"] for order, step in steps.items()}
            for _ in range(arguments.repeats)
        ]
        row |= {order: min(one[order] for one in rounds) for order in orders}
        # "auto" is the program of the order that it takes: there is nothing else to time.
        row["auto"] = kp.layers.PleiadesConv(filters).order_for(x.shape)
        row["ratio"] = row[row["auto"]] / min(row[order] for order in orders)
        print(json.dumps(row), flush=True)


def _model(order, filters, x):
    """Return a model of one layer, as a function of a batch."""
    inputs = keras.Input(x.shape[1:])
    return keras.Model(
        inputs, kp.layers.PleiadesConv(filters, order=order)(inputs)
    ).predict_on_batch


if __name__ == "__main__":
    main()
