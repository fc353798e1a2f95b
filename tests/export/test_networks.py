"""Exported networks in their runtimes against the networks they come from."""

import keras
import numpy as np
import pytest

import keras_pleiades as kp
from tests.backends import graph, randomize, to_numpy
from tests.export.runtimes import SUFFIX, facts_of, run_clip, run_stream

EVERY_FORMAT = pytest.mark.parametrize("format", SUFFIX)


def poisson(shape, seed=0):
    frames = np.random.default_rng(seed).poisson(0.3, shape).astype("float32")
    frames[:, 5:30] = 0  # nothing moves: every pixel of a feature but the border is the same
    return frames


def answers(model, frames):
    return to_numpy(graph(lambda x: model(x, training=False))(keras.ops.convert_to_tensor(frames)))


def check(found, expected):
    assert found.shape == expected.shape
    assert abs(found - expected).max() < 1e-4 * max(1.0, abs(expected).max())


def small_model(**kwargs):
    blocks = [(4, 8, False), (8, 12, True)]
    arguments = {"input_shape": (None, 8, 9, 2), "features": 8, "name": "small", **kwargs}
    return randomize(kp.models.PleiadesClassifier(3, blocks, **arguments))


@pytest.fixture(scope="module")
def small():
    return small_model()


@pytest.fixture(scope="module")
def gesture():
    """The network, 200 frames, and the answers to them."""
    keras.utils.set_random_seed(1)
    model = kp.zoo.gesture(input_shape=(None, 32, 32, 2))
    frames = poisson((1, 200, 32, 32, 2))
    return model, frames, answers(model, frames)


@pytest.fixture(scope="module", params=SUFFIX)
def gesture_stream(request, gesture, tmp_path_factory):
    """The network as a stream, in each format."""
    path = tmp_path_factory.mktemp("stream") / f"a{SUFFIX[request.param]}"
    return kp.export.export(gesture[0], path, request.param, streaming=True)


def test_200_frames_of_a_stream_are_the_clip(gesture, gesture_stream):
    model, frames, expected = gesture
    found = run_stream(gesture_stream, frames)
    assert found.shape[1] == 200
    check(found[:, model.context_frames :], expected)


def test_200_frames_that_a_camera_saw(gesture, gesture_stream, shared):
    model, _, _ = gesture
    events = kp.events.read(shared / "data" / "eye_3et" / "train" / "7_4" / "7_4.h5")
    frames = model.to_frames(events, sensor=(480, 640))[None, :200]
    assert frames.any(axis=(0, 2, 3, 4)).mean() > 0.9
    found = run_stream(gesture_stream, frames)
    check(found[:, model.context_frames :], answers(model, frames))


@EVERY_FORMAT
def test_clip_of_any_length(gesture, format, tmp_path):
    model, frames, expected = gesture
    path = kp.export.export(model, tmp_path / f"a{SUFFIX[format]}", format)
    check(run_clip(path, frames), expected)
    check(run_clip(path, frames[:, :60]), expected[:, :15])


@pytest.fixture(scope="module", params=["eye_tracking", "detector"])
def network(request):
    """A network with a head, resampled or with a size that halves to odd numbers."""
    keras.utils.set_random_seed(1)
    if request.param == "eye_tracking":
        model = kp.zoo.eye_tracking(input_shape=(None, 32, 32, 2)).resample(7_000)
    else:
        model = kp.zoo.detector(input_shape=(None, 32, 72, 2))  # 72 / 8 = 9: cropped
    frames = poisson((2, model.context_frames + 4, *model.input_shape[2:]))
    return model, frames, answers(model, frames)


@pytest.mark.parametrize("format", ["onnx", "openvino"])
def test_networks_with_a_head(network, format, tmp_path):
    model, frames, expected = network
    path = kp.export.export(model, tmp_path / f"a{SUFFIX[format]}", format)
    check(run_clip(path, frames), expected)
    kp.export.export(model, path, format, streaming=True, batch_size=2)
    check(run_stream(path, frames)[:, model.context_frames :], expected)


def test_networks_with_a_head_in_tensorflow(network, tmp_path):
    model, frames, expected = network
    path = kp.export.export(model, tmp_path / "a", frames=frames.shape[1])
    check(run_clip(path, frames), expected)


@EVERY_FORMAT
def test_warming_up_is_that_of_the_stream(small, format, tmp_path):
    frames = poisson((1, 25, 8, 9, 2))
    path = kp.export.export(small, tmp_path / f"a{SUFFIX[format]}", format, streaming=True)
    check(run_stream(path, frames), small.stream()(frames))


