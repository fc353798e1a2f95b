"""Finds weights and loads them into a network."""

import os

import h5py
import keras
import numpy as np

from keras_pleiades.models import PleiadesClassifier, PleiadesModel
from keras_pleiades.zoo._torch_checkpoint import is_torch_checkpoint, read_torch_checkpoint


def published_checkpoint(pretrained) -> bool:
    """Whether `pretrained` names a PyTorch checkpoint, as the authors published one."""
    return isinstance(pretrained, (str, os.PathLike)) and is_torch_checkpoint(pretrained)


def load_pretrained(model: PleiadesModel, pretrained: bool | str | os.PathLike) -> None:
    """Load weights into a new network; its last layer stays new if the classes differ."""
    if not isinstance(pretrained, (str, os.PathLike)):
        raise ValueError(
            f"{model.name} has no bundled weights yet. Received: pretrained={pretrained!r}. "
            "Give the path of a weights file, or pretrained=False for a new network."
        )
    path = os.fspath(pretrained)
    if not os.path.isfile(path):
        raise FileNotFoundError(
            f"No weights file at pretrained={path!r}. Expected a file of model.save_weights "
            "(its name ends in .weights.h5) or the authors' dvs128_ckpt.pt."
        )
    if published_checkpoint(path):
        donor = _with_classes(model, 10)
        _assign_checkpoint(donor, read_torch_checkpoint(path), path)
    elif path.endswith(".weights.h5"):
        donor = _with_classes(model, _classes_in(model, path))
        donor.load_weights(path)
    else:
        raise ValueError(
            "A weights file is one of model.save_weights, whose name ends in .weights.h5, or the "
            f"authors' dvs128_ckpt.pt. Received: pretrained={path!r}"
        )
    if donor is not model:
        new = {id(variable) for variable in model.last_layer.variables}
        for own, given in zip(model.variables, donor.variables, strict=True):
            if id(own) not in new:
                own.assign(given)


def _with_classes(model: PleiadesModel, num_classes: int | None) -> PleiadesModel:
    """Return the model, or one like it with as many classes as the file has."""
    if num_classes is None or num_classes == model.num_classes:
        return model
    return type(model).from_config({**model.get_config(), "num_classes": num_classes})


def _classes_in(model: PleiadesModel, path: str) -> int | None:
    """Return how many classes a weights file was made for; `None` if that cannot be told."""
    if not hasattr(model, "last_layer"):
        return None
    classifier = isinstance(model, PleiadesClassifier)
    name = "layers/dense_1/vars/1" if classifier else "layers/center_net_head/outputs/vars/1"
    with h5py.File(path) as file:
        if name not in file:
            return None  # not a file of this network: load_weights says what is wrong
        return file[name].shape[0] - (0 if classifier else 4)


def _assign_checkpoint(model: PleiadesClassifier, tensors: dict[str, np.ndarray], path: str):
    """Copy the authors' tensors, (out, in, height, width, time), into a gesture network."""
    tensors = {k: v for k, v in tensors.items() if not k.endswith("num_batches_tracked")}

    def take(name, variable, convert=lambda array: array):
        if name not in tensors:
            raise ValueError(f"{path}: the checkpoint has no tensor {name!r} for this network")
        array = convert(tensors.pop(name))
        if array.shape != tuple(variable.shape):
            raise ValueError(
                f"{path}: {name!r} has shape {array.shape} where {variable.path} has "
                f"{tuple(variable.shape)}. Build it as it was trained: two input channels."
            )
        variable.assign(array)

    def take_norm(name, layer):
        take(f"{name}.weight", layer.gamma)
        take(f"{name}.bias", layer.beta)
        if isinstance(layer, keras.layers.BatchNormalization):
            take(f"{name}.running_mean", layer.moving_mean)
            take(f"{name}.running_var", layer.moving_variance)

    def take_pointwise(name, layer):
        take(f"{name}.weight", layer.kernel, lambda w: w.reshape(w.shape[:2]).T)
        if layer.use_bias:
            take(f"{name}.bias", layer.bias)

    for i in range(len(model.blocks)):
        block, name = model.get_layer(f"block_{i + 1}"), f"conv_blocks.{i}"
        conv, spatial = block.temporal_conv, block.spatial
        basis = tensors.pop(f"{name}.conv_t.0.transform", None)
        own = conv.resample(model.native_dt / model.dt)._scaled_basis()
        if basis is None or basis.shape != own.shape or not np.allclose(basis, own, atol=1e-6):
            raise ValueError(
                f"{path}: the polynomials of {name} are not those of this network. Build it as "
                "it was trained: degree=4, kernel_size=10, the default alpha, beta and interval."
            )
        take_norm(f"{name}.conv_t.1.0", block.temporal_norm)
        if block.separable:
            take(f"{name}.conv_t.0.weight", conv.coefficients, lambda w: w[:, 0, 0, 0].T)
            take_pointwise(f"{name}.conv_t.2", block.pointwise)
            take_norm(f"{name}.conv_t.3.0", block.pointwise_norm)
            take_pointwise(f"{name}.t_skip", block.skip)
            take(
                f"{name}.conv_s.0.weight",
                spatial.depthwise.kernel,
                lambda w: w[..., 0].transpose(2, 3, 0, 1),
            )
            take_norm(f"{name}.conv_s.1.0", spatial.depthwise_norm)
            take_pointwise(f"{name}.conv_s.2", spatial.pointwise)
            take_norm(f"{name}.conv_s.3.0", spatial.pointwise_norm)
        else:
            take(
                f"{name}.conv_t.0.weight",
                conv.coefficients,
                lambda w: w[:, :, 0, 0].transpose(2, 1, 0),
            )
            take(
                f"{name}.conv_s.0.weight",
                spatial.conv.kernel,
                lambda w: w[..., 0].transpose(2, 3, 1, 0),
            )
            take_norm(f"{name}.conv_s.1.0", spatial.norm)
    take_pointwise("classifier.1.0", model.get_layer("features"))
    take_pointwise("classifier.1.2", model.get_layer("logits"))
    if tensors:
        raise ValueError(f"{path}: the checkpoint has tensors this network lacks: {list(tensors)}")
