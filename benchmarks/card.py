"""Where the numbers and pictures of a card go: `zoo/MODEL`, each file whole or not at all."""

import json
import pathlib

from keras_pleiades.training.checkpoint import write_atomically

ZOO = pathlib.Path(__file__).parent.parent / "zoo"


def write_results(model: str, command: str, **table) -> None:
    """Write `results.json`, with the command that makes it first."""
    text = json.dumps({"command": command, **table}, indent=2) + "\n"
    write_atomically(ZOO / model / "results.json", lambda path: path.write_text(text))


def save_figure(model: str, figure, name: str) -> None:
    """Write a figure as a picture beside the card."""
    write_atomically(ZOO / model / name, lambda path: figure.savefig(path, format="png", dpi=100))
