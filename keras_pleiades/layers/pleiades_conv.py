"""A temporal convolution whose kernels are sums of orthogonal polynomials."""

import keras
from keras import ops

from keras_pleiades.contraction import Plan, plan
from keras_pleiades.layers.base_temporal_conv import BaseTemporalConv
from keras_pleiades.layers.time_blocks import from_blocks, to_blocks


@keras.saving.register_keras_serializable(package="keras_pleiades")
class PleiadesConv(BaseTemporalConv):
    r"""Convolves in time with kernels that are sums of Jacobi polynomials.

    $$k_{cd}(\tau) = \frac{1}{\sqrt{C K}} \sum_{n=0}^{N} \gamma_{cdn} P_n(\tau)$$

    The coefficients $\gamma$ are the weights; the polynomials are averaged over each time bin
    and never saved. So the bin size can be changed after training: see `resample`. The kernel
    acts on every pixel by itself and mixes channels.

    Args:
        filters: Output channels.
        kernel_size: Frames that the kernel spans at the bin size of training.
        degree: Highest polynomial degree. `None` gives free kernels, one weight a tap: the
            paper's baseline.
        alpha: First Jacobi parameter.
        beta: Second Jacobi parameter.
        interval: The part of the polynomials' axis that the kernel covers, oldest frame first.
        padding: `"valid"` removes the `kernel_size - 1` oldest frames; `"causal"` puts as many
            zeros in front and keeps the length.
        use_bias: Whether to add a bias to each output channel.
        order: Order of contraction: `"auto"` (the fastest, as measured), `"memory"`,
            `"coefficients_first"`, `"basis_first"` or `"kernel_first"`. See
            `keras_pleiades.contraction`.
        inputs: `"level"` for features and images, `"count"` for events counted per bin. It
            decides how the kernel scales with the bin size.
        **kwargs: `bin_size`, the present bin size over that of training, which `resample` sets;
            `kernel_initializer` of the coefficients, by default a normal distribution of variance
            1, which about keeps the variance of white inputs; `kernel_regularizer` of the
            coefficients; `name`, `dtype` and so on, as in every Keras layer.

    Call arguments:
        inputs: A tensor `(batch, time, height, width, channels)`.

    Output shape:
        `(batch, time - kernel_size + 1, height, width, filters)`, or all of `time` with
        `padding="causal"`.

    Example:
        >>> import keras_pleiades as kp
        >>> layer = kp.layers.PleiadesConv(filters=8, kernel_size=10)
        >>> frames = keras.random.normal((1, 30, 16, 16, 2))
        >>> tuple(layer(frames).shape)  # 30 - 10 + 1 frames
        (1, 21, 16, 16, 8)
        >>> tuple(layer.coefficients.shape)
        (5, 2, 8)
        >>> layer.resample(0.5).bins  # for frames of half the bin size
        20
    """

    def __init__(
        self,
        filters: int,
        kernel_size: int = 10,
        degree: int | None = 4,
        alpha: float = -0.25,
        beta: float = -0.25,
        interval: tuple[float, float] = (-1.0, 1.0),
        padding: str = "valid",
        use_bias: bool = False,
        order: str = "auto",
        inputs: str = "level",
        **kwargs,
    ):
        super().__init__(
            kernel_size, degree, alpha, beta, interval, padding, use_bias, order, inputs, **kwargs
        )
        if not filters >= 1:
            raise ValueError(f"`filters` must be at least 1. Received: filters={filters!r}")
        self.filters = int(filters)

    def get_config(self):
        """Return the constructor's arguments."""
        return {**super().get_config(), "filters": self.filters}

    def _kernel_shape(self, channels):
        return (channels, self.filters)

    def weigh(self, past, taps):
        """Return each pixel's past, side by side in memory, times `taps`, `(s, c, d)`."""
        batch, height, width, size, channels = past.shape
        past = ops.reshape(past, (batch, height, width, size * channels))
        return ops.matmul(past, ops.reshape(taps, (size * channels, self.filters)))

    def contract(self, inputs):
        """Contract inputs, coefficients and basis in the chosen order."""
        gamma = ops.cast(self.coefficients, self.compute_dtype)  # (n, c, d)
        order = self.order_for(inputs.shape)
        if order == "kernel_first" and _prefers_primitive(inputs.shape[-1]):
            return self._convolve(inputs, self.taps())
        if order == "coefficients_first":
            # n comes before the pixels, so that (s, n) and (h, w, d) each lie side by side in
            # memory and the second step is one matrix product.
            expanded = ops.einsum("bthwc,ncd->btnhwd", inputs, gamma)
            blocks, block, total = to_blocks(expanded, self.bins)
            outputs = ops.einsum("bgsnhwd,nsj->bgjhwd", blocks, self._operator(block))
        else:
            blocks, block, total = to_blocks(inputs, self.bins)
            operator = self._operator(block)
            if order == "basis_first":
                projected = ops.einsum("bgshwc,nsj->bgjhwnc", blocks, operator)
                outputs = ops.einsum("bgjhwnc,ncd->bgjhwd", projected, gamma)
            else:
                kernel = ops.einsum("nsj,ncd->scjd", operator, gamma)
                outputs = ops.einsum("bgshwc,scjd->bgjhwd", blocks, kernel)
        return from_blocks(outputs, total)

    def order_for(self, input_shape: tuple[int | None, ...]) -> str:
        """Return the order of contraction that inputs of this shape get.

        Example:
            >>> PleiadesConv(8, order="memory").order_for((1, 30, 16, 16, 2))
            'kernel_first'
        """
        # Sizes that are free count as large: making the kernel once does not weigh then.
        _, frames, height, width, channels = (size or 100 for size in input_shape)
        costs = plan(
            channels, self.filters, self.bins, len(self._unscaled_basis) - 1, frames, height, width
        )
        if self.order == "auto":
            return _fastest(costs, channels, self.filters)
        return costs.choose(self.order).name


def _prefers_primitive(channels: int) -> bool:
    """Whether the backend's convolution beats the product with a Toeplitz matrix.

    By measurement on the gesture network's two full layers: on torch always; under XLA not with
    two channels but with sixteen.
    """
    return keras.backend.backend() == "torch" or channels >= 8


# On JAX intermediates of more numbers than this cost more than they save.
_FITS_CACHE = 16_000_000


def _fastest(costs: Plan, channels: int, filters: int) -> str:
    """Return the order measured to be fastest for layers like this one.

    Multiply-adds alone do not tell: kernel first is one call of a fast primitive, the others pass
    an intermediate through memory. On torch and TensorFlow that was never faster; on JAX the
    count decides as long as the intermediate is small (`python -m benchmarks.orders`).
    """
    if keras.backend.backend() != "jax":
        return "kernel_first"
    candidates = {order.name: order for order in costs.orders}
    if filters * 16 <= channels:
        return "coefficients_first"
    if filters * 4 > channels:
        del candidates["coefficients_first"]
    small = [o for o in candidates.values() if o.memory < _FITS_CACHE]
    return min(small, key=lambda o: o.multiply_adds).name if small else "kernel_first"
