"""A recipe: everything that a training run depends on, as plain data."""

import copy
import os
import pathlib
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass

# What may stand in [training], and what holds where it does not. The other sections are arguments
# of the network, the data set and the loss, and checked by those.
TRAINING = {
    "epochs": 100,
    "batch_size": 64,
    "learning_rate": 1e-3,
    "weight_decay": 1e-3,
    "warmup": 0.01,  # part of all steps in which the learning rate grows from 0
    "precision": "auto",  # "float32", "mixed_bfloat16", "mixed_float16"; auto: see devices.py
    "ema": 0.0,  # momentum of the averaged weights that are evaluated and kept; 0: none
    "activity": 0.0,  # price of activity, one for all blocks or a table, see penalize_activity
    "jit_compile": "auto",  # as in compile: true, false, or where it is faster
    "begin_with": None,  # a recipe to train by before, whose last weights this one begins with
    "seed": 0,
    "checkpoint_steps": 100,  # besides one an epoch
    "tensorboard": False,
}
EVALUATION = {
    "window_us": 150_000,  # of the majority filter, classifiers only
    "hold_us": 800_000,  # of the hold filter, trackers only
    "skip_us": 0,  # of each clip, in which answers do not count
    "classes": None,  # that the paper's mAP averages over, detectors only
    "top_k": 100,
}
SECTIONS = ("model", "data", "loss", "training", "evaluation")


@dataclass(frozen=True)
class Recipe:
    """What to train, on what, and how.

    Attributes:
        model: `name`, of the zoo, or `family`, a class of `keras_pleiades.models`; and its
            arguments.
        data: `name` of a data set (see `training.data`) and its arguments; those of one split
            only in the tables `train` and `test`.
        loss: Arguments of the network's loss.
        training: See `TRAINING`.
        evaluation: See `EVALUATION`.

    Example:
        >>> recipe = Recipe.of({"model": {"name": "gesture"}, "data": {"name": "bars"}})
        >>> recipe.training["epochs"]
        100
    """

    model: dict
    data: dict
    loss: dict
    training: dict
    evaluation: dict

    @classmethod
    def of(cls, tables: dict) -> "Recipe":
        """Return a recipe with defaults filled in, or say which key is unknown or missing."""
        _known(tables, SECTIONS, "section")
        sections = {name: copy.deepcopy(tables.get(name, {})) for name in SECTIONS}
        for name, defaults in (("training", TRAINING), ("evaluation", EVALUATION)):
            _known(sections[name], defaults, f"key of [{name}]")
            sections[name] = {**defaults, **sections[name]}
        if ("name" in sections["model"]) == ("family" in sections["model"]):
            raise ValueError(
                "[model] needs `name`, a network of the zoo, or `family`, a class of "
                f"keras_pleiades.models. Received: {sections['model']}"
            )
        if "name" not in sections["data"]:
            raise ValueError(f"[data] needs `name`, a data set. Received: {sections['data']}")
        return cls(**sections)

    def differences(self, other: "Recipe") -> list[str]:
        """Return `section.key: this != that` for every value that differs."""
        found = []
        for section in SECTIONS:
            mine, yours = getattr(self, section), getattr(other, section)
            found += [
                f"{section}.{key}: {mine.get(key)!r} != {yours.get(key)!r}"
                for key in sorted({*mine, *yours})
                if mine.get(key) != yours.get(key)
            ]
        return found


def load_recipe(path: str | os.PathLike, settings: Iterable[str] = ()) -> Recipe:
    r"""Read a recipe from a TOML file and change single values.

    Args:
        path: The file.
        settings: Such as `"training.epochs=5"`; the value is written as in TOML, and a word that
            is none is taken as text.

    Example:
        >>> import tempfile
        >>> with tempfile.NamedTemporaryFile("w", suffix=".toml") as file:
        ...     _ = file.write('model = {name = "gesture"}\ndata = {name = "bars"}')
        ...     _ = file.flush()
        ...     recipe = load_recipe(file.name, ["training.epochs=5", "data.test.clips=8"])
        >>> recipe.training["epochs"], recipe.data, recipe.training["learning_rate"]
        (5, {'name': 'bars', 'test': {'clips': 8}}, 0.001)
    """
    tables = _tables(pathlib.Path(path))
    for setting in settings:
        key, equals, text = setting.partition("=")
        *parents, last = key.strip().split(".")
        if not (equals and parents and last):
            raise ValueError(
                "A setting is written section.key=value, such as training.epochs=5. "
                f"Received: {setting!r}"
            )
        table = tables
        for name in parents:
            table = table.setdefault(name, {})
        try:
            table[last] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            table[last] = text
    return Recipe.of(tables)


def _tables(path):
    """Return a file's tables, those of the recipe that it begins with among them."""
    with open(path, "rb") as file:
        try:
            tables = tomllib.load(file)
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{path}: {error}") from error
    begin = tables.get("training", {}).get("begin_with")
    if isinstance(begin, str):
        tables["training"]["begin_with"] = _tables(path.parent / begin)
    return tables


def _known(given, known, what):
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ValueError(f"Unknown {what}: {', '.join(unknown)}. Known: {', '.join(known)}")
