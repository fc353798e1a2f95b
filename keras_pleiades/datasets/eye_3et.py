"""3ET+: pupils before a 480x640 event camera, the AIS 2024 challenge (Wang et al. 2024)."""

import os
import pathlib
from collections.abc import Sequence

import numpy as np

from keras_pleiades._checks import check_choice
from keras_pleiades.datasets.base import EventDataset
from keras_pleiades.datasets.clips import Clip, cut
from keras_pleiades.datasets.files import DatasetNotFoundError, check_count, missing
from keras_pleiades.datasets.frame_spec import FrameSpec
from keras_pleiades.datasets.points import point_target
from keras_pleiades.events.labels import Labels
from keras_pleiades.models import PleiadesModel

URL = "https://eetchallenge.github.io/EET.github.io/ (by Kaggle)"
SENSOR = (480, 640)
LABEL_US = 10_000  # 100 labels a second
# Which rows of the labels count, by `rows`; the challenge scores every fifth: 20 a second.
ROWS = {"100hz": None, "labelled": slice(None), "20hz": slice(None, None, 5)}
# The challenge's division. Training and validation lie in the folder train, test in test.
SESSIONS = {
    split: tuple(names.split())
    for split, names in {
        "train": "1_2 1_3 1_4 1_5 2_1 2_3 2_5 3_2 4_1 4_3 4_5 5_1 6_3 6_5 7_1 7_2 7_3 8_1 8_4 8_5 "
        "9_2 9_3 9_4 9_5 10_1 11_1 11_4 12_1 12_2 12_5 13_1",
        "val": "1_6 2_4 4_4 6_2 7_4 9_1 10_3 11_2 12_3",
        "test": "1_1 2_2 3_1 4_2 5_2 6_4 7_5 8_2 8_3 10_2 11_3 12_4",
    }.items()
}


