"""What every network must do, over every network, at a small size."""

import keras
import numpy as np
import pytest

import keras_pleiades as kp
from tests import slow
from tests.backends import randomize, to_numpy

FAMILIES = {
    "classifier": (
        lambda **kw: kp.models.PleiadesClassifier(
            3, [(4, 8, False), (8, 12, True)], 16, **{"input_shape": (None, 12, 10, 2), **kw}
        ),
        slow.classifier,
        18,
    ),
    "tracker": (
        lambda **kw: kp.models.PleiadesTracker(
            [(4, 8, False), (8, 8, True)], (8, 4), **{"input_shape": (None, 12, 10, 2), **kw}
        ),
        slow.tracker,
        27,
    ),
    # 13 x 10 is halved to 7 x 5, 4 x 3 and 2 x 2, so what is doubled must be cut.
    "detector": (
        lambda **kw: kp.models.PleiadesDetector(
            2,
            [(4, 8, False, True), (8, 8, True, False)],
            [8],
            8,
            2,
            (8, 4),
            **{"input_shape": (None, 13, 10, 2), **kw},
        ),
        slow.detector,
        27,
    ),
}
each_family = pytest.mark.parametrize("family", FAMILIES)


@pytest.fixture(scope="module", params=FAMILIES)
def known(request):
    """A network that is compiled once for many tests, 15 frames more than a context, its answers.

    Tests leave its weights as they are.
    """
    keras.utils.set_random_seed(0)
    make, *_ = FAMILIES[request.param]
    model = randomize(make())
    x = clip(request.param, frames=model.context_frames + 15)
    return make, model, x, model.predict(x, verbose=0)


def copy_of(model, make, **kwargs):
    """A network with the same weights."""
    other = make(**kwargs)
    other.set_weights(model.get_weights())
    return other


def clip(family, frames=30, batch=2):
    height = 13 if family == "detector" else 12
    x = np.random.default_rng(0).poisson(0.7, (batch, frames, height, 10, 2))
    return x.astype("float32")


def assert_close(found, expected):
    """Equal to 2e-5 of the largest value: float32 through a dozen layers."""
    np.testing.assert_allclose(found, expected, atol=2e-5 * max(1.0, abs(expected).max()))


@each_family
@pytest.mark.parametrize("dt", [10_000, 7_000])
def test_equals_the_slow_version(family, dt):
    make, slow_version, _ = FAMILIES[family]
    model = randomize(make(dt=dt, native_dt=10_000))
    x = clip(family, frames=model.context_frames + 3)
    expected = slow_version(model, x.astype("float64"))
    y = model.predict(x, verbose=0)
    assert y.shape == expected.shape == tuple(model(x).shape)
    assert y.shape == model.compute_output_shape(x.shape)
    assert y.shape[1] == 3
    assert_close(y, expected)


