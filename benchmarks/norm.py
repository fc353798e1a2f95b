"""Times causal GroupNorm + ReLU on one backend, compiled as the package compiles it.

KERAS_BACKEND=jax python -m benchmarks.norm

Beside it: `copy`, of the same tensor into memory that is already there, and `one_pass`, the least
that any layer costs which gives a new tensor: relu(2 x + 1), compiled. torch runs uncompiled, as in
the package: see `layers/torch_kernels.py`.
"""

import functools
import json

import keras
import numpy as np
from keras import ops

import keras_pleiades as kp
from benchmarks.measure import seconds

# The two largest tensors that a norm of the gesture network sees, for 150 frames.
SHAPES = [(1, 141, 128, 128, 8), (1, 132, 64, 64, 32)]


def compiled(function):
    """Return the function compiled as the backend does, and waiting for its result."""
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        return tf.function(function, jit_compile=True)
    if backend == "jax":
        import jax

        run = jax.jit(function)
        return lambda x: run(x).block_until_ready()
    import torch

    return torch.no_grad()(function)


def main() -> None:
    for shape in SHAPES:
        layer = kp.layers.CausalGroupNormalization(activation="relu")
        layer.build(shape)
        values = np.random.default_rng(0).normal(size=shape).astype("float32")
        x = ops.convert_to_tensor(values)
        target = np.empty_like(values)
        measured = {
            "norm": functools.partial(compiled(layer), x),
            "one_pass": functools.partial(compiled(lambda x: ops.relu(2 * x + 1)), x),
            "copy": functools.partial(np.copyto, target, values),
        }
        row = {k: seconds(v, repeats=9, warm_up=2)["best"] for k, v in measured.items()}
        ratios = {f"norm / {k}": row["norm"] / row[k] for k in ("one_pass", "copy")}
        print(json.dumps({"shape": shape, **row, **ratios}), flush=True)


if __name__ == "__main__":
    main()
