"""Where the numbers and pictures of a card go: `zoo/MODEL`, each file whole or not at all."""

import json
import pathlib

import keras_pleiades as kp
from keras_pleiades.training.checkpoint import write_atomically

ZOO = pathlib.Path(__file__).parent.parent / "zoo"


def write_results(model: str, command: str, name: str = "results.json", **table) -> None:
    """Write a table of results, with the command that makes it first."""
    text = json.dumps({"command": command, **table}, indent=2) + "\n"
    write_atomically(ZOO / model / name, lambda path: path.write_text(text))


def save_figure(model: str, figure, name: str) -> None:
    """Write a figure as a picture beside the card."""
    write_atomically(ZOO / model / name, lambda path: figure.savefig(path, format="png", dpi=100))


def save_kernels(model: str, network) -> None:
    """Draw learned kernels of the network's second temporal layer, at three bin sizes."""
    layer = network.temporal_layers()[1]
    title = f"{model}, second temporal layer: the kernels with the most weight"
    save_figure(model, kp.plots.kernels(layer, dt=network.native_dt, title=title), "kernels.png")


def cpu_seconds(run: pathlib.Path) -> float:
    """Return what a run took, with the runs that it began with."""
    seconds = json.loads((run / "results.json").read_text())["cpu_seconds"]
    begin = run / "begin"
    return seconds + (cpu_seconds(begin) if begin.exists() else 0.0)
