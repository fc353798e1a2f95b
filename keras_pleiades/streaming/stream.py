"""A network that is fed frame by frame and remembers."""

import keras
import numpy as np
from keras import ops

from keras_pleiades.layers.carried_context import CarriedContext
from keras_pleiades.layers.projected_context import ProjectedContext
from keras_pleiades.streaming import state as states
from keras_pleiades.streaming.step import compiled_step

# Frames that go through the network at once where more than one comes. XLA compiles for each
# number of frames, so that only this one and 1 are used; torch takes any up to it.
_CHUNK = {"jax": 16, "tensorflow": 16, "torch": 64}


class Stream:
    """Holds a network's state and answers new frames as they come.

    Frame by frame, or in parts of any length, the answers are those of the whole clip.

    Args:
        model: A PLEIADES network.
        batch_size: Independent recordings, such as cameras, at a time.
        shape: Height and width of a frame; needed where the network leaves them free.
        memory: `"frames"`: each temporal layer keeps the frames that its kernel spans, and answers
            are exact. `"projection"`: it keeps the window's projection on polynomials, whose size
            does not depend on the bin size, and answers are approximate; see `ProjectedContext`
            for the mathematics and docs/streaming.md for the error.
        order: How many polynomials, 9 by default; only for `"projection"`.

    Example:
        >>> import keras_pleiades as kp
        >>> stream = kp.zoo.gesture(input_shape=(None, 16, 16, 2)).stream()
        >>> frames = np.zeros((1, 3, 16, 16, 2), "float32")
        >>> stream(frames).shape  # an answer for each frame, from the first on
        (1, 3, 10)
        >>> bool(stream.ready[0])  # layers still see zeros from before the start
        False
    """

    def __init__(
        self,
        model,
        batch_size: int = 1,
        shape: tuple[int, int] | None = None,
        memory: str = "frames",
        order: int | None = None,
    ):
        self.model = model
        self.memory = memory
        self.spec = states.state_spec(model, batch_size, shape, memory, order)
        size = shape or model.input_shape[2:4]
        self.frame_shape = (batch_size, *map(int, size), model.input_shape[-1])
        context = {"frames": CarriedContext, "projection": ProjectedContext}[memory]
        self._state: dict
        self._step = compiled_step(model, donate=True, context=context)
        self.reset()

    def __call__(self, frames: np.ndarray) -> np.ndarray:
        """Answer new frames.

        Args:
            frames: `(batch, n, height, width, channels)` with one or more new frames.

        Returns:
            `(batch, n, ...)`, one answer a frame.
        """
        shape = tuple(frames.shape)
        if len(shape) != 5 or (shape[0], *shape[2:]) != self.frame_shape:
            batch, *rest = self.frame_shape
            expected = (batch, "n", *rest)
            raise ValueError(
                f"The stream takes frames of shape {expected}".replace("'", "")
                + f". Received: {shape}. For another batch or frame size start another stream."
            )
        if not shape[1]:
            raise ValueError("The stream takes one or more frames. Received: none.")
        answers = []
        start = 0
        while start < shape[1]:
            size = self._part(shape[1] - start)
            part = ops.convert_to_tensor(frames[:, start : start + size], "float32")
            answer, self._state = self._step(part, self._state)
            answers.append(ops.convert_to_numpy(answer))
            start += size
        return answers[0] if len(answers) == 1 else np.concatenate(answers, axis=1)

    def _part(self, frames: int) -> int:
        if self.memory == "projection":
            return 1  # the next projection needs this one
        chunk = _CHUNK[keras.backend.backend()]
        if keras.backend.backend() == "torch":
            return min(frames, chunk)
        return chunk if frames >= chunk else 1

    @property
    def ready(self) -> np.ndarray:
        """Whether every layer has seen only real frames, for each element of the batch."""
        return ops.convert_to_numpy(self._state[states.SEEN]) > self.model.context_frames

    @property
    def state(self) -> dict[str, np.ndarray]:
        """The state as NumPy arrays, by name: a copy to save, to move, or to set again."""
        return {n: np.array(ops.convert_to_numpy(a)) for n, a in self._state.items()}

    @state.setter
    def state(self, arrays: dict[str, np.ndarray]) -> None:
        self._state = states.state_from_numpy(arrays, self.spec)

    @property
    def state_bytes(self) -> int:
        """Bytes that the stream remembers."""
        return states.spec_bytes(self.spec)

    def reset(self, index: int | None = None) -> None:
        """Forget all frames, or those of one element of the batch."""
        if index is None:
            self._state = states.zero_state(self.spec)
            return
        batch = self.frame_shape[0]
        if not -batch <= index < batch:
            raise IndexError(f"`index` must be below the batch size {batch}. Received: {index}")
        arrays = self.state
        for name, array in arrays.items():
            if name != states.COUNT:  # the rings of the others stay where they stand
                array[index] = 0
        self.state = arrays
