"""Every Python block of the README runs, and the table printed there is the one printed now."""

import pathlib
import re

import pytest

import keras_pleiades as kp

README = pathlib.Path(__file__).parents[1].joinpath("README.md").read_text()
BLOCKS = re.findall(r"(?:<!-- needs a file: (\S+) -->\n)?```python\n(.*?)```", README, re.DOTALL)


@pytest.mark.parametrize(("needs", "code"), BLOCKS, ids=lambda text: None)
def test_block_runs(needs, code, tmp_path, monkeypatch, request):
    if needs:
        shared = request.getfixturevalue("shared")
        (tmp_path / needs).symlink_to(shared / "reference" / needs)
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})


def test_plan_is_printed_as_shown():
    assert str(kp.contraction.plan(16, 32, frames=132, height=64, width=64)) in README


def test_there_are_blocks():
    assert len(BLOCKS) == 4
