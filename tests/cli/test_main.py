"""Exit codes, messages of one line, and what is answered without Keras."""

import json
import os
import pathlib
import subprocess
import sys
import tomllib

import keras
import pytest

import keras_pleiades as kp
from keras_pleiades_cli import backend, catalogue
from keras_pleiades_cli.commands import COMMANDS, info
from keras_pleiades_cli.main import main
from keras_pleiades_cli.package import quiet
from keras_pleiades_cli.progress import Progress

ROOT = pathlib.Path(__file__).parents[2]
WITHOUT_KERAS = """
import sys
from keras_pleiades_cli.main import main

for arguments in (["--help"], ["list"], ["list", "--json"], ["predict", "--help"], ["--version"]):
    assert main(arguments) == 0, arguments
assert main(["predict", "no_such_file", "--model", "gesture"]) == 2
assert main(["train", "no_such_file"]) == 2
assert main(["demo", "--networks", "poet"]) == 2
slow = {"keras", "keras_pleiades", "numpy"} & set(sys.modules)
assert not slow, slow
"""


def child(*arguments, **environment):
    environment = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def said(capsys):
    """What stands on stderr, which must be one line."""
    text = capsys.readouterr().err
    assert text.startswith("keras-pleiades: "), text
    assert text.count("\n") == 1, text
    return text


def test_quick_commands_import_nothing_slow():
    done = child("-c", WITHOUT_KERAS)
    assert done.returncode == 0, done.stderr
    assert "keras-pleiades predict recording.aedat4" in done.stdout


@pytest.mark.skipif(keras.backend.backend() != "torch", reason="the same on every backend")
@pytest.mark.parametrize("module", ["keras_pleiades_cli", "keras_pleiades.cli"])
def test_the_real_command_says_one_line(module, tmp_path):
    (tmp_path / "text.txt").write_text("hello, this is no recording\n")
    command = ["predict", str(tmp_path / "text.txt"), "--model", "gesture"]
    done = child("-m", module, *command)
    assert done.returncode == 2
    assert done.stdout == ""
    # Under its earlier name the package, and with it TensorFlow, is imported before we can help it.
    *noise, line = done.stderr.strip().splitlines()
    assert "format not known" in line
    assert line.startswith("keras-pleiades: ")
    assert not noise or module == "keras_pleiades.cli", noise


def test_the_script_and_its_package_are_in_the_wheel():
    from setuptools import find_packages

    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert project["project"]["scripts"]["keras-pleiades"] == "keras_pleiades_cli.main:main"
    found = find_packages(ROOT, **project["tool"]["setuptools"]["packages"]["find"])
    assert {"keras_pleiades_cli", "keras_pleiades_cli.commands", "keras_pleiades_cli.answers"} <= {
        *found
    }


