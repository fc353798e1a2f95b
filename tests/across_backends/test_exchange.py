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


@pytest.mark.parametrize("backend", BACKENDS)
def test_imports_no_other_backend(backend):
    others = [other for other in BACKENDS if other != backend]
    code = "import sys, keras_pleiades as kp; kp.zoo.gesture(input_shape=(None, 16, 16, 2)); "
    code += f"print([name for name in {others} if name in sys.modules])"
    environment = {**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    assert found.stdout.strip().endswith("[]"), found.stdout + found.stderr
