"""Set-up of one run of the suite: one backend, named by KERAS_BACKEND."""

import os
import pathlib

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
# Most of the time on TensorFlow and JAX goes into LLVM, which makes fast code of what XLA planned,
# for programs that run for milliseconds. What XLA itself does is left as it is. To test the very
# code that users get: make test XLA_FLAGS=
os.environ.setdefault(
    "XLA_FLAGS", "--xla_backend_optimization_level=0 --xla_llvm_disable_expensive_passes=true"
)


@pytest.fixture(scope="session")
def shared():
    """The folder of real recordings and golden answers, which is not part of the project."""
    beside = pathlib.Path(__file__).parents[2] / "shared"
    folder = pathlib.Path(os.environ.get("KERAS_PLEIADES_SHARED", beside))
    if not folder.is_dir():
        pytest.skip("no shared data here: set KERAS_PLEIADES_SHARED to the folder that has it")
    return folder


@pytest.fixture(autouse=True)
def _seed():
    import keras

    keras.utils.set_random_seed(0)