class EyeTracking3ET(EventDataset):
    """Sessions in clips; y is (clips, frames, 3): x, y in pixels of the network's input, closed.

    Row i of the labels is taken to stand at `(i + 1) * 10` ms, the end of the i-th 10 ms. So with
    frames of 10 ms frame i has row i, as in the challenge's own code. A frame of any other length
    has the label of its END, interpolated between the two rows beside it; before the first row the
    first one holds. Pixels are scaled: x of the input is `x * width / 640`.

    The weights (clips, frames) are 1 in frames that count. They are 0 where the eye is closed (one
    of the rows beside is), where the labels have ended, in frames that belong to an earlier clip
    too (see `clips.cut`), and, unless `rows` is "100hz", in frames without a row of their own. The
    other frames have that row itself as their label, at the same instants whatever the bin size.

    Args:
        folder: Has `train/SESSION/SESSION.h5` and `train/SESSION/label.txt`, and `test` likewise.
            Sessions of the test may have `label_zeros.txt` in its place, which says how many rows.
        split: "train", "val" or "test", the challenge's; which sessions, see `SESSIONS`.
        model: The network, or the four below: see `DVS128Gesture`.
        sessions: Names of sessions to take instead of the split's, such as `["5_1", "7_3"]`, from
            the folder of the split.
        clip_frames: Frames in a clip.
        stride: Frames from one clip to the next; `clip_frames` by default.
        rows: "100hz", every frame; "labelled", frames in which a row lies; "20hz", frames in which
            a row of the challenge's test lies.
        mask_closed: Whether frames with a closed eye count for nothing. Otherwise they are given as
            if open.
        dt: Length of a frame in microseconds.
        shape: (height, width) of the frames; (480, 640) by default.
        method: "count" (default) or "volume".
        context_frames: Frames in front of each clip.
        partial: Whether to be content with fewer sessions than the split has.
        **kwargs: See `EventDataset`.

    Example:
        ```python
        model = kp.zoo.eye_tracking()
        train = kp.datasets.EyeTracking3ET(
            "event-based-eye-tracking", "train", model, clip_frames=100, stride=50, batch_size=32,
            shuffle=True, augment=kp.datasets.RandomAffine(), cache="cache",
        )
        test = kp.datasets.EyeTracking3ET("event-based-eye-tracking", "val", model, rows="20hz")
        ```
    """

    def __init__(
        self,
        folder: str | os.PathLike,
        split: str = "train",
        model: PleiadesModel | None = None,
        *,
        sessions: Sequence[str] | None = None,
        clip_frames: int = 100,
        stride: int | None = None,
        rows: str = "100hz",
        mask_closed: bool = True,
        dt: int | None = None,
        shape: tuple[int, int] | None = None,
        method: str | None = None,
        context_frames: int | None = None,
        partial: bool = False,
        **kwargs,
    ):
        check_choice(split, tuple(SESSIONS), "split")
        check_choice(rows, tuple(ROWS), "rows")
        self.rows, self.mask_closed = rows, mask_closed
        spec = FrameSpec.of(SENSOR, model, dt, shape, method, context_frames)
        found = find(folder, split, sessions, partial)
        self._labels = {str(path): read_labels(labels) for path, labels in found}
        clips = [
            Clip(path, first * spec.dt, clip_frames, counted_from=counted)
            for path, labels in self._labels.items()
            for first, counted in cut(len(labels) * LABEL_US // spec.dt, clip_frames, stride)
        ]
        super().__init__(clips, SENSOR, spec, **kwargs)
        closed = sum(int(labels[:, 2].sum()) for labels in self._labels.values())
        total = sum(len(labels) for labels in self._labels.values())
        self.notes.append(f"{total:,} labels, {total / 100:.1f} s; {closed:,} with the eye closed")
        if any(labels.name != "label.txt" for _, labels in found):
            self.notes.append("some sessions have no labels: their y is no measure of anything")

    def labels_of(self, clip: Clip) -> Labels:
        """Returns the session's labels; points of a closed eye that is masked are NaN."""
        labels = self._labels[clip.path]
        points = labels[:, :2].astype(np.float64)
        if self.mask_closed:
            points[labels[:, 2] > 0] = np.nan
        return Labels(points=points, points_t=LABEL_US * np.arange(1, len(points) + 1))

    def target(self, clip: Clip, labels: Labels) -> tuple[np.ndarray, np.ndarray]:
        """Returns x, y, closed of each frame, and the frames' weights."""
        return point_target(labels, clip, self.spec, SENSOR, ROWS[self.rows])


def find(
    folder: str | os.PathLike,
    split: str,
    sessions: Sequence[str] | None = None,
    partial: bool = False,
) -> list[tuple[pathlib.Path, pathlib.Path]]:
    """Returns the recording and the labels of each session."""
    folder = pathlib.Path(folder)
    place = folder / ("test" if split == "test" else "train")
    if not place.is_dir():
        raise missing("3ET+", folder, f"the folder {place.name}/SESSION/SESSION.h5", URL)
    found, absent = [], []
    for session in SESSIONS[split] if sessions is None else sessions:
        recording = place / session / f"{session}.h5"
        labels = [place / session / name for name in ("label.txt", "label_zeros.txt")]
        labels = [path for path in labels if path.is_file()]
        if recording.is_file() and labels:
            found.append((recording, labels[0]))
        else:
            absent.append(session)
    if sessions is not None and absent:
        raise DatasetNotFoundError(
            f"3ET+: expected SESSION/SESSION.h5 and SESSION/label.txt in {place} for each of "
            f"`sessions`. Missing: {', '.join(absent)}. The data set is at {URL}"
        )
    if sessions is None:
        what = f"sessions to {split} in {place} (missing: {', '.join(absent)})"
        check_count("3ET+", what, len(found), len(SESSIONS[split]), partial, URL)
    if not found:
        raise missing("3ET+", place, "at least one session, SESSION/SESSION.h5", URL)
    return found


def read_labels(path: str | os.PathLike) -> np.ndarray:
    r"""Returns the rows of a label file: x, y in pixels of the sensor, closed.

    Example:
        >>> import tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "label.txt")
        >>> _ = path.write_text("(364, 90, 0)\n(360, 91, 1)\n")
        >>> read_labels(path)
        array([[364.,  90.,   0.],
               [360.,  91.,   1.]])
    """
    rows = []
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        if not line.strip():
            continue
        try:
            x, y, closed = (float(value) for value in line.strip().strip("()").split(","))
        except ValueError as error:
            raise ValueError(
                f"{path}, line {number}: expected `(x, y, closed)`. Received: {line!r}"
            ) from error
        rows.append((x, y, closed))
    if not rows:
        raise ValueError(f"{path} has no labels.")
    return np.array(rows)
