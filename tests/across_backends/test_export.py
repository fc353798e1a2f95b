"""A SavedModel of every backend runs where only TensorFlow is; ONNX needs no TensorFlow."""

import os
import pathlib
import subprocess
import sys

import pytest

BACKENDS = ("tensorflow", "jax", "torch")
ROOT = pathlib.Path(__file__).parents[2]


def run(command, backend="", cwd=ROOT):
    environment = {**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, *map(str, command)]
    result = subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def test_saved_models_run_without_the_package(tmp_path):
    for backend in BACKENDS:
        (tmp_path / backend).mkdir()
        run(["-m", "tests.across_backends.exported", tmp_path / backend], backend)
    script = pathlib.Path(__file__).with_name("exported.py")
    # Three networks, clip and 200 frames of a stream, of three backends.
    assert "compared 18" in run([script, tmp_path, "check"], cwd=tmp_path)


WITHOUT_OTHERS = """
import sys

for name in {others}:
    sys.modules[name] = None  # importing it fails, as if it were not installed
import numpy as np
import keras_pleiades as kp
from tests.export.runtimes import run_stream

model = kp.zoo.gesture(input_shape=(None, 16, 16, 2))
frames = np.random.default_rng(0).poisson(0.5, (1, 60, 16, 16, 2)).astype("float32")
expected = model.predict(frames, verbose=0)
for path, format in (("a.onnx", "onnx"), ("a.xml", "openvino")):
    path = kp.export.export(model, sys.argv[1] + "/" + path, format, streaming=True)
    found = run_stream(path, frames)[:, model.context_frames :]
    assert abs(found - expected).max() < 1e-4 * max(1.0, abs(expected).max())
    print(format, "equal")
try:
    model.export(sys.argv[1] + "/folder")
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize("backend", ["jax", "torch"])
def test_without_tensorflow(backend, tmp_path):
    others = [other for other in BACKENDS if other != backend]
    found = run(["-c", WITHOUT_OTHERS.format(others=others), tmp_path], backend)
    assert "onnx equal" in found
    assert "openvino equal" in found
    assert "pip install 'keras-pleiades[tensorflow]'" in found
