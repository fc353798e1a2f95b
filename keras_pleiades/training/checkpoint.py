"""The state of a run in one file, written whole or not at all."""

import json
import os
import pathlib
from collections.abc import Callable

import keras
import numpy as np

STATE, LAST, BEST = "state.npz", "last.weights.h5", "best.weights.h5"


def write_atomically(path: pathlib.Path, write: Callable[[pathlib.Path], object]) -> None:
    """Write beside `path` and rename: whoever reads finds the old file or the new one, whole."""
    temporary = path.with_name(f".writing.{path.name}")  # one a file: a killed run leaves no heap
    write(temporary)
    with open(temporary, "rb+") as file:
        os.fsync(file.fileno())
    os.replace(temporary, path)


def save_weights(model: keras.Model, path: pathlib.Path) -> None:
    """Write `model.save_weights`' file, which the zoo's `pretrained=` takes."""
    write_atomically(path, lambda temporary: model.save_weights(temporary))


def save_state(model: keras.Model, path: pathlib.Path, progress: dict) -> None:
    """Write all that the next step depends on: network, optimizer, seeds; and the progress.

    Args:
        model: A compiled network whose optimizer is built.
        path: The file, `.npz`.
        progress: Plain data: epoch, step, recipe, history.

    Raises:
        FloatingPointError: Where a variable is not finite: nothing is written.
    """
    arrays = {
        f"{kind}_{i}": copy_of(variable)
        for kind, variables in _variables(model).items()
        for i, variable in enumerate(variables)
    }
    if not all(np.isfinite(array).all() for array in arrays.values()):
        raise FloatingPointError("the network's variables are not finite")
    text = np.frombuffer(json.dumps(progress).encode(), np.uint8)

    def write(temporary):
        with open(temporary, "wb") as file:
            np.savez(file, progress=text, **arrays)

    write_atomically(path, write)


def load_progress(path: pathlib.Path) -> dict:
    """Return the plain data of a state file."""
    with np.load(path) as file:
        return json.loads(file["progress"].tobytes().decode())


def restore_state(model: keras.Model, path: pathlib.Path) -> None:
    """Give every variable of network and optimizer the value it had."""
    with np.load(path) as file:
        for kind, variables in _variables(model).items():
            stored = sum(name.startswith(f"{kind}_") for name in file.files)
            if stored != len(variables):
                raise ValueError(
                    f"{path} holds {stored} variables of the {kind} where this one has "
                    f"{len(variables)}: it is of another run."
                )
            for i, variable in enumerate(variables):
                variable.assign(file[f"{kind}_{i}"])


def copy_of(variable: keras.Variable) -> np.ndarray:
    """Return a variable's value as an array of its own."""
    # Not its tensor: on several TensorFlow devices there is one on each.
    return np.array(variable.numpy())


def _variables(model):
    return {"model": model.variables, "optimizer": model.optimizer.variables}
