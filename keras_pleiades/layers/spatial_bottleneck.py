"""The detector's residual block, applied to each frame by itself."""

import keras
from keras import ops

from keras_pleiades.layers.spatial_block import batch_normalization, pointwise
from keras_pleiades.layers.spatial_conv import SpatialConv


@keras.saving.register_keras_serializable(package="keras_pleiades")
class SpatialBottleneck(keras.layers.Layer):
    """Adds to each frame what an inverted bottleneck makes of it.

    x + (depthwise conv, BatchNorm, ReLU, pointwise to `expansion` times the channels, BatchNorm,
    ReLU, pointwise back, BatchNorm). Like the block of MobileNetV2, but with the depthwise
    convolution first.

    Args:
        kernel_size: Size of the square kernel; odd.
        expansion: How many times more channels there are inside.
        **kwargs: `name`, `dtype` and so on, as in every Keras layer.

    Call arguments:
        inputs: A tensor `(batch, time, height, width, channels)`.
        training: Whether BatchNorm takes its statistics from the batch.

    Output shape:
        The same as the input.

    Example:
        >>> import keras_pleiades as kp
        >>> layer = kp.layers.SpatialBottleneck()
        >>> tuple(layer(keras.random.normal((1, 3, 8, 8, 32))).shape)
        (1, 3, 8, 8, 32)
    """

    def __init__(self, kernel_size: int = 3, expansion: int = 4, **kwargs):
        super().__init__(**kwargs)
        self.kernel_size = kernel_size
        self.expansion = expansion
        self.input_spec = keras.layers.InputSpec(ndim=5)

    def build(self, input_shape):
        """Make the sub-layers: their sizes follow from the input's channels."""
        channels = input_shape[-1]
        policy = {"dtype": self.dtype_policy}
        self.depthwise = SpatialConv(
            None, self.kernel_size, kind="depthwise", name="depthwise", **policy
        )
        self.depthwise_norm = batch_normalization("depthwise_norm", **policy)
        self.expand = pointwise(self.expansion * channels, "expand", **policy)
        self.expand_norm = batch_normalization("expand_norm", **policy)
        self.project = pointwise(channels, "project", **policy)
        self.project_norm = batch_normalization("project_norm", **policy)
        expanded = (*input_shape[:-1], self.expansion * channels)
        for layer, shape in (
            (self.depthwise, input_shape),
            (self.depthwise_norm, input_shape),
            (self.expand, input_shape),
            (self.expand_norm, expanded),
            (self.project, expanded),
            (self.project_norm, input_shape),
        ):
            layer.build(shape)
        self.built = True

    def call(self, inputs, training=None):
        """Return the input plus its residual."""
        x = ops.relu(self.depthwise_norm(self.depthwise(inputs), training=training))
        x = ops.relu(self.expand_norm(self.expand(x), training=training))
        return inputs + self.project_norm(self.project(x), training=training)

    def compute_output_shape(self, input_shape):
        """Return the input's shape."""
        return input_shape

    def get_config(self):
        """Return the constructor's arguments."""
        config = {"kernel_size": self.kernel_size, "expansion": self.expansion}
        return {**super().get_config(), **config}
