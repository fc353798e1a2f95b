"""Spatial convolution, batch normalization and ReLU: the 2-D half of a Conv(1+2)D block."""

import keras
from keras import ops

from keras_pleiades.initializers import Normal
from keras_pleiades.layers.spatial_conv import SpatialConv


@keras.saving.register_keras_serializable(package="keras_pleiades")
class SpatialBlock(keras.layers.Layer):
    """Convolves each frame in space, normalizes over the batch, and takes the ReLU.

    Full: conv, BatchNorm, ReLU. Separable (the paper's DWS Conv2D): depthwise conv, BatchNorm,
    ReLU, pointwise, BatchNorm, ReLU.

    Args:
        filters: Output channels.
        kernel_size: Size of the square kernel; odd.
        strides: Step in height and width.
        separable: Whether the convolution is depthwise-separable.
        **kwargs: `name`, `dtype` and so on, as in every Keras layer.

    Call arguments:
        inputs: A tensor `(batch, time, height, width, channels)`.
        training: Whether BatchNorm takes its statistics from the batch.

    Output shape:
        `(batch, time, ceil(height / strides), ceil(width / strides), filters)`

    Example:
        >>> import keras_pleiades as kp
        >>> block = kp.layers.SpatialBlock(128, strides=2, separable=True)
        >>> tuple(block(keras.random.normal((1, 3, 20, 40, 96))).shape)
        (1, 3, 10, 20, 128)
        >>> block.count_params()  # 9*96 + 4*96 + 96*128 + 4*128
        14048
    """

    def __init__(
        self,
        filters: int,
        kernel_size: int = 3,
        strides: int = 1,
        separable: bool = False,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.filters = filters
        self.kernel_size = kernel_size
        self.strides = strides
        self.separable = separable
        policy = {"dtype": self.dtype_policy}
        if separable:
            self.depthwise = SpatialConv(
                None, kernel_size, strides, kind="depthwise", name="depthwise", **policy
            )
            self.depthwise_norm = batch_normalization("depthwise_norm", **policy)
            self.pointwise = pointwise(filters, "pointwise", **policy)
            self.pointwise_norm = batch_normalization("pointwise_norm", **policy)
        else:
            self.conv = SpatialConv(filters, kernel_size, strides, name="conv", **policy)
            self.norm = batch_normalization("norm", **policy)

    def build(self, input_shape):
        """Build the sub-layers, each on the shape that the one before it gives."""
        shape = input_shape
        for conv, norm in self._steps():
            conv.build(shape)
            shape = conv.compute_output_shape(shape)
            norm.build(shape)
        self.built = True

    def call(self, inputs, training=None):
        """Convolve, normalize, ReLU: once, or twice when separable."""
        x = inputs
        for conv, norm in self._steps():
            x = ops.relu(norm(conv(x), training=training))
        return x

    def compute_output_shape(self, input_shape):
        """Return `(batch, time, height, width, filters)` after the step in space."""
        conv = self.depthwise if self.separable else self.conv
        return (*conv.compute_output_shape(input_shape)[:-1], self.filters)

    def get_config(self):
        """Return the constructor's arguments."""
        config = {
            "filters": self.filters,
            "kernel_size": self.kernel_size,
            "strides": self.strides,
            "separable": self.separable,
        }
        return {**super().get_config(), **config}

    def _steps(self):
        if self.separable:
            return (self.depthwise, self.depthwise_norm), (self.pointwise, self.pointwise_norm)
        return ((self.conv, self.norm),)


def batch_normalization(name: str, **kwargs) -> keras.layers.BatchNormalization:
    """Return a BatchNorm with the constants of the paper's networks."""
    return keras.layers.BatchNormalization(momentum=0.9, epsilon=1e-5, name=name, **kwargs)


def pointwise(filters: int, name: str, use_bias: bool = False, **kwargs) -> keras.layers.Dense:
    """Return a 1x1 convolution: on channels-last tensors that is a dense layer."""
    return keras.layers.Dense(
        filters, use_bias=use_bias, kernel_initializer=Normal(), name=name, **kwargs
    )
