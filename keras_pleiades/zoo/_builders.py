"""One function a network; the function's name is the network's."""

import os

import keras

from keras_pleiades.models import PleiadesClassifier, PleiadesDetector, PleiadesTracker
from keras_pleiades.zoo._architectures import ARCHITECTURES
from keras_pleiades.zoo._load_weights import load_weights, temporal_arguments
from keras_pleiades.zoo._presets import find_weights


def list_models() -> list[str]:
    """Return the names of the networks.

    >>> list_models()
    ['detector', 'eye_tracking', 'gesture']
    """
    return sorted(ARCHITECTURES)


def gesture(
    num_classes: int = 10,
    input_shape: tuple = (None, 128, 128, 2),
    dt: int = 10_000,
    pretrained: bool | str | os.PathLike = False,
    **kwargs,
) -> PleiadesClassifier:
    """Return the hand-gesture network: per-frame logits from frames of event counts.

    Args:
        num_classes: Number of classes. Other than the weight file's, it keeps the pretrained
            body and starts a new last layer.
        input_shape: `(time, height, width, channels)`; `None` for any size.
        dt: Bin size in microseconds. Other than 10 ms, it is `resample`d: kernels span 100 ms.
        pretrained: `False`; `True`, the weights bundled with the package; a preset's name, see
            `list_presets`: `"dvs128"` is the authors' checkpoint, fetched at first use; or the
            path of a weights file: one of `model.save_weights`, or the authors' `dvs128_ckpt.pt`.
            Torch is not needed for it.
        **kwargs: `name`, `dtype`, or arguments of the temporal layers (see `PleiadesConv`):
            `degree`, `interval`, `alpha`, `beta`, `kernel_size`, `order`. By default those that
            the pretrained weights were trained with.

    Example:
        >>> import keras_pleiades as kp
        >>> model = kp.zoo.gesture(num_classes=4, input_shape=(None, 32, 32, 2))
        >>> model.compute_output_shape((1, 50, 32, 32, 2))  # 50 - 45 frames
        (1, 5, 4)
    """
    return _build("gesture", input_shape, dt, pretrained, {"num_classes": num_classes}, kwargs)


def eye_tracking(
    input_shape: tuple = (None, 96, 128, 2),
    dt: int = 5_000,
    pretrained: bool | str | os.PathLike = False,
    **kwargs,
) -> PleiadesTracker:
    """Return the eye-tracking network: a per-frame heatmap and offset of the pupil.

    Args:
        input_shape: `(time, height, width, channels)`; `None` for any size.
        dt: Bin size in microseconds. Other than 5 ms, it is `resample`d: kernels span 50 ms.
        pretrained: `False`; `True`, the weights bundled with the package; a preset's name, see
            `list_presets`; or the path of a weights file, one of `model.save_weights`.
        **kwargs: As in `gesture`.

    Example:
        >>> import keras_pleiades as kp
        >>> model = kp.zoo.eye_tracking(input_shape=(None, 32, 32, 2))
        >>> model.compute_output_shape((1, 56, 32, 32, 2))  # 56 - 54 frames
        (1, 2, 1, 1, 3)
    """
    return _build("eye_tracking", input_shape, dt, pretrained, {}, kwargs)


def detector(
    num_classes: int = 7,
    input_shape: tuple = (None, 160, 320, 2),
    dt: int = 10_000,
    pretrained: bool | str | os.PathLike = False,
    **kwargs,
) -> PleiadesDetector:
    """Return the road-scene detector: per-frame center heatmaps, box sizes and offsets.

    Args:
        num_classes: Number of classes. Other than the weight file's, it keeps the pretrained
            body and starts a new last layer.
        input_shape: `(time, height, width, channels)`; `None` for any size that is a multiple
            of 32.
        dt: Bin size in microseconds. Other than 10 ms, it is `resample`d: kernels span 100 ms.
        pretrained: `False`; `True`, the weights bundled with the package; a preset's name, see
            `list_presets`; or the path of a weights file, one of `model.save_weights`.
        **kwargs: As in `gesture`.

    Example:
        >>> import keras_pleiades as kp
        >>> model = kp.zoo.detector(input_shape=(None, 32, 64, 2))
        >>> model.compute_output_shape((1, 38, 32, 64, 2))  # 38 - 36 frames, stride 4
        (1, 2, 8, 16, 11)
    """
    return _build("detector", input_shape, dt, pretrained, {"num_classes": num_classes}, kwargs)


def _build(name, input_shape, dt, pretrained, classes, kwargs):
    architecture = ARCHITECTURES[name]
    native_dt = architecture.dt
    temporal = {"kernel_size": 10, "interval": architecture.interval}
    weights = None if pretrained is False else find_weights(name, pretrained)
    if weights is not None:  # coefficients mean nothing without the basis they were trained on
        temporal.update(temporal_arguments(weights.path, architecture))
        native_dt = native_dt if weights.preset is None else weights.preset.dt
    model_arguments = {"name": kwargs.pop("name", name), "dtype": kwargs.pop("dtype", None)}
    arguments = {
        **architecture.arguments,
        **model_arguments,
        **classes,
        "input_shape": tuple(input_shape),
        "dt": dt,
        "native_dt": native_dt,
        "temporal": {**temporal, **kwargs},
    }
    if isinstance(arguments["dtype"], str):
        arguments["dtype"] = keras.dtype_policies.get(arguments["dtype"])
    model = architecture.family(**arguments)
    if weights is not None:
        load_weights(model, weights.path)
    return model
