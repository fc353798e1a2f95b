"""`resample` keeps the continuous filter: single layers against continuous signals."""

import keras
import numpy as np
import pytest

import keras_pleiades as kp
from tests.backends import to_numpy

# Common multiples of the bin sizes tried, so that some bins of each end at the same times.
TIMES = (28, 42, 56)
RATIOS = [0.5, 0.7, 1.0, 2.0]


def smooth(t):
    """A signal whose fastest part has a period of six windows."""
    return np.stack([1.0 + np.sin(2 * np.pi * t / 60), np.cos(2 * np.pi * t / 75)], axis=-1)


def constant(t):
    return np.broadcast_to([1.0, -0.5], (*np.shape(t), 2))


def bins_of(signal, ratio, inputs):
    """What a bin of width `ratio` holds: the mean of the signal, or its integral."""
    count = round(max(TIMES) / ratio)
    fine = (np.arange(count * 50) + 0.5) * ratio / 50
    means = signal(fine).reshape(count, 50, -1).mean(axis=1)
    frames = means if inputs == "level" else means * ratio
    return frames[None, :, None, None].astype("float32")  # (1, T, 1, 1, C)


def responses(layer, ratio, signal):
    """The output of the frames that end at TIMES."""
    y = to_numpy(layer(bins_of(signal, ratio, layer.inputs)))[0, :, 0, 0]
    first_end = layer.bins  # in bins: the first valid output frame ends there
    return np.stack([y[round(time / ratio) - first_end] for time in TIMES])


def trained(layer_class, **kwargs):
    layer = layer_class(
        **({"filters": 3} if layer_class is kp.layers.PleiadesConv else {}), **kwargs
    )
    layer.build((None, None, 1, 1, 2))
    return layer


both = pytest.mark.parametrize(
    "layer_class", [kp.layers.PleiadesConv, kp.layers.DepthwisePleiadesConv]
)


@both
@pytest.mark.parametrize("inputs", ["level", "count"])
@pytest.mark.parametrize("signal", [constant, smooth])
@pytest.mark.parametrize("interval", [(-1.0, 1.0), (0.0, 1.0)])
def test_the_same_signal_gets_the_same_response(layer_class, inputs, signal, interval):
    layer = trained(layer_class, inputs=inputs, interval=interval)
    expected = responses(layer, 1.0, signal)
    for ratio in RATIOS:
        found = responses(layer.resample(ratio), ratio, signal)
        np.testing.assert_allclose(found, expected, atol=0.01 * abs(expected).max())


@both
@pytest.mark.parametrize("inputs", ["level", "count"])
def test_free_kernels_are_staircases(layer_class, inputs):
    # A constant is kept at every bin size. What moves is kept where bins divide the stairs;
    # wider bins blur neighbouring taps, which training never made alike.
    layer = trained(layer_class, inputs=inputs, degree=None)
    for signal, ratios in ((constant, RATIOS), (smooth, [0.5, 1.0])):
        expected = responses(layer, 1.0, signal)
        for ratio in ratios:
            found = responses(layer.resample(ratio), ratio, signal)
            np.testing.assert_allclose(found, expected, atol=1e-5)


def test_the_authors_rule_doubles_a_level():
    # Bin averages without the bin size, as the published code resamples, is our rule for counts.
    layer = trained(kp.layers.PleiadesConv, inputs="count")
    level = bins_of(constant, 1.0, "level")
    before, after = (to_numpy(some(level))[0, -1, 0, 0] for some in (layer, layer.resample(0.5)))
    np.testing.assert_allclose(after, 2 * before, rtol=1e-5)


@both
def test_twice_is_once_and_back_is_the_identity(layer_class):
    layer = trained(layer_class)
    np.testing.assert_array_equal(
        layer.resample(0.5).resample(0.7).kernel, layer.resample(0.35).kernel
    )
    for ratio in (0.5, 0.7, 1 / 3, 2.0, 1.1):
        np.testing.assert_array_equal(
            layer.resample(ratio).resample(1 / ratio).kernel, layer.kernel
        )


@both
def test_the_old_layer_is_untouched(layer_class):
    layer = trained(layer_class)
    layer.trainable = False
    kernel, config = layer.kernel, layer.get_config()
    new = layer.resample(0.5)
    assert not new.trainable
    new.coefficients.assign(np.zeros(new.coefficients.shape))
    np.testing.assert_array_equal(layer.kernel, kernel)
    assert layer.get_config() == config


