"""Per-frame object detection: what is where now."""

import keras

from keras_pleiades.layers import (
    CenterNetHead,
    DropOldestFrames,
    SpatialBlock,
    SpatialBottleneck,
    SpatioTemporalBlock,
)
from keras_pleiades.layers.spatial_block import pointwise
from keras_pleiades.models.pleiades_model import Binning, PleiadesModel


@keras.saving.register_keras_serializable(package="keras_pleiades")
class PleiadesDetector(PleiadesModel):
    """An hourglass of Conv(1+2)D and spatial blocks with a CenterNet head, for each frame.

    The encoder halves height and width at each stage; the decoder doubles them again, adding at
    each step the encoder's feature of that size, projected and cut to its newest frames.

    Args:
        num_classes: Number of classes, one heatmap each.
        encoder: One `(mid_filters, filters, separable, bottleneck)` a stage with a temporal
            layer, where `bottleneck` says whether a `SpatialBottleneck` follows.
        spatial_filters: Channels of the separable spatial stages that end the encoder.
        decoder_filters: Channels of each decoder stage.
        decoder_stages: How many times the decoder doubles the size.
        head_filters: `(mid_filters, filters)` of the head.
        input_shape: `(time, height, width, channels)`. Height and width may be `None` where
            they will be multiples of the encoder's stride.
        dt: Bin size in microseconds.
        native_dt: Bin size at which kernels span `kernel_size` frames; `None` means `dt`.
        temporal: Arguments of the temporal layers, see `PleiadesConv`.
        dtype: Dtype policy of all layers.
        **kwargs: `name`, `trainable`.

    Output shape:
        `(batch, time - context_frames, height', width', num_classes + 4)`: a heatmap logit a
        class, then height, width, x offset and y offset of the box.

    Example:
        >>> import keras_pleiades as kp
        >>> model = kp.models.PleiadesDetector(
        ...     2, encoder=[(8, 8, False, True), (8, 16, True, False)], spatial_filters=[16],
        ...     decoder_filters=16, decoder_stages=1, head_filters=(16, 8),
        ...     input_shape=(None, 32, 32, 2),
        ... )
        >>> model.compute_output_shape((1, 30, 32, 32, 2))  # 30 - 3 * 9 frames, stride 4
        (1, 3, 8, 8, 6)
    """

    binning_method = "volume"  # bilinear in time and space, as the paper bins this camera

    def __init__(
        self,
        num_classes: int,
        encoder: list[tuple[int, int, bool, bool]],
        spatial_filters: list[int],
        decoder_filters: int = 256,
        decoder_stages: int = 3,
        head_filters: tuple[int, int] = (256, 128),
        input_shape: tuple = (None, 160, 320, 2),
        dt: int = 10_000,
        native_dt: int | None = None,
        temporal: dict | None = None,
        dtype=None,
        **kwargs,
    ):
        # === Functional Model ===
        binning = Binning(dt, native_dt, temporal)
        inputs = x = binning.frames_input(input_shape, temporal_layers=len(encoder) + 1)
        features = []  # (feature, temporal layers passed) after each halving
        for i, (mid_filters, filters, separable, bottleneck) in enumerate(encoder):
            block = SpatioTemporalBlock(
                mid_filters,
                filters,
                separable=separable,
                temporal=binning.arguments(inputs="level" if i else "count"),
                name=f"block_{i + 1}",
                dtype=dtype,
            )
            x = block(x)
            if bottleneck:
                x = SpatialBottleneck(name=f"bottleneck_{i + 1}", dtype=dtype)(x)
            features.append((x, i + 1))
        context = block.temporal_conv.context_frames
        for i, filters in enumerate(spatial_filters):
            name = f"spatial_{i + 1}"
            x = SpatialBlock(filters, strides=2, separable=True, name=name, dtype=dtype)(x)
            features.append((x, len(encoder)))
        features.pop()  # the deepest is where the decoder starts
        for i in range(decoder_stages):
            feature, passed = features.pop()
            late = (len(encoder) - passed) * context
            if late:
                feature = DropOldestFrames(late, name=f"cut_{i + 1}", dtype=dtype)(feature)
            feature = pointwise(decoder_filters, f"project_{i + 1}", use_bias=True, dtype=dtype)(
                feature
            )
            x = keras.layers.UpSampling3D(
                (1, 2, 2), "channels_last", name=f"upsample_{i + 1}", dtype=dtype
            )(x)
            x = _crop_to(x, feature, f"crop_{i + 1}", dtype)
            x = keras.layers.Add(name=f"add_{i + 1}", dtype=dtype)([x, feature])
            x = SpatialBlock(decoder_filters, separable=True, name=f"decoder_{i + 1}", dtype=dtype)(
                x
            )
        outputs = CenterNetHead(
            num_classes, 4, *head_filters, temporal=binning.arguments(), name="head", dtype=dtype
        )(x)
        super().__init__(inputs, outputs, binning=binning, dtype=dtype, **kwargs)

        # === Config ===
        self.num_classes = num_classes
        self.encoder = [tuple(stage) for stage in encoder]
        self.spatial_filters = list(spatial_filters)
        self.decoder_filters = decoder_filters
        self.decoder_stages = decoder_stages
        self.head_filters = tuple(head_filters)

    @property
    def last_layer(self) -> keras.layers.Layer:
        """The layer whose size depends on the classes: new when they change."""
        return self.get_layer("head").outputs

    def get_config(self):
        """Return the constructor's arguments."""
        config = {
            "num_classes": self.num_classes,
            "encoder": [tuple(stage) for stage in self.encoder],
            "spatial_filters": list(self.spatial_filters),
            "decoder_filters": self.decoder_filters,
            "decoder_stages": self.decoder_stages,
            "head_filters": tuple(self.head_filters),
        }
        return {**super().get_config(), **config}


def _crop_to(x, feature, name: str, dtype):
    """Cut `x` to the feature's height and width: an odd size was rounded up when halved."""
    excess = [
        0 if None in (have, want) else have - want
        for have, want in zip(x.shape[2:4], feature.shape[2:4], strict=True)
    ]
    if not any(excess):
        return x
    cropping = ((0, 0), (0, excess[0]), (0, excess[1]))
    return keras.layers.Cropping3D(cropping, "channels_last", name=name, dtype=dtype)(x)
