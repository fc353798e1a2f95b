"""Per-frame tracking of one point: where the pupil is now."""

import keras

from keras_pleiades.layers import CenterNetHead
from keras_pleiades.models.blocks import spatio_temporal_blocks
from keras_pleiades.models.pleiades_model import Binning, PleiadesModel


@keras.saving.register_keras_serializable(package="keras_pleiades")
class PleiadesTracker(PleiadesModel):
    """Conv(1+2)D blocks and a CenterNet head with one heatmap and an offset, for each frame.

    Args:
        blocks: One `(mid_filters, filters, separable)` a block, see `SpatioTemporalBlock`.
        head_filters: `(mid_filters, filters)` of the head.
        input_shape: `(time, height, width, channels)`; all but channels may be `None`.
        dt: Bin size in microseconds.
        native_dt: Bin size at which kernels span `kernel_size` frames; `None` means `dt`.
        temporal: Arguments of the temporal layers, see `PleiadesConv`.
        dtype: Dtype policy of all layers.
        **kwargs: `name`, `trainable`.

    Output shape:
        `(batch, time - context_frames, height', width', 3)`: the logit that the point is in this
        cell, and its x and y offset in the cell.

    Example:
        >>> import keras_pleiades as kp
        >>> model = kp.models.PleiadesTracker(
        ...     blocks=[(8, 16, False)], head_filters=(16, 8), input_shape=(None, 16, 16, 2)
        ... )
        >>> model.compute_output_shape((1, 20, 16, 16, 2))
        (1, 2, 8, 8, 3)
    """

    def __init__(
        self,
        blocks: list[tuple[int, int, bool]],
        head_filters: tuple[int, int] = (256, 64),
        input_shape: tuple = (None, 96, 128, 2),
        dt: int = 5_000,
        native_dt: int | None = None,
        temporal: dict | None = None,
        dtype=None,
        **kwargs,
    ):
        # === Functional Model ===
        binning = Binning(dt, native_dt, temporal)
        inputs = binning.frames_input(input_shape, temporal_layers=len(blocks) + 1)
        x = spatio_temporal_blocks(inputs, blocks, binning, dtype)
        outputs = CenterNetHead(
            1, 2, *head_filters, temporal=binning.arguments(), name="head", dtype=dtype
        )(x)
        super().__init__(inputs, outputs, binning=binning, dtype=dtype, **kwargs)

        # === Config ===
        self.blocks = [tuple(block) for block in blocks]
        self.head_filters = tuple(head_filters)

    def get_config(self):
        """Return the constructor's arguments."""
        config = {
            "blocks": [tuple(block) for block in self.blocks],
            "head_filters": tuple(self.head_filters),
        }
        return {**super().get_config(), **config}
