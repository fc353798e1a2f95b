"""The Conv(1+2)D block: a temporal half, then a spatial half."""

import keras
from keras import ops

from keras_pleiades.layers.carried_context import CarriedContext
from keras_pleiades.layers.causal_group_normalization import CausalGroupNormalization
from keras_pleiades.layers.depthwise_pleiades_conv import DepthwisePleiadesConv
from keras_pleiades.layers.pleiades_conv import PleiadesConv
from keras_pleiades.layers.spatial_block import SpatialBlock, pointwise

# Numbers between the halves of a block that a piece of time has at most, by measurement: XLA makes
# one loop of many operations and likes the cache, torch pays for each call.
_PIECE = {"jax": 700_000, "tensorflow": 4_000_000, "torch": 4_000_000}
# XLA compiles each piece: more of them would make the first call slow.
_MOST_PIECES = 32


@keras.saving.register_keras_serializable(package="keras_pleiades")
class SpatioTemporalBlock(keras.layers.Layer):
    """Convolves in time, then in space: the block that every PLEIADES network is made of.

    Full: temporal convolution to `mid_filters`, causal GroupNorm, ReLU, spatial convolution to
    `filters`, BatchNorm, ReLU.

    Separable (the paper's DWS): depthwise temporal convolution, GroupNorm, ReLU, pointwise to
    `mid_filters`, GroupNorm; plus a pointwise skip (with bias) from the input frames that
    remain; ReLU of the sum; then a separable `SpatialBlock`.

    Args:
        mid_filters: Channels between the two halves.
        filters: Output channels.
        strides: Step in height and width.
        separable: Whether both halves are depthwise-separable.
        temporal: Arguments of the temporal layer (see `PleiadesConv`), such as
            `{"kernel_size": 10, "degree": 4, "inputs": "count"}`.
        groups: Groups of the causal GroupNorm.
        **kwargs: `name`, `dtype` and so on, as in every Keras layer.

    Call arguments:
        inputs: A tensor `(batch, time, height, width, channels)`.
        training: Whether BatchNorm takes its statistics from the batch.

    Output shape:
        `(batch, time - kernel_size + 1, ceil(height / strides), ceil(width / strides), filters)`

    Example:
        >>> import keras_pleiades as kp
        >>> block = kp.layers.SpatioTemporalBlock(64, 80, separable=True)
        >>> tuple(block(keras.random.normal((1, 12, 16, 16, 48))).shape)
        (1, 3, 8, 8, 80)
    """

    def __init__(
        self,
        mid_filters: int,
        filters: int,
        strides: int = 2,
        separable: bool = False,
        temporal: dict | None = None,
        groups: int = 4,
        **kwargs,
    ):
        super().__init__(**kwargs)
        self.mid_filters = mid_filters
        self.filters = filters
        self.strides = strides
        self.separable = separable
        self.temporal = dict(temporal or {})
        self.groups = groups
        policy = {"dtype": self.dtype_policy}
        if separable:
            self.temporal_conv = DepthwisePleiadesConv(
                **self.temporal, name="temporal_conv", **policy
            )
            self.pointwise = pointwise(mid_filters, "pointwise", **policy)
            self.pointwise_norm = CausalGroupNormalization(groups, name="pointwise_norm", **policy)
            self.skip = pointwise(mid_filters, "skip", use_bias=True, **policy)
        else:
            self.temporal_conv = PleiadesConv(
                mid_filters, **self.temporal, name="temporal_conv", **policy
            )
        self.temporal_norm = CausalGroupNormalization(
            groups, activation="relu", name="temporal_norm", **policy
        )
        self.spatial = SpatialBlock(
            filters, strides=strides, separable=separable, name="spatial", **policy
        )

    def build(self, input_shape):
        """Build the sub-layers, each on the shape that the one before it gives."""
        self.temporal_conv.build(input_shape)
        shape = self.temporal_conv.compute_output_shape(input_shape)
        self.temporal_norm.build(shape)
        if self.separable:
            self.pointwise.build(shape)
            self.skip.build(shape)
            shape = (*shape[:-1], self.mid_filters)
            self.pointwise_norm.build(shape)
        self.spatial.build(shape)
        self.built = True

    def call(self, inputs, training=None):
        """Convolve in time, then in space."""
        whole = training or CarriedContext.active() is not None
        pieces = 1 if whole else self._pieces(inputs.shape)
        if pieces == 1:
            return self._call_piece(inputs, training)
        # Without batch statistics a frame's answer needs only the frames its kernel spans. In
        # pieces of time that fit the cache a long clip is two to three times faster.
        context = self.temporal_conv.context_frames
        total = inputs.shape[1] - context
        size = -(-total // pieces)
        return ops.concatenate(
            [
                self._call_piece(inputs[:, start : start + size + context], training)
                for start in range(0, total, size)
            ],
            axis=1,
        )

    def _pieces(self, input_shape) -> int:
        """Return in how many pieces of time to run: one where sizes are free or small."""
        batch, frames, height, width, _ = input_shape
        if None in (frames, height, width) or self.temporal_conv.padding == "causal":
            return 1
        total = frames - self.temporal_conv.context_frames
        numbers = (batch or 1) * total * height * width * self.mid_filters
        return min(-(-numbers // _PIECE[keras.backend.backend()]), total, _MOST_PIECES)

    def _call_piece(self, inputs, training):
        x = self.temporal_norm(self.temporal_conv(inputs))
        if self.separable:
            x = self.pointwise_norm(self.pointwise(x))
            x = ops.relu(x + self.skip(self._frames_that_remain(inputs)))
        return self.spatial(x, training=training)

    def compute_output_shape(self, input_shape):
        """Return the shape after both halves."""
        return self.spatial.compute_output_shape(
            self.temporal_conv.compute_output_shape(input_shape)
        )

    def get_config(self):
        """Return the constructor's arguments."""
        config = {
            "mid_filters": self.mid_filters,
            "filters": self.filters,
            "strides": self.strides,
            "separable": self.separable,
            "temporal": dict(self.temporal),
            "groups": self.groups,
        }
        return {**super().get_config(), **config}

    def _frames_that_remain(self, inputs):
        if self.temporal_conv.padding == "causal" or CarriedContext.active() is not None:
            return inputs
        return inputs[:, self.temporal_conv.context_frames :]
