"""Set-up of one run of the suite: one backend, named by KERAS_BACKEND."""

import os
import pathlib

import pytest

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


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
