"""Commands from their arguments to their files, with networks that the test makes."""

import csv
import dataclasses
import json
import os
import signal
import sys
import types
import weakref

import keras
import numpy as np
import pytest

import keras_pleiades as kp
from keras_pleiades_cli import memory
from keras_pleiades_cli.main import main
from tests.cli.conftest import FRAME, SENSOR

# A command is the same on every backend; TensorFlow and JAX would compile the network each time.
once = pytest.mark.skipif(keras.backend.backend() != "torch", reason="the same on every backend")


@once
def test_predict_is_the_clips_answer(gesture, recording, weights, tmp_path, capsys):
    out = tmp_path / "answer.csv"
    assert main([*gesture, "--out", str(out), "--labels", "up,down,left"]) == 0
    said = capsys.readouterr()
    assert said.err == ""
    assert "warming up" in said.out
    assert "every answer was given while it warmed up" in said.out
    assert said.out.rstrip().endswith(f"wrote {out}")

    model = kp.zoo.gesture(3, input_shape=(None, *FRAME, 2), pretrained=weights)
    frames = model.to_frames(kp.events.read(recording), sensor=SENSOR)
    zeros = np.zeros((model.context_frames, *frames.shape[1:]), "float32")
    logits = model.predict_clip(np.concatenate([zeros, frames])[None])[0]
    labels = kp.decode.filter_clip(logits, kp.decode.MajorityFilter(150_000, model.dt))
    with open(out) as file:
        rows = list(csv.DictReader(file))
    assert [row["label"] for row in rows] == [["up", "down", "left"][i] for i in labels]
    assert [int(row["t_us"]) for row in rows] == [
        5_000_000 + 10_000 * (i + 1) for i in range(len(frames))
    ]
    probability = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    for i, row in enumerate(rows):
        expected = probability[max(0, i - 14) : i + 1, labels[i]].mean()
        assert float(row["confidence"]) == pytest.approx(expected, abs=2e-4)


