"""The temporal convolutions against triple loops, finite differences and each other."""

import keras
import numpy as np
import pytest

from keras_pleiades.contraction import ORDERS
from keras_pleiades.layers import DepthwisePleiadesConv, PleiadesConv
from tests import slow
from tests.backends import gradients, to_numpy

# 1e-5: float32 sums of up to 100 products of numbers of order 1.
TOLERANCE = 1e-5
# Frames: one block, a block and a bit, exactly two blocks, many.
FRAMES = [10, 13, 25, 41]


def make(layer_class, channels=3, **kwargs):
    if layer_class is PleiadesConv:
        kwargs = {"filters": 4, **kwargs}
    layer = layer_class(**kwargs)
    layer.build((None, None, None, None, channels))
    return layer


def slow_conv(layer, x):
    if isinstance(layer, PleiadesConv):
        return slow.temporal_conv(x, layer.kernel)
    return slow.depthwise_temporal_conv(x, layer.kernel)


@pytest.mark.parametrize("layer_class", [PleiadesConv, DepthwisePleiadesConv])
@pytest.mark.parametrize("degree", [0, 4, None])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("frames", FRAMES)
def test_orders_equal_a_loop(layer_class, order, degree, frames):
    layer = make(layer_class, order=order, degree=degree)
    x = np.random.default_rng(0).normal(size=(2, frames, 2, 3, 3)).astype("float32")
    np.testing.assert_allclose(to_numpy(layer(x)), slow_conv(layer, x), atol=TOLERANCE)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(
    ("bin_size", "channels"), [(1.0, 3), (0.5, 3), (2.0, 3), (0.7, 3), (1.0, 8)]
)
def test_gradients_equal_a_loop(order, bin_size, channels):
    # Eight channels: where XLA's own convolution is taken in place of a matrix product.
    layer = make(PleiadesConv, channels, order=order, bin_size=bin_size)
    rng = np.random.default_rng(1)
    x = rng.normal(size=(2, 23, 2, 2, channels)).astype("float32")
    dy = rng.normal(size=layer.compute_output_shape(x.shape)).astype("float32")
    gamma = to_numpy(layer.coefficients)
    basis = layer.resample(1.0)._scaled_basis()
    expected = slow.temporal_conv_gradients(x, basis, gamma, dy)
    for found, wanted in zip(gradients(layer, x, dy), expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=TOLERANCE * max(1.0, abs(wanted).max()))


@pytest.mark.parametrize("layer_class", [PleiadesConv, DepthwisePleiadesConv])
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("padding", ["valid", "causal"])
def test_gradients_equal_finite_differences(layer_class, order, padding):
    layer = make(layer_class, order=order, padding=padding, use_bias=True)
    rng = np.random.default_rng(2)
    x = rng.normal(size=(1, 12, 2, 2, 3)).astype("float32")
    dy = rng.normal(size=layer.compute_output_shape(x.shape)).astype("float32")
    dx, *dw = gradients(layer, x, dy)

    def loss(x):
        return float((to_numpy(layer(x)).astype("float64") * dy).sum())

    # The layer is linear in its input and in its weights, so a wide step has no error of its own.
    step = rng.normal(size=x.shape).astype("float32")
    np.testing.assert_allclose((loss(x + step) - loss(x - step)) / 2, (dx * step).sum(), rtol=1e-3)
    for weight, gradient in zip(layer.trainable_variables, dw, strict=True):
        old, step = to_numpy(weight), rng.normal(size=weight.shape).astype("float32")
        weight.assign(old + step)
        above = loss(x)
        weight.assign(old - step)
        below = loss(x)
        weight.assign(old)
        np.testing.assert_allclose((above - below) / 2, (gradient * step).sum(), rtol=1e-3)


@pytest.mark.parametrize("layer_class", [PleiadesConv, DepthwisePleiadesConv])
@pytest.mark.parametrize("frames", [1, 5, 30])
def test_causal_is_valid_with_zeros_in_front(layer_class, frames):
    layer = make(layer_class, padding="causal", use_bias=True)
    layer.bias.assign(np.arange(layer.bias.shape[0]))
    x = np.random.default_rng(3).normal(size=(1, frames, 2, 2, 3)).astype("float32")
    padded = np.pad(x, [(0, 0), (9, 0), (0, 0), (0, 0), (0, 0)])
    expected = slow_conv(layer, padded) + np.arange(layer.bias.shape[0])
    np.testing.assert_allclose(to_numpy(layer(x)), expected, atol=TOLERANCE)


