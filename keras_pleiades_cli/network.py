"""The network that a command's options describe."""

import argparse
import dataclasses
import os
from typing import Any

from keras_pleiades_cli.errors import UserError
from keras_pleiades_cli.package import load_package
from keras_pleiades_cli.parsing import microseconds, names, size


@dataclasses.dataclass(frozen=True)
class Network:
    """A network ready to use.

    Attributes:
        model: A `PleiadesModel`.
        weights: Where its weights come from, in words.
        labels: Names of its classes; `None` for networks without.
        preset: The preset's name, if the weights are one.
    """

    model: Any
    weights: str
    labels: list[str] | None
    preset: str | None = None


def add_size_options(parser: argparse.ArgumentParser) -> None:
    """Add `--dt` and `--size`."""
    parser.add_argument(
        "--dt",
        type=microseconds,
        metavar="US",
        help="bin size in microseconds; other than the network's own, it is resampled",
    )
    parser.add_argument(
        "--size", type=size, metavar="HxW", help="size of the network's frames; its own by default"
    )


def add_weights_options(parser: argparse.ArgumentParser, untrained: bool = False) -> None:
    """Add `--preset`, `--weights`, `--labels`, and `--untrained` where that makes sense."""
    group = parser.add_mutually_exclusive_group()
    group.add_argument("--preset", metavar="NAME", help="pretrained weights; see list")
    group.add_argument(
        "--weights", metavar="FILE", help="a .weights.h5 file, or the authors' dvs128_ckpt.pt"
    )
    if untrained:
        group.add_argument("--untrained", action="store_true", help="new, random weights")
    parser.add_argument(
        "--labels", type=names, metavar="A,B,...", help="names of the classes, in their order"
    )


def arguments_of(options: argparse.Namespace) -> dict:
    """Return the zoo's arguments for `--dt` and `--size`."""
    arguments = {}
    if options.dt is not None:
        arguments["dt"] = options.dt
    if options.size is not None:
        arguments["input_shape"] = (None, *options.size, 2)
    return arguments


def build(name: str, options: argparse.Namespace) -> Network:
    """Return the network with the weights asked for, bundled ones by default.

    Raises:
        ValueError: There are no such weights, or they do not fit.
    """
    kp = load_package()
    from keras_pleiades.zoo._load_weights import classes_in
    from keras_pleiades.zoo._presets import DEFAULT, find_weights
    from keras_pleiades.zoo._torch_checkpoint import is_torch_checkpoint

    make, arguments = getattr(kp.zoo, name), arguments_of(options)
    if getattr(options, "untrained", False):
        model = make(**arguments)
        return Network(model, "untrained", labels_of(name, model, options.labels))
    presets = kp.zoo.list_presets(name)
    if options.preset is not None and options.preset not in presets:
        known = ", ".join(presets) or "none yet"
        raise UserError(f"{name} has no preset {options.preset!r}. Its presets: {known}")
    if options.preset is None and options.weights is None and DEFAULT not in presets:
        others = "".join(f"--preset {one} or " for one in presets)
        raise UserError(f"{name} has no bundled weights yet. Give {others}--weights FILE")
    found = find_weights(name, options.preset or _path(options.weights) or True)
    wanted = found.path if found.preset is None else found.preset.name
    classes = None if found.preset is None else found.preset.num_classes
    if classes is not None:
        arguments["num_classes"] = classes
    model = make(pretrained=wanted, **arguments)
    if found.preset is None and not is_torch_checkpoint(found.path):
        # With other classes than its file the zoo starts a new last layer: right for fine-tuning,
        # but here its answers would mean nothing.
        classes = classes_in(model, found.path)
        if classes not in (None, getattr(model, "num_classes", None)):
            model = make(pretrained=wanted, **arguments, num_classes=classes)
    preset = None if found.preset is None else found.preset.name
    weights = os.path.basename(found.path) if preset is None else f"preset {preset}"
    return Network(model, weights, labels_of(name, model, options.labels), preset)


def _path(weights: str | None) -> str | None:
    """Return a path that cannot be taken for a preset's name."""
    return None if weights is None else os.path.join(".", weights)


def labels_of(name: str, model, given: list[str] | None) -> list[str] | None:
    """Return a name for each class: those given, those of the paper's data set, or numbers."""
    from keras_pleiades.datasets import class_names

    classes = getattr(model, "num_classes", None)
    if given is not None:
        if classes != len(given):
            raise UserError(
                f"--labels must name the {classes or 0} classes of {name}. Received: {len(given)}"
            )
        return given
    if classes is None:
        return None
    known = {"gesture": class_names.GESTURES, "detector": class_names.ROAD_USERS}[name]
    return list(known) if len(known) == classes else [f"class {i}" for i in range(classes)]
