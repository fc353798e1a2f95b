"""A network as an ONNX graph, written with `onnx.helper` alone: no backend is asked."""

import json
import pathlib

import numpy as np

from keras_pleiades.export.form import OUTPUT, Form, next_name, state_name
from keras_pleiades.export.network import Frames, read_network
from keras_pleiades.export.require import require

# Of June 2022: what reads ONNX at all today reads these.
OPSET = 17
IR_VERSION = 8


def write(model, form: Form, facts: dict, path: pathlib.Path) -> None:
    """Write the network to an `.onnx` file; the facts go into its metadata too."""
    onnx = require("onnx", "onnx")
    graph = OnnxGraph(form)
    program = read_network(model)
    graph.end(program.write(graph, graph.begin()), program.spatial)
    proto = onnx.helper.make_model(
        onnx.helper.make_graph(
            graph.nodes, model.name, graph.inputs, graph.outputs, graph.initializers
        ),
        opset_imports=[onnx.helper.make_opsetid("", OPSET)],
        ir_version=IR_VERSION,
        producer_name="keras_pleiades",
        producer_version=facts["keras_pleiades"],
    )
    onnx.helper.set_model_props(proto, {"keras_pleiades": json.dumps(facts)})
    onnx.checker.check_model(proto, full_check=True)
    onnx.save_model(proto, path)