def test_catalogue_is_the_zoos(capsys):
    assert sorted(catalogue.MODELS) == kp.zoo.list_models()
    assert main(["list", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {name: list(one["presets"]) for name, one in found.items()} == {
        name: kp.zoo.list_presets(name) for name in catalogue.MODELS
    }
    assert main(["list"]) == 0
    text = capsys.readouterr().out
    assert all(name in text for name in (*catalogue.MODELS, "dvs128", "Apache-2.0"))
    assert catalogue.version() == kp.__version__


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "COMMAND"),
        (["paint"], "invalid choice"),
        (["predict", "x"], "--model"),
        (["predict", "x", "--model", "poet"], "poet"),
        (["predict", "x", "--model", "gesture", "--dt", "0.01"], "MICROSECONDS"),
        (["predict", "x", "--model", "gesture", "--sensor", "480"], "480x640"),
        (["predict", "x", "--model", "gesture", "--start", "soon"], "clock"),
        (["predict", "x", "--model", "gesture", "--fps", "-1"], "positive"),
        (["predict", "x", "--model", "gesture"], "no such file"),
        (["predict", "{folder}", "--model", "gesture"], "directory"),
        (["predict", "{folder}/empty", "--model", "gesture"], "empty"),
        (["predict", "{folder}/text", "--model", "gesture"], "format not known"),
        (["predict", "{folder}/text", "--model", "gesture", "--out", "a.avi"], "a.avi"),
        (["predict", "{folder}/text", "--model", "gesture", "--out", "no/a.gif"], "folder no"),
        (["info", "x"], "no such file"),
        (["info", "gesture/poet"], "no preset 'poet'"),
        (["info", "{folder}/text", "--dt", "5000"], "for networks"),
        (["simulate", "{folder}/text", "{folder}/a.mp4"], ".npz"),
        (["simulate", "{folder}/text", "{folder}/a.npz", "--set", "taste=1"], "on_threshold"),
        (["export", "gesture", "a.onnx", "--preset", "poet"], "no preset 'poet'"),
        (["evaluate", "x"], "recipe"),
        (["bench", "gesture", "--repeats", "0"], "from 1 on"),
        (["demo", "--out", "a.pdf"], ".html"),
        (["demo", "--out", "no/a.html"], "folder no"),
        (["demo", "--networks", "poet"], "poet"),
        (["demo", "--seed", "-1"], "from 0 on"),
        (["demo", "--weights", "gesture"], "NETWORK=FILE"),
        (["demo", "--networks", "gesture", "--weights", "detector=x"], "NETWORK=FILE"),
        (["demo", "--weights", "gesture={folder}/none"], "no such file"),
    ],
)
def test_a_mistake_is_one_line_and_2(arguments, message, tmp_path, capsys):
    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("hello, this is no recording\n")
    assert main([one.format(folder=tmp_path) for one in arguments]) == 2
    assert message in said(capsys)


def test_what_is_no_mistake_is_1(monkeypatch, capsys):
    def broken():
        raise KeyError("bug")

    monkeypatch.setattr(catalogue, "presets", broken)
    assert main(["list"]) == 1
    assert "unexpected KeyError" in said(capsys)
    assert main(["list", "--debug"]) == 1
    assert "Traceback" in capsys.readouterr().err
    assert main(["--debug", "list"]) == 1
    assert "Traceback" in capsys.readouterr().err


def test_every_command_has_help(capsys):
    for command in COMMANDS:
        assert main([command.NAME, "--help"]) == 0
        text = capsys.readouterr().out
        assert all(example in text for example in command.EXAMPLES)


def test_backend(monkeypatch, tmp_path, capsys):
    other = "jax" if keras.backend.backend() != "jax" else "torch"
    assert main(["info", "gesture", "--backend", other]) == 2
    assert "too late" in said(capsys)
    # The choice before Keras is there, without taking Keras from the other tests.
    monkeypatch.delitem(sys.modules, "keras")
    monkeypatch.setattr(backend, "_installed", lambda name: name == "torch")
    monkeypatch.setenv("KERAS_HOME", str(tmp_path))
    monkeypatch.setenv("KERAS_BACKEND", "jax")
    with pytest.raises(ValueError, match=r"keras-pleiades\[jax\]"):
        backend.use_backend(None)
    monkeypatch.delenv("KERAS_BACKEND")
    backend.use_backend(None)  # Keras would take TensorFlow, which is not there
    assert os.environ["KERAS_BACKEND"] == "torch"
    with pytest.raises(ValueError, match=r"keras-pleiades\[tensorflow\]"):
        backend.use_backend("tensorflow")


def test_progress_is_for_terminals(capsys, monkeypatch):
    Progress(10).update(5)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    clock = iter([100.0, 110.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    bar = Progress(10)
    bar.update(1)
    bar.update(6)
    bar.clear()
    assert capsys.readouterr().err.endswith("60%  left 0:00:08\r\033[K")


def test_presets_that_several_networks_have():
    presets = {"gesture": {"own": {}}, "detector": {"own": {}}}
    with pytest.raises(ValueError, match="gesture/own, detector/own"):
        info.find("own", presets)
    assert info.find("detector/own", presets) == ("detector", "own")


def test_only_native_noise_is_left_out(capfd):
    def fails():
        os.write(2, b"I0000 00:00:1794856088.312719   29864 cudart_stub.cc:31] no drivers\n")
        os.write(2, b"this matters\n")
        raise ValueError

    with pytest.raises(ValueError), quiet():
        fails()
    os.write(2, b"and this\n")
    assert capfd.readouterr().err == "this matters\nand this\n"
