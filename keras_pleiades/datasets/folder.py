"""Any folder of recordings with a table of labels."""

import csv
import os
import pathlib

from keras_pleiades._checks import check_dt
from keras_pleiades.datasets.base import EventDataset
from keras_pleiades.datasets.clips import Clip
from keras_pleiades.datasets.files import DatasetNotFoundError
from keras_pleiades.datasets.frame_spec import FrameSpec
from keras_pleiades.events import info
from keras_pleiades.events.read import open_recording
from keras_pleiades.models import PleiadesModel


class RecordingFolder(EventDataset):
    r"""Labelled recordings of any format; y is the class of every frame, (clips, frames).

    The labels are a CSV file with a first line of names: `file` and `label`, and, for files with
    more than one label, `start_us` and `end_us` on the file's own clock. Labels may be words or
    numbers; classes are numbered in sorted order, numbers by size, or as `classes` says.

    Without `start_us` a clip begins with the recording's earliest event, for which the whole file
    is read once. After `end_us` frames are zero.

    Args:
        folder: The recordings.
        model: The network, or the next four: see `DVS128Gesture`.
        labels: The CSV file; by default `labels.csv` in the folder.
        duration_us: Length of a clip.
        sensor: (height, width); by default that of the first recording, where it says so.
        classes: Names of the classes in order; rows with other labels are left out.
        dt: Length of a frame in microseconds.
        shape: (height, width) of the frames; the sensor's by default.
        method: "count" (default) or "volume".
        context_frames: Frames in front of each clip.
        **kwargs: See `EventDataset`.

    Example:
        >>> import tempfile
        >>> import keras_pleiades as kp
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> events = kp.events.make_events(t=[50, 90], x=[1, 2], y=[0, 0], p=[1, 0])
        >>> kp.events.write(folder / "one.npz", events)
        >>> _ = (folder / "labels.csv").write_text("file,label\none.npz,wave\n")
        >>> data = RecordingFolder(folder, duration_us=100, sensor=(4, 4), dt=50)
        >>> x, y = data[0]
        >>> x.shape, y.tolist(), data.class_names
        ((1, 2, 4, 4, 2), [[0, 0]], ('wave',))
    """

    def __init__(
        self,
        folder: str | os.PathLike,
        model: PleiadesModel | None = None,
        *,
        duration_us: int,
        labels: str | os.PathLike | None = None,
        sensor: tuple[int, int] | None = None,
        classes: tuple[str, ...] | None = None,
        dt: int | None = None,
        shape: tuple[int, int] | None = None,
        method: str | None = None,
        context_frames: int | None = None,
        **kwargs,
    ):
        folder = pathlib.Path(folder)
        labels = folder / "labels.csv" if labels is None else pathlib.Path(labels)
        rows = read_table(labels)
        absent = sorted({row["file"] for row in rows if not (folder / row["file"]).is_file()})
        if absent:
            raise DatasetNotFoundError(
                f"{labels} lists files that are not in {folder}: {', '.join(absent[:6])}"
                f"{' ...' if len(absent) > 6 else ''} ({len(absent)} files)"
            )
        found = {row["label"] for row in rows}
        numbers = all(label.lstrip("-").isdecimal() for label in found)
        self.class_names = tuple(
            sorted(found, key=int if numbers else None) if classes is None else map(str, classes)
        )
        index = {name: number for number, name in enumerate(self.class_names)}
        if sensor is None:
            sensor = open_recording(folder / rows[0]["file"]).sensor
            if sensor is None:
                raise ValueError(
                    f"{rows[0]['file']} does not say the size of its sensor: give `sensor=`, "
                    "(height, width)."
                )
        spec = FrameSpec.of(sensor, model, dt, shape, method, context_frames)
        frames = max(check_dt(duration_us, "duration_us") // spec.dt, 1)
        begins = {}
        clips = []
        for row in rows:
            if row["label"] not in index:
                continue
            path = folder / row["file"]
            start = row["start_us"]
            if start is None:
                if path not in begins:
                    begins[path] = info(path).start_us or 0
                start = begins[path]
            clips.append(Clip(str(path), start, frames, row["end_us"], index[row["label"]]))
        super().__init__(clips, sensor, spec, **kwargs)
        if len(clips) < len(rows):
            self.notes.append(f"{len(rows) - len(clips)} rows of other classes left out")


def read_table(path: str | os.PathLike) -> list[dict]:
    """Returns the rows of a table of labels, times as numbers or None."""
    if not pathlib.Path(path).is_file():
        raise DatasetNotFoundError(
            f"Expected a CSV file of labels, file,label[,start_us,end_us], at {path}: there is none"
        )
    rows = []
    with open(path, newline="") as file:
        reader = csv.DictReader(file, skipinitialspace=True)
        names = reader.fieldnames or []
        if not {"file", "label"} <= set(names):
            raise ValueError(
                f"{path}: expected the columns file,label[,start_us,end_us]. Received: {names}"
            )
        for row in reader:
            try:
                times = {
                    name: int(row[name]) if (row.get(name) or "").strip() else None
                    for name in ("start_us", "end_us")
                }
            except ValueError:
                times = None
            if times is None or not row["file"] or not row["label"]:
                raise ValueError(
                    f"{path}, line {reader.line_num}: expected a file, a label and whole "
                    f"microseconds. Received: {row}"
                )
            rows.append({"file": row["file"].strip(), "label": row["label"].strip(), **times})
    if not rows:
        raise ValueError(f"{path} has no rows.")
    return rows
