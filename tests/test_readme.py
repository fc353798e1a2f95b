"""Every Python block of README and guides runs, every command there is one that exists."""

import importlib.util
import itertools
import pathlib
import re
import shlex
import warnings

import keras
import pytest

import keras_pleiades as kp
from keras_pleiades_cli.commands import COMMANDS
from keras_pleiades_cli.main import EXAMPLES, make_parser
from tests.datasets import layouts
from tests.events import makers

ROOT = pathlib.Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
CARDS = [ROOT / "benchmarks" / "README.md", *sorted((ROOT / "zoo").glob("*/*.md"))]
RECIPES = sorted((ROOT / "zoo").glob("*/*.toml"))
# They hardly touch a backend.
ONCE = ("events.md", "datasets.md")

NEEDS = re.compile(r"<!-- needs a (file|package): (\S+) -->\n")
BLOCK = re.compile(rf"((?:{NEEDS.pattern})*)```(python|py|pycon)\n(.*?)```", re.DOTALL)
# In a line of its own, indented or fenced, and perhaps continued; or between backticks.
LINE = r"^(?:[ ]{{4}})?(?:\w+=\S+ )*{} ((?:[^`\n\\]|\\\n)*)"
INLINE = r"(?<!`)`(?:\w+=\S+\s)*{}\s([^`]*)`"


def blocks():
    """Pages with their blocks. One that does not import the package goes on where another ended."""
    for page in PAGES:
        parts = []
        for needs, _, _, _, code in BLOCK.findall(page.read_text()):
            if parts and "import keras_pleiades" not in code:
                parts[-1] = (parts[-1][0] + needs, parts[-1][1] + code)
            else:
                parts.append((needs, code))
        for number, (needs, code) in enumerate(parts):
            yield pytest.param(page.name, NEEDS.findall(needs), code, id=f"{page.stem}-{number}")


def commands(program):
    """What follows the program's name in README, guides, cards, recipes and its own help."""
    own = "\n".join(itertools.chain(EXAMPLES, *(module.EXAMPLES for module in COMMANDS)))
    recipes = (re.sub(r"(?m)^# ?", "", path.read_text()) for path in RECIPES)
    texts = [*(page.read_text() for page in PAGES + CARDS), *recipes, own]
    patterns = [re.compile(form.format(program), re.MULTILINE) for form in (LINE, INLINE)]
    found = (match for text in texts for pattern in patterns for match in pattern.findall(text))
    lines = (match.replace("\\\n", " ") for match in found)
    return sorted({shlex.join(shlex.split(line, comments=True)) for line in lines})


def provide(name, folder, request):
    """Put what a block needs where it runs; skip where it cannot be had."""
    large = makers.random_events(3000, height=480, width=640)
    header = b"% format EVT3;height=720;width=1280\n% end\n"
    if name in ("recording.raw", "long.raw"):
        (folder / name).write_bytes(makers.evt3(large, header))
    elif name == "recordings":
        (folder / name).mkdir()
        layouts.csv_folder(folder / name)
    elif name == "gen4":
        layouts.gen4(folder / name, "train", 1)
        layouts.gen4(folder / name, "test", 1)
    elif name.endswith(".weights.h5"):
        if not (ROOT / "keras_pleiades" / "weights" / name).is_file():
            pytest.skip(f"{name} is not in keras_pleiades/weights yet")
    else:
        there = request.getfixturevalue("shared") / "reference" / name
        if not there.is_file():
            pytest.skip(f"{there} is not there")
        (folder / name).symlink_to(there)


@pytest.mark.parametrize(("page", "needs", "code"), list(blocks()))
def test_block_runs(page, needs, code, tmp_path, monkeypatch, request):
    if page in ONCE and keras.backend.backend() != "torch" and "tensorflow" not in code:
        pytest.skip("the same on every backend: run on torch")
    for kind, name in needs:
        if kind == "package":
            pytest.importorskip(name, reason=f"{name} is not installed")
        else:
            provide(name, tmp_path, request)
    # A preset that would be downloaded is looked for here first.
    monkeypatch.setenv("KERAS_PLEIADES_MIRROR", tmp_path.as_uri())
    monkeypatch.setenv("KERAS_PLEIADES_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("TFDS_DATA_DIR", str(tmp_path / "tfds"))
    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        if any(kind == "package" for kind, _ in needs):
            warnings.simplefilter("ignore")  # what TFDS and Beam warn of is theirs
        exec(compile(code, page, "exec"), {})


def test_every_page_was_looked_through():
    fences = sum(len(re.findall(r"^```py", page.read_text(), re.MULTILINE)) for page in PAGES)
    found = sum(len(BLOCK.findall(page.read_text())) for page in PAGES)
    assert fences == found >= 19


def test_plan_is_printed_as_shown():
    assert str(kp.contraction.plan(16, 32, frames=132, height=64, width=64)) in README


@pytest.mark.parametrize("line", commands("keras-pleiades"))
def test_command_is_understood(line):
    words = shlex.split(line)
    make_parser().parse_args(words)
    for recipe in (word for word in words if word.endswith(".toml")):
        assert (ROOT / recipe).is_file(), line


@pytest.mark.parametrize("line", commands("python"))
def test_script_or_module_exists(line):
    first, *others = shlex.split(line)
    if first == "-m":
        assert importlib.util.find_spec(others[0]), line
    else:
        assert (ROOT / first).is_file(), line
