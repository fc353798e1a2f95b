"""Networks and presets, read without importing keras_pleiades."""

import importlib.util
import json
import pathlib
import runpy

# A test holds these names against `keras_pleiades.zoo.list_models`, whose import takes seconds.
MODELS = {
    "gesture": "which hand gesture is being made: a class a frame",
    "eye_tracking": "where the pupil is: a point a frame",
    "detector": "road users: boxes with classes, each frame",
}


def package_folder() -> pathlib.Path:
    """Return where keras_pleiades is; finding a package does not import it."""
    return pathlib.Path(importlib.util.find_spec("keras_pleiades").origin).parent


def version() -> str:
    """Return the package's version.

    Example:
        >>> version().count(".")
        2
    """
    return runpy.run_path(str(package_folder() / "_version.py"))["__version__"]


def presets() -> dict[str, dict[str, dict]]:
    """Return what the manifest says: for each network its presets, for each what is known of it.

    Example:
        >>> presets()["gesture"]["dvs128"]["parameters"]
        191610
    """
    manifest = package_folder() / "weights" / "manifest.json"
    found = json.loads(manifest.read_text(encoding="utf-8"))
    return {name: found.get(name, {}) for name in MODELS}


def where(preset: dict) -> str:
    """Say where a preset's file comes from, and its size."""
    place = "bundled" if preset.get("url") is None else "fetched at first use"
    return f"{place}, {preset['bytes'] / 1e6:.1f} MB"