def test_first_bin_meets_the_oldest_frame():
    layer = make(PleiadesConv, channels=1, filters=1, degree=None, kernel_size=3)
    layer.coefficients.assign(np.array([1.0, 0.0, 0.0]).reshape(3, 1, 1))
    x = np.arange(5.0, dtype="float32").reshape(1, 5, 1, 1, 1)
    y = to_numpy(layer(x)).ravel() * np.sqrt(3)
    np.testing.assert_allclose(y, [0.0, 1.0, 2.0], atol=1e-6)


def test_scale_is_the_authors():
    layer = make(PleiadesConv, channels=2, filters=1, degree=0)
    layer.coefficients.assign(np.ones((1, 2, 1)))
    np.testing.assert_allclose(layer.kernel, np.full((10, 2, 1), 1 / np.sqrt(2 * 10)))
    layer = make(DepthwisePleiadesConv, channels=2, degree=0)
    layer.coefficients.assign(np.ones((1, 2)))
    np.testing.assert_allclose(layer.kernel, np.full((10, 2), 1 / np.sqrt(10)))


def test_initial_coefficients_keep_variance():
    layer = PleiadesConv(256)
    x = np.random.default_rng(4).normal(size=(1, 40, 4, 4, 32)).astype("float32")
    assert 0.7 < to_numpy(layer(x)).var() < 2.0


def test_two_layers_do_not_start_alike():
    first, second = make(PleiadesConv), make(PleiadesConv)
    assert abs(to_numpy(first.coefficients) - to_numpy(second.coefficients)).max() > 0.1


def test_weight_files_carry_the_identity_of_their_basis(tmp_path):
    def network(**kwargs):
        inputs = keras.Input((None, 4, 4, 2))
        return keras.Model(inputs, PleiadesConv(3, **kwargs)(inputs))

    path = tmp_path / "a.weights.h5"
    network().save_weights(path)
    resampled = network(bin_size=0.5)  # another bin size is what the file is good for
    resampled.load_weights(path)
    with pytest.raises(ValueError, match=r"interval=\(-1.0, 1.0\).*interval=\(0.0, 1.0\)"):
        network(interval=(0.0, 1.0)).load_weights(path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"order": "fastest"}, "order='fastest'"),
        ({"degree": -1}, "degree=-1"),
        ({"degree": 2.5}, "degree=2.5"),
        ({"kernel_size": 0}, "kernel_size=0"),
        ({"padding": "same"}, "padding='same'"),
        ({"inputs": "events"}, "inputs='events'"),
        ({"alpha": -2.0}, "alpha=-2.0"),
        ({"interval": (1, 1)}, r"interval=\(1.0, 1.0\)"),
        ({"bin_size": 0}, "bin_size=0"),
        ({"bin_size": float("inf")}, "bin_size=inf"),
    ],
)
def test_errors_name_what_was_received(arguments, message):
    with pytest.raises(ValueError, match=message):
        PleiadesConv(4, **arguments)
    with pytest.raises(ValueError, match=message):
        DepthwisePleiadesConv(**arguments)


def test_more_coefficients_than_taps_is_a_warning():
    with pytest.warns(UserWarning, match="degree=10 gives 11 coefficients for kernel_size=10"):
        PleiadesConv(4, degree=10)


def test_too_few_frames_is_an_error():
    layer = PleiadesConv(4)
    with pytest.raises(ValueError, match=r"spans 10 frames.*Received: 9 frames.*causal"):
        layer(np.zeros((1, 9, 4, 4, 2), "float32"))
    with pytest.raises(ValueError, match="Received: 9 frames"):
        layer(keras.Input((9, 4, 4, 2)))
    with pytest.raises(ValueError, match="filters=0"):
        PleiadesConv(0)
    with pytest.raises(ValueError, match=r"channels must be known.*\(None, 20, 4, 4, None\)"):
        PleiadesConv(4).build((None, 20, 4, 4, None))