@each_family
def test_bin_size_and_context(family):
    make, _, context = FAMILIES[family]
    model = make(dt=10_000)
    assert (model.dt, model.window_us, model.context_frames) == (10_000, 100_000, context)
    short = make(dt=10_000, temporal={"kernel_size": 5})
    assert (short.window_us, short.context_frames) == (50_000, context * 4 // 9)


def test_fixed_number_of_frames(known):
    make, model, x, expected = known
    fixed = copy_of(model, make, input_shape=x.shape[1:])
    assert_close(fixed.predict(x, verbose=0), expected)


def test_saves_and_loads(known, tmp_path):
    make, model, x, expected = known
    model = copy_of(model, make)
    model.get_layer("block_1").temporal_conv.trainable = False
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert type(loaded) is type(model)
    assert loaded.get_config() == model.get_config()
    assert_close(loaded.predict(x, verbose=0), expected)


def test_training_goes_on_after_loading(tmp_path):
    """With the optimizer's state, and compiled as was asked, not as the saving backend did it."""
    model = FAMILIES["classifier"][0]()
    x, y = clip("classifier", frames=20), np.ones((2, 2))
    model.compile(keras.optimizers.AdamW(1e-2), kp.losses.FrameCrossentropy())
    model.fit(x, y, verbose=0)
    model.save(tmp_path / "model.keras")
    loaded = keras.saving.load_model(tmp_path / "model.keras")
    assert loaded.get_compile_config()["jit_compile"] == "auto"
    assert loaded.jit_compile == model.jit_compile
    for one in (model, loaded):
        one.fit(x, y, verbose=0)
    assert_close(loaded.predict(x, verbose=0), model.predict(x, verbose=0))


@each_family
def test_mixed_precision(family):
    make, *_ = FAMILIES[family]
    model, mixed = make(), make(dtype="mixed_bfloat16")
    mixed.set_weights(model.get_weights())
    x = clip(family)
    expected, found = model.predict(x, verbose=0), mixed.predict(x, verbose=0)
    assert keras.backend.standardize_dtype(mixed.output.dtype) == "bfloat16"
    assert all(w.dtype == "float32" for w in mixed.weights)
    # bfloat16 keeps 8 bits, and errors add up over the layers.
    assert abs(found.astype("float32") - expected).max() < 0.1 * max(1.0, abs(expected).max())
    again = type(mixed).from_config(mixed.get_config())
    assert again.dtype_policy.name == "mixed_bfloat16"
    assert again.get_layer("block_1").compute_dtype == "bfloat16"


def test_an_answer_depends_on_nothing_later(known):
    _, model, x, y = known
    changed = x.copy()
    changed[:, -3:] = x[:, -6:-3] * 3.0
    z = model.predict(changed, verbose=0)
    assert_close(z[:, :-3], y[:, :-3])
    assert abs(z[:, -3:] - y[:, -3:]).max() > 1e-3


def test_an_answer_depends_on_nothing_before_its_context(known):
    _, model, x, y = known
    short = model.predict(x[:, -model.context_frames - 1 :], verbose=0)
    assert_close(short[:, -1], y[:, -1])


@each_family
def test_too_few_frames_is_an_error(family):
    make, _, context = FAMILIES[family]
    x = clip(family, frames=context)
    with pytest.raises(ValueError, match=f"at least {context + 1} .* Received: {context} frames"):
        make()(x)
    with pytest.raises(ValueError, match=f"at least {context + 1}"):
        make().predict(x, verbose=0)
    with pytest.raises(ValueError, match=f"at least {context + 1}.*input_shape="):
        make(input_shape=x.shape[1:])


@each_family
def test_wrong_input_shapes_are_errors(family):
    with pytest.raises(ValueError, match=r"\(time, height, width, channels\).*\(128, 128, 2\)"):
        FAMILIES[family][0](input_shape=(128, 128, 2))
    with pytest.raises(ValueError, match="only channels must be known"):
        FAMILIES[family][0](input_shape=(None, 12, 12, None))


def test_heatmaps_start_unlikely():
    model = FAMILIES["detector"][0]()
    bias = to_numpy(model.get_layer("head").outputs.bias)
    np.testing.assert_allclose(bias, [-2.19, -2.19, 0, 0, 0, 0], atol=1e-6)


def test_a_channels_first_setting_changes_nothing(known):
    make, model, x, expected = known
    keras.config.set_image_data_format("channels_first")
    try:
        found = copy_of(model, make).predict(x, verbose=0)
    finally:
        keras.config.set_image_data_format("channels_last")
    assert_close(found, expected)


@each_family
def test_bins_events_as_it_wants_them(family):
    model = FAMILIES[family][0]()
    rng = np.random.default_rng(0)
    t = np.sort(rng.integers(0, 300_000, 5_000))
    x, y, p = rng.integers(0, 40, t.size), rng.integers(0, 30, t.size), rng.integers(0, 2, t.size)
    events = kp.events.make_events(t, x, y, p)
    frames = model.to_frames(events, sensor=(30, 40), start_us=0)
    assert frames.shape == (-(-300_000 // model.dt), *model.input_shape[2:])
    np.testing.assert_allclose(frames.sum(), t.size, rtol=1e-5)
    # Online, a frame is complete when its time is over: later events change nothing before it.
    half = model.to_frames(events[t < 150_000], sensor=(30, 40), start_us=0)
    before = 150_000 // model.dt
    np.testing.assert_allclose(half[: before - 1], frames[: before - 1], atol=1e-5)
    with pytest.raises(ValueError, match="sensor"):
        model.to_frames(events, sensor=(480,))


@pytest.mark.parametrize("block", [1, 4, 7, 100])
def test_blocks_of_a_clip_equal_the_whole(known, block):
    _, model, x, expected = known
    assert_close(model.predict_clip(x, block), expected)


def test_blocks_read_frames_as_needed(tmp_path):
    model = FAMILIES["classifier"][0]()
    x = clip("classifier", frames=60, batch=1)
    np.save(tmp_path / "clip.npy", x)
    mapped = np.load(tmp_path / "clip.npy", mmap_mode="r")
    assert_close(model.predict_clip(mapped, 10), model.predict(x, verbose=0))
    with pytest.raises(ValueError, match="block=0"):
        model.predict_clip(x, 0)
    with pytest.raises(ValueError, match="Received: 10 frames"):
        model.predict_clip(x[:, :10])


def test_a_long_first_call_says_why(caplog, monkeypatch):
    monkeypatch.setattr("keras_pleiades._patience.PATIENCE_S", 0.0)
    model = kp.models.PleiadesClassifier(2, [(4, 4, False)], input_shape=(None, 4, 4, 2))
    frames = np.zeros((1, 12, 4, 4, 2), "float32")
    for _ in range(2):
        model.predict(frames, verbose=0)
    said = [record.message for record in caplog.records if "XLA compiles" in record.message]
    assert len(said) == (0 if keras.backend.backend() == "torch" else 1)
    model.compile("sgd", "mse")
    model.train_on_batch(frames, np.zeros((1, 3, 2), "float32"))
    said = [record.message for record in caplog.records if "train_function" in record.message]
    assert len(said) == (0 if keras.backend.backend() == "torch" else 1)
