"""A network in few plain operations, for whoever writes them down in a format.

The layers of the package are made for training: kernels with gradients of their own, pieces of
time, several orders of contraction. An exported network needs none of it. Here each layer is said
in the operations of `Graph`, with the basis contracted to plain kernels and batch normalization
folded into the convolution before it, from the layers' weights as NumPy arrays. So nothing of the
backend is traced, and every backend exports every format in the same way.
"""

import dataclasses
from collections.abc import Callable
from typing import Any, Protocol

import keras
import numpy as np
from keras import ops

from keras_pleiades import layers
from keras_pleiades.layers.carried_context import buffer_name


@dataclasses.dataclass(frozen=True)
class Frames:
    """Frames in a graph that is being written: what stands for them there, and their size."""

    value: Any
    height: int
    width: int
    channels: int


class Graph(Protocol):
    """The operations that a format must have. All act on each frame by itself but the first two.

    Names say which layer an operation comes from. Kernels are `(height, width, in, out)`.
    """

    def temporal_conv(
        self, x: Frames, kernel: np.ndarray, depthwise: bool, causal: bool, name: str
    ) -> Frames:
        """Convolve in time with `kernel`, `(time, in, out)` or `(time, channels)`."""

    def drop_oldest(self, x: Frames, frames: int) -> Frames:
        """Drop so many frames of a clip; of a stream none."""

    def conv(
        self,
        x: Frames,
        kernel: np.ndarray,
        bias: np.ndarray,
        strides: int,
        depthwise: bool,
        name: str,
    ) -> Frames:
        """Convolve in space, padded by half the kernel; depthwise kernels are `(h, w, c, 1)`."""

    def group_norm(
        self,
        x: Frames,
        gamma: np.ndarray,
        beta: np.ndarray,
        groups: int,
        epsilon: float,
        name: str,
    ) -> Frames:
        """Normalize over height, width and the channels of a group."""

    def relu(self, x: Frames) -> Frames:
        """Return what is above zero."""

    def add(self, x: Frames, y: Frames) -> Frames:
        """Return the sum."""

    def mean_of_pixels(self, x: Frames) -> Frames:
        """Return frames of one pixel."""

    def upsample(self, x: Frames, factor: int) -> Frames:
        """Repeat each pixel in height and width."""

    def crop(self, x: Frames, rows: int, columns: int) -> Frames:
        """Drop so many rows from below and columns from the right."""


@dataclasses.dataclass(frozen=True)
class Program:
    """A network as a list of operations of `Graph`, weights included.

    Attributes:
        steps: Operations and their arguments, in order; a `_Value` stands for frames.
        spatial: Whether answers have height and width.
    """

    steps: list[tuple[str, tuple]]
    spatial: bool

    def write(self, graph: Graph, frames: Frames) -> Frames:
        """Do the operations in `graph`, and return the answers."""
        values = [frames]
        for operation, arguments in self.steps:
            given = [values[a.number] if isinstance(a, _Value) else a for a in arguments]
            values.append(getattr(graph, operation)(*given))
        return values[-1]


@dataclasses.dataclass(frozen=True)
class _Value:
    """Frames that a program will have: the input is number 0, the first step's result 1."""

    number: int


class _Recorder:
    """A `Graph` that writes down what it is asked for."""

    def __init__(self):
        self.steps = []

    def __getattr__(self, operation):
        def record(*arguments):
            self.steps.append((operation, arguments))
            return _Value(len(self.steps))

        return record


def read_network(model) -> Program:
    """Return a PLEIADES network as a program."""
    recorder = _Recorder()
    values = {id(model.inputs[0]): _Value(0)}

    def value_of(tensor) -> _Value:
        if id(tensor) not in values:
            history = tensor._keras_history
            layer = history.operation
            node = layer._inbound_nodes[history.node_index]
            inputs = [value_of(x) for x in node.arguments.keras_tensors]
            values[id(tensor)] = _writer(layer)(layer, recorder, *inputs)
        return values[id(tensor)]

    value_of(model.outputs[0])
    return Program(recorder.steps, spatial=len(model.output_shape) == 5)


def _writer(layer) -> Callable:
    # By the very class: what a subclass changes is not known here.
    writer = _WRITERS.get(type(layer))
    if writer is None:
        known = ", ".join(sorted(kind.__name__ for kind in _WRITERS))
        raise ValueError(
            f"Layer {layer.name!r} is a {type(layer).__name__}, which keras_pleiades cannot "
            f"export. It exports: {known}. Keras' own way may: keras.Model.export(model, path)."
        )
    return writer


def _temporal_conv(layer, graph, x):
    x = graph.temporal_conv(
        x,
        _array(layer.kernel),
        isinstance(layer, layers.DepthwisePleiadesConv),
        layer.padding == "causal",
        buffer_name(layer),
    )
    if layer.bias is None:
        return x
    bias = ops.convert_to_numpy(layer.bias)
    return _scale(graph, x, np.ones_like(bias), bias, f"{buffer_name(layer)}/bias")


def _group_norm(layer, graph, x):
    x = graph.group_norm(
        x, _array(layer.gamma), _array(layer.beta), layer.groups, layer.epsilon, _name(layer)
    )
    return _activate(layer, graph, x)


def _spatial_conv(layer, graph, x, norm=None):
    depthwise = layer.kind != "full"
    parts = [(_array(layer.kernel), depthwise)]
    if layer.kind == "separable":
        parts.append((_array(layer.pointwise_kernel)[None, None], False))
    for i, (kernel, depthwise) in enumerate(parts):
        last = i == len(parts) - 1
        bias = _array(layer.bias) if last and layer.bias is not None else None
        kernel, bias = _fold(kernel, bias, depthwise, norm if last else None)
        name = _name(layer) if not i else f"{_name(layer)}/pointwise"
        x = graph.conv(x, kernel, bias, 1 if i else layer.strides, depthwise, name)
    return x


