"""Memory that was freed is used again, and that can be switched off."""

import os
import subprocess
import sys

import pytest

from keras_pleiades import _memory

PROGRAM = """
import resource, runpy, sys
import numpy as np
kept = runpy.run_path(sys.argv[1])["keep_freed_memory"]("torch")  # no Keras
for _ in range(3):
    np.ones(2**24)
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(10):
    np.ones(2**24)  # 128 MB: 32768 pages
print(kept, resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="malloc of glibc only")
@pytest.mark.parametrize("setting", ["0", "1"])
def test_new_pages_for_each_array_or_not(setting):
    environment = {**os.environ, "KERAS_PLEIADES_KEEP_MEMORY": setting}
    command = [sys.executable, "-c", PROGRAM, _memory.__file__]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    kept, faults = done.stdout.split()
    assert kept == str(setting == "1")
    pages = 10 * 2**27 // 4096
    if setting == "1":
        assert int(faults) < pages / 10
    # Without, huge pages may make faults rare too: nothing to be said of their number.
