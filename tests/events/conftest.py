import os
from pathlib import Path

import pytest


@pytest.fixture
def shared():
    """The folder with real recordings, which are not part of the project."""
    beside = Path(__file__).resolve().parents[2].parent / "shared"
    folder = Path(os.environ.get("KERAS_PLEIADES_SHARED", beside)) / "data"
    if not folder.is_dir():
        pytest.skip(f"no recordings in {folder}: set KERAS_PLEIADES_SHARED")
    return folder
