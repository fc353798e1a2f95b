"""What the temporal convolutions share: the polynomial basis, its scale, and resampling."""

import fractions
import math
import numbers
import warnings
from typing import Any, Self

import keras
import numpy as np
from keras import ops

from keras_pleiades._checks import check_channels, check_choice
from keras_pleiades.basis import box_basis, count_bins, jacobi_basis
from keras_pleiades.contraction import check_order, toeplitz
from keras_pleiades.initializers import Normal
from keras_pleiades.layers import torch_kernels, xla_kernels
from keras_pleiades.layers.carried_context import CarriedContext


class BaseTemporalConv(keras.layers.Layer):
    """Base of `PleiadesConv` and `DepthwisePleiadesConv`; not used on its own.

    A subclass says how coefficients are shaped and contracted. This class makes the basis,
    checks and stores the arguments, and knows how to resample.
    """

    def __init__(
        self,
        kernel_size: int = 10,
        degree: int | None = 4,
        alpha: float = -0.25,
        beta: float = -0.25,
        interval: tuple[float, float] = (-1.0, 1.0),
        padding: str = "valid",
        use_bias: bool = False,
        order: str = "auto",
        inputs: str = "level",
        bin_size: float = 1.0,
        kernel_initializer=None,
        kernel_regularizer=None,
        **kwargs: Any,
    ):
        super().__init__(**kwargs)
        self.kernel_size = _check_whole(kernel_size, "kernel_size", least=1)
        self.degree = degree if degree is None else _check_whole(degree, "degree", least=0)
        self.alpha, self.beta = float(alpha), float(beta)
        self.interval = tuple(map(float, interval))
        self.padding = check_choice(padding, ("valid", "causal"), "padding")
        self.use_bias = use_bias
        self.order = check_order(order)
        self.inputs = check_choice(inputs, ("level", "count"), "inputs")
        self.bin_size = _check_ratio(bin_size, "bin_size")
        self.kernel_initializer = keras.initializers.get(kernel_initializer or Normal(1.0))
        self.kernel_regularizer = keras.regularizers.get(kernel_regularizer)
        if self.degree is not None and self.degree >= self.kernel_size:
            warnings.warn(
                f"{type(self).__name__}: degree={degree} gives {degree + 1} coefficients for "
                f"kernel_size={kernel_size} taps, so some of them change nothing. Take a degree "
                "below kernel_size, or degree=None for free kernels.",
                stacklevel=3,
            )
        # (coefficients, bins), without the scale: also checks alpha, beta and interval.
        bins = self.kernel_size / self.bin_size
        self._unscaled_basis = (
            box_basis(self.kernel_size, bins)
            if self.degree is None
            else jacobi_basis(self.degree, bins, self.alpha, self.beta, self.interval)  # type: ignore[arg-type]
        )
        self.input_spec = keras.layers.InputSpec(ndim=5)

    @property
    def bins(self) -> int:
        """How many frames the kernel spans at the present bin size."""
        return count_bins(self.kernel_size / self.bin_size)

    @property
    def context_frames(self) -> int:
        """How many frames before the current one the layer looks at."""
        return self.bins - 1

    @property
    def kernel(self) -> np.ndarray:
        """The discretised kernel as it is applied, oldest tap first: `(bins, ...channels)`."""
        coefficients = ops.convert_to_numpy(self.coefficients)
        return np.tensordot(self._scaled_basis().T, coefficients, axes=1)

    def resample(self, ratio: float) -> Self:
        """Return a new layer with the same coefficients for another bin size.

        The continuous filter stays: the same signal, sampled at the new bin size, gets the same
        response (up to how well the bins resolve it).

        Args:
            ratio: New bin size over the present one: 0.5 for twice the bins. It need not divide
                the window.

        Example:
            >>> layer = keras.layers.deserialize(
            ...     {"class_name": "keras_pleiades>PleiadesConv", "config": {"filters": 8}}
            ... )
            >>> layer.bins, layer.resample(0.5).bins, layer.resample(0.7).bins
            (10, 20, 15)
        """
        # 0.7 and then 1 / 0.7 must give 1 exactly: the nearest simple fraction drops rounding.
        exact = fractions.Fraction(self.bin_size * _check_ratio(ratio, "ratio"))
        bin_size = float(exact.limit_denominator(10**7))
        layer = type(self).from_config({**self.get_config(), "bin_size": bin_size})
        if self.built:
            layer.build(self.get_build_config()["input_shape"])
            layer.set_weights(self.get_weights())
            layer.trainable = self.trainable
        return layer

    def build(self, input_shape):
        """Make the weights and the basis with its scale."""
        channels = check_channels(input_shape)
        frames = input_shape[1]
        if frames is not None:
            self._check_frames(frames)
        self.input_spec = keras.layers.InputSpec(ndim=5, axes={-1: channels})
        self.coefficients = self.add_weight(
            shape=(len(self._unscaled_basis), *self._kernel_shape(channels)),
            initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer,
            name="coefficients",
        )
        self.bias = None
        if self.use_bias:
            shape = self._kernel_shape(channels)[-1:]
            self.bias = self.add_weight(shape=shape, initializer="zeros", name="bias")
        self._build_input_shape = tuple(input_shape)
        self.built = True

    def call(self, inputs):
        """Convolve in time."""
        carried = CarriedContext.active()
        if carried is not None:
            outputs = carried.convolve(self, inputs)
        else:
            if self.padding == "causal":
                inputs = ops.pad(inputs, [(0, 0), (self.context_frames, 0), (0, 0), (0, 0), (0, 0)])
            elif inputs.shape[1] is not None:
                self._check_frames(inputs.shape[1])
            outputs = self.contract(inputs)
        return outputs if self.bias is None else outputs + self.bias

    def compute_output_shape(self, input_shape):
        """Return `(batch, time, height, width, filters)`; `"valid"` takes the context off."""
        batch, frames, height, width, channels = input_shape
        if frames is not None and self.padding == "valid":
            self._check_frames(frames)
            frames -= self.context_frames
        return (batch, frames, height, width, self._kernel_shape(channels)[-1])

    def save_own_variables(self, store):
        """Save the weights, and beside them which basis they belong to."""
        super().save_own_variables(store)
        store["basis"] = self._basis_identity()

    def load_own_variables(self, store):
        """Load the weights, unless they are coefficients of another basis."""
        keys = list(store.keys())
        if "basis" in keys:
            saved, own = np.asarray(store["basis"], "float64"), self._basis_identity()
            if not np.array_equal(saved, own):
                raise ValueError(
                    f"The file's coefficients of layer {self.name!r} belong to another basis: "
                    f"{_describe(saved)}; the layer has {_describe(own)}. Build the model with "
                    "the arguments of the file."
                )
        super().load_own_variables({key: store[key] for key in keys if key != "basis"})

    def get_config(self):
        """Return the constructor's arguments."""
        config = {
            "kernel_size": self.kernel_size,
            "degree": self.degree,
            "alpha": self.alpha,
            "beta": self.beta,
            "interval": list(self.interval),
            "padding": self.padding,
            "use_bias": self.use_bias,
            "order": self.order,
            "inputs": self.inputs,
            "bin_size": self.bin_size,
            "kernel_initializer": keras.initializers.serialize(self.kernel_initializer),
            "kernel_regularizer": keras.regularizers.serialize(self.kernel_regularizer),
        }
        return {**super().get_config(), **config}

    def _kernel_shape(self, channels: int) -> tuple[int, ...]:
        """Return the shape of one tap of the kernel; the last entry is the output channels."""
        raise NotImplementedError

    def contract(self, inputs):
        """Return `inputs` convolved in time, valid and without bias."""
        raise NotImplementedError

    def taps(self):
        """Return the kernel as it is applied, oldest tap first: a tensor `(bins, ...channels)`."""
        gamma = ops.cast(self.coefficients, self.compute_dtype)
        return ops.tensordot(ops.transpose(self._basis()), gamma, axes=1)

    def weigh(self, past, taps):
        """Return `past`, `(batch, height, width, s, channels)`, summed over s with weights."""
        raise NotImplementedError

    def _fan_in(self) -> int:
        """Return the input channels that meet in one output channel."""
        return math.prod(self.coefficients.shape[1:-1])

    def _scaled_basis(self) -> np.ndarray:
        # The authors' scale, with the kernel size of training, keeps the variance of white
        # inputs when coefficients have variance 1. A level is integrated: its weights are
        # proportional to the bin size. A count per bin already shrinks with it.
        scale = 1.0 if self.inputs == "count" else self.bin_size
        return self._unscaled_basis * (scale / math.sqrt(self._fan_in() * self.kernel_size))

    def _basis(self):
        """Return the basis with its scale as a tensor `(n, bins)`."""
        return ops.convert_to_tensor(self._scaled_basis(), self.compute_dtype)

    def _convolve(self, inputs, kernel):
        """Apply `kernel`, `(bins, channels, filters)`, by the backend's 2-D convolution.

        Time is its height and the pixels are its width, over which the kernel spans one.
        """
        if keras.backend.backend() == "torch":
            return torch_kernels.temporal_conv(inputs, kernel, inputs.shape[-1] // kernel.shape[1])
        batch, frames, height, width, channels = ops.shape(inputs)
        x = ops.reshape(inputs, (batch, frames, height * width, channels))
        x = xla_kernels.temporal_conv(x, kernel)
        return ops.reshape(x, (*ops.shape(x)[:2], height, width, x.shape[-1]))

    def _operator(self, block: int):
        """Return M for blocks of `block` frames: `(n, block + bins - 1, block)`."""
        return ops.convert_to_tensor(toeplitz(self._scaled_basis(), block), self.compute_dtype)

    def _check_frames(self, frames: int):
        if self.padding == "valid" and frames < self.bins:
            raise ValueError(
                f"{type(self).__name__} with padding='valid' spans {self.bins} frames and needs "
                f"at least as many. Received: {frames} frames. Give more frames, or use "
                "padding='causal', which puts zeros in front."
            )

    def _basis_identity(self) -> np.ndarray:
        degree = -1 if self.degree is None else self.degree
        return np.array([self.kernel_size, degree, self.alpha, self.beta, *self.interval])


def _describe(identity: np.ndarray) -> str:
    kernel_size, degree, alpha, beta, *interval = identity.tolist()
    degree = None if degree < 0 else int(degree)
    return f"{kernel_size=:.0f}, {degree=}, {alpha=}, {beta=}, interval={tuple(interval)}"


def _check_whole(value: int, name: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise ValueError(
            f"`{name}` must be a whole number, at least {least}. Received: {name}={value!r}"
        )
    return int(value)


def _check_ratio(value: float, name: str) -> float:
    if not (isinstance(value, numbers.Real) and math.isfinite(value) and value > 0):
        raise ValueError(
            f"`{name}` is new bin size over old and must be a positive, finite number. "
            f"Received: {name}={value!r}"
        )
    return float(value)
