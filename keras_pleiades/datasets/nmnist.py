"""N-MNIST: handwritten digits before a moving event camera (Orchard et al. 2015)."""

import os
import pathlib
import struct
import zipfile
import zlib

import numpy as np

from keras_pleiades._checks import check_choice, check_dt
from keras_pleiades.datasets.base import EventDataset
from keras_pleiades.datasets.clips import Clip, split
from keras_pleiades.datasets.files import check_count, missing
from keras_pleiades.datasets.frame_spec import FrameSpec
from keras_pleiades.events import EventFormatError, read
from keras_pleiades.events.formats import nmnist
from keras_pleiades.models import PleiadesModel

URL = "https://www.garrickorchard.com/datasets/n-mnist"
SENSOR = (34, 34)
SAMPLES = {"train": 60_000, "test": 10_000}
EXPECTED = "Train/DIGIT/NUMBER.bin, or NUMBER.bin with a labels.txt of lines `NUMBER DIGIT`"
LOCAL_HEADER = struct.Struct("<4s5H3I2H")


class NMNIST(EventDataset):
    """Digits as clips of equal length; y is the digit in every frame, (clips, frames).

    A digit is recorded for about 300 ms, three movements of the camera. What is missing at the end
    is zero, and so is the context.

    Args:
        source: A folder or a zip file with `Train/DIGIT/NUMBER.bin` (`Test` likewise), or with
            `NUMBER.bin` and `labels.txt`.
        subset: "train" or "test"; "all" (or None) for a source that is not divided.
        model: The network, or the next four: see `DVS128Gesture`.
        dt: Length of a frame in microseconds.
        shape: (height, width) of the frames; (34, 34) by default.
        method: "count" (default) or "volume".
        context_frames: Frames in front of each clip.
        duration_us: Length of a clip.
        fraction: Take only this much of the samples, drawn by `split_seed`, and with `rest=True`
            the others. So `fraction=0.8` is for training what `fraction=0.8, rest=True` is for
            testing.
        rest: See `fraction`.
        split_seed: Of the draw; not the same thing as `seed`, that of order and augmentation.
        partial: Whether to be content with fewer than the 60 000 and 10 000 samples.
        **kwargs: See `EventDataset`.

    Example:
        ```python
        train = kp.datasets.NMNIST("nmnist_1000.zip", None, model, fraction=0.8, batch_size=32)
        test = kp.datasets.NMNIST("nmnist_1000.zip", None, model, fraction=0.8, rest=True)
        ```
    """

    class_names = tuple("0123456789")

    def __init__(
        self,
        source: str | os.PathLike,
        subset: str | None = "train",
        model: PleiadesModel | None = None,
        *,
        dt: int | None = None,
        shape: tuple[int, int] | None = None,
        method: str | None = None,
        context_frames: int | None = None,
        duration_us: int = 300_000,
        fraction: float = 1.0,
        rest: bool = False,
        split_seed: int = 0,
        partial: bool = False,
        **kwargs,
    ):
        check_choice(subset, ("train", "test", "all", None), "subset")
        subset = None if subset == "all" else subset
        spec = FrameSpec.of(SENSOR, model, dt, shape, method, context_frames)
        frames = max(check_dt(duration_us, "duration_us") // spec.dt, 1)
        source = pathlib.Path(source)
        self._places = {}
        if zipfile.is_zipfile(source):
            with zipfile.ZipFile(source) as archive:
                self._places = {
                    at.filename: (at.header_offset, at.compress_size, at.compress_type, at.CRC)
                    for at in archive.infolist()
                }
                labels = archive.read("labels.txt") if "labels.txt" in self._places else b""
            names = list(self._places)
        else:
            if not source.is_dir():
                raise missing("N-MNIST", source, EXPECTED, URL)
            labels_file = source / "labels.txt"
            labels = labels_file.read_bytes() if labels_file.is_file() else b""
            names = [path.relative_to(source).as_posix() for path in source.rglob("*.bin")]
        samples = _samples(names, labels.decode(), subset)
        if not samples:
            raise missing("N-MNIST", source, EXPECTED, URL)
        if subset is not None:
            check_count(
                "N-MNIST", f"samples to {subset}", len(samples), SAMPLES[subset], partial, URL
            )
        if fraction != 1.0 or rest:
            samples = split(samples, fraction, split_seed)[1 if rest else 0]
        clips = [
            Clip(str(source), 0, frames, class_id=digit, member=name)
            if self._places
            else Clip(str(source / name), 0, frames, class_id=digit)
            for name, digit in samples
        ]
        super().__init__(clips, SENSOR, spec, **kwargs)

    def read_events(self, clip: Clip, start_us: int, end_us: int) -> np.ndarray:
        """Reads the events of a file or of a member of the archive."""
        if clip.member:
            events = nmnist.decode(
                _read_member(clip.path, *self._places[clip.member]), f"{clip.path}:{clip.member}"
            )
        else:
            events = read(clip.path)
        return events[(events["t"] >= start_us) & (events["t"] < end_us)]


def _samples(names, labels, subset):
    """Returns (name, digit) of the samples, in the order of their numbers."""
    samples = []
    if labels:
        digits = dict(line.split()[:2] for line in labels.splitlines() if _is_row(line))
        for name in names:
            path = pathlib.PurePosixPath(name)
            if path.suffix == ".bin" and path.stem in digits:
                samples.append((name, int(digits[path.stem])))
    else:
        for name in names:
            path = pathlib.PurePosixPath(name)
            folders = [folder.lower() for folder in path.parts[:-2]]
            if path.suffix != ".bin" or not path.parent.name.isdecimal():
                continue
            if subset is None or subset in folders:
                samples.append((name, int(path.parent.name)))

    def number(sample):
        stem = pathlib.PurePosixPath(sample[0]).stem
        return (int(stem) if stem.isdecimal() else 0, sample[0])

    return sorted(samples, key=number)


def _is_row(line):
    columns = line.split()
    return len(columns) >= 2 and all(column.isdecimal() for column in columns[:2])


def _read_member(path, offset, size, method, crc):
    """Reads a member of a zip file by its place: no table of 60 000 names to go through."""
    with open(path, "rb") as file:
        file.seek(offset)
        header = file.read(LOCAL_HEADER.size)
        if len(header) < LOCAL_HEADER.size or header[:4] != b"PK\x03\x04":
            raise EventFormatError(path, offset, "no member of the archive begins here any more")
        file.seek(sum(LOCAL_HEADER.unpack(header)[-2:]), os.SEEK_CUR)
        data = file.read(size)
    if method not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise EventFormatError(path, offset, f"compressed by a method not known here: {method}")
    try:
        data = data if method == zipfile.ZIP_STORED else zlib.decompress(data, -15)
    except zlib.error as error:
        raise EventFormatError(path, offset, f"damaged: {error}") from error
    if zlib.crc32(data) != crc:
        raise EventFormatError(path, offset, "damaged: the checksum differs")
    return data