@once
def test_predict_as_json(gesture, tmp_path, capsys):
    out = tmp_path / "answer.json"
    cut = ["--start", "+50_000", "--end", "5_100_000", "--dt", "5_000"]
    assert main([*gesture, *cut, "--out", str(out), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    found = json.loads(out.read_text())
    assert found["dt"] == 5_000
    assert found["labels"] == ["class 0", "class 1", "class 2"]
    assert len(found["answers"]) == found["summary"]["frames"] == summary["frames"] == 10
    assert 5_050_000 < found["answers"][0]["t_us"] < 5_056_000
    assert found["summary"]["label"] == summary["label"]
    assert not list(tmp_path.glob(".*"))


@once
@pytest.mark.parametrize("ending", ["gif", "mp4"])
def test_predict_draws(ending, gesture, tmp_path):
    out = tmp_path / f"answer.{ending}"
    assert main([*gesture, "--out", str(out), "--fps", "50"]) == 0
    if ending == "gif":
        Image = pytest.importorskip("PIL.Image")
        with Image.open(out) as image:
            assert image.n_frames == 10
            image.seek(9)
            picture = np.asarray(image.convert("RGB")).astype(int)
    else:
        av = pytest.importorskip("av")
        with av.open(str(out)) as container:
            shown = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
        assert len(shown) == 10
        picture = shown[-1].astype(int)
    assert picture.shape == (24 * 20 + 72, 640, 3)
    events, strip = picture[: 24 * 20], picture[24 * 20 + 2 :]
    red, blue = (events[..., 0] - events[..., 2] > 80), (events[..., 2] - events[..., 0] > 80)
    assert red.any()
    assert blue.any()
    assert (strip.sum(-1) < 200).any()  # there is text
    assert [one.name for one in tmp_path.iterdir()] == [out.name]


@once
def test_predict_pupil_and_boxes(recording, tmp_path, capsys):
    for name, shape in (("eye_tracking", "32x32"), ("detector", "32x64")):
        height, width = map(int, shape.split("x"))
        path = tmp_path / f"{name}.weights.h5"
        getattr(kp.zoo, name)(input_shape=(None, height, width, 2)).save_weights(path)
        out = tmp_path / f"{name}.json"
        options = ["--model", name, "--weights", str(path), "--size", shape, "--out", str(out)]
        more = ["--end", "+30_000", "--min-score", "1e-4", "--sensor", "24x32"]
        assert main(["predict", recording, *options, *more]) == 0
    (point, *_) = json.loads((tmp_path / "eye_tracking.json").read_text())["answers"]
    assert {"x", "y", "confidence"} <= point.keys()
    found = json.loads((tmp_path / "detector.json").read_text())
    assert found["labels"][2] == "car"
    assert all("boxes" in row for row in found["answers"])
    assert found["summary"]["boxes"] == sum(len(row["boxes"]) for row in found["answers"])


def test_predict_says_what_is_missing(gesture, recording, capsys):
    without = gesture[: gesture.index("--sensor")]
    assert main(without) == 2
    assert "--sensor HxW. Its events reach 24x32" in capsys.readouterr().err
    assert main([*gesture, "--start", "6_000_000"]) == 2
    assert "5000000 to 5199" in capsys.readouterr().err
    assert main([*gesture, "--out", "a.gif", "--speed", "0.001"]) == 2
    assert "at most 3000 pictures" in capsys.readouterr().err
    assert main([*gesture[:-1], "24x8"]) == 2
    error = capsys.readouterr().err
    assert "--sensor is 24x8, but its events reach 24x32" in error
    assert error.count("\n") == 1
    other = [*gesture[:4], "--weights", recording, *gesture[6:]]
    assert main(other) == 2
    assert ".weights.h5" in capsys.readouterr().err
    assert main([*gesture, "--labels", "yes,no"]) == 2
    assert "3 classes" in capsys.readouterr().err


def test_a_file_that_contradicts_itself(gesture, recording, monkeypatch, capsys):
    info = kp.events.info

    def damaged(path):
        return dataclasses.replace(info(path), sensor=(16, 32))

    monkeypatch.setattr(kp.events, "info", damaged)
    assert main(gesture[: gesture.index("--sensor")]) == 2
    assert "the file says that its sensor is 16x32, but" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["predict", "bench"])
def test_bins_too_small_for_the_machine(command, gesture, monkeypatch, capsys):
    state = kp.streaming.state_bytes(kp.zoo.gesture(3, input_shape=(None, *FRAME, 2)))
    monkeypatch.setattr(memory, "_memory", lambda: 10 * state)  # at 10 ms it fits, at 1 ms not
    bench = ["bench", "gesture", "--size", "16x16"]
    arguments = {"predict": gesture, "bench": bench}[command]
    assert main([*arguments, "--dt", "1_000"]) == 2
    error = capsys.readouterr().err
    assert "bins of 1000 us" in error
    assert "larger --dt" in error
    assert error.count("\n") == 1


def test_predict_without_bundled_weights(recording, monkeypatch, capsys):
    monkeypatch.setattr(kp.zoo, "list_presets", lambda name: [])
    assert main(["predict", recording, "--model", "detector", "--sensor", "24x32"]) == 2
    assert "no bundled weights" in capsys.readouterr().err


@once
def test_ctrl_c_leaves_no_file(gesture, tmp_path, monkeypatch, capsys):
    iter_read = kp.events.iter_read

    def interrupted(*arguments):
        for piece in iter_read(*arguments):
            yield piece[:10]
            os.kill(os.getpid(), signal.SIGINT)

    monkeypatch.setattr(kp.events, "iter_read", interrupted)
    # A shell lets what it starts in the background ignore ctrl-C: the tests may run there.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        for ending in ("csv", "mp4"):
            assert main([*gesture, "--out", str(tmp_path / f"a.{ending}")]) == 130
            assert "interrupted" in capsys.readouterr().err
    finally:
        signal.signal(signal.SIGINT, before)
    assert not list(tmp_path.iterdir())


@once
@pytest.mark.parametrize("ending", ["csv", "mp4"])
def test_what_was_answered_is_let_go(ending, gesture, tmp_path, monkeypatch):
    path = str(tmp_path / "long.npz")
    t = np.arange(0, 3_200_000, 1_000)  # 20 pieces of 16 bins
    kp.events.write(path, kp.events.make_events(t, x=t // 1_000 % 32, y=t % 24, p=t // 1_000 % 2))
    iter_read, pieces, alive = kp.events.iter_read, [], []

    def watched(*arguments):
        for piece in iter_read(*arguments):
            pieces.append(weakref.ref(piece))
            alive.append(sum(one() is not None for one in pieces))
            yield piece

    monkeypatch.setattr(kp.events, "iter_read", watched)
    command = ["predict", path, *gesture[2:], "--out", str(tmp_path / f"a.{ending}")]
    assert main([*command, "--fps", "10"]) == 0
    assert len(pieces) == 20
    assert max(alive) <= 5, alive  # not one more for each: memory does not grow with the length


@once
def test_the_authors_checkpoint_on_a_recording(shared, capsys):
    path = str(shared / "data" / "recordings" / "dvs.aedat4")
    checkpoint = str(shared / "reference" / "dvs128_ckpt.pt")
    command = ["predict", path, "--model", "gesture", "--weights", checkpoint, "--json"]
    assert main([*command, "--end", "+100_000"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["sensor"], found["frames"], found["ready_frames"]) == ([240, 320], 10, 0)


def test_info_of_networks(capsys):
    assert main(["info", "eye_tracking", "--size", "32x32", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    model = kp.zoo.eye_tracking(input_shape=(None, 32, 32, 2))
    assert found["parameters"] == 276_403
    assert found["multiply_adds_per_frame"] == kp.cost.multiply_adds(model)
    assert found["multiply_adds_per_second"] == 200 * kp.cost.multiply_adds(model)
    assert (found["context_frames"], found["latency_us"]) == (54, 270_000)
    held = {name: array.nbytes for name, array in model.stream().state.items()}
    assert {name: array["bytes"] for name, array in found["state"].items()} == held
    assert found["state_bytes"] == sum(held.values()) == model.stream().state_bytes


def test_info_holds_no_state(monkeypatch, capsys):
    monkeypatch.setattr(kp.streaming.state, "zero_state", None)  # at 1 us it would take terabytes
    assert main(["info", "gesture", "--dt", "10", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["state_bytes"] > 6e9


def test_info_of_a_preset(capsys):
    assert main(["info", "dvs128", "--size", "32x32", "--dt", "5_000", "--verbose"]) == 0
    text = capsys.readouterr().out
    for part in ("191,610", "of 5 ms", "95 frames", "Apache-2.0", "accuracy 0.996,", "block_5/t"):
        assert part in text, part


def test_info_of_a_recording(recording, capsys):
    assert main(["info", recording, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = dataclasses.asdict(kp.events.info(recording))
    assert {**found, "extent": tuple(found["extent"])} == {
        **expected,
        "duration_us": found["end_us"] - found["start_us"] + 1,
        "rate_hz": kp.events.info(recording).rate_hz,
    }
    assert main(["info", recording]) == 0
    assert "4,000" in capsys.readouterr().out


def test_simulate(tmp_path, capsys):
    pytest.importorskip("av")
    video, out = str(tmp_path / "video.mp4"), str(tmp_path / "events.npz")
    ramp = [np.full((32, 32, 3), value, np.uint8) for value in range(60, 200, 14)]
    kp.plots.write_pictures(video, ramp, fps=100)
    assert main(["simulate", video, out, "--set", "on_threshold=0.3", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    expected = kp.events.simulate(video, on_threshold=0.3)
    np.testing.assert_array_equal(kp.events.read(out), expected)
    assert found["events"] == len(expected) > 0
    assert found["on_fraction"] == expected["p"].mean()


@once
def test_export(tmp_path, weights, capsys):
    pytest.importorskip("onnx")
    out = tmp_path / "gesture.onnx"
    options = ["--weights", weights, "--size", "16x16", "--streaming", "--labels", "a,b,c"]
    assert main(["export", "gesture", str(out), *options, "--sensor", "24x32"]) == 0
    assert "three.weights.h5" in capsys.readouterr().out
    facts = json.loads((tmp_path / "gesture.onnx.json").read_text())
    assert (facts["labels"], facts["sensor"], facts["form"]) == (
        ["a", "b", "c"],
        [24, 32],
        "stream",
    )
    assert main(["export", "gesture", str(out), *options, "--keep"]) == 2
    assert "exists" in capsys.readouterr().err


@once
def test_export_without_its_package(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "onnx", None)
    command = ["export", "gesture", str(tmp_path / "a.onnx"), "--untrained", "--size", "16x16"]
    assert main(command) == 1
    error = capsys.readouterr().err
    assert "keras-pleiades[onnx]" in error
    assert error.count("\n") == 1


@once
def test_bench(capsys):
    assert main(["bench", "gesture", "--size", "16x16", "--repeats", "1", "--json"]) == 0
    found = types.SimpleNamespace(**json.loads(capsys.readouterr().out))
    assert found.clip_frames == 45 + 16
    assert found.clip_frame_s == pytest.approx(found.clip_s / found.clip_frames)
    assert found.step_s > 0
    assert main(["bench", "gesture", "--size", "16x16", "--repeats", "1"]) == 0
    forward, step = capsys.readouterr().out.splitlines()
    assert "forward, 61 frames" in forward
    assert "step" in step
