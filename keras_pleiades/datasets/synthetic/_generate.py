"""Many simulated recordings at once: in parallel processes, each kept on disk."""

import functools
import hashlib
import json
import multiprocessing
import os
import pathlib
import uuid
import zipfile
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import fields
from typing import NamedTuple

import numpy as np

from keras_pleiades._checks import check_choice
from keras_pleiades.datasets.synthetic import eyes, gestures, roads
from keras_pleiades.events import pixel_model
from keras_pleiades.events.augment import Labels
from keras_pleiades.events.dtype import EVENT_DTYPE

TASKS = {"gestures": gestures, "eyes": eyes, "roads": roads}
SENSOR = "sensor"


class Recording(NamedTuple):
    """One simulated recording.

    Attributes:
        events: The events, in the order of time.
        labels: What they show.
        sensor: (height, width).

    Example:
        >>> events, labels, sensor = record("gestures", 12, duration_us=20_000)
        >>> labels.class_id
        2
    """

    events: np.ndarray
    labels: Labels
    sensor: tuple[int, int]


def record(task: str, seed: int, split: str = "train", **options) -> Recording:
    """Returns one recording of a task: what its `clip` gives, and the sensor.

    Args:
        task: "gestures", "eyes" or "roads".
        seed: Which recording.
        split: "train", "validation" or "test".
        **options: Further arguments of the task's `clip`.

    Example:
        >>> record("gestures", 4, duration_us=20_000).sensor
        (128, 128)
    """
    module = TASKS[check_choice(task, tuple(TASKS), "task")]
    events, labels = module.clip(seed, split, **options)
    return Recording(events, labels, module.SENSOR)


def generate(
    task: str,
    seeds: Iterable[int],
    split: str = "train",
    folder: str | os.PathLike = "synthetic",
    workers: int | None = None,
    **options,
) -> list[pathlib.Path]:
    """Makes recordings in parallel and returns their files, in the order of the seeds.

    What is already in the folder is not made again. A file's name holds a digest of the options and
    of the simulation's own code, so that a recording made otherwise is never taken for this one.
    Files appear whole or not at all; several processes may fill one folder. They are `.npz` files
    that `keras_pleiades.events.read` takes for recordings and `load` reads with their labels.

    Workers are started afresh ("spawn"): a script needs `if __name__ == "__main__":`.

    Args:
        task: "gestures", "eyes" or "roads".
        seeds: Which recordings.
        split: "train", "validation" or "test".
        folder: Where to; made if need be. It may be deleted at any time.
        workers: Processes; as many as there are cores by default, 0 for none beside this one.
        **options: Further arguments of the task's `clip`: numbers, strings, and tuples of them.

    Example:
        >>> import tempfile
        >>> folder = tempfile.mkdtemp()
        >>> files = generate("gestures", range(2), folder=folder, workers=0, duration_us=20_000)
        >>> load(files[1]).labels.class_id
        1
    """
    check_choice(task, tuple(TASKS), "task")
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    named = json.dumps({"options": options, "code": _code()}, sort_keys=True)
    digest = hashlib.sha256(named.encode()).hexdigest()[:12]
    seeds = [int(seed) for seed in seeds]
    paths = [folder / f"{task}_{split}_{seed}_{digest}.npz" for seed in seeds]
    # A file cut off by a full disk has no ZIP directory at its end: it is made again.
    wanted = {
        path: seed
        for path, seed in zip(paths, seeds, strict=True)
        if not path.is_file() or not zipfile.is_zipfile(path)
    }
    make = functools.partial(_make, task, split, options)
    workers = os.cpu_count() if workers is None else workers
    if workers == 0 or len(wanted) < 2:
        for path, seed in wanted.items():
            make(path, seed)
    else:
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(min(workers, len(wanted)), mp_context=context) as pool:
            for _ in pool.map(make, wanted.keys(), wanted.values(), chunksize=4):
                pass
    return paths


def load(path: str | os.PathLike) -> Recording:
    """Returns a recording that `generate` has written; see there for an example."""
    with np.load(path, allow_pickle=False) as parts:
        sensor = tuple(int(size) for size in parts[SENSOR])
        return Recording(parts["events"].astype(EVENT_DTYPE), _labels(parts), sensor)


def load_labels(path: str | os.PathLike) -> Labels:
    """Returns the labels alone, without unpacking the events: see `generate` for an example."""
    with np.load(path, allow_pickle=False) as parts:
        return _labels(parts)


def _labels(parts):
    labels = {field.name: parts[field.name] for field in fields(Labels) if field.name in parts}
    if "class_id" in labels:
        labels["class_id"] = int(labels["class_id"][0])
    return Labels(**labels)


def _make(task, split, options, path, seed):
    recording = record(task, seed, split, **options)
    packed = np.empty(len(recording.events), [(name, EVENT_DTYPE[name]) for name in "txyp"])
    for name in "txyp":
        packed[name] = recording.events[name]
    labels = {field.name: getattr(recording.labels, field.name) for field in fields(Labels)}
    labels = {name: np.atleast_1d(value) for name, value in labels.items() if value is not None}
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex[:12]}.writing")
    try:
        _write(temporary, {"events": packed, SENSOR: np.array(recording.sensor), **labels})
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _write(path, arrays):
    """As `np.savez_compressed`, at the level that costs least time: most of it is the first's."""
    with zipfile.ZipFile(path, "x", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for name, array in arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, np.asarray(array), allow_pickle=False)


@functools.cache
def _code():
    """A digest of the code that recordings depend on."""
    files = sorted(pathlib.Path(__file__).parent.glob("*.py"))
    files.append(pathlib.Path(pixel_model.__file__))
    digest = hashlib.sha256()
    for file in files:
        if file.name not in ("__init__.py", pathlib.Path(__file__).name):
            digest.update(file.read_bytes())
    return digest.hexdigest()
