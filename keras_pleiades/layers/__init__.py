"""The layers: one tensor `(batch, time, height, width, channels)` in, one out."""

from keras_pleiades.layers.causal_group_normalization import CausalGroupNormalization
from keras_pleiades.layers.center_net_head import CenterNetHead
from keras_pleiades.layers.depthwise_pleiades_conv import DepthwisePleiadesConv
from keras_pleiades.layers.drop_oldest_frames import DropOldestFrames
from keras_pleiades.layers.pleiades_conv import PleiadesConv
from keras_pleiades.layers.spatial_block import SpatialBlock
from keras_pleiades.layers.spatial_bottleneck import SpatialBottleneck
from keras_pleiades.layers.spatial_conv import SpatialConv
from keras_pleiades.layers.spatio_temporal_block import SpatioTemporalBlock

__all__ = [
    "CausalGroupNormalization",
    "CenterNetHead",
    "DepthwisePleiadesConv",
    "DropOldestFrames",
    "PleiadesConv",
    "SpatialBlock",
    "SpatialBottleneck",
    "SpatialConv",
    "SpatioTemporalBlock",
]
