"""What every layer must do, over every layer."""

import keras
import numpy as np
import pytest

import keras_pleiades as kp
from keras_pleiades.layers import spatio_temporal_block
from tests import slow
from tests.backends import compiled, randomize, to_numpy

LAYERS = {
    "full_temporal": (
        lambda **kw: kp.layers.PleiadesConv(8, **kw),
        lambda layer, x: slow.temporal_conv(x, layer.kernel),
    ),
    "depthwise_temporal": (
        lambda **kw: kp.layers.DepthwisePleiadesConv(**kw),
        lambda layer, x: slow.depthwise_temporal_conv(x, layer.kernel),
    ),
    "group_norm": (
        lambda **kw: kp.layers.CausalGroupNormalization(groups=2, **kw),
        lambda layer, x: slow.group_norm(x, *slow.weights(layer), groups=2),
    ),
    "full_spatial": (
        lambda **kw: kp.layers.SpatialConv(8, strides=2, **kw),
        lambda layer, x: slow.spatial_conv(x, *slow.weights(layer), 2),
    ),
    "depthwise_spatial": (
        lambda **kw: kp.layers.SpatialConv(kind="depthwise", use_bias=True, **kw),
        lambda layer, x: (
            slow.depthwise_spatial_conv(x, slow.weights(layer)[0]) + slow.weights(layer)[1]
        ),
    ),
    "separable_spatial": (
        lambda **kw: kp.layers.SpatialConv(8, kind="separable", **kw),
        lambda layer, x: (
            slow.depthwise_spatial_conv(x, slow.weights(layer)[0]) @ slow.weights(layer)[1]
        ),
    ),
    "spatial_block": (
        lambda **kw: kp.layers.SpatialBlock(8, strides=2, **kw),
        slow.spatial_block,
    ),
    "separable_block": (
        lambda **kw: kp.layers.SpatialBlock(8, separable=True, **kw),
        slow.spatial_block,
    ),
    "bottleneck": (lambda **kw: kp.layers.SpatialBottleneck(**kw), slow.bottleneck),
    "full_1p2d": (
        lambda **kw: kp.layers.SpatioTemporalBlock(8, 12, **kw),
        slow.spatio_temporal_block,
    ),
    "dws_1p2d": (
        lambda **kw: kp.layers.SpatioTemporalBlock(8, 12, separable=True, **kw),
        slow.spatio_temporal_block,
    ),
    "head": (
        lambda **kw: kp.layers.CenterNetHead(2, 4, mid_filters=8, filters=4, **kw),
        slow.center_net_head,
    ),
    "drop_frames": (
        lambda **kw: kp.layers.DropOldestFrames(3, **kw),
        lambda layer, x: x[:, 3:],
    ),
}
CHANNELS = 4
each_layer = pytest.mark.parametrize("name", LAYERS)


def clip(batch=2, frames=19, height=7, width=6, seed=0):
    shape = (batch, frames, height, width, CHANNELS)
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


@pytest.fixture
def layer(name):
    layer = LAYERS[name][0]()
    layer.build((None, None, None, None, CHANNELS))
    return randomize(layer)


@each_layer
@pytest.mark.parametrize("batch", [1, 3])
def test_equals_the_slow_version(name, layer, batch):
    x = clip(batch)
    expected = LAYERS[name][1](layer, x.astype("float64"))
    y = to_numpy(layer(x))
    assert y.shape == expected.shape == layer.compute_output_shape(x.shape)
    # 1e-5 of the largest value: float32 through at most four normalizations.
    np.testing.assert_allclose(y, expected, atol=1e-5 * max(1.0, abs(expected).max()))


@each_layer
def test_xla_equals_eager(name, layer):
    x = keras.ops.convert_to_tensor(clip())
    np.testing.assert_allclose(to_numpy(compiled(layer)(x)), to_numpy(layer(x)), atol=2e-5)


@each_layer
@pytest.mark.parametrize("shape", [(None, None, None), (19, 7, 6), (None, 7, 6)])
def test_symbolic_call_free_and_fixed(name, layer, shape):
    inputs = keras.Input((*shape, CHANNELS))
    model = keras.Model(inputs, layer(inputs))
    x = clip(batch=1)
    assert model.compute_output_shape((1, *x.shape[1:])) == layer(x).shape
    np.testing.assert_allclose(model.predict(x, verbose=0), to_numpy(layer(x)), atol=2e-5)
    if shape[0] is None:
        longer = clip(batch=2, frames=31)
        result = model.predict(longer, verbose=0)
        np.testing.assert_allclose(result, to_numpy(layer(longer)), atol=2e-5)


@each_layer
def test_config_round_trip(name, layer):
    config = layer.get_config()
    again = type(layer).from_config(config)
    assert again.get_config() == config
    again.build((None, None, None, None, CHANNELS))
    again.set_weights(layer.get_weights())
    np.testing.assert_allclose(to_numpy(again(clip())), to_numpy(layer(clip())), atol=1e-6)


@each_layer
def test_saves_and_loads(name, layer, tmp_path):
    inputs = keras.Input((None, 7, 6, CHANNELS))
    model = keras.Model(inputs, layer(inputs))
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    x = clip()
    np.testing.assert_allclose(loaded.predict(x, verbose=0), model.predict(x, verbose=0), atol=1e-6)


