"""A temporal convolution whose kernels are sums of orthogonal polynomials."""

import keras
from keras import ops

from keras_pleiades.contraction import plan
from keras_pleiades.layers.base_temporal_conv import BaseTemporalConv


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
        order: Order of contraction: `"auto"` (least work), `"memory"`, `"coefficients_first"`,
            `"basis_first"` or `"kernel_first"`. See `keras_pleiades.contraction`.
        inputs: `"level"` for features and images, `"count"` for events counted per bin. It
            decides how the kernel scales with the bin size.
        bin_size: Present bin size over that of training; `resample` sets it.
        kernel_initializer: Initializer of the coefficients. `None`, a normal distribution of
            variance 1, about keeps the variance of white inputs.
        kernel_regularizer: Regularizer of the coefficients.
        **kwargs: `name`, `dtype` and so on, as in every Keras layer.

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

    def _contract(self, inputs):
        gamma = ops.cast(self.coefficients, self.compute_dtype)  # (n, c, d)
        order = self._choose_order(inputs.shape)
        if order == "coefficients_first":
            expanded = ops.einsum("bthwc,ncd->bthwnd", inputs, gamma)
            blocks, block, total = self._blocks(expanded)
            outputs = ops.einsum("bgshwnd,nsj->bgjhwd", blocks, self._operator(block))
        else:
            blocks, block, total = self._blocks(inputs)
            operator = self._operator(block)
            if order == "basis_first":
                projected = ops.einsum("bgshwc,nsj->bgjhwnc", blocks, operator)
                outputs = ops.einsum("bgjhwnc,ncd->bgjhwd", projected, gamma)
            else:
                kernel = ops.einsum("nsj,ncd->scjd", operator, gamma)
                outputs = ops.einsum("bgshwc,scjd->bgjhwd", blocks, kernel)
        return self._join(outputs, total)

    def _choose_order(self, input_shape) -> str:
        # Sizes that are free count as large: making the kernel once does not weigh then.
        _, frames, height, width, channels = (size or 100 for size in input_shape)
        costs = plan(
            channels, self.filters, self.bins, len(self._unscaled_basis) - 1, frames, height, width
        )
        return costs.choose(self.order).name
