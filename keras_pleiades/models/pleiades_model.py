"""What all PLEIADES networks share: a bin size, a context, and resampling."""

import dataclasses
from typing import Self

import keras
import numpy as np
from keras import ops

from keras_pleiades._checks import check_dt
from keras_pleiades._patience import says_why
from keras_pleiades.basis import count_bins
from keras_pleiades.events import to_frames
from keras_pleiades.layers.base_temporal_conv import BaseTemporalConv
from keras_pleiades.layers.carried_context import CarriedContext
from keras_pleiades.streaming.state import initial_state
from keras_pleiades.streaming.step import step
from keras_pleiades.streaming.stream import Stream


@dataclasses.dataclass(frozen=True)
class Binning:
    """How time is cut into bins: in the data now, and when the kernels were trained.

    Attributes:
        dt: Bin size in microseconds that the network takes.
        native_dt: Bin size in microseconds at which the kernels span `kernel_size` frames: that
            of training. `None` means `dt`.
        temporal: Arguments of the temporal layers, see `PleiadesConv`.
    """

    dt: int
    native_dt: int | None = None
    temporal: dict | None = None

    def __post_init__(self):
        native_dt = self.dt if self.native_dt is None else self.native_dt
        object.__setattr__(self, "dt", check_dt(self.dt))
        object.__setattr__(self, "native_dt", check_dt(native_dt, "native_dt"))
        object.__setattr__(self, "temporal", {"kernel_size": 10, **(self.temporal or {})})

    def arguments(self, **more) -> dict:
        """Return the arguments of a temporal layer at this bin size."""
        return {**self.temporal, "bin_size": self.dt / self.native_dt, **more}

    def frames_input(self, input_shape: tuple, temporal_layers: int) -> keras.KerasTensor:
        """Return the symbolic input of a network with so many temporal layers in a row."""
        if len(input_shape) != 4 or input_shape[-1] is None:
            raise ValueError(
                "`input_shape` must be (time, height, width, channels), such as "
                f"(None, 128, 128, 2): only channels must be known. Received: {input_shape!r}"
            )
        frames = input_shape[0]
        kernel = count_bins(self.temporal["kernel_size"] * self.native_dt / self.dt)
        context = temporal_layers * (kernel - 1)
        if frames is not None and frames <= context:
            raise ValueError(
                f"At dt={self.dt} the network looks back {context} frames, so a fixed number of "
                f"frames must be at least {context + 1}. Received: input_shape={input_shape}. "
                "Use more frames, or None for any number."
            )
        return keras.Input(input_shape, name="frames")


