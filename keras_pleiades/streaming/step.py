"""One step of a network: new frames and a state in, answers and the next state out."""

import contextlib
import functools
import math
import operator
import weakref

import keras
from keras import ops

from keras_pleiades._patience import says_why
from keras_pleiades.layers.carried_context import CarriedContext, write_frame
from keras_pleiades.streaming.state import COUNT, SEEN

_COMPILED = weakref.WeakKeyDictionary()


def step(model, frame, state: dict):
    """Return the network's answer to one new frame, and the state after it.

    The state that is passed in stays as it is; `Stream` holds one and updates it in place.

    Args:
        model: A PLEIADES network.
        frame: `(batch, height, width, channels)`.
        state: What `initial_state` or the last step returned.

    Returns:
        The answer `(batch, ...)`, without a time axis, and the next state.

    Example:
        ```python
        state = model.initial_state()
        for frame in frames:
            logits, state = model.step(frame[None], state)
        ```
    """
    if keras.backend.backend() == "torch":
        state = {name: array.clone() for name, array in state.items()}
    frame = ops.convert_to_tensor(frame)
    outputs, state = compiled_step(model)(frame[:, None], state)
    return outputs[:, 0], state


def compiled_step(model, donate: bool = False, context: type = CarriedContext):
    """Return `advance` for this network, compiled where the backend compiles.

    It follows the network's weights: they may be trained or loaded between two steps.

    Args:
        model: A PLEIADES network.
        donate: Whether the memory of the state that is passed in may be used for the next one.
        context: How temporal layers remember, `CarriedContext` or a subclass.
    """
    cache = _COMPILED.setdefault(model, {})
    if (donate, context) not in cache:
        compile_step = {"jax": _jax_step, "tensorflow": _tensorflow_step, "torch": _torch_step}
        # Weak: what is kept for a network must not keep the network.
        compiled = compile_step[keras.backend.backend()](weakref.ref(model), context, donate)
        cache[donate, context] = says_why(compiled, f"{model.name}: compiling the online step")
    return cache[donate, context]


def advance(model, context: type, frames, state: dict):
    """Return the answers to `frames`, `(batch, n, ...)`, and the state after them."""
    rings = {name: array for name, array in state.items() if name not in (COUNT, SEEN)}
    with context(rings, state[COUNT]) as carried:
        outputs = model.call(frames, training=False)
    new = frames.shape[1]
    # Small numbers for ever: rings stand the same after as many frames as all their sizes divide.
    cycle = math.lcm(*(layer.context_frames or 1 for layer in model.temporal_layers()))
    count = ops.mod(state[COUNT] + new, cycle)
    seen = ops.minimum(state[SEEN] + new, model.context_frames + 1)
    return outputs, {**carried.updated, COUNT: count, SEEN: seen}


def _jax_step(model, context, donate):
    import jax

    # Asked for once: Keras gathers them from all layers each time.
    weights = _Weights(model().variables)

    def run(arrays, frames, state, context=context):
        with keras.StatelessScope(state_mapping=weights.mapping(arrays)):
            return advance(model(), context, frames, state)

    jit = functools.partial(jax.jit, compiler_options=_xla_options())
    whole = jit(run, donate_argnums=(2,) if donate else ())
    if not donate or context is not CarriedContext:

        def one(frames, state):
            # Within a caller's own jax.jit or jax.grad it is part of that program.
            given = (frames, *state.values())
            traced = any(isinstance(array, jax.core.Tracer) for array in given)
            return (run if traced else whole)(weights.arrays(), frames, state)

        return one

    # Written in the same program that reads them, XLA copies all rings, twice. So one program reads
    # them, and a second one puts the new frames in their place.
    read = jit(functools.partial(run, context=functools.partial(context, write=False)))

    @functools.partial(jit, donate_argnums=(0,))
    def write(state, new):
        rings = [name for name in state if name not in (COUNT, SEEN)]
        return new | {name: write_frame(state[name], new[name], state[COUNT]) for name in rings}

    def step(frames, state):
        if frames.shape[1] > 1:
            return whole(weights.arrays(), frames, state)
        outputs, new = read(weights.arrays(), frames, state)
        return outputs, write(state, new)

    return step


