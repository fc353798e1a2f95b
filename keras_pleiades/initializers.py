"""Initial weights, the same on every backend."""

import math
import random

import keras
import numpy as np
from keras import ops


@keras.saving.register_keras_serializable(package="keras_pleiades")
class Normal(keras.initializers.Initializer):
    """Draws weights from a normal distribution, with NumPy.

    Keras' own initializers draw with the backend, so that networks start differently on each, and
    JAX compiles a program for every shape: ten seconds for the detector. This one starts a network
    alike everywhere after `keras.utils.set_random_seed`, at once.

    Args:
        stddev: Standard deviation. `None` is He's, `sqrt(2 / fan_in)`, with the fan-in of a dense
            or convolution kernel: the product of all sizes but the last.
        seed: An integer. `None` takes one from Python's `random`, as Keras does.

    Example:
        >>> weights = Normal(stddev=1.0, seed=0)((2, 3))
        >>> tuple(weights.shape)
        (2, 3)
    """

    def __init__(self, stddev: float | None = None, seed: int | None = None):
        self.stddev = stddev
        self.seed = random.randint(1, 10**9) if seed is None else seed

    def __call__(self, shape, dtype=None):
        """Return a tensor of the shape; the same one each time."""
        stddev = self.stddev
        if stddev is None:
            stddev = math.sqrt(2.0 / math.prod(shape[:-1]))
        values = np.random.default_rng(self.seed).normal(0.0, stddev, shape)
        return ops.convert_to_tensor(values, dtype or keras.config.floatx())

    def get_config(self):
        """Return the constructor's arguments."""
        return {"stddev": self.stddev, "seed": self.seed}