class OnnxGraph:
    """The operations of `network.Graph` as ONNX nodes.

    Inside, frames are `(batch * time, channels, height, width)`, as ONNX convolves. A temporal
    convolution sees them as `(batch, channels, time, pixels)`; a stream has one frame, to which
    those in its state are joined in front.
    """

    def __init__(self, form: Form):
        self._helper = require("onnx", "onnx").helper
        self._float = require("onnx", "onnx").TensorProto.FLOAT
        self.form = form
        self.nodes, self.initializers, self.inputs, self.outputs = [], [], [], []
        self._constants, self._weights = {}, set()
        self._batch: str | None = None

    def begin(self) -> Frames:
        """Declare the input, channels last as everywhere in the package."""
        name, (height, width, channels) = self.form.input_name, self.form.size
        self.inputs.append(self._info(name, self.form.input_shape, ("batch", "time")))
        if self.form.streaming:
            x = self._node("Transpose", [name], perm=[0, 3, 1, 2])
        else:
            if self.form.batch is None:
                shape = self._node("Shape", [name])
                bounds = [self._constant(np.array([n])) for n in (0, 1)]
                self._batch = self._node("Slice", [shape, *bounds])
            x = self._node("Transpose", [name], perm=[0, 1, 4, 2, 3])
            x = self._reshape(x, (-1, channels, height, width))
        return Frames(x, height, width, channels)

    def end(self, x: Frames, spatial: bool) -> None:
        """Declare the output: without height and width where the network has averaged over it."""
        shape = (x.height, x.width, x.channels) if spatial else (x.channels,)
        value = x.value
        if not self.form.streaming:
            value = self._split(value, (x.channels, *shape[:-1]))
            perm = [0, 1, 3, 4, 2] if spatial else None
        else:
            value = value if spatial else self._reshape(value, (-1, x.channels))
            perm = [0, 2, 3, 1] if spatial else None
        if perm is None:
            self._node("Identity", [value], [OUTPUT])
        else:
            self._node("Transpose", [value], [OUTPUT], perm=perm)
        frames = () if self.form.streaming else (None,)
        info = self._info(OUTPUT, (self.form.batch, *frames, *shape), ("batch", "answers"))
        self.outputs.insert(0, info)

    def temporal_conv(self, x, kernel, depthwise, causal, name):
        """Convolve over `(time, pixels)` with a kernel that spans one pixel."""
        bins, pixels = len(kernel), x.height * x.width
        weights = kernel[:, None].transpose(2, 1, 0) if depthwise else kernel.transpose(2, 1, 0)
        weights = self._weight(weights[..., None], name)  # (out, in, time, 1)
        attributes = {"kernel_shape": [bins, 1], "group": x.channels if depthwise else 1}
        if self.form.streaming:
            value = self._reshape(x.value, (-1, x.channels, 1, pixels))
            if bins > 1:
                value = self._remember(value, name)
        else:
            value = self._split(x.value, (x.channels, pixels))
            value = self._node("Transpose", [value], perm=[0, 2, 1, 3])
            if causal:
                attributes["pads"] = [bins - 1, 0, 0, 0]
        value = self._node("Conv", [value, weights], **attributes)
        if not self.form.streaming:
            value = self._node("Transpose", [value], perm=[0, 2, 1, 3])
        channels = x.channels if depthwise else kernel.shape[-1]
        value = self._reshape(value, (-1, channels, x.height, x.width))
        return Frames(value, x.height, x.width, channels)

    def _remember(self, value, name):
        """Return the state's frames and the new one; all but the oldest are the next state."""
        shape = self.form.state[name]
        self.inputs.append(self._info(state_name(name), shape))
        self.outputs.append(self._info(next_name(name), shape))
        window = self._node("Concat", [state_name(name), value], axis=2)
        self._slice(window, 1, None, axis=2, output=next_name(name))
        return window

    def drop_oldest(self, x, frames):
        """Cut the time axis of a clip."""
        if self.form.streaming or not frames:
            return x
        value = self._split(x.value, (x.channels, x.height, x.width))
        value = self._slice(value, frames, None, axis=1)
        return self._like(x, self._reshape(value, (-1, x.channels, x.height, x.width)))

    def conv(self, x, kernel, bias, strides, depthwise, name):
        """Convolve frames."""
        size = kernel.shape[0]
        weights = kernel.transpose((2, 3, 0, 1) if depthwise else (3, 2, 0, 1))
        value = self._node(
            "Conv",
            [x.value, self._weight(weights, name), self._weight(bias, f"{name}/bias")],
            kernel_shape=[size, size],
            strides=[strides, strides],
            pads=[size // 2] * 4,
            group=x.channels if depthwise else 1,
        )
        height, width = (-(-n // strides) for n in (x.height, x.width))
        return Frames(value, height, width, weights.shape[0])

    def group_norm(self, x, gamma, beta, groups, epsilon, name):
        """Normalize as `CausalGroupNormalization` does, which says why it is done so.

        ONNX' own InstanceNormalization adds up a frame's numbers one by one in onnxruntime: the
        authors' network, on frames without events, was off by 1e-4 of its logits.
        """
        shape, grouped = (-1, x.channels, 1, 1), (-1, groups, x.channels // groups)
        bounds = [self._constant(np.array(n)) for n in ([0, 0], [1, 1], [2, 3])]
        pixel = self._node("Slice", [x.value, *bounds])
        centered = self._node("Sub", [x.value, pixel])
        mean = self._mean(centered, x.channels)
        square = self._mean(self._square(centered), x.channels)
        variance = self._node("Sub", [square, self._square(mean)])
        variance = self._node("Max", [variance, self._constant(np.zeros((), "float32"))])
        mean = self._reshape(self._node("Add", [mean, pixel]), grouped)
        group_mean = self._node("ReduceMean", [mean], axes=[2])
        apart = self._node("Sub", [mean, group_mean])
        variance = self._node("Add", [self._reshape(variance, grouped), self._square(apart)])
        variance = self._node("ReduceMean", [variance], axes=[2])
        epsilon = self._constant(np.array(epsilon, "float32"))
        deviation = self._node("Sqrt", [self._node("Add", [variance, epsilon])])
        gamma = self._weight(gamma.reshape(grouped[1:]), f"{name}/gamma")
        beta = self._weight(beta.reshape(grouped[1:]), f"{name}/beta")
        scale = self._node("Div", [gamma, deviation])
        shift = self._node("Sub", [beta, self._node("Mul", [group_mean, scale])])
        value = self._node("Mul", [x.value, self._reshape(scale, shape)])
        return self._like(x, self._node("Add", [value, self._reshape(shift, shape)]))

    def relu(self, x):
        """Return what is above zero."""
        return self._like(x, self._node("Relu", [x.value]))

    def add(self, x, y):
        """Return the sum."""
        return self._like(x, self._node("Add", [x.value, y.value]))

    def mean_of_pixels(self, x):
        """Return frames of one pixel."""
        return Frames(self._mean(x.value, x.channels), 1, 1, x.channels)

    def upsample(self, x, factor):
        """Repeat each pixel."""
        scales = self._constant(np.array([1, 1, factor, factor], "float32"))
        value = self._node(
            "Resize",
            [x.value, "", scales],
            mode="nearest",
            coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
        )
        return Frames(value, x.height * factor, x.width * factor, x.channels)

    def crop(self, x, rows, columns):
        """Keep the upper left part."""
        height, width = x.height - rows, x.width - columns
        value = self._slice(x.value, 0, height, axis=2)
        return Frames(self._slice(value, 0, width, axis=3), height, width, x.channels)

    def _mean(self, value, channels: int) -> str:
        """Average over width and then over height: `(frames, channels, 1, 1)`.

        The first leaves its axis out and the second keeps it: two alike OpenVINO would make one.
        """
        value = self._node("ReduceMean", [value], axes=[3], keepdims=0)
        value = self._node("ReduceMean", [value], axes=[2])
        return self._reshape(value, (-1, channels, 1, 1))

    def _square(self, value) -> str:
        return self._node("Mul", [value, value])

    def _like(self, x, value) -> Frames:
        return Frames(value, x.height, x.width, x.channels)

    def _split(self, value, shape: tuple) -> str:
        """Return frames as `(batch, time, *shape)`."""
        if self.form.batch is not None:
            return self._reshape(value, (self.form.batch, -1, *shape))
        rest = self._constant(np.array([-1, *shape]))
        target = self._node("Concat", [self._batch, rest], axis=0)
        return self._node("Reshape", [value, target])

    def _reshape(self, value, shape: tuple) -> str:
        return self._node("Reshape", [value, self._constant(np.array(shape))])

    def _slice(self, value, start, stop, axis, output=None) -> str:
        stop = np.iinfo("int64").max if stop is None else stop
        bounds = [self._constant(np.array([n])) for n in (start, stop, axis)]
        return self._node("Slice", [value, *bounds], [output] if output else None)

    def _node(self, operation, inputs, outputs=None, **attributes) -> str:
        outputs = outputs or [f"{operation}_{len(self.nodes)}"]
        self.nodes.append(
            self._helper.make_node(operation, inputs, outputs, outputs[0], **attributes)
        )
        return outputs[0]

    def _constant(self, array) -> str:
        """Return the name of a small constant; equal ones are kept once."""
        key = (array.dtype.str, array.shape, array.tobytes())
        if key not in self._constants:
            self._constants[key] = self._weight(array, f"constant_{len(self._constants)}")
        return self._constants[key]

    def _weight(self, array, name) -> str:
        from onnx import numpy_helper

        if name not in self._weights:  # a layer may be called twice
            self._weights.add(name)
            array = np.ascontiguousarray(array)
            self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def _info(self, name, shape, free=()):
        """Declare an input or output; free sizes get names."""
        names = (*free, *[None] * len(shape))
        shape = [names[i] if size is None else size for i, size in enumerate(shape)]
        return self._helper.make_tensor_value_info(name, self._float, shape)
