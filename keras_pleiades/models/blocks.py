"""The stack of Conv(1+2)D blocks that classifier and tracker begin with."""

from keras_pleiades.layers import SpatioTemporalBlock
from keras_pleiades.models.pleiades_model import Binning


def spatio_temporal_blocks(x, blocks, binning: Binning, dtype):
    """Apply one block for each `(mid_filters, filters, separable)`; the first counts events."""
    for i, (mid_filters, filters, separable) in enumerate(blocks):
        temporal = binning.arguments(inputs="level" if i else "count")
        x = SpatioTemporalBlock(
            mid_filters,
            filters,
            separable=separable,
            temporal=temporal,
            name=f"block_{i + 1}",
            dtype=dtype,
        )(x)
    return x
