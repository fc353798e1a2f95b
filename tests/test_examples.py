"""The examples run, in small; those of exported streams are tried in `tests/export`."""

import pathlib
import re
import runpy
import sys

import keras
import numpy as np
import pytest

import keras_pleiades as kp
from tests.datasets import layouts
from tests.events import makers

EXAMPLES = pathlib.Path(__file__).parents[1] / "examples"
pytestmark = pytest.mark.skipif(
    keras.backend.backend() != "torch", reason="the same on every backend"
)


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """Runs an example as a script, in a folder of its own; returns what it printed."""

    def run(name, *arguments):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", [name, *map(str, arguments)])
        runpy.run_path(str(EXAMPLES / name), run_name="__main__")
        return capsys.readouterr().out

    return run


def test_finetune_leaves_weights_and_curves(run, tmp_path):
    layouts.nmnist_zip(tmp_path / "digits.zip", samples=20)
    printed = run("finetune.py", "digits.zip", "--epochs", 1)
    assert "Training from simulated gestures" in printed
    assert (tmp_path / "finetune.png").read_bytes().startswith(b"\x89PNG")
    weights = tmp_path / "from_simulated_gestures.weights.h5"
    kp.zoo.gesture(input_shape=(None, 34, 34, 2), pretrained=weights)


def test_train_and_resample_keeps_the_accuracy(run):
    printed = run("train_and_resample.py")
    rows = re.findall(r"(\d+) ms +\d+ +\d+ +([\d.]+)% +([\d.]+)%", printed)
    assert [dt for dt, *_ in rows] == ["5", "10", "20"]
    resampled, as_it_was = (np.array([float(row[i]) for row in rows]) for i in (1, 2))
    assert resampled[1] > 80
    assert abs(resampled - resampled[1]).max() < 5
    assert (as_it_was[[0, 2]] < resampled[[0, 2]] - 5).all()


def test_stream_recording_answers_every_bin(run, tmp_path):
    events = makers.random_events(3000, end_us=600_000)
    (tmp_path / "recording.raw").write_bytes(makers.evt3(events))
    printed = run("stream_recording.py", "recording.raw", "--size", 32, "--dt", 20_000)
    assert "10000 us and 45 frames of context become 20000 us and 20 frames" in printed
    assert "30 answers" in printed
    times = [float(found) for found in re.findall(r"([\d.]+) s  \w+", printed)]
    assert times
    assert times[0] >= 0.42  # 20 frames are not ready, the 21st is


def test_stream_recording_simulates_where_there_is_none(run, monkeypatch):
    short = kp.datasets.synthetic.record("gestures", seed=1, label=1, duration_us=60_000)
    monkeypatch.setattr(kp.datasets.synthetic, "record", lambda *_, **__: short)
    assert "6 answers" in run("stream_recording.py", "--size", 32, "--dt", 10_000)
