"""What is exported is made from the weights alone, the same way on every backend.

So each file's contents are tested with torch, which has nothing to compile; with the others, that
every format can be written from them and answers as they do.
"""

import keras
import pytest

EVERYWHERE = ("test_200_frames_of_a_stream_are_the_clip", "test_model_export_is_keras_own_call")


def pytest_collection_modifyitems(items):
    if keras.backend.backend() == "torch":
        return
    once = pytest.mark.skip(reason="the same on every backend: tested with torch")
    for item in items:
        if "tests/export/" in item.path.as_posix() and item.originalname not in EVERYWHERE:
            item.add_marker(once)
