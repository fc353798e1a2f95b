"""What is installed from a wheel has its weights, and needs no network for them."""

import os
import pathlib
import shutil
import subprocess
import sys
import zipfile

import keras
import pytest

ROOT = pathlib.Path(__file__).parents[2]

LOAD_ALL = """
import socket, sys

def offline(*_):
    raise OSError("no network here")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = offline
import numpy as np
import keras_pleiades as kp

assert kp.__file__.startswith(sys.argv[1]), kp.__file__
for name in kp.zoo.list_models():
    model = getattr(kp.zoo, name)(pretrained=True, input_shape=(None, 32, 32, 2))
    frames = np.zeros((1, model.context_frames + 1, 32, 32, 2), "float32")
    print(name, np.isfinite(np.asarray(model.predict_on_batch(frames))).all())
try:
    kp.zoo.gesture(pretrained="dvs128")
except OSError as error:
    print("pretrained='synthetic'" in str(error))
"""


@pytest.mark.skipif(keras.backend.backend() != "torch", reason="the same on every backend")
def test_installed_from_a_wheel_all_three_load_offline(tmp_path):
    source = tmp_path / "source"
    ignored = shutil.ignore_patterns("__pycache__")
    for package in ("keras_pleiades", "keras_pleiades_cli"):
        shutil.copytree(ROOT / package, source / package, ignore=ignored)
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)

    build = "import sys; from setuptools import build_meta; build_meta.build_wheel(sys.argv[1])"
    run(source, build, tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    installed = tmp_path / "installed"
    with zipfile.ZipFile(wheel) as archive:  # a wheel of Python alone is installed by unpacking
        archive.extractall(installed)
    environment = {"PYTHONPATH": str(installed), "KERAS_PLEIADES_HOME": str(tmp_path / "home")}
    out = run(tmp_path, LOAD_ALL, installed, **environment)
    assert out.split() == ["detector", "True", "eye_tracking", "True", "gesture", "True", "True"]


def run(folder, code, *arguments, **environment):
    environment = {**os.environ, "PYTHONPATH": "", **environment}
    command = [sys.executable, "-c", code, *map(str, arguments)]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
