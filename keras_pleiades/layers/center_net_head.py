"""The head of the networks that say where something is."""

import keras
import numpy as np

from keras_pleiades.layers.spatial_block import pointwise
from keras_pleiades.layers.spatio_temporal_block import SpatioTemporalBlock

# Focal loss starts well when every heatmap begins at probability 0.1: sigmoid(-2.19).
HEATMAP_BIAS = -2.19


@keras.saving.register_keras_serializable(package="keras_pleiades")
class CenterNetHead(keras.layers.Layer):
    """Turns features into center-point heatmaps and numbers about each center.

    A separable `SpatioTemporalBlock` at stride 1, then a pointwise layer with bias.

    Args:
        heatmaps: Heatmap channels, one a class, as logits. They come first.
        regressions: Channels after them: offsets, and for boxes height and width.
        mid_filters: Channels between the two halves of the block.
        filters: Channels after the block.
        temporal: Arguments of the temporal layer, as in `SpatioTemporalBlock`.
        **kwargs: `name`, `dtype` and so on, as in every Keras layer.

    Call arguments:
        inputs: A tensor `(batch, time, height, width, channels)`.
        training: Whether BatchNorm takes its statistics from the batch.

    Output shape:
        `(batch, time - kernel_size + 1, height, width, heatmaps + regressions)`

    Example:
        >>> import keras_pleiades as kp
        >>> head = kp.layers.CenterNetHead(heatmaps=1, regressions=2, mid_filters=32, filters=16)
        >>> tuple(head(keras.random.normal((1, 10, 3, 4, 32))).shape)
        (1, 1, 3, 4, 3)
    """

    def __init__(
        self,
        heatmaps: int,
        regressions: int,
        mid_filters: int,
        filters: int,
        temporal: dict | None = None,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.heatmaps = heatmaps
        self.regressions = regressions
        self.mid_filters = mid_filters
        self.filters = filters
        self.temporal = dict(temporal or {})
        policy = {"dtype": self.dtype_policy}
        self.block = SpatioTemporalBlock(
            mid_filters,
            filters,
            strides=1,
            separable=True,
            temporal=self.temporal,
            name="block",
            **policy,
        )
        self.outputs = pointwise(heatmaps + regressions, "outputs", use_bias=True, **policy)

    def build(self, input_shape):
        """Build both parts and set the heatmaps' bias."""
        self.block.build(input_shape)
        self.outputs.build(self.block.compute_output_shape(input_shape))
        bias = np.zeros(self.heatmaps + self.regressions, "float32")
        bias[: self.heatmaps] = HEATMAP_BIAS
        self.outputs.bias.assign(bias)
        self.built = True

    def call(self, inputs, training=None):
        """Return heatmap logits and regressions."""
        return self.outputs(self.block(inputs, training=training))

    def compute_output_shape(self, input_shape):
        """Return the block's shape with `heatmaps + regressions` channels."""
        shape = self.block.compute_output_shape(input_shape)
        return (*shape[:-1], self.heatmaps + self.regressions)

    def get_config(self):
        """Return the constructor's arguments."""
        config = {
            "heatmaps": self.heatmaps,
            "regressions": self.regressions,
            "mid_filters": self.mid_filters,
            "filters": self.filters,
            "temporal": dict(self.temporal),
        }
        return {**super().get_config(), **config}