class _Weights:
    """A network's variables as few arrays: JAX takes a microsecond for each argument of a call.

    Args:
        variables: Of the network. The small ones become one array of float32, put together anew
            when one of them has another value.
    """

    SMALL = 3000  # numbers; larger ones would cost more to take apart than to pass

    def __init__(self, variables):
        def small(variable):
            exact = variable.dtype in ("float32", "float16", "bfloat16")
            return exact and math.prod(variable.shape) <= self.SMALL

        self.small = [variable for variable in variables if small(variable)]
        self.large = [variable for variable in variables if not small(variable)]
        self._seen, self._together = [], None

    def arrays(self):
        """Return the arrays to call a program with, as they are now."""
        import jax

        # Not `value`, which asks for scopes that are not there: 50 us for all of a network's.
        values = [variable._value for variable in self.small]
        if len(values) != len(self._seen) or any(map(operator.is_not, values, self._seen)):
            # Now, also where a caller's own program is being traced: its tracers must not be kept.
            with jax.ensure_compile_time_eval():
                together = _join(values)
            if isinstance(together, jax.core.Tracer):  # the weights are the caller's to trace
                return together, [variable._value for variable in self.large]
            self._seen, self._together = values, together
        return self._together, [variable._value for variable in self.large]

    def mapping(self, arrays):
        """Return pairs of variable and value, from `arrays`, for `keras.StatelessScope`."""
        together, large = arrays
        pairs, start = list(zip(self.large, large, strict=True)), 0
        for variable in self.small:
            part = together[start : start + math.prod(variable.shape)]
            pairs.append((variable, ops.cast(ops.reshape(part, variable.shape), variable.dtype)))
            start += len(part)
        return pairs


def _join(values):
    """Return small arrays as one."""
    return ops.concatenate([ops.cast(ops.reshape(value, (-1,)), "float32") for value in values])


@functools.cache
def _xla_options():
    """Return options that make XLA's programs for one frame faster on a CPU.

    A step is some hundred small operations. XLA's older emitter and matrix product start sooner
    than its newer ones, by a third of the whole (`python -m benchmarks.streaming`). An option that
    the installed XLA does not know is left out.
    """
    import jax

    known = {}
    if jax.default_backend() != "cpu":
        return known
    for option in (
        {"xla_cpu_use_fusion_emitters": False},
        {"xla_cpu_experimental_ynn_fusion_type": ""},
    ):
        with contextlib.suppress(jax.errors.JaxRuntimeError):
            jax.jit(lambda x: x + 1, compiler_options=option)(1.0)
            known |= option
    return known


def _tensorflow_step(model, context, donate):
    import tensorflow as tf

    del donate  # TensorFlow has no way to say it

    @tf.function(jit_compile=True, autograph=False)
    def run(frames, state):
        return advance(model(), context, frames, state)

    return run


def _torch_step(model, context, donate):
    import torch

    from keras_pleiades.streaming.torch_program import Program

    # A stream keeps its tensors to itself, so torch need not count what happens to them. Those that
    # `step` returns are anyone's, also for gradients of what is made of them.
    quick = torch.inference_mode if donate else torch.no_grad
    programs = {}
    rings_apart = context is CarriedContext
    one_frame = functools.partial(context, write=False) if rings_apart else context

    @quick()
    def run(frames, state):
        if frames.shape[1] > 1:
            return advance(model(), context, frames, state)
        names = list(state)

        def flat(frames, *arrays):
            state = dict(zip(names, arrays, strict=True))
            outputs, state = advance(model(), one_frame, frames, state)
            return outputs, *(state[name] for name in names)

        key = (frames.shape, *(array.shape for array in state.values()))
        if key not in programs:
            copies = [frames.clone(), *(array.clone() for array in state.values())]
            programs[key] = Program(flat, copies, 1 + names.index(COUNT))
        outputs, *arrays = programs[key](frames, *state.values())
        new = dict(zip(names, arrays, strict=True))
        if rings_apart:  # the program writes nothing: it gives the frames that go into the rings
            for name in names:
                if name not in (COUNT, SEEN):
                    new[name] = write_frame(state[name], new[name], state[COUNT])
        return outputs, new

    return run