@each_layer
@pytest.mark.parametrize(
    ("policy", "tolerance"), [("mixed_float16", 2e-2), ("mixed_bfloat16", 0.15)]
)
def test_mixed_precision(name, layer, policy, tolerance):
    mixed = LAYERS[name][0](dtype=policy)
    mixed.build((None, None, None, None, CHANNELS))
    mixed.set_weights(layer.get_weights())
    y = mixed(clip())
    assert keras.backend.standardize_dtype(y.dtype) == policy.removeprefix("mixed_")
    assert all(keras.backend.standardize_dtype(w.dtype) == "float32" for w in mixed.weights)
    expected = to_numpy(layer(clip()))
    # Half precision keeps 11 bits and bfloat16 8: the tolerance is a few units in the last place
    # of the largest value.
    tolerance = {"mixed_float16": 2e-2, "mixed_bfloat16": 0.15}[policy]
    error = abs(to_numpy(keras.ops.cast(y, "float32")) - expected)
    assert error.max() < tolerance * max(1.0, abs(expected).max())


@pytest.mark.parametrize("name", ["full_1p2d", "dws_1p2d", "head"])
@pytest.mark.parametrize("numbers", [100, 5_000])  # between the halves: a piece a frame, a few
def test_pieces_of_time_change_nothing(name, layer, numbers, monkeypatch):
    x = clip(frames=23)
    pieces = dict.fromkeys(spatio_temporal_block._PIECE, numbers)
    monkeypatch.setattr(spatio_temporal_block, "_PIECE", pieces)
    expected = LAYERS[name][1](layer, x.astype("float64"))
    np.testing.assert_allclose(
        to_numpy(layer(x)), expected, atol=1e-5 * max(1.0, abs(expected).max())
    )


def test_norm_of_a_tensor_that_is_laid_out_otherwise():
    """On torch a transposed tensor is a view, and what is made like it is too."""
    x = np.random.default_rng(0).normal(size=(2, 3, 4, 5, 4)).astype("float32")
    expected = slow.group_norm(x.astype("float64"), 1.0, 0.0, groups=2)
    channels_first = keras.ops.convert_to_tensor(x.transpose(0, 1, 4, 2, 3).copy())
    transposed = keras.ops.transpose(channels_first, (0, 1, 3, 4, 2))
    layer = kp.layers.CausalGroupNormalization(2)
    np.testing.assert_allclose(to_numpy(layer(transposed)), expected, atol=1e-5)


def test_norm_never_looks_at_another_frame():
    layer = kp.layers.CausalGroupNormalization(2)
    x = clip()
    y = to_numpy(layer(x))
    changed = x.copy()
    changed[:, 5:] *= 100.0
    np.testing.assert_array_equal(to_numpy(layer(changed))[:, :5], y[:, :5])


def test_norm_of_constant_frames_is_beta():
    layer = kp.layers.CausalGroupNormalization(4)
    x = np.full((1, 2, 64, 64, CHANNELS), 1234.5, "float32")
    np.testing.assert_allclose(to_numpy(layer(x)), 0.0, atol=1e-6)


def test_norm_of_a_large_offset_keeps_its_digits():
    layer = kp.layers.CausalGroupNormalization(2)
    x = clip() + 1000.0
    expected = slow.group_norm(x.astype("float64"), 1.0, 0.0, groups=2)
    # Numbers near 1000 have a spacing of 6e-5 in float32: that is what is left of a unit variance.
    np.testing.assert_allclose(
        to_numpy(kp.layers.CausalGroupNormalization(2)(x)), expected, atol=5e-4
    )
    del layer


def test_padding_is_not_keras_same():
    layer = kp.layers.SpatialConv(8, strides=2)
    x = clip(batch=1, height=8, width=8)
    y = to_numpy(layer(x))
    same = keras.ops.conv(x[0], layer.kernel, strides=2, padding="same")
    assert abs(y[0] - to_numpy(same)).max() > 0.1


def test_batch_norm_trains_with_the_paper_s_momentum():
    layer = kp.layers.SpatialBlock(8)
    x = clip()
    layer.build(x.shape)
    layer(x, training=True)
    conv = to_numpy(layer.conv(x))
    expected = 0.1 * conv.mean(axis=(0, 1, 2, 3))
    np.testing.assert_allclose(to_numpy(layer.norm.moving_mean), expected, atol=1e-5)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: kp.layers.CausalGroupNormalization(3)(clip()), "groups=3, channels=4"),
        (lambda: kp.layers.SpatialConv(None), "filters=None, kind='full'"),
        (lambda: kp.layers.SpatialConv(8, kind="depthwise"), "filters=8, kind='depthwise'"),
        (lambda: kp.layers.SpatialConv(8, kind="wide"), "kind='wide'"),
        (lambda: kp.layers.SpatialConv(8, kernel_size=2), "kernel_size=2"),
        (lambda: kp.layers.SpatioTemporalBlock(6, 8)(clip()), "groups=4, channels=6"),
        (lambda: kp.layers.PleiadesConv(8)(clip()[0]), "expected ndim=5"),
    ],
)
def test_errors_name_what_was_received(make, message):
    with pytest.raises(ValueError, match=message):
        make()
