"""What lies beside an export, what an export replaces, and what it refuses."""

import json
import sys

import keras
import pytest

import keras_pleiades as kp
from keras_pleiades.export.files import replacing
from tests.export.runtimes import facts_of


@keras.saving.register_keras_serializable(package="test")
class Strange(kp.layers.SpatialConv):
    """A layer that may do anything."""


def model_of(**kwargs):
    arguments = {"input_shape": (None, 8, 9, 2), "features": 8, "name": "small", **kwargs}
    return kp.models.PleiadesClassifier(3, [(4, 8, False)], **arguments)


def strange_model():
    model = model_of()
    outputs = Strange(3, name="odd")(model.inputs[0])
    binning = kp.models.pleiades_model.Binning(10_000)
    return kp.models.PleiadesModel(model.inputs[0], outputs, binning=binning)


def test_facts_lie_beside(tmp_path):
    import onnx

    path = kp.export.export(
        model_of(dt=5_000, native_dt=10_000),
        tmp_path / "new" / "a.onnx",
        "onnx",
        streaming=True,
        sensor=(480, 640),
        labels=["wave", "clap", "rest"],
        preset="mine",
    )
    facts = facts_of(path)
    assert facts["keras_pleiades"] == kp.__version__
    assert (facts["dt"], facts["native_dt"], facts["window_us"]) == (5_000, 10_000, 100_000)
    assert facts["sensor"] == [480, 640]
    assert facts["labels"] == ["wave", "clap", "rest"]
    assert facts["preset"] == "mine"
    assert facts["form"] == "stream"
    assert facts["frame"] == {"height": 8, "width": 9, "channels": 2}
    assert facts["binning"] == {"method": "count", "causal": False}
    assert facts["context_frames"] == 19
    proto = onnx.load(path)
    inside = {entry.key: entry.value for entry in proto.metadata_props}
    assert json.loads(inside["keras_pleiades"]) == facts
    names = {s["input"]: tuple(s["shape"]) for s in facts["state"]}
    assert names == {"state_block_1_temporal_conv": (1, 2, 19, 72)}
    assert [i.name for i in proto.graph.input] == ["frame", *names]
    assert [o.name for o in proto.graph.output] == ["outputs", "next_block_1_temporal_conv"]


@pytest.mark.parametrize(
    ("path", "arguments", "message"),
    [
        ("a.onnx", {"format": "onxx"}, "'tf_saved_model', 'onnx', 'litert', 'openvino'"),
        ("a.tflite", {"format": "onnx"}, "ends in '.onnx'.*a.tflite"),
        ("a.onnx", {"format": "onnx", "streaming": True, "frames": 20}, "frames=20"),
        ("a.onnx", {"format": "onnx", "frames": 9}, "at least 10.*frames=9"),
        ("a.onnx", {"format": "onnx", "frames": 2.5}, "frames=2.5"),
        ("a.onnx", {"format": "onnx", "batch_size": 0}, "batch_size=0"),
        ("a.onnx", {"format": "onnx", "labels": ["wave"]}, "3 classes.*wave"),
        ("a.onnx", {"format": "onnx", "labels": "abc"}, "'abc'"),
        ("a.onnx", {"format": "onnx", "sensor": (0, 640)}, "sensor"),
    ],
)
def test_errors_name_what_was_received(tmp_path, path, arguments, message):
    with pytest.raises(ValueError, match=message):
        kp.export.export(model_of(), tmp_path / path, **arguments)
    assert not list(tmp_path.iterdir())


def test_only_networks_of_the_package(tmp_path):
    with pytest.raises(ValueError, match=r"PLEIADES network\. Received: Sequential"):
        kp.export.export(keras.Sequential(), tmp_path / "a")
    with pytest.raises(ValueError, match="'odd' is a Strange"):
        kp.export.export(strange_model(), tmp_path / "a.onnx", "onnx")
    quantized = model_of()
    quantized.get_layer("logits").quantize("int8")
    with pytest.raises(ValueError, match=r"'logits' is quantized \(int8\)"):
        kp.export.export(quantized, tmp_path / "a.onnx", "onnx")
    fixed = model_of(input_shape=(20, 8, 9, 2))
    with pytest.raises(ValueError, match="clips of 20 frames"):
        kp.export.export(fixed, tmp_path / "a.onnx", "onnx", frames=30)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("format", "path", "package", "extra"),
    [
        ("onnx", "a.onnx", "onnx", "onnx"),
        ("openvino", "a.xml", "openvino", "openvino"),
        ("tf_saved_model", "a", "tensorflow", "tensorflow"),
        ("litert", "a.tflite", "tensorflow", "litert"),
    ],
)
def test_a_missing_package_is_named(tmp_path, monkeypatch, format, path, package, extra):
    model = model_of()
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=rf"{package}.*keras-pleiades\[{extra}\]"):
        kp.export.export(model, tmp_path / path, format)
    assert not list(tmp_path.iterdir())


def test_replaces_whole_or_not_at_all(tmp_path):
    path = tmp_path / "a.onnx"
    kp.export.export(model_of(), path, "onnx")
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match="overwrite=True"):
        kp.export.export(model_of(), path, "onnx", overwrite=False)
    with pytest.raises(ValueError, match="Strange"):
        kp.export.export(strange_model(), path, "onnx")
    assert path.read_bytes() == before
    assert facts_of(path)["form"] == "clip"
    kp.export.export(model_of(), path, "onnx", streaming=True)
    assert facts_of(path)["form"] == "stream"
    assert path.read_bytes() != before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.onnx", "a.onnx.json"]


def test_a_folder_is_replaced_only_if_it_is_an_export(tmp_path):
    target = tmp_path / "mine"
    for content in ("first", "second"):
        with replacing(target, overwrite=True) as new:
            new.mkdir()
            (new / "saved_model.pb").write_text(content)
            (new / content).touch()
    assert sorted(p.name for p in target.iterdir()) == ["saved_model.pb", "second"]
    (target / "saved_model.pb").unlink()
    with pytest.raises(FileExistsError, match="does not replace"), replacing(target, True):
        pytest.fail("must not come here")
    assert [p.name for p in target.iterdir()] == ["second"]
    assert list(tmp_path.iterdir()) == [target]
