"""DVS128 Gesture: hand and arm gestures before a 128x128 event camera (Amir et al. 2017)."""

import csv
import os
import pathlib
from typing import ClassVar

import numpy as np

from keras_pleiades._checks import check_choice, check_dt
from keras_pleiades.datasets.base import EventDataset
from keras_pleiades.datasets.class_names import GESTURES
from keras_pleiades.datasets.clips import Clip
from keras_pleiades.datasets.files import DatasetNotFoundError, check_count, missing
from keras_pleiades.datasets.frame_spec import FrameSpec
from keras_pleiades.events import make_events, read
from keras_pleiades.models import PleiadesModel

URL = "https://ibm.ent.box.com/s/3hiq58ww1pbbjrinh367ykfdf60xsfm8/folder/50167556794"
SENSOR = (128, 128)
OTHER = 10  # label 11 in the files: whatever each person liked, left out here
RECORDINGS = {"train": 98, "test": 24}
# What each layout has of each split, "other" included: files as they are unpacked.
SAMPLES = {"tonic": {"train": 1077, "test": 264}, "spikingjelly": {"train": 1176, "test": 288}}
EXPECTED = (
    "trials_to_train.txt and userNN_LIGHT.aedat with userNN_LIGHT_labels.csv (the original), "
    "ibmGestureTrain/userNN_LIGHT/N.npy (as tonic unpacks it) or "
    "events_np/train/N/userNN_LIGHT_M.npz (as spikingjelly does)"
)


