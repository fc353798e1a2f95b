"""Weights saved on any backend load on any other, and give the same predictions."""

import os
import pathlib
import subprocess
import sys

import pytest

BACKENDS = ("tensorflow", "jax", "torch")
ROOT = pathlib.Path(__file__).parents[2]


def run(backend, *arguments):
    environment = {**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [sys.executable, "-m", "tests.across_backends.exchange", *map(str, arguments)]
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exchange")
    for backend in BACKENDS:
        (folder / backend).mkdir()
        run(backend, "save", folder / backend)
    return folder


@pytest.mark.parametrize("backend", BACKENDS)
def test_loads_what_every_backend_saved(saved, backend):
    # Five networks, as weights and whole, from three backends.
    assert "compared 30" in run(backend, "load", saved)


WITHOUT_OTHERS = """
import sys

for name in {others}:
    sys.modules[name] = None  # importing it fails, as if it were not installed
import numpy as np
import keras_pleiades as kp

model = kp.zoo.gesture(input_shape=(None, 16, 16, 2))
print(model.resample(20_000).predict(np.zeros((1, 22, 16, 16, 2), "float32"), verbose=0).shape)
"""


@pytest.mark.parametrize("backend", BACKENDS)
def test_needs_no_other_backend(backend):
    code = WITHOUT_OTHERS.format(others=[other for other in BACKENDS if other != backend])
    environment = {**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert "(1, 2, 10)" in found.stdout, found.stdout + found.stderr
