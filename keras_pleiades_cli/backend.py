"""Chooses Keras' backend while there is still a choice: before Keras is imported."""

import argparse
import importlib.util
import json
import os
import pathlib
import sys

from keras_pleiades_cli.errors import UserError

BACKENDS = ("tensorflow", "jax", "torch")


def add_backend(parser: argparse.ArgumentParser) -> None:
    """Add `--backend`, to commands that run a network."""
    parser.add_argument(
        "--backend",
        choices=BACKENDS,
        help="what Keras runs on; by default KERAS_BACKEND, or what is installed",
    )


def use_backend(name: str | None) -> None:
    """Set KERAS_BACKEND to `name`; without one, leave it, or take one that is installed.

    Raises:
        UserError: The backend is not installed, or Keras already runs on another.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")  # errors only: stderr is for the user
    if "keras" in sys.modules:
        import keras

        if name not in (None, keras.backend.backend()):
            raise UserError(
                f"--backend {name} comes too late: Keras was imported with "
                f"{keras.backend.backend()}. Run keras-pleiades, or set KERAS_BACKEND={name}."
            )
        return
    wanted = name or os.environ.get("KERAS_BACKEND")
    if wanted in BACKENDS and not _installed(wanted):
        raise UserError(
            f"The backend {wanted} is not installed: pip install 'keras-pleiades[{wanted}]'"
        )
    if wanted is None:
        wanted = _configured()
        if not _installed(wanted):
            wanted = next(filter(_installed, BACKENDS), None)
        if wanted is None:
            raise UserError(
                f"Keras needs a backend, one of {', '.join(BACKENDS)}: "
                "pip install 'keras-pleiades[jax]'"
            )
    os.environ["KERAS_BACKEND"] = wanted


def _installed(name: str) -> bool:
    return importlib.util.find_spec(name) is not None


def _configured() -> str:
    """Return the backend that Keras would take by itself."""
    home = os.environ.get("KERAS_HOME") or pathlib.Path("~/.keras").expanduser()
    try:
        config = json.loads(pathlib.Path(home, "keras.json").read_text())
        return str(config["backend"])
    except (OSError, ValueError, KeyError, TypeError):
        return "tensorflow"