class DVS128Gesture(EventDataset):
    """The first 1.5 s of each of ten gestures; y is the class of every frame, (clips, frames).

    Three layouts are understood: the original, in which a gesture is given with what was recorded
    before it as context; that of tonic, in which times are cut to milliseconds; and that of
    spikingjelly. In the last two a file begins with its gesture, so the context is zero, and time
    is counted from the first event.

    Args:
        folder: Where the data set was unpacked.
        split: "train" (users 1 to 23) or "test" (24 to 29), as published.
        model: The network: its dt, size, binning and context are taken. Or give them yourself:
        dt: Length of a frame in microseconds.
        shape: (height, width) of the frames; (128, 128) by default.
        method: "count" (default) or "volume".
        context_frames: Frames in front of each clip.
        duration_us: How much of each gesture.
        layout: "auto", "aedat", "tonic" or "spikingjelly".
        partial: Whether to be content with fewer recordings than the 98 and 24.
        **kwargs: `batch_size`, `shuffle`, `seed`, `augment`, `cache`, `workers`, ...: see
            `EventDataset`.

    Example:
        ```python
        model = kp.zoo.gesture()
        data = kp.datasets.DVS128Gesture(
            "DvsGesture", "train", model, batch_size=64, shuffle=True, cache="cache",
            augment=[kp.datasets.RandomAffine(), kp.datasets.MaskPrefix()],
        )
        data.summary()
        model.fit(data, shuffle=False)
        ```
    """

    class_names = GESTURES
    # Classes that become others when left and right are exchanged: hands, and senses of turning.
    MIRRORED: ClassVar[dict[int, int]] = {1: 2, 2: 1, 3: 6, 6: 3, 4: 5, 5: 4}

    def __init__(
        self,
        folder: str | os.PathLike,
        split: str = "train",
        model: PleiadesModel | None = None,
        *,
        dt: int | None = None,
        shape: tuple[int, int] | None = None,
        method: str | None = None,
        context_frames: int | None = None,
        duration_us: int = 1_500_000,
        layout: str = "auto",
        partial: bool = False,
        **kwargs,
    ):
        check_choice(split, ("train", "test"), "split")
        check_choice(layout, ("auto", "aedat", "tonic", "spikingjelly"), "layout")
        spec = FrameSpec.of(SENSOR, model, dt, shape, method, context_frames)
        frames = max(check_dt(duration_us, "duration_us") // spec.dt, 1)
        self.layout, place = find(folder, split, layout)
        rows = LAYOUTS[self.layout](place, split, partial)
        clips = [
            Clip(path, start, frames, end, class_id)
            for path, class_id, start, end in rows
            if class_id != OTHER
        ]
        super().__init__(clips, SENSOR, spec, **kwargs)
        others = len(rows) - len(clips)
        self.notes.append(f"layout '{self.layout}', split '{split}'; {others} of 'other' left out")

    def read_events(self, clip: Clip, start_us: int, end_us: int) -> np.ndarray:
        """Reads the events; in the layouts of one gesture a file, time begins with the first."""
        if self.layout == "aedat":
            return super().read_events(clip, start_us, end_us)
        events = read_tonic(clip.path) if self.layout == "tonic" else read(clip.path)
        if not len(events):
            return events
        events["t"] -= events["t"][0]
        return events[(events["t"] >= start_us) & (events["t"] < end_us)]


def find(folder: str | os.PathLike, split: str, layout: str = "auto") -> tuple[str, pathlib.Path]:
    """Returns the layout in which the data set lies in `folder`, and where."""
    folder = pathlib.Path(folder)
    tonic = "ibmGestureTrain" if split == "train" else "ibmGestureTest"
    places = [
        ("aedat", folder / below, folder / below / f"trials_to_{split}.txt")
        for below in ("", "DvsGesture", "extract/DvsGesture")
    ]
    places += [("tonic", folder / b / tonic, folder / b / tonic) for b in ("", "DVSGesture")]
    places += [
        ("spikingjelly", folder / below / split, folder / below / split / "0")
        for below in ("events_np", "")
    ]
    for name, place, mark in places:
        if layout in ("auto", name) and mark.exists():
            return name, place
    wanted = EXPECTED if layout == "auto" else f"the layout {layout!r} of {EXPECTED}"
    raise missing("DVS128 Gesture", folder, wanted, URL)


def aedat_gestures(folder: pathlib.Path, split: str, partial: bool) -> list[tuple]:
    """Returns (path, class from 0, start, end) of every gesture in the original layout."""
    listed = (folder / f"trials_to_{split}.txt").read_text().split()
    absent = [
        name
        for trial in listed
        for name in (trial, _labels_name(trial))
        if not (folder / name).is_file()
    ]
    if absent and not partial:
        raise DatasetNotFoundError(
            f"DVS128 Gesture: expected all that trials_to_{split}.txt lists. Missing in {folder}: "
            f"{', '.join(absent[:6])}{' ...' if len(absent) > 6 else ''} ({len(absent)} files). "
            f"Give `partial=True` to do without, or get them at {URL}"
        )
    trials = [trial for trial in listed if {trial, _labels_name(trial)}.isdisjoint(absent)]
    check_count(
        "DVS128 Gesture", f"recordings to {split}", len(trials), RECORDINGS[split], partial, URL
    )
    if not trials:
        raise missing("DVS128 Gesture", folder, "at least one recording with its labels", URL)
    return [
        (str(folder / trial), *row)
        for trial in trials
        for row in read_labels(folder / _labels_name(trial))
    ]


def tonic_gestures(folder: pathlib.Path, split: str, partial: bool) -> list[tuple]:
    """Returns the same in tonic's layout, in which a file is named after its class."""
    files = [path for path in sorted(folder.glob("*/*.npy")) if path.stem.isdecimal()]
    return _one_a_file("tonic", files, [int(path.stem) for path in files], folder, split, partial)


def spikingjelly_gestures(folder: pathlib.Path, split: str, partial: bool) -> list[tuple]:
    """Returns the same in spikingjelly's layout, in which a folder is named after its class."""
    files = [path for path in sorted(folder.glob("*/*.npz")) if path.parent.name.isdecimal()]
    classes = [int(path.parent.name) for path in files]
    return _one_a_file("spikingjelly", files, classes, folder, split, partial)


LAYOUTS = {
    "aedat": aedat_gestures,
    "tonic": tonic_gestures,
    "spikingjelly": spikingjelly_gestures,
}


def _one_a_file(layout, files, classes, folder, split, partial):
    check_count(
        "DVS128 Gesture", f"files to {split}", len(files), SAMPLES[layout][split], partial, URL
    )
    if not files:
        raise missing("DVS128 Gesture", folder, f"at least one file of the layout {layout!r}", URL)
    wrong = [path for path, number in zip(files, classes, strict=True) if number > OTHER]
    if wrong:
        raise ValueError(f"Classes are 0 to {OTHER} in the layout {layout!r}. Received: {wrong[0]}")
    return [(str(path), number, 0, None) for path, number in zip(files, classes, strict=True)]


def _labels_name(trial):
    return trial.removesuffix(".aedat") + "_labels.csv"


def read_labels(path: str | os.PathLike) -> list[tuple[int, int, int]]:
    r"""Returns the rows of a label file as (class from 0, start, end in microseconds).

    Example:
        >>> import tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "user01_led_labels.csv")
        >>> _ = path.write_text("class,startTime_usec,endTime_usec\n1,80048239,85092709\n")
        >>> read_labels(path)
        [(0, 80048239, 85092709)]
    """
    rows = []
    with open(path, newline="") as file:
        for number, row in enumerate(csv.reader(file), 1):
            if not row or (number == 1 and not row[0].strip().isdecimal()):
                continue
            try:
                label, start, end = (int(value) for value in row)
            except ValueError:
                label, start, end = 0, 0, 0
            if not (1 <= label <= OTHER + 1 and start < end):
                raise ValueError(
                    f"{path}, line {number}: expected a class from 1 to 11, a start and a later "
                    f"end in microseconds. Received: {','.join(row)!r}"
                )
            rows.append((label - 1, start, end))
    return rows


def read_tonic(path: str | os.PathLike) -> np.ndarray:
    """Reads a file of tonic's version: (N, 4) x, y, polarity, milliseconds."""
    table = np.load(path, allow_pickle=False)
    if table.ndim != 2 or table.shape[1] != 4:
        raise ValueError(f"{path}: expected the shape (N, 4). Received: shape={table.shape}")
    x, y, p, milliseconds = table.T
    return make_events(np.rint(milliseconds * 1000).astype(np.int64), x, y, p)
