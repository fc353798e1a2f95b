"""A network in plain TensorFlow operations, for SavedModel and LiteRT."""

import numpy as np

from keras_pleiades.export.form import OUTPUT, Form, next_name, state_name
from keras_pleiades.export.network import Frames, Program
from keras_pleiades.export.require import require


class TensorFlowGraph:
    """The operations of `network.Graph` in TensorFlow, run while a `tf.function` is traced.

    Inside, frames are `(batch * time, height, width, channels)`. A temporal convolution sees them
    as `(batch, time, pixels, channels)` and is a 2-D convolution, whose kernel spans one pixel; a
    stream has one frame, to which those in its state are joined in front.

    Args:
        form: Clip or stream.
        weights: Variables by name, filled when they are first asked for: so all functions of a
            module share them.
        frames: The input.
        state: What each temporal layer remembers, by its name; afterwards `next_state` has what
            is to be remembered.
    """

    def __init__(self, form: Form, weights: dict, frames, state: dict):
        self.tf = require("tensorflow", "tensorflow")
        self.form = form
        self.weights = weights
        self.state = state
        self.next_state = {}
        self._input = frames

    def begin(self) -> Frames:
        """Return the input's frames, one after the other."""
        return Frames(self._join(self._input, self.form.size), *self.form.size)

    def end(self, x: Frames, spatial: bool):
        """Return the answers as the network has them."""
        shape = (x.height, x.width, x.channels) if spatial else (x.channels,)
        if self.form.streaming:
            return self._join(x.value, shape)
        return self._split(x.value, shape)

    def temporal_conv(self, x, kernel, depthwise, causal, name):
        """Convolve over `(time, pixels)` with a kernel that spans one pixel."""
        tf, bins = self.tf, len(kernel)
        value = self._split(x.value, (x.height * x.width, x.channels))
        if self.form.streaming and bins > 1:
            value = tf.concat([self.state[name], value], axis=1)
            self.next_state[name] = value[:, 1:]
        elif causal:
            value = tf.pad(value, [(0, 0), (bins - 1, 0), (0, 0), (0, 0)])
        if depthwise:
            weights = self._weight(kernel[:, None, :, None], name)
            value = tf.nn.depthwise_conv2d(value, weights, (1, 1, 1, 1), "VALID")
        else:
            value = tf.nn.conv2d(value, self._weight(kernel[:, None], name), 1, "VALID")
        channels = kernel.shape[-1]
        value = self._join(value, (x.height, x.width, channels))
        return Frames(value, x.height, x.width, channels)

    def drop_oldest(self, x, frames):
        """Cut the time axis of a clip."""
        if self.form.streaming or not frames:
            return x
        shape = (x.height, x.width, x.channels)
        return Frames(self._join(self._split(x.value, shape)[:, frames:], shape), *shape)

    def conv(self, x, kernel, bias, strides, depthwise, name):
        """Convolve frames."""
        tf, size, value = self.tf, kernel.shape[0], x.value
        padding = "VALID"
        if strides == 1:
            padding = "SAME"  # the same on both sides then
        elif size > 1:
            value = tf.pad(value, [(0, 0), *[(size // 2, size // 2)] * 2, (0, 0)])
        weights, steps = self._weight(kernel, name), (1, strides, strides, 1)
        convolve = tf.nn.depthwise_conv2d if depthwise else tf.nn.conv2d
        value = convolve(value, weights, steps, padding)
        value = tf.nn.bias_add(value, self._weight(bias, f"{name}/bias"))
        height, width = (-(-n // strides) for n in (x.height, x.width))
        return Frames(value, height, width, len(bias))

    def group_norm(self, x, gamma, beta, groups, epsilon, name):
        """Normalize as `CausalGroupNormalization` does, which says why it is done so."""
        tf, value = self.tf, x.value
        pixel = value[:, :1, :1]
        centered = value - pixel
        mean = self._mean(centered)  # (frames, channels)
        variance = tf.maximum(self._mean(tf.square(centered)) - tf.square(mean), 0.0)
        grouped = (-1, groups, x.channels // groups)
        mean = tf.reshape(mean + pixel[:, 0, 0], grouped)
        group_mean = tf.reduce_mean(mean, axis=-1, keepdims=True)
        variance = tf.reshape(variance, grouped) + tf.square(mean - group_mean)
        variance = tf.reduce_mean(variance, axis=-1, keepdims=True)
        gamma = self._weight(gamma.reshape(grouped[1:]), f"{name}/gamma")
        beta = self._weight(beta.reshape(grouped[1:]), f"{name}/beta")
        scale = gamma * tf.math.rsqrt(variance + epsilon)
        shift = beta - group_mean * scale
        scale, shift = (tf.reshape(y, (-1, 1, 1, x.channels)) for y in (scale, shift))
        return self._like(x, value * scale + shift)

    def relu(self, x):
        """Return what is above zero."""
        return self._like(x, self.tf.nn.relu(x.value))

    def add(self, x, y):
        """Return the sum."""
        return self._like(x, x.value + y.value)

    def mean_of_pixels(self, x):
        """Return frames of one pixel."""
        mean = self.tf.reshape(self._mean(x.value), (-1, 1, 1, x.channels))
        return Frames(mean, 1, 1, x.channels)

    def upsample(self, x, factor):
        """Repeat each pixel."""
        height, width = x.height * factor, x.width * factor
        value = self.tf.image.resize(x.value, (height, width), method="nearest")
        return Frames(value, height, width, x.channels)

    def crop(self, x, rows, columns):
        """Keep the upper left part."""
        height, width = x.height - rows, x.width - columns
        return Frames(x.value[:, :height, :width], height, width, x.channels)

    def _mean(self, value):
        return self.tf.reduce_mean(self.tf.reduce_mean(value, axis=2), axis=1)

    def _like(self, x, value) -> Frames:
        return Frames(value, x.height, x.width, x.channels)

    def _split(self, value, shape: tuple):
        """Return frames as `(batch, time, *shape)`."""
        batch = self.form.batch
        batch = self.tf.shape(self._input)[0] if batch is None else batch
        return self.tf.reshape(value, (batch, -1, *shape))

    def _join(self, value, shape: tuple):
        return self.tf.reshape(value, (-1, *shape))

    def _weight(self, array: np.ndarray, name: str):
        if name not in self.weights:
            with self.tf.init_scope():
                self.weights[name] = self.tf.Variable(array, trainable=False, name=name)
        return self.weights[name]


def answer(program: Program, form: Form, weights: dict, frames, state: dict) -> tuple:
    """Return the network's answers to `frames` and the next state, by the layers' names."""
    graph = TensorFlowGraph(form, weights, frames, state)
    outputs = graph.end(program.write(graph, graph.begin()), program.spatial)
    return outputs, graph.next_state


def clip_function(program: Program, form: Form, weights: dict):
    """Return a `tf.function` of the clip form."""
    tf = require("tensorflow", "tensorflow")

    @tf.function(
        input_signature=[tf.TensorSpec(form.input_shape, "float32", form.input_name)],
        autograph=False,
    )
    def serve(frames):
        return {OUTPUT: answer(program, form, weights, frames, {})[0]}

    return serve


def stream_function(program: Program, form: Form, weights: dict):
    """Return a `tf.function` of the streaming form, with the state as inputs and outputs."""
    tf = require("tensorflow", "tensorflow")
    specs = [tf.TensorSpec(form.input_shape, "float32", form.input_name)]
    specs += [
        tf.TensorSpec(shape, "float32", state_name(name)) for name, shape in form.state.items()
    ]

    @tf.function(input_signature=specs, autograph=False)
    def advance(frame, *arrays):
        state = dict(zip(form.state, arrays, strict=True))
        outputs, state = answer(program, form, weights, frame, state)
        return {OUTPUT: outputs, **{next_name(name): array for name, array in state.items()}}

    return advance
