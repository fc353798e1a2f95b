"""Which data set a recipe names, and how it is made."""

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass, field

import keras


@dataclass(frozen=True)
class Source:
    """A data set that recipes can name.

    Attributes:
        target: `module:class`, imported when it is needed; or the class, or any callable. It takes
            the folder, `model`, `batch_size`, `shuffle`, `seed`, `augment` and the recipe's own
            arguments, and gives a `keras.utils.PyDataset` whose batches depend on its seed, its
            `epoch` and their number alone.
        train: Arguments of the split to train on.
        test: Arguments of the split to evaluate on.
        needs_folder: Whether it reads files.

    Example:
        >>> Source("keras_pleiades.datasets:NMNIST", train={"subset": "train"}).needs_folder
        True
    """

    target: str | Callable
    train: dict = field(default_factory=lambda: {"split": "train"})
    test: dict = field(default_factory=lambda: {"split": "test"})
    needs_folder: bool = True


_HERE = "keras_pleiades.datasets"
# Where a data set has a split to choose weights by, that is what "test" means here: the last word
# is `keras-pleiades evaluate ... --set data.test.split=test`.
DATASETS = {
    "bars": Source("keras_pleiades.training.bars:Bars", needs_folder=False),
    "dvs128_gesture": Source(f"{_HERE}:DVS128Gesture"),
    "eye_3et": Source(f"{_HERE}:EyeTracking3ET", test={"split": "val"}),
    "folder": Source(f"{_HERE}:RecordingFolder", {}, {}),
    "gen4": Source(f"{_HERE}:Gen4", test={"split": "val"}),
    "kitti": Source(f"{_HERE}:Kitti", test={"split": "val"}),
    "nmnist": Source(f"{_HERE}:NMNIST", {"subset": "train"}, {"subset": "test"}),
    **{
        f"synthetic_{task.lower()}": Source(
            f"{_HERE}:Synthetic{task}", test={"split": "validation"}, needs_folder=False
        )
        for task in ("Gestures", "Eyes", "Roads")
    },
}


def make_dataset(
    options: dict,
    split: str,
    folder: str | os.PathLike | None,
    model: keras.Model,
    batch_size: int,
    seed: int,
) -> keras.utils.PyDataset:
    """Return the data set that a recipe's [data] describes.

    Args:
        options: `name`, arguments of both splits, and the tables `train` and `test` with those of
            one. `augment`, a list of tables with the `name` of a class of
            `keras_pleiades.datasets.augmentations` and its arguments, is for training only.
        split: "train", which is mixed and augmented, or "test".
        folder: Where the recordings are.
        model: The network it is for.
        batch_size: Clips in a batch.
        seed: Of order and augmentation.

    Example:
        >>> import keras_pleiades as kp
        >>> model = kp.zoo.gesture(num_classes=4, input_shape=(None, 16, 16, 2))
        >>> data = make_dataset({"name": "bars", "clips": 8}, "test", None, model, 4, seed=0)
        >>> len(data)
        2
    """
    options = dict(options)
    name = options.pop("name")
    if name not in DATASETS:
        raise ValueError(
            f"`data.name` must be one of {', '.join(sorted(DATASETS))}. Received: {name!r}. "
            "Add your own to keras_pleiades.training.DATASETS."
        )
    source = DATASETS[name]
    if source.needs_folder and folder is None:
        raise ValueError(f"The data set {name!r} is read from a folder: give it with --data DIR.")
    splits = {"train": options.pop("train", {}), "test": options.pop("test", {})}
    augment = [_augmentation(**one) for one in options.pop("augment", ())]
    training = split == "train"
    arguments = {
        **(source.train if training else source.test),
        **options,
        **splits[split],
        **({"augment": augment} if training and augment else {}),
    }
    make = _find(source.target)
    try:
        return make(
            folder, model=model, batch_size=batch_size, shuffle=training, seed=seed, **arguments
        )
    except TypeError as error:  # an argument that is not one: a slip in the recipe
        raise ValueError(f"[data]: {error}") from error


def _augmentation(name, **arguments):
    found = getattr(importlib.import_module(f"{_HERE}.augmentations"), name, None)
    if found is None:
        raise ValueError(f"`data.augment` has no augmentation called {name!r}")
    return found(**arguments)


def _find(target):
    if not isinstance(target, str):
        return target
    module, name = target.split(":")
    return getattr(importlib.import_module(module), name)
