"""Frames that temporal layers carry over from one call to the next, while a clip comes in parts."""

import contextvars
from typing import Self

import keras
from keras import ops

from keras_pleiades.layers import xla_kernels

_ACTIVE: contextvars.ContextVar["CarriedContext | None"] = contextvars.ContextVar(
    "carried_context", default=None
)


class CarriedContext:
    """Makes a network continue a clip rather than begin one, for as long as it is active.

    Inside it every temporal layer answers as many frames as it is given: the frames before them
    are not taken from the clip but from here, where the layer left them. Nothing else about a
    network changes, so the online form is the same graph of the same layer objects.

    A layer's buffer is a ring `(batch, height, width, kernel - 1, channels)`: frame `j` since the
    start lies in slot `j % (kernel - 1)`. For one new frame nothing moves but that frame; the
    kernel, which is small, is turned to where the ring stands. A pixel's past lies side by side in
    memory, so that the convolution of a frame is one matrix product.

    Args:
        buffers: A ring for each temporal layer, by `buffer_name`.
        count: Frames since the start, an integer tensor; it may start again at any multiple of
            all rings' sizes.
        write: Whether `updated` holds, after the call, the rings with the new frames in them; or,
            where there is one new frame, that frame alone, for `write_frame`.
    """

    def __init__(self, buffers: dict, count, write: bool = True):
        self.buffers = buffers
        self.count = count
        self.write = write
        self.updated = {}

    @staticmethod
    def active() -> "CarriedContext | None":
        """Return the one that is active in this thread, if any."""
        return _ACTIVE.get()

    def __enter__(self) -> Self:
        self._token = _ACTIVE.set(self)
        return self

    def __exit__(self, *_) -> None:
        _ACTIVE.reset(self._token)

    def convolve(self, layer, inputs):
        """Return `layer`'s convolution of `inputs`, one output frame for each, without bias."""
        if not layer.context_frames:
            return layer.contract(inputs)
        name = buffer_name(layer)
        ring, size = self.buffers[name], layer.context_frames
        position = ops.mod(self.count, size)  # the oldest frame, and where the next one goes
        frames = inputs.shape[1]
        if frames == 1:
            frame = inputs[:, 0]
            # Slot s is s - position frames newer than the oldest. The kernel is turned by a matrix
            # product: JAX checks the indices of `take`, and XLA would do so again for each pixel.
            taps = layer.taps()
            slots = ops.arange(size)
            turn = ops.equal(ops.mod(slots - position, size)[:, None], slots)
            turned = ops.matmul(ops.cast(turn, taps.dtype), ops.reshape(taps[:-1], (size, -1)))
            turned = ops.reshape(turned, taps[:-1].shape)

            def weigh(ring, frame):
                return layer.weigh(ring, turned) + layer.weigh(frame[:, :, :, None], taps[-1:])

            outputs = xla_kernels.compute_once(weigh, ring, frame, count=self.count)
            self.updated[name] = write_frame(ring, frame, self.count) if self.write else frame
            return outputs[:, None]
        past = ops.take(ring, ops.mod(ops.arange(size) + position, size), axis=3)  # oldest first
        clip = ops.concatenate([ops.transpose(past, (0, 3, 1, 2, 4)), inputs], axis=1)
        newest = ops.transpose(clip[:, frames:], (0, 2, 3, 1, 4))
        slots = ops.mod(ops.arange(size) - position - frames, size)
        self.updated[name] = ops.take(newest, slots, axis=3)
        return layer.contract(clip)


def buffer_name(layer) -> str:
    """Return the name of a temporal layer's buffer: where the layer is in its network."""
    return layer.coefficients.path.rpartition("/")[0]


def write_frame(ring, frame, count):
    """Return the ring with a new frame, `(batch, height, width, channels)`, in its slot."""
    if keras.backend.backend() == "torch":
        # In place: whoever keeps the old state has made a copy of it.
        ring.select(3, int(count) % ring.shape[3]).copy_(frame)
        return ring
    position = ops.mod(count, ring.shape[3])
    frame = ops.expand_dims(frame, 3)
    return ops.slice_update(ring, (0, 0, 0, position, 0), frame)
