"""Gradients that are written by hand, held against the slow versions."""

import numpy as np
import pytest

from keras_pleiades.layers import (
    CausalGroupNormalization,
    DepthwisePleiadesConv,
    PleiadesConv,
    SpatialConv,
    torch_kernels,
)
from tests import slow
from tests.backends import gradients, randomize, to_numpy


@pytest.mark.parametrize("size", [(9, 8), (6, 7), (1, 3)])
@pytest.mark.parametrize(("kernel_size", "strides"), [(1, 1), (3, 1), (3, 2), (5, 2), (3, 3)])
def test_spatial_conv(kernel_size, strides, size):
    rng = np.random.default_rng(0)
    layer = SpatialConv(5, kernel_size, strides)
    x = rng.normal(size=(2, 2, *size, 3)).astype("float32")
    layer.build(x.shape)
    kernel = to_numpy(layer.kernel)
    dy = rng.normal(size=slow.spatial_conv(x, kernel, strides).shape).astype("float32")
    dx, dkernel = gradients(layer, x, dy)
    # The layer is linear in each, so the gradient is the answer to each unit vector.
    slow_dkernel = np.zeros(kernel.shape)
    for index in np.ndindex(kernel.shape):
        unit = np.zeros(kernel.shape)
        unit[index] = 1.0
        slow_dkernel[index] = (slow.spatial_conv(x, unit, strides) * dy).sum()
    slow_dx = np.zeros(x.shape)
    for index in np.ndindex(x.shape[2:]):
        unit = np.zeros(x.shape)
        unit[(slice(None), slice(None), *index)] = 1.0
        product = slow.spatial_conv(unit, kernel, strides) * dy
        slow_dx[(slice(None), slice(None), *index)] = product.sum((2, 3, 4))
    # Sums of up to 200 products of order 1, in float32.
    np.testing.assert_allclose(dx, slow_dx, atol=2e-5)
    np.testing.assert_allclose(dkernel, slow_dkernel, atol=2e-5)


@pytest.fixture(params=[None, 20])
def small_slices(request, monkeypatch):
    """Torch works in slices of rows and of frames, which these tensors would not fill."""
    if request.param:
        monkeypatch.setattr(torch_kernels, "_SLICE", request.param)
        monkeypatch.setattr(torch_kernels, "_CACHED", request.param)


@pytest.mark.usefixtures("small_slices")
@pytest.mark.parametrize("depthwise", [False, True])
def test_temporal_conv(depthwise):
    layer = DepthwisePleiadesConv() if depthwise else PleiadesConv(3, order="kernel_first")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 14, 5, 7, 8)).astype("float32")
    layer.build(x.shape)
    gamma, basis = to_numpy(layer.coefficients), layer._scaled_basis()
    full = gamma if not depthwise else gamma[:, :, None] * np.eye(8)
    expected = slow.temporal_conv(x, np.tensordot(basis.T, full, axes=1))
    # Sums of up to 10,000 products of order 1, in float32.
    np.testing.assert_allclose(to_numpy(layer(x)), expected, atol=1e-5)
    dy = rng.normal(size=expected.shape).astype("float32")
    dx, dgamma = gradients(layer, x, dy)
    slow_dx, slow_dgamma = slow.temporal_conv_gradients(x, basis, full, dy)
    if depthwise:
        slow_dgamma = slow_dgamma[:, np.arange(8), np.arange(8)]
    np.testing.assert_allclose(dx, slow_dx, atol=1e-5)
    np.testing.assert_allclose(dgamma, slow_dgamma, atol=1e-4)


@pytest.mark.usefixtures("small_slices")
@pytest.mark.parametrize("activation", [None, "relu"])
@pytest.mark.parametrize("channels", [4, 8, 16])
def test_norm(channels, activation):
    rng = np.random.default_rng(0)
    layer = CausalGroupNormalization(activation=activation)
    x = rng.normal(size=(2, 2, 3, 4, channels)).astype("float32")
    layer.build(x.shape)
    gamma, beta = (to_numpy(w).astype("float64") for w in randomize(layer).weights)
    dy = rng.normal(size=x.shape).astype("float32")

    def loss(x, gamma, beta):
        y = slow.group_norm(x, gamma, beta)
        return ((np.maximum(y, 0) if activation else y) * dy).sum()

    step = 1e-6
    arguments = [x.astype("float64"), gamma, beta]
    for number, found in enumerate(gradients(layer, x, dy)):
        expected = np.zeros(found.shape)
        for index in np.ndindex(found.shape):
            sides = []
            for sign in (1, -1):
                moved = [a.copy() for a in arguments]
                moved[number][index] += sign * step
                sides.append(loss(*moved))
            expected[index] = (sides[0] - sides[1]) / (2 * step)
        np.testing.assert_allclose(found, expected, atol=1e-4)
