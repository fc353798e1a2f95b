"""Turns the authors' PyTorch checkpoint into weights of the gesture network."""

import keras
import numpy as np

from keras_pleiades.models import PleiadesClassifier


def assign_checkpoint(model: PleiadesClassifier, tensors: dict[str, np.ndarray], path: str) -> None:
    """Copy the authors' tensors, (out, in, height, width, time), into a gesture network.

    Args:
        model: The network, of ten classes, on the interval of the checkpoint.
        tensors: What `read_torch_checkpoint` returns.
        path: Where they are from, for errors.

    Raises:
        ValueError: A tensor is missing, left over, of another shape, or of another basis.
    """
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
