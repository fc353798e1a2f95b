"""The pretrained weights as data, and where the file of each of them is."""

import dataclasses
import json
import os
import pathlib
from typing import Any

from keras_pleiades._fetch import fetch, whats_wrong
from keras_pleiades.zoo._architectures import ARCHITECTURES

# Inside the package: the wheel, an editable install and a clone then have it in the same place.
WEIGHTS = pathlib.Path(__file__).parents[1] / "weights"
MANIFEST = "manifest.json"
DEFAULT = "synthetic"  # what pretrained=True means


@dataclasses.dataclass(frozen=True)
class Preset:
    """One entry of the manifest.

    Attributes:
        model: The network's name.
        name: The preset's.
        about: One sentence.
        sha256: Of the file.
        bytes: Of the file.
        parameters: Trainable ones, of the network it is for.
        dt: Bin size of training in microseconds: kernels span `kernel_size` of these bins.
        interval: The part of the polynomials' axis that kernels cover.
        licence: Of the file, as SPDX writes it.
        recipe: How it was trained: a file of this repository, or a URL.
        commit: Of the code that trained it.
        results: What was measured of it.
        num_classes: Classes, for networks that have some.
        file: Its name beside the manifest, if it is bundled.
        url: Where it is, if it is not.
    """

    model: str
    name: str
    about: str
    sha256: str
    bytes: int
    parameters: int
    dt: int
    interval: tuple[float, float]
    licence: str
    recipe: str
    commit: str
    results: dict[str, Any]
    num_classes: int | None = None
    file: str | None = None
    url: str | None = None


def read_presets(model: str) -> dict[str, Preset]:
    """Return the presets of a network by name."""
    if model not in ARCHITECTURES:
        raise ValueError(
            f"There are the networks {', '.join(sorted(ARCHITECTURES))}. Received: {model!r}"
        )
    return {
        name: Preset(model, name, **{**entry, "interval": tuple(entry["interval"])})
        for name, entry in sorted(read_manifest().get(model, {}).items())
    }


def read_manifest() -> dict[str, dict[str, dict]]:
    """Return the manifest: for each network its presets, for each preset what is known of it."""
    return json.loads((WEIGHTS / MANIFEST).read_text(encoding="utf-8"))


def list_presets(model: str) -> list[str]:
    """Return the names of a network's pretrained weights, for its argument `pretrained`.

    Example:
        >>> import keras_pleiades as kp
        >>> "dvs128" in kp.zoo.list_presets("gesture")
        True
    """
    return list(read_presets(model))


@dataclasses.dataclass(frozen=True)
class WeightsFile:
    """A weights file on this machine; `preset` is what the manifest says of it, if anything."""

    path: str
    preset: Preset | None = None


def find_weights(model: str, pretrained: bool | str | os.PathLike) -> WeightsFile:
    """Return the file that `pretrained` means: a path, a bundled one, or one from the cache.

    A preset's name means the preset also where a file is called so; `"./name"` means the file.

    Raises:
        FileNotFoundError: There is neither a file nor a preset of that name.
        ValueError: The network has no bundled weights, or they are damaged.
        FetchError: The file could not be downloaded, or not be kept.
    """
    presets = read_presets(model)
    if pretrained is True:
        if DEFAULT not in presets:
            raise ValueError(
                f"{model} has no bundled weights yet. Received: pretrained=True. Give "
                f"{_others(presets)}the path of a weights file, or pretrained=False for a new "
                "network."
            )
        pretrained = DEFAULT
    if isinstance(pretrained, str) and pretrained in presets:
        preset = presets[pretrained]
        return WeightsFile(
            str(_bundled(preset) if preset.url is None else _fetched(preset)), preset
        )
    if not isinstance(pretrained, (str, os.PathLike)):
        raise ValueError(
            "`pretrained` must be False, True, the name of a preset or the path of a weights "
            f"file. Received: pretrained={pretrained!r}"
        )
    path = os.fspath(pretrained)
    if not os.path.isfile(path):
        raise FileNotFoundError(
            f"No weights file at pretrained={path!r}. Expected {_others(presets)}a file of "
            "model.save_weights (its name ends in .weights.h5) or the authors' dvs128_ckpt.pt."
        )
    return WeightsFile(path)


def _others(presets):
    return "".join(f"the preset {name!r}, " for name in presets)


def _bundled(preset):
    path = WEIGHTS / preset.file
    wrong = whats_wrong(path, preset.bytes, preset.sha256)
    if wrong is not None:
        raise ValueError(
            f"The bundled weights {preset.name!r} of {preset.model} are damaged: {path}: {wrong}. "
            "Install keras-pleiades again."
        )
    return path


def _fetched(preset):
    bundled = [one.name for one in read_presets(preset.model).values() if one.url is None]
    instead = (
        f"Bundled with the package, without a download: pretrained={bundled[0]!r}."
        if bundled
        else f"This version bundles no weights of {preset.model}."
    )
    what = f"{preset.model}'s preset {preset.name!r}"
    return fetch(preset.url, preset.bytes, preset.sha256, what, instead)
