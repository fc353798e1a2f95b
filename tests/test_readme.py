"""Every Python block of README and guides runs; the table printed there is the one printed now."""

import pathlib
import re

import pytest

import keras_pleiades as kp

ROOT = pathlib.Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
GUIDES = [
    (ROOT / "docs" / f"{name}.md").read_text()
    for name in ("plots", "pretrained", "streaming", "training")
]
BLOCK = re.compile(r"(?:<!-- needs a file: (\S+) -->\n)?```python\n(.*?)```", re.DOTALL)
BLOCKS = [block for text in (README, *GUIDES) for block in BLOCK.findall(text)]


@pytest.mark.parametrize(("needs", "code"), BLOCKS, ids=lambda text: None)
def test_block_runs(needs, code, tmp_path, monkeypatch, request):
    if needs:
        shared = request.getfixturevalue("shared")
        (tmp_path / needs).symlink_to(shared / "reference" / needs)
    # A preset that would be downloaded is looked for here first.
    monkeypatch.setenv("KERAS_PLEIADES_MIRROR", tmp_path.as_uri())
    monkeypatch.setenv("KERAS_PLEIADES_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "README.md", "exec"), {})


def test_plan_is_printed_as_shown():
    assert str(kp.contraction.plan(16, 32, frames=132, height=64, width=64)) in README


def test_there_are_blocks():
    assert len(BLOCKS) == 11
