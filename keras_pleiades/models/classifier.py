"""Per-frame classification: what is happening in the recording now."""

import keras
from keras import ops

from keras_pleiades.layers.spatial_block import pointwise
from keras_pleiades.models.blocks import spatio_temporal_blocks
from keras_pleiades.models.pleiades_model import Binning, PleiadesModel


@keras.saving.register_keras_serializable(package="keras_pleiades")
class PleiadesClassifier(PleiadesModel):
    """Conv(1+2)D blocks, a mean over space, and two dense layers, for each frame.

    Args:
        num_classes: Number of classes.
        blocks: One `(mid_filters, filters, separable)` a block, see `SpatioTemporalBlock`.
        features: Width of the dense layer before the last.
        input_shape: `(time, height, width, channels)`; all but channels may be `None`.
        dt: Bin size in microseconds.
        native_dt: Bin size at which kernels span `kernel_size` frames; `None` means `dt`.
        temporal: Arguments of the temporal layers, see `PleiadesConv`.
        dtype: Dtype policy of all layers.
        **kwargs: `name`, `trainable`.

    Output shape:
        Logits `(batch, time - context_frames, num_classes)`.

    Example:
        >>> import keras_pleiades as kp
        >>> model = kp.models.PleiadesClassifier(
        ...     3, blocks=[(8, 16, False), (16, 24, True)], input_shape=(None, 16, 16, 2)
        ... )
        >>> model.compute_output_shape((1, 20, 16, 16, 2))  # 20 - 2 * 9 frames
        (1, 2, 3)
    """

    def __init__(
        self,
        num_classes: int,
        blocks: list[tuple[int, int, bool]],
        features: int = 256,
        input_shape: tuple = (None, 128, 128, 2),
        dt: int = 10_000,
        native_dt: int | None = None,
        temporal: dict | None = None,
        dtype=None,
        **kwargs,
    ):
        # === Functional Model ===
        binning = Binning(dt, native_dt, temporal)
        inputs = binning.frames_input(input_shape, temporal_layers=len(blocks))
        x = spatio_temporal_blocks(inputs, blocks, binning, dtype)
        x = ops.mean(x, axis=(2, 3))  # (B, T, C)
        x = pointwise(features, "features", use_bias=True, activation="relu", dtype=dtype)(x)
        outputs = pointwise(num_classes, "logits", use_bias=True, dtype=dtype)(x)
        super().__init__(inputs, outputs, binning=binning, dtype=dtype, **kwargs)

        # === Config ===
        self.num_classes = num_classes
        self.blocks = [tuple(block) for block in blocks]
        self.features = features

    @property
    def last_layer(self) -> keras.layers.Layer:
        """The layer whose size depends on the classes: new when they change."""
        return self.get_layer("logits")

    def get_config(self):
        """Return the constructor's arguments."""
        config = {
            "num_classes": self.num_classes,
            "blocks": [tuple(block) for block in self.blocks],
            "features": self.features,
        }
        return {**super().get_config(), **config}
