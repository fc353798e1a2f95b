"""The examples of exported streams run without Keras."""

import pathlib
import re
import runpy
import subprocess
import sys

import numpy as np
import pytest

import keras_pleiades as kp
from tests.backends import randomize

ROOT = pathlib.Path(__file__).parents[2]
ALONE = """
import runpy, sys

for name in ("keras", "keras_pleiades", "tensorflow", "jax", "torch"):
    sys.modules[name] = None  # importing it fails, as if it were not installed
script, *sys.argv = sys.argv[1:]
sys.argv.insert(0, script)
sys.path.insert(0, script.rpartition("/")[0])
runpy.run_path(script, run_name="__main__")
"""


@pytest.mark.parametrize(
    ("script", "format", "suffix"),
    [("run_onnx_stream.py", "onnx", ".onnx"), ("run_litert_stream.py", "litert", ".tflite")],
)
def test_example_answers_as_the_network(script, format, suffix, tmp_path):
    model = randomize(
        kp.models.PleiadesClassifier(
            3, [(4, 8, False), (8, 12, True)], features=8, input_shape=(None, 8, 9, 2)
        )
    )
    rng = np.random.default_rng(0)
    t = np.arange(0, 40 * model.dt, 100)
    events = kp.events.make_events(
        t, rng.integers(0, 18, len(t)), rng.integers(0, 16, len(t)), rng.integers(0, 2, len(t))
    )
    np.save(tmp_path / "events.npy", events)
    path = kp.export.export(
        model,
        tmp_path / f"a{suffix}",
        format,
        streaming=True,
        sensor=(16, 18),
        labels=["wave", "clap", "rest"],
    )
    arguments = [path, tmp_path / "events.npy", "--out", tmp_path / "answers.npy"]
    found = subprocess.run(
        [sys.executable, "-c", ALONE, ROOT / "examples" / script, *arguments],
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stdout + found.stderr
    expected = model.stream()(model.to_frames(events, sensor=(16, 18))[None])[0]
    answers = np.load(tmp_path / "answers.npy")
    assert answers.shape == (40, 3)
    assert abs(answers - expected).max() < 1e-4 * max(1.0, abs(expected).max())
    label = ["wave", "clap", "rest"][expected[20].argmax()]
    assert re.search(rf"0.210 s  {label}\n", found.stdout), found.stdout
    assert "(warming up)" in found.stdout


def test_other_binning_is_refused():
    module = runpy.run_path(str(ROOT / "examples" / "exported_stream.py"))
    facts = {
        "frame": {"height": 8, "width": 9},
        "sensor": [20, 20],
        "binning": {"method": "count"},
        "dt": 10_000,
    }
    with pytest.raises(SystemExit, match="whole pixels"):
        next(module["frames_of"](np.zeros(0), facts))