def _dense(layer, graph, x, norm=None):
    quantized = getattr(layer, "quantization_mode", None)
    if quantized is not None:
        raise ValueError(
            f"Layer {layer.name!r} is quantized ({quantized}), and exports are float32. Export "
            "the network as it was before model.quantize."
        )
    bias = _array(layer.bias) if layer.use_bias else None
    kernel, bias = _fold(_array(layer.kernel)[None, None], bias, False, norm)
    return _activate(layer, graph, graph.conv(x, kernel, bias, 1, False, _name(layer)))


def _batch_norm(layer, graph, x):
    return _scale(graph, x, *_scale_and_shift(layer), _name(layer))


def _spatial_block(layer, graph, x):
    for conv, norm in layer._steps():
        write = _spatial_conv if isinstance(conv, layers.SpatialConv) else _dense
        x = graph.relu(write(conv, graph, x, norm))
    return x


def _bottleneck(layer, graph, x):
    y = graph.relu(_spatial_conv(layer.depthwise, graph, x, layer.depthwise_norm))
    y = graph.relu(_dense(layer.expand, graph, y, layer.expand_norm))
    return graph.add(x, _dense(layer.project, graph, y, layer.project_norm))


def _spatio_temporal_block(layer, graph, x):
    y = _group_norm(layer.temporal_norm, graph, _temporal_conv(layer.temporal_conv, graph, x))
    if layer.separable:
        y = _group_norm(layer.pointwise_norm, graph, _dense(layer.pointwise, graph, y))
        if layer.temporal_conv.padding == "valid":
            x = graph.drop_oldest(x, layer.temporal_conv.context_frames)
        y = graph.relu(graph.add(y, _dense(layer.skip, graph, x)))
    return _spatial_block(layer.spatial, graph, y)


def _head(layer, graph, x):
    return _dense(layer.outputs, graph, _spatio_temporal_block(layer.block, graph, x))


def _drop_oldest(layer, graph, x):
    return graph.drop_oldest(x, layer.frames)


def _upsample(layer, graph, x):
    factor = layer.size[1]
    _expect(layer, "size", tuple(layer.size), (1, factor, factor))
    return graph.upsample(x, factor)


def _crop(layer, graph, x):
    rows, columns = (after for _, after in layer.cropping[1:])
    _expect(layer, "cropping", tuple(layer.cropping), ((0, 0), (0, rows), (0, columns)))
    return graph.crop(x, rows, columns)


def _add(layer, graph, x, *others):
    for other in others:
        x = graph.add(x, other)
    return x


def _mean(operation, graph, x):
    _expect(operation, "axis", tuple(operation.axis), (2, 3))
    return graph.mean_of_pixels(x)


_WRITERS = {
    layers.PleiadesConv: _temporal_conv,
    layers.DepthwisePleiadesConv: _temporal_conv,
    layers.CausalGroupNormalization: _group_norm,
    layers.SpatialConv: _spatial_conv,
    layers.SpatialBlock: _spatial_block,
    layers.SpatialBottleneck: _bottleneck,
    layers.SpatioTemporalBlock: _spatio_temporal_block,
    layers.CenterNetHead: _head,
    layers.DropOldestFrames: _drop_oldest,
    keras.layers.Dense: _dense,
    keras.layers.BatchNormalization: _batch_norm,
    keras.layers.UpSampling3D: _upsample,
    keras.layers.Cropping3D: _crop,
    keras.layers.Add: _add,
    # `ops.mean` of a symbolic tensor; Keras has no public name for the operation.
    type(ops.mean(keras.KerasTensor((1,)))._keras_history.operation): _mean,
}


def _activate(layer, graph, x):
    if layer.activation is keras.activations.relu:
        return graph.relu(x)
    _expect(layer, "activation", layer.activation, keras.activations.linear)
    return x


def _scale(graph, x, scale, shift, name):
    """Multiply and shift each channel: a depthwise convolution of one pixel."""
    return graph.conv(x, scale[None, None, :, None], shift, 1, True, name)


def _fold(kernel, bias, depthwise: bool, norm):
    """Return kernel and bias of a convolution with the batch normalization after it."""
    channels = kernel.shape[2] if depthwise else kernel.shape[3]
    bias = np.zeros(channels, "float32") if bias is None else bias
    if norm is None:
        return kernel, bias
    scale, shift = _scale_and_shift(norm, "float64")
    kernel = kernel * (scale[:, None] if depthwise else scale)
    return kernel.astype("float32"), (bias * scale + shift).astype("float32")


def _scale_and_shift(norm, dtype="float32"):
    _expect(norm, "axis", norm.axis, -1)
    mean, variance = (_array(v).astype("float64") for v in (norm.moving_mean, norm.moving_variance))
    scale = 1.0 / np.sqrt(variance + norm.epsilon)
    if norm.scale:
        scale = scale * _array(norm.gamma)
    shift = -mean * scale
    if norm.center:
        shift = shift + _array(norm.beta)
    return scale.astype(dtype), shift.astype(dtype)


def _array(weight) -> np.ndarray:
    return np.asarray(ops.convert_to_numpy(weight), "float32")


def _name(layer) -> str:
    """Return where a layer is in its network."""
    return layer.weights[0].path.rpartition("/")[0]


def _expect(layer, name: str, received, expected) -> None:
    if received != expected:
        raise ValueError(
            f"Layer {layer.name!r} cannot be exported with {name}={received!r}: expected "
            f"{expected!r}."
        )