class PleiadesModel(keras.Model):
    """A network over event frames that knows its bin size; the base of the families.

    A subclass makes a functional graph with the arguments in a `Binning` and passes both here.

    Args:
        inputs: The graph's input, `(batch, time, height, width, channels)`.
        outputs: The graph's output.
        binning: Bin sizes and the arguments of the temporal layers.
        dtype: The dtype policy that the graph's layers were made with.
        **kwargs: `name` and so on, as in every Keras model.

    Example:
        >>> import keras_pleiades as kp
        >>> model = kp.zoo.gesture(input_shape=(None, 32, 32, 2))  # one of its subclasses
        >>> model.dt, model.window_us, model.context_frames
        (10000, 100000, 45)
    """

    # How events become frames: see `keras_pleiades.events.to_frames`.
    binning_method = "count"

    def __init__(self, inputs, outputs, *, binning: "Binning", dtype=None, **kwargs):
        super().__init__(inputs=inputs, outputs=outputs, **kwargs)
        self.dt = binning.dt
        self.native_dt = binning.native_dt
        self.temporal = binning.temporal
        self.dtype_policy = keras.dtype_policies.get(dtype)
        self.jit_compile = self._compiles_by_default()

    def compile(self, *args, jit_compile: bool | str = "auto", **kwargs) -> None:
        """Configure training as `keras.Model.compile` does, compiled where that is faster.

        Keras leaves XLA off for TensorFlow on the CPU, where these networks run three times
        faster with it.
        """
        self._jit_compile_asked = jit_compile
        if jit_compile == "auto" and not kwargs.get("run_eagerly"):
            jit_compile = self._compiles_by_default()
        super().compile(*args, jit_compile=jit_compile, **kwargs)

    def get_compile_config(self) -> dict:
        """Return what `compile` was given, as it was given: "auto" is for the loading backend."""
        config = super().get_compile_config()
        return config | {"jit_compile": self._jit_compile_asked} if config else config

    def compile_from_config(self, config: dict) -> None:
        """Compile as the saved network was; Keras leaves that to who overrides `compile`."""
        self.compile(**keras.saving.deserialize_keras_object(config))
        if self.optimizer is not None:
            self.optimizer.build(self.trainable_variables)

    def make_train_function(self, force: bool = False):
        """Make the function of a training step; its first call says why it takes long."""
        return self._make("train_function", super().make_train_function, force)

    def make_test_function(self, force: bool = False):
        """Make the function of an evaluation step; its first call says why it takes long."""
        return self._make("test_function", super().make_test_function, force)

    def make_predict_function(self, force: bool = False):
        """Make the function of a prediction; its first call says why it takes long."""
        return self._make("predict_function", super().make_predict_function, force)

    def _make(self, name: str, make, force: bool):
        before = getattr(self, name)
        function = make(force)
        if getattr(self, name) is not before and self.jit_compile:
            function = says_why(getattr(self, name), f"{self.name}: XLA compiles {name}")
            setattr(self, name, function)
        return function

    def _compiles_by_default(self) -> bool:
        return keras.backend.backend() != "torch"

    @property
    def window_us(self) -> int:
        """Time that each temporal kernel spans, in microseconds. Resampling keeps it."""
        return self.temporal["kernel_size"] * self.native_dt

    @property
    def context_frames(self) -> int:
        """Frames before the first answer: an input of T frames gives T - `context_frames`."""
        return sum(layer.context_frames for layer in self.temporal_layers())

    def resample(self, dt: int) -> Self:
        """Return a new model for another bin size, with the same weights.

        The continuous filters stay, so no fine-tuning is needed. The window stays too: half the
        bin size means kernels of twice as many frames. This model is left as it is. Like
        `keras.models.clone_model`, the new one is not compiled.

        Args:
            dt: New bin size in microseconds. It need not divide the window.

        Example:
            >>> import keras_pleiades as kp
            >>> model = kp.zoo.gesture(input_shape=(None, 32, 32, 2))
            >>> fast = model.resample(dt=5_000)
            >>> model.context_frames, fast.context_frames
            (45, 95)
        """
        config = self.get_config()
        config["dt"] = check_dt(dt)
        # A fixed number of frames was chosen for the old bin size.
        config["input_shape"] = (None, *config["input_shape"][1:])
        model = type(self).from_config(config)
        model.set_weights(self.get_weights())
        for old, new in zip(
            self._flatten_layers(include_self=False),
            model._flatten_layers(include_self=False),
            strict=True,
        ):
            new.trainable = old.trainable
        return model

    def to_frames(self, events: np.ndarray, sensor: tuple[int, int], **kwargs) -> np.ndarray:
        """Bin events the way this network wants: its bin size, its frame size, its method.

        Args:
            events: Events, see `keras_pleiades.events`.
            sensor: (height, width) of the sensor.
            **kwargs: Further arguments of `keras_pleiades.events.to_frames`, such as `start_us`.

        Returns:
            float32 array (time, height, width, 2); the network takes `frames[None]`.

        Example:
            >>> import keras_pleiades as kp
            >>> events = kp.events.make_events(t=[0, 25_000], x=[3, 600], y=[4, 400], p=[1, 0])
            >>> kp.zoo.gesture().to_frames(events, sensor=(480, 640)).shape  # three bins of 10 ms
            (3, 128, 128, 2)
        """
        shape = self.input_shape[2:4]
        method = {"method": self.binning_method, "causal": self.binning_method == "volume"}
        return to_frames(
            events,
            self.dt,
            sensor,
            **{"shape": None if None in shape else shape, **method, **kwargs},
        )

    def predict_clip(self, frames: np.ndarray, block: int = 128) -> np.ndarray:
        """Predict on a clip of any length in bounded memory: the whole clip's answer, in blocks.

        Each block of answers is computed from its own frames and the `context_frames` before
        them, so nothing is cut at the seams. Frames are read as they are needed: a memory-mapped
        array is never loaded whole.

        Args:
            frames: `(batch, time, height, width, channels)`.
            block: Answers to compute at a time.

        Returns:
            What `predict(frames)` returns.

        Example:
            >>> import keras_pleiades as kp
            >>> model = kp.zoo.gesture(input_shape=(None, 16, 16, 2))
            >>> model.predict_clip(np.zeros((1, 300, 16, 16, 2), "float32")).shape
            (1, 255, 10)
        """
        if block < 1:
            raise ValueError(f"`block` must be at least 1. Received: block={block!r}")
        self._check_frames(frames.shape)
        total = frames.shape[1] - self.context_frames
        block = min(block, total)
        answers = None
        for start in range(0, total, block):
            # The last block begins earlier rather than be shorter: one shape compiles once.
            start = min(start, total - block)
            stop = start + block
            piece = np.asarray(frames[:, start : stop + self.context_frames], "float32")
            answer = ops.convert_to_numpy(self.predict_on_batch(piece))
            if answers is None:
                answers = np.empty((answer.shape[0], total, *answer.shape[2:]), answer.dtype)
            answers[:, start:stop] = answer
        return answers

    def stream(self, batch_size: int = 1, **kwargs) -> Stream:
        """Return a `Stream`: this network frame by frame, with its own memory, zero at first.

        Args:
            batch_size: Independent recordings, such as cameras, at a time.
            **kwargs: Further arguments of `keras_pleiades.streaming.Stream`.

        Example:
            >>> import keras_pleiades as kp
            >>> stream = kp.zoo.gesture(input_shape=(None, 16, 16, 2)).stream(batch_size=2)
            >>> stream(np.zeros((2, 1, 16, 16, 2), "float32")).shape
            (2, 1, 10)
        """
        return Stream(self, batch_size, **kwargs)

    def initial_state(self, batch_size: int = 1, shape: tuple[int, int] | None = None) -> dict:
        """Return the state before the first frame, for `step`: named arrays of zeros."""
        return initial_state(self, batch_size, shape)

    def step(self, frame, state: dict):
        """Return the answer to one frame `(batch, height, width, channels)`, and the next state.

        Example:
            >>> import keras_pleiades as kp
            >>> model = kp.zoo.gesture(input_shape=(None, 16, 16, 2))
            >>> state = model.initial_state()
            >>> logits, state = model.step(np.zeros((1, 16, 16, 2), "float32"), state)
            >>> tuple(logits.shape)
            (1, 10)
        """
        return step(self, frame, state)

    def export(self, filepath, format="tf_saved_model", verbose=None, **kwargs) -> None:
        """Write the network for another runtime; see `keras_pleiades.export.export`.

        Works on every backend. Formats that only Keras has are left to it.

        Args:
            filepath: Where to write.
            format: `"tf_saved_model"`, `"onnx"`, `"litert"`, `"openvino"`, or one of Keras' own.
            verbose: Whether to print where the network went.
            **kwargs: Further arguments of `keras_pleiades.export.export`, such as `streaming`.
        """
        from keras_pleiades.export.api import export_model  # it imports this module

        export_model(self, filepath, format, verbose, **kwargs)

    def call(self, inputs, training=None, mask=None):
        """Run the graph on a clip, or say how many frames it takes."""
        if CarriedContext.active() is None:
            self._check_frames(inputs.shape)
        return super().call(inputs, training=training, mask=mask)

    def get_config(self):
        """Return the arguments that all families share; each adds its own."""
        return {
            "input_shape": tuple(self.input_shape[1:]),
            "dt": self.dt,
            "native_dt": self.native_dt,
            "temporal": dict(self.temporal),
            "name": self.name,
            "trainable": self.trainable,
            "dtype": self.dtype_policy.name,
        }

    def _check_frames(self, shape) -> None:
        frames = shape[1] if len(shape) == 5 else None  # other shapes are for Keras to refuse
        if frames is not None and frames <= self.context_frames:
            raise ValueError(
                f"{self.name} looks back {self.context_frames} frames at dt={self.dt} and needs "
                f"at least {self.context_frames + 1} for one answer. Received: {frames} frames. "
                f"Give more frames, or put {self.context_frames} frames of zeros in front, as "
                "online inference starts."
            )

    def temporal_layers(self) -> list[BaseTemporalConv]:
        """Return the layers that look back in time, in the order of the graph."""
        # Not a property: Keras would save the layers under its name.
        return [layer for layer in self._flatten_layers() if isinstance(layer, BaseTemporalConv)]
