"""Which form of a network is exported, and what its inputs and outputs are called."""

import dataclasses
import math

from keras_pleiades.layers.carried_context import buffer_name


@dataclasses.dataclass(frozen=True)
class Form:
    """The clip form, or the streaming form with its state.

    Attributes:
        streaming: Whether one frame and a state come in, or a clip.
        batch: Recordings at a time; `None` for any number, of clips only.
        frames: Frames of a clip; `None` for any number.
        size: Height, width and channels of a frame.
        state: Shape of what each temporal layer remembers, by the layer's name: the newest
            `kernel - 1` frames, oldest first, as the format likes them best; empty for a clip.
    """

    streaming: bool
    batch: int | None
    frames: int | None
    size: tuple[int, int, int]
    state: dict[str, tuple[int | None, ...]]

    @property
    def input_name(self) -> str:
        """The input without the state."""
        return "frame" if self.streaming else "frames"

    @property
    def input_shape(self) -> tuple:
        """Shape of that input."""
        return (self.batch, *(() if self.streaming else (self.frames,)), *self.size)


OUTPUT = "outputs"


def state_name(layer_name: str) -> str:
    """Return the name of a state's input: plain letters, as every format takes them.

    >>> state_name("block_1/temporal_conv")
    'state_block_1_temporal_conv'
    """
    return "state_" + layer_name.replace("/", "_")


def next_name(layer_name: str) -> str:
    """Return the name of the output that is the state's input for the next frame.

    >>> next_name("block_1/temporal_conv")
    'next_block_1_temporal_conv'
    """
    return "next_" + layer_name.replace("/", "_")


def form_of(
    model, streaming: bool, batch: int | None, frames: int | None, channels_first: bool
) -> Form:
    """Return the form of a network whose height and width are known."""
    state: dict[str, tuple[int | None, ...]] = {}
    for layer in model.temporal_layers() if streaming else ():
        if layer.context_frames:
            *size, channels = layer.get_build_config()["input_shape"][2:]
            seen = (layer.context_frames, math.prod(size))
            shape = (channels, *seen) if channels_first else (*seen, channels)
            state[buffer_name(layer)] = (batch, *shape)
    return Form(streaming, batch, frames, tuple(model.input_shape[2:]), state)
