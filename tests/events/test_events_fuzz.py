"""Mutated and truncated files. KERAS_PLEIADES_MUTANTS=2000 for the full number of each format."""

import os
import subprocess
import sys
from pathlib import Path

import makers
import pytest

import keras_pleiades


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="measures memory in Linux' way")
@pytest.mark.parametrize("name", sorted(makers.WRITERS))
def test_mutants_are_read_or_refused(name):
    count = os.environ.get("KERAS_PLEIADES_MUTANTS", "100")
    # A process of its own: a crash in a library must not take the test run with it.
    package = str(Path(keras_pleiades.__file__).parents[1])
    paths = [package, *filter(None, [os.environ.get("PYTHONPATH")])]
    script = str(Path(__file__).with_name("fuzz.py"))
    result = subprocess.run(
        [sys.executable, "-W", "error", script, name, "--count", count],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr[-3000:]
    assert f"{count} mutants" in result.stdout
