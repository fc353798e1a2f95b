"""Calls into torch for what `keras.ops` cannot say there, each several times faster than with it.

`keras.ops.conv` has no padding of one on each side at stride 2, so that padding costs a copy of the
tensor, and it has no group normalization at all: written with `keras.ops`, torch makes a fresh
tensor of each of its ten steps. Only the torch backend comes here.
"""

import functools
import math

import numpy as np

# Pixels of a slice of rows in the temporal convolution: its gradient then works in the cache.
_SLICE = 256
# Numbers of a slice of frames in the norm.
_CACHED = 2**20


def conv2d(x, kernel, strides: int = 1, padding: int = 0, groups: int = 1):
    """Convolve frames `(frames, height, width, c)` with `kernel`, `(height, width, c / groups, d)`.

    Torch sees the same memory as `(frames, c, height, width)` in its channels-last format.
    """
    from torch.nn.functional import conv2d

    x = conv2d(
        x.permute(0, 3, 1, 2),
        kernel.permute(3, 2, 0, 1),
        stride=strides,
        padding=padding,
        groups=groups,
    )
    return x.permute(0, 2, 3, 1)


def temporal_conv(x, kernel, groups: int = 1):
    """Convolve `(batch, time, height, width, c)` in time with `kernel`, `(time, c / groups, d)`."""
    import torch

    batch, _, _, width, channels = x.shape
    # Two channels are little work, and the forward pass alone gains nothing.
    sliced = channels >= 8 and torch.is_grad_enabled()
    rows = max(1, _SLICE // width) if sliced else x.shape[2]
    slices = []
    for part in x.split(rows, dim=2):
        y = conv2d(part.reshape(batch, x.shape[1], -1, channels), kernel[:, None], groups=groups)
        slices.append(y.reshape(batch, -1, part.shape[2], width, kernel.shape[-1]))
    return slices[0] if len(slices) == 1 else torch.cat(slices, dim=2)


def group_norm(x, gamma, beta, groups: int, epsilon: float, relu: bool = False):
    """Normalize frames `(batch, time, height, width, c)`, each by itself, in groups of channels.

    The ReLU that often follows is taken while the frame is still in the cache.
    """
    import torch

    frames = x.reshape(-1, x.shape[2] * x.shape[3], x.shape[4])  # (frames, pixels, c)
    if torch.is_grad_enabled():
        frames = _group_norm().apply(frames, gamma, beta, groups, epsilon, relu)
    else:
        frames, _, _ = _normalize(frames, gamma, beta, groups, epsilon, relu)
    return frames.reshape(x.shape)


def _normalize(x, gamma, beta, groups, epsilon, relu):
    """Return normalized frames, and mean and 1 / deviation at each place of a row, by groups.

    Torch's own group normalization adds pixels one by one when channels come last, and loses
    four digits of a frame without events. Here whole rows are added up first, and all passes over
    a slice of frames follow each other while it is in the cache.
    """
    import torch

    frames, pixels, channels = x.shape
    # Neighbouring pixels side by side: torch's inner loops are as long as the last axis.
    beside = math.gcd(pixels, max(1, 64 // channels))
    average = torch.from_numpy(_average(pixels, channels, groups, beside)).to(x.device, x.dtype)
    if beside > 1:
        gamma, beta = gamma.repeat(beside), beta.repeat(beside)
    size = max(1, _CACHED // (pixels * channels))
    if frames == 1:
        # Online: nothing in place, so that a written-down step can be sorted by what depends on
        # what, and as few calls as can be.
        rows = x.reshape(-1, len(average))
        mean = rows.sum(0, keepdim=True) @ average
        rows = rows - mean
        least = torch.full((1,), epsilon, dtype=x.dtype, device=x.device)
        squares = (rows * rows).sum(0, keepdim=True)
        scale = torch.rsqrt(torch.addmm(least, squares, average))
        rows = torch.addcmul(beta, rows, scale * gamma)
        rows = torch.relu(rows) if relu else rows
        return rows.reshape(x.shape), mean, scale
    y = torch.empty(x.shape, dtype=x.dtype, device=x.device)  # contiguous, so that views reach it
    means, scales = [], []
    parts = (z.reshape(frames, -1, len(average)).split(size) for z in (x, y))
    for part, out in zip(*parts, strict=True):
        mean = part.sum(1) @ average
        torch.sub(part, mean[:, None], out=out)
        scale = ((out * out).sum(1) @ average).add_(epsilon).rsqrt_()
        torch.addcmul(beta, out, (scale * gamma)[:, None], out=out)
        if relu:
            out.clamp_(min=0)
        means.append(mean)
        scales.append(scale)
    if frames <= size:
        return y, means[0], scales[0]
    return y, torch.cat(means), torch.cat(scales)


@functools.cache
def _average(pixels, channels, groups, beside) -> np.ndarray:
    """Return the matrix that turns sums over rows into the means of groups, at each place of a row.

    One small product for all frames, in place of a reshape, a mean and an expansion each way.
    """
    group = np.arange(beside * channels) % channels // (channels // groups)
    return (group[:, None] == group) / (pixels * channels // groups)


@functools.cache
def _group_norm():
    """Return the differentiable form: our forward pass, torch's backward pass."""
    import torch

    class GroupNorm(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, gamma, beta, groups, epsilon, relu):
            y, mean, scale = _normalize(x, gamma, beta, groups, epsilon, relu)
            one_of_each = slice(0, x.shape[2], x.shape[2] // groups)
            mean, scale = mean[:, one_of_each].contiguous(), scale[:, one_of_each].contiguous()
            ctx.save_for_backward(x, gamma, mean, scale, y if relu else None)
            ctx.groups = groups
            return y

        @staticmethod
        def backward(ctx, dy):
            x, gamma, mean, scale, y = ctx.saved_tensors
            if y is not None:
                dy = torch.ops.aten.threshold_backward(dy, y, 0)
            frames, pixels, channels = x.shape
            dy, x = (z.reshape(frames, pixels, 1, channels).permute(0, 3, 1, 2) for z in (dy, x))
            if channels < 16:
                # With so few of them last, torch would leave most of a vector empty.
                dy, x = dy.contiguous(), x.contiguous()
            dx, dgamma, dbeta = torch.ops.aten.native_group_norm_backward(
                dy, x, mean, scale, gamma, frames, channels, pixels, ctx.groups, [True] * 3
            )
            dx = dx.permute(0, 2, 3, 1).reshape(frames, pixels, channels)
            return dx, dgamma, dbeta, None, None, None

    return GroupNorm
