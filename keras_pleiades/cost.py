"""What a network costs for each frame."""

import math

import keras

from keras_pleiades.layers import SpatialConv
from keras_pleiades.layers.base_temporal_conv import BaseTemporalConv


def multiply_adds(model: keras.Model) -> int:
    """Count the multiply-adds of one frame, dense: as if no input were zero.

    Convolutions and dense layers count, temporal ones by the taps of their kernel; norms,
    activations and sums do not. The model's height and width must be known.

    Example:
        >>> import keras_pleiades as kp
        >>> round(multiply_adds(kp.zoo.gesture()) / 1e6, 1)
        58.1
    """
    return sum(_of_layer(layer) for layer in model._flatten_layers(include_self=False))


def _of_layer(layer: keras.layers.Layer) -> int:
    if not isinstance(layer, (BaseTemporalConv, SpatialConv, keras.layers.Dense)):
        return 0  # a layer made of others: its parts are counted by themselves
    shape = layer.get_build_config()["input_shape"]
    pixels = shape[2:-1]
    if None in pixels:
        raise ValueError(
            "The cost of a frame depends on its size: build the network with a known height and "
            f"width. Received: {layer.name} on shape {tuple(shape)}"
        )
    if isinstance(layer, SpatialConv):
        pixels = layer.compute_output_shape(shape)[2:-1]
        weights = math.prod(layer.kernel.shape)
        if layer.pointwise_kernel is not None:
            weights += math.prod(layer.pointwise_kernel.shape)
    elif isinstance(layer, keras.layers.Dense):
        weights = math.prod(layer.kernel.shape)
    else:
        weights = layer.bins * math.prod(layer.coefficients.shape[1:])
    return math.prod(pixels) * weights
