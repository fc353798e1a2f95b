"""Cuts time into overlapping blocks, so that a convolution is one matrix product."""

from keras import ops


def to_blocks(inputs, bins: int):
    """Return blocks of time, each with all that its output frames look at.

    The Toeplitz operator of a whole clip is nearly all zeros. Over blocks about as long as the
    kernel it is a small dense matrix.

    Args:
        inputs: `(batch, time, ...)`; time may be free.
        bins: Frames that the kernel spans.

    Returns:
        `(batch, blocks, block + bins - 1, ...)`, the output frames in a block, and the output
        frames in all; the last block is filled up with zeros.
    """
    frames = inputs.shape[1]
    block = max(8, bins // 2)
    if frames is not None:
        block = min(block, frames - bins + 1)
    static, frames = frames is not None, ops.shape(inputs)[1]
    total = frames - bins + 1
    count = (total + block - 1) // block
    # Block g is frames [g * block, g * block + size): row g of `inputs` reshaped to
    # (count, block), followed by the rows below it, as many as the context takes.
    size = block + bins - 1
    below = -(-(bins - 1) // block)
    missing = (count + below) * block - frames if static else 2 * block - 2
    if not static or missing:
        inputs = ops.pad(inputs, [(0, 0), (0, missing)] + [(0, 0)] * (inputs.ndim - 2))
    batch, _, *rest = ops.shape(inputs)
    rows = [
        ops.reshape(inputs[:, i * block : (i + count) * block], (batch, count, block, *rest))
        for i in range(below + 1)
    ]
    blocks = ops.concatenate(rows, axis=2) if below else rows[0]
    return blocks[:, :, :size], block, total


def from_blocks(blocks, total):
    """Join output blocks `(batch, blocks, block, ...)` to the `total` frames they stand for."""
    batch, count, block, *rest = ops.shape(blocks)
    return ops.reshape(blocks, (batch, count * block, *rest))[:, :total]
