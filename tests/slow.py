"""The slow, obvious NumPy version of every layer: what the fast ones are held against."""

import math

import numpy as np


def temporal_conv(x, kernel):
    """Cross-correlate in time, valid: x (B, T, H, W, C), kernel (K, C, D)."""
    taps, channels, filters = kernel.shape
    frames = x.shape[1] - taps + 1
    y = np.zeros((x.shape[0], frames, *x.shape[2:4], filters))
    for t in range(frames):
        for tau in range(taps):
            for c in range(channels):
                for d in range(filters):
                    y[:, t, :, :, d] += x[:, t + tau, :, :, c] * kernel[tau, c, d]
    return y


def temporal_conv_gradients(x, basis, gamma, dy):
    """Gradients of sum(y * dy) in x and in gamma (n, C, D), for kernel = basis^T gamma."""
    dx, dgamma = np.zeros(x.shape), np.zeros(gamma.shape)
    coefficients, channels, filters = gamma.shape
    for t in range(dy.shape[1]):
        for tau in range(basis.shape[1]):
            for c in range(channels):
                for d in range(filters):
                    for n in range(coefficients):
                        weight = basis[n, tau] * gamma[n, c, d]
                        dx[:, t + tau, :, :, c] += dy[:, t, :, :, d] * weight
                        product = x[:, t + tau, :, :, c] * dy[:, t, :, :, d]
                        dgamma[n, c, d] += basis[n, tau] * product.sum()
    return dx, dgamma


def depthwise_temporal_conv(x, kernel):
    """The same without mixing channels: kernel (K, C)."""
    full = kernel[:, :, None] * np.eye(kernel.shape[1])
    return temporal_conv(x, full)


def group_norm(x, gamma, beta, groups=4, epsilon=1e-5):
    """Normalize each frame over height, width and the channels of a group."""
    y = np.zeros(x.shape)
    size = x.shape[-1] // groups
    for b in range(x.shape[0]):
        for t in range(x.shape[1]):
            for g in range(groups):
                part = x[b, t, :, :, g * size : (g + 1) * size]
                normal = (part - part.mean()) / math.sqrt(part.var() + epsilon)
                y[b, t, :, :, g * size : (g + 1) * size] = normal
    return y * gamma + beta


def spatial_conv(x, kernel, strides=1):
    """Convolve each frame with padding on each side: kernel (k, k, C, D)."""
    k = kernel.shape[0]
    x = np.pad(x, [(0, 0), (0, 0), (k // 2, k // 2), (k // 2, k // 2), (0, 0)])
    height, width = ((s - k) // strides + 1 for s in x.shape[2:4])
    y = np.zeros((*x.shape[:2], height, width, kernel.shape[3]))
    for i in range(height):
        for j in range(width):
            patch = x[:, :, i * strides : i * strides + k, j * strides : j * strides + k]
            y[:, :, i, j] = np.tensordot(patch, kernel, axes=3)
    return y


def depthwise_spatial_conv(x, kernel, strides=1):
    """The same without mixing channels: kernel (k, k, C, 1)."""
    return spatial_conv(x, kernel * np.eye(kernel.shape[2]), strides)


def batch_norm(x, gamma, beta, mean, variance, epsilon=1e-5):
    """Normalize with the moving statistics."""
    return (x - mean) / np.sqrt(variance + epsilon) * gamma + beta


def relu(x):
    return np.maximum(x, 0.0)


# What follows takes a layer's own weights and nothing else from it.


def weights(layer):
    return [np.asarray(w, "float64") for w in layer.get_weights()]


def bn(layer, x):
    return batch_norm(x, *weights(layer))


def spatial_block(layer, x):
    if not layer.separable:
        return relu(bn(layer.norm, spatial_conv(x, *weights(layer.conv), layer.strides)))
    x = depthwise_spatial_conv(x, *weights(layer.depthwise), layer.strides)
    x = relu(bn(layer.depthwise_norm, x))
    return relu(bn(layer.pointwise_norm, x @ weights(layer.pointwise)[0]))


def bottleneck(layer, x):
    y = relu(bn(layer.depthwise_norm, depthwise_spatial_conv(x, *weights(layer.depthwise))))
    y = relu(bn(layer.expand_norm, y @ weights(layer.expand)[0]))
    return x + bn(layer.project_norm, y @ weights(layer.project)[0])


def spatio_temporal_block(layer, x):
    kernel = layer.temporal_conv.kernel
    if not layer.separable:
        y = relu(group_norm(temporal_conv(x, kernel), *weights(layer.temporal_norm)))
        return spatial_block(layer.spatial, y)
    y = relu(group_norm(depthwise_temporal_conv(x, kernel), *weights(layer.temporal_norm)))
    y = group_norm(y @ weights(layer.pointwise)[0], *weights(layer.pointwise_norm))
    skip, bias = weights(layer.skip)
    y = relu(y + x[:, len(kernel) - 1 :] @ skip + bias)
    return spatial_block(layer.spatial, y)


def center_net_head(layer, x):
    kernel, bias = weights(layer.outputs)
    return spatio_temporal_block(layer.block, x) @ kernel + bias


def blocks(model, x):
    for i in range(len(model.blocks)):
        x = spatio_temporal_block(model.get_layer(f"block_{i + 1}"), x)
    return x


def classifier(model, x):
    x = blocks(model, x).mean(axis=(2, 3))
    kernel, bias = weights(model.get_layer("features"))
    x = relu(x @ kernel + bias)
    kernel, bias = weights(model.get_layer("logits"))
    return x @ kernel + bias


def tracker(model, x):
    return center_net_head(model.get_layer("head"), blocks(model, x))


def detector(model, x):
    features = []
    for i, (*_, has_bottleneck) in enumerate(model.encoder):
        x = spatio_temporal_block(model.get_layer(f"block_{i + 1}"), x)
        if has_bottleneck:
            x = bottleneck(model.get_layer(f"bottleneck_{i + 1}"), x)
        features.append(x)
    for i in range(len(model.spatial_filters)):
        x = spatial_block(model.get_layer(f"spatial_{i + 1}"), x)
        features.append(x)
    features.pop()
    for i in range(model.decoder_stages):
        feature = features.pop()[:, -x.shape[1] :]
        kernel, bias = weights(model.get_layer(f"project_{i + 1}"))
        x = x.repeat(2, axis=2).repeat(2, axis=3)
        x = x[:, :, : feature.shape[2], : feature.shape[3]] + feature @ kernel + bias
        x = spatial_block(model.get_layer(f"decoder_{i + 1}"), x)
    return center_net_head(model.get_layer("head"), x)