def test_a_layer_not_built_yet_can_be_resampled():
    layer = kp.layers.PleiadesConv(4).resample(0.5)
    assert tuple(layer(np.zeros((1, 25, 2, 2, 3), "float32")).shape) == (1, 6, 2, 2, 4)


def test_a_bin_wider_than_the_window_still_integrates():
    layer = trained(kp.layers.PleiadesConv)
    wide = layer.resample(20.0)
    assert wide.bins == 1
    np.testing.assert_allclose(wide.kernel[0], layer.kernel.sum(axis=0), rtol=1e-5)


@pytest.mark.parametrize("ratio", [0, -1.0, float("nan"), float("inf"), "half"])
def test_errors_name_what_was_received(ratio):
    with pytest.raises(ValueError, match=f"ratio={ratio!r}"):
        trained(kp.layers.PleiadesConv).resample(ratio)


def model():
    blocks = [(4, 8, False), (8, 8, True)]
    return kp.models.PleiadesClassifier(3, blocks, 8, input_shape=(None, 8, 8, 2), dt=10_000)


def test_model_for_another_bin_size():
    old = model()
    old.get_layer("block_1").trainable = False
    x = np.random.default_rng(0).poisson(0.5, (1, 30, 8, 8, 2)).astype("float32")
    before = old.predict(x, verbose=0)
    new = old.resample(dt=5_000)
    assert (new.dt, new.native_dt, new.window_us) == (5_000, 10_000, 100_000)
    assert (old.context_frames, new.context_frames) == (18, 38)
    assert [layer.trainable for layer in new.layers] == [layer.trainable for layer in old.layers]
    for a, b in zip(old.get_weights(), new.get_weights(), strict=True):
        np.testing.assert_array_equal(a, b)
    new.set_weights([np.zeros_like(w) for w in new.get_weights()])
    np.testing.assert_array_equal(old.predict(x, verbose=0), before)


def test_model_twice_is_once_and_back_is_the_identity():
    old = model()
    x = np.random.default_rng(0).poisson(0.5, (1, 70, 8, 8, 2)).astype("float32")
    twice, once = old.resample(7_000).resample(5_000), old.resample(5_000)
    np.testing.assert_array_equal(twice.predict(x, verbose=0), once.predict(x, verbose=0))
    back = old.resample(7_000).resample(10_000)
    np.testing.assert_array_equal(back.predict(x, verbose=0), old.predict(x, verbose=0))


def test_model_answers_alike_at_every_bin_size():
    # Events of a slow drift, counted at 2.5 ms and summed to wider bins.
    old = model()
    t, y, x = np.meshgrid(np.arange(240), np.arange(8), np.arange(8), indexing="ij")
    rate = 1 + np.sin(2 * np.pi * (t / 400 + x / 8 + y / 16))
    fine = np.stack([rate, 2 - rate], axis=-1)[None].astype("float32")
    answers = {}
    for dt in (2_500, 5_000, 10_000, 20_000):
        factor = dt // 2_500
        frames = fine.reshape(1, 240 // factor, factor, 8, 8, 2).sum(axis=2)
        answers[dt] = old.resample(dt).predict(frames, verbose=0)[0, -1]
    spread = abs(answers[10_000]).max()
    for dt, answer in answers.items():
        # 5 %: bins of 20 ms resolve less of the drift than bins of 2.5 ms.
        assert abs(answer - answers[10_000]).max() < 0.05 * spread, dt


def test_resampled_model_saves_and_loads(tmp_path):
    resampled = model().resample(7_000)
    x = np.random.default_rng(0).poisson(0.5, (1, 40, 8, 8, 2)).astype("float32")
    expected = resampled.predict(x, verbose=0)
    resampled.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert (loaded.dt, loaded.native_dt) == (7_000, 10_000)
    np.testing.assert_allclose(loaded.predict(x, verbose=0), expected, atol=1e-6)
    # One weight file serves every dt.
    resampled.save_weights(tmp_path / "a.weights.h5")
    other = model()
    other.load_weights(tmp_path / "a.weights.h5")
    np.testing.assert_allclose(other.resample(7_000).predict(x, verbose=0), expected, atol=1e-6)


@pytest.mark.parametrize("dt", [0, -5_000, 0.005, 2.5, float("nan"), float("inf"), "5ms", True])
def test_a_wrong_dt_is_an_error(dt):
    for call in (lambda: model().resample(dt), lambda: kp.zoo.gesture(dt=dt)):
        with pytest.raises(ValueError, match="MICROSECONDS") as caught:
            call()
        assert f"dt={dt!r}" in str(caught.value)
    if dt == 0.005:
        assert "dt=5_000" in str(caught.value)
