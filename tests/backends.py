"""The few things that Keras leaves to the backend: gradients and compilation."""

import keras
import numpy as np
from keras import ops


def gradients(layer, x, dy):
    """Gradients of sum(layer(x) * dy) in x and in each trainable weight, as NumPy arrays."""
    x, dy = ops.convert_to_tensor(x), ops.convert_to_tensor(dy)
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        with tf.GradientTape() as tape:
            tape.watch(x)
            loss = ops.sum(layer(x) * dy)
        found = tape.gradient(loss, [x, *[v.value for v in layer.trainable_variables]])
    elif backend == "jax":
        import jax

        def loss(x, trainable):
            y, _ = layer.stateless_call(trainable, layer.non_trainable_variables, x)
            return ops.sum(y * dy)

        dx, dw = jax.grad(loss, argnums=(0, 1))(x, [v.value for v in layer.trainable_variables])
        found = [dx, *dw]
    else:
        import torch

        x = x.clone().requires_grad_()
        loss = ops.sum(layer(x) * dy)
        found = torch.autograd.grad(loss, [x, *[v.value for v in layer.trainable_variables]])
    return [ops.convert_to_numpy(g) for g in found]


def compiled(layer):
    """The layer under XLA; on torch, which has none, as it is."""
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        return tf.function(lambda x: layer(x), jit_compile=True)
    if backend == "jax":
        import jax

        return jax.jit(
            lambda x: layer.stateless_call(
                layer.trainable_variables, layer.non_trainable_variables, x
            )[0]
        )
    return layer


def to_numpy(x):
    return np.asarray(ops.convert_to_numpy(x))


def randomize(layer, seed=0):
    """Give every weight a value that shows: a norm's moving statistics start at 0 and 1."""
    rng = np.random.default_rng(seed)
    for weight in layer.weights:
        value = rng.normal(size=weight.shape) * 0.3 + to_numpy(weight)
        positive = weight.name in ("gamma", "moving_variance")
        weight.assign(abs(value) + 0.1 if positive else value)
    return layer


def graph(function):
    """The function as one graph on JAX, where calling single operations compiles each of them."""
    if keras.backend.backend() == "jax":
        import jax

        return jax.jit(function)
    return function


def compiled_gradient(function, x):
    """Value and gradient of a scalar function of one tensor, as a float and a float32 array."""
    backend = keras.backend.backend()
    if backend == "tensorflow":
        import tensorflow as tf

        @tf.function(jit_compile=True)
        def both(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                value = function(x)
            return value, tape.gradient(value, x)

        value, gradient = both(x)
    elif backend == "jax":
        import jax

        value, gradient = jax.jit(jax.value_and_grad(function))(x)
    else:
        x = x.clone().requires_grad_()
        value = function(x)
        value.backward()
        value, gradient = value.detach(), x.grad
    return float(ops.cast(value, "float32")), to_numpy(ops.cast(gradient, "float32"))
