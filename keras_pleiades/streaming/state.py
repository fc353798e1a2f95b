"""What a network remembers between frames: a flat dictionary of named arrays."""

import math

import numpy as np
from keras import ops

from keras_pleiades._checks import check_choice
from keras_pleiades.layers.carried_context import buffer_name

# Beside a ring for each temporal layer a state has these two.
COUNT = "count"  # frames since the start, modulo all rings' sizes: where the rings stand
SEEN = "seen"  # frames that each element of the batch has seen since its reset, up to `ready`

# Polynomials of memory="projection": as many numbers as frames of nine, what a kernel of ten bins
# keeps; docs/streaming.md has the error by order.
DEFAULT_ORDER = 9


def state_spec(
    model,
    batch_size: int = 1,
    shape: tuple[int, int] | None = None,
    memory: str = "frames",
    order: int | None = None,
) -> dict:
    """Return `(shape, dtype)` of each array of a network's state, by name.

    Args:
        model: A PLEIADES network.
        batch_size: Independent recordings at a time.
        shape: Height and width of a frame; needed where the network leaves them free.
        memory: `"frames"`, the last `kernel - 1` frames of each temporal layer, or
            `"projection"`, their projection on polynomials: see `Stream`.
        order: How many polynomials; only for `"projection"`.

    Example:
        >>> import keras_pleiades as kp
        >>> spec = kp.streaming.state_spec(kp.zoo.gesture())
        >>> spec["block_1/temporal_conv"]
        ((1, 128, 128, 9, 2), 'float32')
        >>> list(spec)[-2:]
        ['count', 'seen']
    """
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size < 1:
        raise ValueError(f"`batch_size` must be at least 1. Received: batch_size={batch_size!r}")
    order = check_memory(memory, order)
    spec = {}
    for layer, input_shape in zip(
        model.temporal_layers(), _layer_shapes(model, shape), strict=True
    ):
        if layer.context_frames:
            *size, channels = input_shape[2:]
            # Projections add up over the whole window: too much for 16 bits.
            slots, dtype = (
                (min(order, layer.bins), "float32")
                if order
                else (layer.context_frames, layer.compute_dtype)
            )
            spec[buffer_name(layer)] = ((batch_size, *size, slots, channels), dtype)
    return {**spec, COUNT: ((), "int32"), SEEN: ((batch_size,), "int32")}


def check_memory(memory: str, order: int | None) -> int | None:
    """Return the number of polynomials, or None for a memory of frames."""
    check_choice(memory, ("frames", "projection"), "memory")
    if memory == "frames":
        if order is not None:
            raise ValueError(
                f"`order` belongs to memory='projection'. Received: order={order!r}, "
                f"memory={memory!r}"
            )
        return None
    order = DEFAULT_ORDER if order is None else order
    if isinstance(order, bool) or not isinstance(order, int) or order < 1:
        raise ValueError(f"`order` must be at least 1. Received: order={order!r}")
    return order


def state_bytes(model, *args, **kwargs) -> int:
    """Return the bytes of a network's state; arguments as in `state_spec`.

    Example:
        >>> import keras_pleiades as kp
        >>> kp.streaming.state_bytes(kp.zoo.gesture())  # 4 * 9 * (128*128*2 + 64*64*16 + ...) + 8
        6303752
    """
    return spec_bytes(state_spec(model, *args, **kwargs))


def spec_bytes(spec: dict) -> int:
    """Return the bytes of a state with this specification."""
    half = ("float16", "bfloat16")  # all else is 32 bits
    return sum(math.prod(shape) * (2 if dtype in half else 4) for shape, dtype in spec.values())


def initial_state(model, *args, **kwargs) -> dict:
    """Return the state before the first frame, zeros as in the paper; see `state_spec`.

    Example:
        >>> import keras_pleiades as kp
        >>> model = kp.models.PleiadesClassifier(3, [(4, 8, False)], input_shape=(None, 8, 8, 2))
        >>> {name: tuple(array.shape) for name, array in initial_state(model).items()}
        {'block_1/temporal_conv': (1, 8, 8, 9, 2), 'count': (), 'seen': (1,)}
    """
    return zero_state(state_spec(model, *args, **kwargs))


def zero_state(spec: dict) -> dict:
    """Return a state of zeros with this specification."""
    return {name: ops.zeros(shape, dtype) for name, (shape, dtype) in spec.items()}


def check_state(state: dict, spec: dict) -> None:
    """Raise where names or shapes differ from the specification."""
    missing, unknown = spec.keys() - state.keys(), state.keys() - spec.keys()
    if missing or unknown:
        raise ValueError(
            "The state belongs to another network. "
            f"Missing: {sorted(missing)}; unknown: {sorted(unknown)}."
        )
    for name, (shape, _) in spec.items():
        if tuple(state[name].shape) != shape:
            raise ValueError(
                f"The state's {name!r} must have shape {shape}. Received: "
                f"{tuple(state[name].shape)}. Batch size, frame size and dt must be those the "
                "state was made for."
            )


def state_from_numpy(arrays: dict, spec: dict) -> dict:
    """Return tensors of the right dtype from what was saved."""
    check_state(arrays, spec)
    return {
        name: ops.convert_to_tensor(np.array(arrays[name], copy=True), dtype)
        for name, (_, dtype) in spec.items()
    }


def _layer_shapes(model, shape) -> list[tuple]:
    """Return the input shape of each temporal layer, for frames of `shape`."""
    free = model.input_shape[2:4]
    if shape is not None:
        wanted = tuple(int(n) for n in shape)
        if len(wanted) != 2 or any(f not in (None, w) for f, w in zip(free, wanted, strict=True)):
            raise ValueError(f"`shape` must agree with {free}. Received: shape={shape!r}")
        if None in free:
            # The same network for this size says which sizes its layers see.
            size = (None, *wanted, model.input_shape[-1])
            model = type(model).from_config({**model.get_config(), "input_shape": size})
    elif None in free:
        raise ValueError(
            f"The network takes frames of any size: input_shape={model.input_shape[1:]}. Say "
            "which will come: `shape=(height, width)`."
        )
    return [layer.get_build_config()["input_shape"] for layer in model.temporal_layers()]
