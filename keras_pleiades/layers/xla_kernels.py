"""Convolutions whose gradients XLA does well on the CPU.

Its convolution is fast where it slides a small kernel over a large picture one pixel at a time.
The gradients that it derives by itself are not of this kind: that in the inputs of a strided
convolution slides over a picture full of zeros, that in the kernel has a window as large as the
picture. Here each is written as what is fast: a convolution of stride 1, or a matrix product.
"""

import functools

import keras
from keras import ops

from keras_pleiades.layers.time_blocks import to_blocks


def conv2d(x, kernel, strides: int = 1, padding: int = 0):
    """Convolve frames `(frames, height, width, c)` with `kernel`, `(height, width, c, d)`."""

    @ops.custom_gradient
    def convolve(x, kernel):
        def gradient(*arguments, upstream=None):
            dy = _upstream(arguments, upstream)
            dx = _input_gradient(dy, kernel, strides, padding, ops.shape(x)[1:3])
            return dx, _kernel_gradient(dy, x, ops.shape(kernel)[:2], strides, padding)

        return _conv(_pad(x, padding), kernel, strides), gradient

    return convolve(x, kernel)


def temporal_conv(x, kernel):
    """Convolve `(batch, time, pixels, c)` in time with `kernel`, `(time, c, d)`."""

    @ops.custom_gradient
    def convolve(x, kernel):
        def gradient(*arguments, upstream=None):
            dy = _upstream(arguments, upstream)
            bins = kernel.shape[0]
            flipped = ops.transpose(ops.flip(kernel, axis=0), (0, 2, 1))[:, None]
            dx = _conv(ops.pad(dy, [(0, 0), (bins - 1, bins - 1), (0, 0), (0, 0)]), flipped)
            return dx, _temporal_kernel_gradient(dy, x, bins)

        return _conv(x, kernel[:, None]), gradient

    return convolve(x, kernel)


def depthwise_temporal_conv(x, kernel):
    """Convolve each channel of `(batch, time, ..., c)` in time with `kernel`, `(time, c)`.

    XLA makes one loop of a sum of shifted frames, many times faster than its grouped convolution.
    """

    @ops.custom_gradient
    def convolve(x, kernel):
        bins = kernel.shape[0]

        def gradient(*arguments, upstream=None):
            dy = _upstream(arguments, upstream)
            padded = ops.pad(dy, [(0, 0), (bins - 1, bins - 1), *[(0, 0)] * (len(dy.shape) - 2)])
            dx = _sum_of_shifted(padded, ops.flip(kernel, axis=0))
            frames = ops.shape(dy)[1]
            axes = tuple(range(len(dy.shape) - 1))
            taps = [ops.sum(x[:, i : i + frames] * dy, axis=axes) for i in range(bins)]
            return dx, ops.stack(taps)

        return _sum_of_shifted(x, kernel), gradient

    return convolve(x, kernel)


def compute_once(function, *arguments, count):
    """Return `function(*arguments)`, computed once however often it is read.

    XLA on the CPU puts a sum of products into each of the loops that read it: the norm after a
    temporal convolution reads it three times, and would sum a ring of frames three times. It does
    not look into the branches of a condition that it cannot decide, such as `count >= 0`.

    Args:
        function: Makes a tensor of tensors.
        *arguments: The tensors.
        count: An integer tensor, at least 0, that the compiler does not know.
    """
    if keras.backend.backend() == "torch":
        return function(*arguments)
    return ops.cond(
        count >= 0,
        lambda: function(*arguments),
        lambda: ops.zeros_like(function(*arguments)),
    )


def _sum_of_shifted(x, kernel):
    bins = kernel.shape[0]
    frames = ops.shape(x)[1] - bins + 1
    return sum(x[:, i : i + frames] * kernel[i] for i in range(bins))


def _conv(x, kernel, strides=1, dilation_rate=1):
    # Named, so that a user's image_data_format setting does not change the network.
    layout = {"data_format": "channels_last", "dilation_rate": dilation_rate}
    return ops.conv(x, kernel, strides, "valid", **layout)


