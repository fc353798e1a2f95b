"""Times causal GroupNorm + ReLU, compiled, on one backend, and a copy of the same tensor.

KERAS_BACKEND=jax python -m benchmarks.norm
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

    run = torch.compile(function)

    def step(x):
        with torch.no_grad():
            return run(x)

    return step


def main() -> None:
    for shape in SHAPES:
        layer = kp.layers.CausalGroupNormalization()
        layer.build(shape)
        values = np.random.default_rng(0).normal(size=shape).astype("float32")
        x = ops.convert_to_tensor(values)
        target = np.empty_like(values)
        step = compiled(lambda x, layer=layer: ops.relu(layer(x)))
        norm = seconds(functools.partial(step, x), repeats=9, warm_up=2)
        copy = seconds(functools.partial(np.copyto, target, values), repeats=9)
        print(json.dumps({"shape": shape, "norm": norm["best"], "copy": copy["best"]}), flush=True)


if __name__ == "__main__":
    main()