def test_large_frames_keep_their_digits(tmp_path):
    # Means over 160 x 320 pixels, most of them equal: added up one by one, as OpenVINO would, they
    # put the answers off by 2e-4.
    model = kp.zoo.detector()
    frames = np.random.default_rng(0).poisson(0.05, (1, 2, 160, 320, 2)).astype("float32")
    paths = [("a.onnx", "onnx"), ("a.xml", "openvino")]
    expected, found = (
        run_stream(kp.export.export(model, tmp_path / path, format, streaming=True), frames)
        for path, format in paths
    )
    assert abs(found - expected).max() < 1e-5 * abs(expected).max()


def test_saved_model_remembers(small, tmp_path):
    import tensorflow as tf

    frames = poisson((2, 40, 8, 9, 2))
    path = kp.export.export(small, tmp_path / "a", streaming=True, batch_size=2)
    module = tf.saved_model.load(str(path))
    for step, reset in (
        (module.step, module.reset),
        (module.signatures["step"], module.signatures["reset"]),
    ):
        outputs = [step(frame=tf.constant(frames[:, t]))["outputs"] for t in range(40)]
        check(np.stack(outputs, 1)[:, small.context_frames :], answers(small, frames))
        reset()
        again = step(frame=tf.constant(frames[:, 0]))["outputs"]
        np.testing.assert_array_equal(again, outputs[0])
        reset()


def test_model_export_is_keras_own_call(small, tmp_path):
    frames = poisson((3, 40, 8, 9, 2))
    small.export(tmp_path / "folder")
    check(run_clip(tmp_path / "folder", frames), answers(small, frames))
    small.export(str(tmp_path / "a.onnx"), format="onnx", batch_size=3)
    check(run_clip(tmp_path / "a.onnx", frames), answers(small, frames))


@pytest.mark.parametrize("format", ["onnx", "litert"])
def test_the_authors_network_without_keras(shared, format, tmp_path):
    golden = np.load(shared / "reference" / "golden.npz")
    model = kp.zoo.gesture(pretrained=shared / "reference" / "dvs128_ckpt.pt")
    frames = np.zeros(golden["case1_shape"], "float32").reshape(-1)
    frames[golden["case1_index"]] = golden["case1_count"]
    frames = frames.reshape(1, *golden["case1_shape"])
    frames = np.concatenate([np.zeros_like(frames[:, :44]), frames], axis=1)
    path = kp.export.export(model, tmp_path / f"a{SUFFIX[format]}", format, streaming=True)
    found = run_stream(path, frames)[:, model.context_frames :]
    check(found[0], golden["case1_logits_zero_prefix44"])


@pytest.mark.parametrize(
    "arguments",
    [
        {"temporal": {"padding": "causal"}},
        {"temporal": {"use_bias": True, "degree": None}},
        {"temporal": {"order": "basis_first"}},
        {"dt": 100_000, "native_dt": 10_000},  # kernels of one bin: nothing to remember
        {"dt": 4_000, "native_dt": 10_000, "input_shape": (None, 7, 12, 2)},
    ],
    ids=["causal", "bias", "order", "one_bin", "resampled"],
)
def test_arguments_of_the_layers(arguments, tmp_path):
    model = small_model(**arguments)
    frames = poisson((2, model.context_frames + 5, *model.input_shape[2:]))
    expected = answers(model, frames)
    path = kp.export.export(model, tmp_path / "a.onnx", "onnx")
    check(run_clip(path, frames), expected)
    kp.export.export(model, path, "onnx", streaming=True, batch_size=2)
    online = run_stream(path, frames)[:, model.context_frames :]
    check(online, expected[:, expected.shape[1] - 5 :])
    if "padding" in model.temporal:  # all else TensorFlow's graph does as in other tests
        path = kp.export.export(model, tmp_path / "a")
        check(run_clip(path, frames), expected)


def test_free_size_and_fixed_frames(small, tmp_path):
    free = small_model(input_shape=(None, None, None, 2))
    frames = poisson((2, 30, 8, 9, 2))
    path = tmp_path / "a.onnx"
    kp.export.export(free, path, "onnx", shape=(8, 9), frames=30, batch_size=2)
    assert facts_of(path)["input"]["shape"] == [2, 30, 8, 9, 2]
    check(run_clip(path, frames), answers(small, frames))
    with pytest.raises(ValueError, match="shape=\\(height, width\\)"):
        kp.export.export(free, path, "onnx")
    with pytest.raises(ValueError, match="shape=\\(9, 9\\)"):
        kp.export.export(small, path, "onnx", shape=(9, 9))


def test_mixed_precision_is_exported_in_float32(small, tmp_path):
    mixed = small_model(dtype="mixed_bfloat16")
    mixed.set_weights(small.get_weights())
    frames = poisson((1, 30, 8, 9, 2))
    path = kp.export.export(mixed, tmp_path / "a.onnx", "onnx")
    check(run_clip(path, frames), answers(small, frames))