def _pad(x, padding):
    return ops.pad(x, [(0, 0), (padding, padding), (padding, padding), (0, 0)])


def _upstream(arguments, upstream):
    """Return the gradient from above: backends differ in how they pass it."""
    return arguments[0] if upstream is None else upstream


def _input_gradient(dy, kernel, strides, padding, size):
    """Return the gradient in the inputs, of `size`.

    Row `s h + i` of the padded input meets row `h` of the output through tap `i`. So the rows
    `s u + a` of one phase `a` are a convolution of stride 1 with the taps `a + s m`. All phases
    are computed at once, as channels, and then laid side by side.
    """
    height, width, channels, filters = kernel.shape
    taps = [-(-n // strides) for n in (height, width)]  # m of each phase
    fill = [(0, m * strides - n) for m, n in zip(taps, (height, width), strict=True)]
    phases = ops.pad(kernel, [*fill, (0, 0), (0, 0)])
    phases = ops.reshape(phases, (taps[0], strides, taps[1], strides, channels, filters))
    phases = ops.flip(ops.transpose(phases, (0, 2, 5, 1, 3, 4)), axis=(0, 1))
    phases = ops.reshape(phases, (*taps, filters, strides * strides * channels))
    dy = ops.pad(dy, [(0, 0), *((m - 1, m - 1) for m in taps), (0, 0)])
    dx = _conv(dy, phases)
    frames, rows, columns, _ = ops.shape(dx)
    dx = ops.reshape(dx, (frames, rows, columns, strides, strides, channels))
    dx = ops.transpose(dx, (0, 1, 3, 2, 4, 5))
    dx = ops.reshape(dx, (frames, rows * strides, columns * strides, channels))
    # At the far end a stride may have left rows that no output looks at.
    dx = ops.pad(dx, [(0, 0), (0, strides), (0, strides), (0, 0)])
    return dx[:, padding : padding + size[0], padding : padding + size[1]]


def _kernel_gradient(dy, x, size, strides, padding):
    """Return the gradient in the kernel, of `size`: frames are summed as channels usually are."""
    reach = [(n - 1) * strides + k for n, k in zip(ops.shape(dy)[1:3], size, strict=True)]
    if keras.backend.backend() == "jax":
        # JAX can name the axes and pad by the way; written out, XLA would copy the tensors.
        import jax

        conv = functools.partial(
            jax.lax.conv_general_dilated,
            window_strides=(1, 1),
            padding=[(padding, r - n - padding) for r, n in zip(reach, x.shape[1:3], strict=True)],
            rhs_dilation=(strides, strides),
            dimension_numbers=("CHWN", "IHWO", "HWNC"),
        )
        # Few frames at a time, which stay in the cache: measured six times faster for the second
        # layer of the gesture network, with a batch of eight.
        frames = x.shape[0]
        part = max(16, -(-frames // 32))
        return sum(conv(x[i : i + part], dy[i : i + part]) for i in range(0, frames, part))
    x = _pad(x, padding)[:, : reach[0], : reach[1]]
    x, dy = ops.transpose(x, (3, 1, 2, 0)), ops.transpose(dy, (1, 2, 0, 3))
    product = _conv(x, dy, dilation_rate=strides)  # (c, height, width, d)
    return ops.transpose(product, (1, 2, 0, 3))


def _temporal_kernel_gradient(dy, x, bins):
    """Return the gradient in the kernel: that of one product with a Toeplitz matrix in blocks."""
    blocks, block, total = to_blocks(x, bins)
    batch, count, _, pixels, _ = ops.shape(blocks)
    dy = ops.pad(dy, [(0, 0), (0, count * block - total), (0, 0), (0, 0)])
    dy = ops.reshape(dy, (batch, count, block, pixels, dy.shape[-1]))
    product = ops.einsum("bgspc,bgjpd->scjd", blocks, dy)
    return sum(product[j : j + bins, :, j] for j in range(block))
