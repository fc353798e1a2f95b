"""Memory that does not grow when bins shrink: a window's projection on polynomials."""

import functools

import numpy as np
from keras import ops

from keras_pleiades.basis import jacobi_basis
from keras_pleiades.layers.carried_context import CarriedContext, buffer_name


class ProjectedContext(CarriedContext):
    r"""Carries, in place of the frames in a layer's window, their projection on polynomials.

    With $B$ the polynomials of degree below `order`, orthonormal over the window's bins, a pixel's
    window $u$ is remembered as $m = B u$. A new frame $x$ shifts the window by one, $S$, and enters
    at its end:

    $$m' = B S B^\top m + x\, B e$$

    As $B S B^\top$ never lengthens a vector, nothing builds up, for however long a stream. What a
    projection leaves out of the oldest frame is missed when that frame leaves the window: this is
    the memory of Legendre memory units and HiPPO in discrete time, an approximation. It is exact
    for windows that are polynomials of degree below `order`, and for any window when `order` is
    the number of bins. Kernels lose nothing as long as their degree is below `order`.

    Args:
        buffers: Projections `(batch, height, width, order, channels)` by `buffer_name`.
        count: Not used; a state has it in either form.
    """

    def convolve(self, layer, inputs):
        """Return `layer`'s convolution of one new frame, without bias."""
        if not layer.context_frames:
            return layer.contract(inputs)
        name = buffer_name(layer)
        memory = self.buffers[name]
        order = memory.shape[3]
        shift, entry, basis = (
            ops.convert_to_tensor(array, memory.dtype) for array in recurrence(layer.bins, order)
        )
        frame = ops.cast(inputs, memory.dtype)[:, 0, :, :, None]  # (B, H, W, 1, C)
        memory = ops.matmul(shift, memory) + entry[:, None] * frame
        self.updated[name] = memory
        weights = ops.tensordot(basis, ops.cast(layer.taps(), memory.dtype), axes=1)
        outputs = layer.weigh(memory, weights)
        return ops.cast(outputs, layer.compute_dtype)[:, None]


@functools.cache
def recurrence(bins: int, order: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the matrix that shifts a projected window, how a frame enters it, and the basis.

    Example:
        >>> shift, entry, basis = recurrence(bins=10, order=10)
        >>> window = np.arange(10.0)
        >>> moved = basis.T @ (shift @ (basis @ window) + 10.0 * entry)  # as many as bins: exact
        >>> moved.round(6).tolist()
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 10.0]
    """
    order = min(order, bins)
    legendre = jacobi_basis(order - 1, bins, alpha=0.0, beta=0.0)  # (order, bins)
    basis = np.linalg.qr(legendre.T)[0].T
    shift = basis[:, :-1] @ basis[:, 1:].T  # the frame in bin i + 1 goes to bin i
    return shift, basis[:, -1], basis
