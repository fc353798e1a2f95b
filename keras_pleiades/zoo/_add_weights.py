"""Puts trained weights into the package: the file beside the manifest, and its entry in it.

    python -m keras_pleiades.zoo._add_weights gesture out/gesture/best.weights.h5 \
        --recipe zoo/gesture/recipe.toml --results zoo/gesture/results.json

For those who make a release, in the root of a clone. Commit what it changes in
`keras_pleiades/weights`.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys

import numpy as np
from keras import ops

from keras_pleiades._fetch import sha256_of
from keras_pleiades.training.checkpoint import write_atomically
from keras_pleiades.zoo import _builders, _presets
from keras_pleiades.zoo._load_weights import classes_in


def add_weights(
    model: str,
    weights: str | os.PathLike,
    recipe: str,
    results: dict,
    commit: str,
    preset: str = _presets.DEFAULT,
    about: str | None = None,
    licence: str = "Apache-2.0",
    replace: bool = False,
) -> pathlib.Path:
    """Write a weights file and its entry in the manifest; return the file's path.

    The weights are saved anew from a network of the zoo: a file that training wrote has the
    optimizer's variables too, which are twice as many.

    Args:
        model: A network of the zoo.
        weights: A file of `save_weights` of that network, with its usual classes.
        recipe: How it was trained: the recipe's path in the repository.
        results: What was measured of it.
        commit: Of the code that trained it.
        preset: Its name.
        about: One sentence.
        licence: As SPDX writes it.
        replace: Whether a preset of that name may be there already.
    """
    manifest = _presets.read_manifest()
    if preset in manifest.get(model, {}) and not replace:
        raise ValueError(
            f"{model} has a preset {preset!r} already, and names are a promise. Choose another, or "
            "replace it with --replace and say so in CHANGELOG.md."
        )
    network = getattr(_builders, model)(pretrained=pathlib.Path(weights))
    classes = classes_in(network, os.fspath(weights))
    if classes != getattr(network, "num_classes", None):
        raise ValueError(
            f"{model} has {network.num_classes} classes unless told otherwise, so bundled weights "
            f"must. Received: {os.fspath(weights)} with {classes}"
        )
    for variable in network.variables:
        if not np.isfinite(ops.convert_to_numpy(variable)).all():
            raise ValueError(f"{os.fspath(weights)}: {variable.path} is not finite")
    path = _presets.WEIGHTS / f"{model}_{preset}.weights.h5"
    write_atomically(path, network.save_weights)
    entry = {
        "about": about or f"Trained by {recipe}.",
        "file": path.name,
        "sha256": sha256_of(path),
        "bytes": path.stat().st_size,
        "parameters": sum(int(np.prod(v.shape)) for v in network.trainable_variables),
        "num_classes": classes,
        "dt": network.native_dt,
        "interval": list(network.temporal["interval"]),
        "licence": licence,
        "recipe": recipe,
        "commit": commit,
        "results": results,
    }
    manifest.setdefault(model, {})[preset] = entry
    text = json.dumps(manifest, indent=2) + "\n"
    write_atomically(
        _presets.WEIGHTS / _presets.MANIFEST, lambda temporary: temporary.write_text(text)
    )
    return path


def main(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit status."""
    parser = argparse.ArgumentParser(prog="keras_pleiades.zoo._add_weights", description=__doc__)
    parser.add_argument("model", choices=_builders.list_models())
    parser.add_argument("weights", help="such as out/gesture/best.weights.h5")
    parser.add_argument("--recipe", required=True, help="such as zoo/gesture/recipe.toml")
    parser.add_argument(
        "--results", required=True, help="JSON; of a training's results.json the best epoch"
    )
    parser.add_argument("--preset", default=_presets.DEFAULT, help="%(default)s by default")
    parser.add_argument("--about", help="one sentence")
    parser.add_argument("--licence", default="Apache-2.0", help="%(default)s by default")
    parser.add_argument("--commit", help="that trained it; by default the one checked out")
    parser.add_argument("--replace", action="store_true", help="put it in place of an older one")
    options = parser.parse_args(arguments)
    try:
        path = add_weights(
            options.model,
            options.weights,
            _in_repository(options.recipe),
            _measured(options.results),
            options.commit or _checked_out(),
            options.preset,
            options.about,
            options.licence,
            options.replace,
        )
    except (ValueError, OSError, subprocess.CalledProcessError) as error:
        print(f"_add_weights: {error}", file=sys.stderr)
        return 1
    print(f"{path}: {path.stat().st_size} bytes, sha256 {sha256_of(path)}")
    return 0


def _in_repository(recipe):
    """Return the recipe's path from here: one of this machine means nothing to others."""
    path = pathlib.Path(recipe).resolve()
    if not path.is_file() or not path.is_relative_to(pathlib.Path.cwd()):
        raise ValueError(f"--recipe must be a file below this folder. Received: {recipe}")
    return path.relative_to(pathlib.Path.cwd()).as_posix()


def _measured(path):
    results = json.loads(pathlib.Path(path).read_text())
    return results.get("best", results)


def _checked_out():
    command = ["git", "rev-parse", "HEAD"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
