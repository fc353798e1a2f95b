"""Prophesee's 1 Megapixel Automotive Detection Dataset, "GEN4" (Perot et al. 2020)."""

import os
import pathlib
from collections.abc import Mapping, Sequence

import numpy as np

from keras_pleiades._checks import check_choice
from keras_pleiades.datasets.base import EventDataset
from keras_pleiades.datasets.boxes import bin_of, box_target
from keras_pleiades.datasets.class_names import ROAD_USERS
from keras_pleiades.datasets.clips import Clip, cut
from keras_pleiades.datasets.files import DatasetNotFoundError, missing
from keras_pleiades.datasets.frame_spec import FrameSpec
from keras_pleiades.events.labels import Labels
from keras_pleiades.models import PleiadesModel

URL = "https://www.prophesee.ai/2020/11/24/automotive-megapixel-event-based-dataset/"
SENSOR = (720, 1280)
BOXES_END = "_bbox.npy"
RECORDING_ENDS = ("_td.dat", "_td.h5", "_td.dat.h5", "_td.hdf5", ".h5", ".dat")
MIN_DIAGONAL = 60.0


class Gen4(EventDataset):
    """Road scenes in clips; y is (clips, frames, max_boxes, 5), see `boxes.box_target`.

    A row of y is y and x of the box's centre, its height and width, in pixels of the network's
    input, and its class, -1 for a row without a box. The weights (clips, frames) are 1 only in
    frames that have labels: a label at time t belongs to the one frame that ends at t or first
    after it. Where labels of several times fall into one frame, the latest count.

    A clip is read by bisection (`events.read_slice`), however long its file. Clips without any
    label are left out.

    Args:
        folder: Has `train`, `val` and `test` with `NAME_td.dat` (or `.h5`) and `NAME_bbox.npy`.
        split: "train", "val" or "test"; None for a folder that has the files in it.
        model: The network, or the four below: see `DVS128Gesture`. Its binning is "volume".
        clip_frames: Frames in a clip.
        stride: Frames from one clip to the next; `clip_frames` by default.
        classes: Which of the classes to keep, as names in order (`["pedestrian", "car"]`), or how
            the files' numbers become new ones (`{0: 0, 2: 1}`). All seven by default.
        min_diagonal: Boxes with a shorter diagonal, in pixels of the sensor, are left out.
        skip_us: Boxes before this time are left out; Prophesee's own score leaves out 0.5 s.
        max_boxes: Rows for each frame.
        recordings: Pairs of a recording and its boxes to take instead of the split's, see `find`.
        dt: Length of a frame in microseconds.
        shape: (height, width) of the frames; (720, 1280) by default.
        method: "count" (default) or "volume".
        context_frames: Frames in front of each clip.
        **kwargs: See `EventDataset`.

    Example:
        ```python
        model = kp.zoo.detector()
        train = kp.datasets.Gen4(
            "gen4", "train", model, clip_frames=20, batch_size=4, shuffle=True, workers=4,
            augment=[kp.datasets.RandomFlip(), kp.datasets.RandomAffine(0, 0, (0.9, 1.1))],
        )
        ```
    """

    def __init__(
        self,
        folder: str | os.PathLike,
        split: str | None = "train",
        model: PleiadesModel | None = None,
        *,
        clip_frames: int = 20,
        stride: int | None = None,
        classes: Sequence[str] | Mapping[int, int] | None = None,
        min_diagonal: float = MIN_DIAGONAL,
        skip_us: int = 0,
        max_boxes: int = 64,
        recordings: Sequence[tuple[str | os.PathLike, str | os.PathLike]] | None = None,
        dt: int | None = None,
        shape: tuple[int, int] | None = None,
        method: str | None = None,
        context_frames: int | None = None,
        **kwargs,
    ):
        check_choice(split, ("train", "val", "test", None), "split")
        spec = FrameSpec.of(SENSOR, model, dt, shape, method, context_frames)
        self.class_map, self.class_names = class_map(classes)
        self.max_boxes = max_boxes
        self._boxes, clips, total, empty = {}, [], 0, 0
        for recording, boxes_file in find(folder, split) if recordings is None else recordings:
            every = read_boxes(boxes_file)
            boxes = keep_boxes(every, self.class_map, min_diagonal, skip_us)
            self._boxes[str(recording)] = boxes
            total += len(every)
            if not len(boxes):
                empty += 1
                continue
            at = bin_of(boxes["t"], 0, spec.dt)  # grows, as boxes are sorted by time
            for first, counted in cut(int(at[-1]) + 1, clip_frames, stride):
                begin, end = np.searchsorted(at, [first + counted, first + clip_frames])
                if begin < end:
                    start = first * spec.dt
                    clips.append(Clip(str(recording), start, clip_frames, counted_from=counted))
        if not clips:
            raise ValueError(
                f"No box is left in {folder}: of {total}, all are shorter than {min_diagonal} "
                f"pixels in diagonal, before {skip_us} us, or of other classes than "
                f"{self.class_map}"
            )
        super().__init__(clips, SENSOR, spec, **kwargs)
        kept = sum(map(len, self._boxes.values()))
        self.notes.append(f"{kept:,} of {total:,} boxes kept; {empty} recordings without any")
        counts = np.bincount(
            np.concatenate([boxes["class_id"] for boxes in self._boxes.values()]),
            minlength=len(self.class_names),
        )
        self.notes += [
            f"{name}: {n:,} boxes" for name, n in zip(self.class_names, counts, strict=True)
        ]

    def labels_of(self, clip: Clip) -> Labels:
        """Returns the boxes at the times of the clip."""
        boxes = self._boxes[clip.path]
        edges = clip.start_us + self.spec.dt * np.array([clip.counted_from, clip.frames])
        begin, end = np.searchsorted(boxes["t"], edges, side="right")  # see `bin_of`
        boxes = boxes[begin:end]
        corners = [boxes["x"], boxes["y"], boxes["x"] + boxes["w"], boxes["y"] + boxes["h"]]
        return Labels(
            boxes=np.stack(corners, axis=1).astype(np.float64),
            boxes_t=boxes["t"],
            box_classes=boxes["class_id"],
        )

    def target(self, clip: Clip, labels: Labels) -> tuple[np.ndarray, np.ndarray]:
        """Returns the boxes of each frame, and which frames have labels."""
        return box_target(labels, clip, self.spec, self.sensor, self.max_boxes)


def find(folder: str | os.PathLike, split: str | None) -> list[tuple[pathlib.Path, pathlib.Path]]:
    """Returns the recording and the boxes of each file of a split."""
    folder = pathlib.Path(folder)
    place = folder if split is None else folder / split
    expected = f"NAME{RECORDING_ENDS[0]} (or .h5) and NAME{BOXES_END}"
    if not place.is_dir():
        raise missing("Prophesee GEN4", folder, f"the folder {place.name} with {expected}", URL)
    found, alone = [], []
    for boxes in sorted(place.glob(f"*{BOXES_END}")):
        name = boxes.name.removesuffix(BOXES_END)
        recordings = [place / f"{name}{end}" for end in RECORDING_ENDS]
        recordings = [path for path in recordings if path.is_file()]
        if recordings:
            found.append((recordings[0], boxes))
        else:
            alone.append(boxes.name)
    if alone:
        raise DatasetNotFoundError(
            f"Prophesee GEN4: expected a recording beside each {BOXES_END} in {place}, ending in "
            f"{', '.join(RECORDING_ENDS)}. None for: {', '.join(alone[:6])}"
            f"{' ...' if len(alone) > 6 else ''} ({len(alone)} files). The data set is at {URL}"
        )
    if not found:
        raise missing("Prophesee GEN4", place, expected, URL)
    return found


def class_map(
    classes: Sequence[str] | Mapping[int, int] | None,
) -> tuple[dict[int, int], tuple[str, ...]]:
    """Returns from which number to which, and the names of the new ones.

    Example:
        >>> class_map(["pedestrian", "car"])
        ({0: 0, 2: 1}, ('pedestrian', 'car'))
        >>> class_map({0: 0, 1: 0, 2: 1})[1]
        ('pedestrian, two wheeler', 'car')
    """
    if classes is None:
        classes = ROAD_USERS
    if not isinstance(classes, Mapping):
        for name in classes:
            check_choice(name, ROAD_USERS, "classes")
        classes = {ROAD_USERS.index(name): number for number, name in enumerate(classes)}
    if sorted(set(classes.values())) != list(range(len(set(classes.values())))):
        raise ValueError(
            f"`classes` must map to 0, 1, 2 and so on without gaps. Received: {dict(classes)}"
        )
    names = {}
    for old, new in classes.items():
        name = ROAD_USERS[old] if 0 <= old < len(ROAD_USERS) else str(old)
        names[new] = f"{names[new]}, {name}" if new in names else name
    return dict(classes), tuple(names[number] for number in sorted(names))


BOX_DTYPE = np.dtype(
    {
        "names": ["t", "x", "y", "w", "h", "class_id", "class_confidence", "track_id"],
        "formats": ["<i8", "<f4", "<f4", "<f4", "<f4", "<i4", "<f4", "<i8"],
    }
)
OLD_NAMES = {"t": "ts", "class_confidence": "confidence"}


def read_boxes(path: str | os.PathLike) -> np.ndarray:
    """Reads the boxes of a recording; `ts` and `confidence` are older names of two fields.

    Returns:
        A structured array with the fields t, x, y (of the top left corner), w, h, class_id,
        class_confidence and track_id, sorted by time.
    """
    try:
        with open(path, "rb") as file:
            table = np.load(file, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(f"{path} is no NPY file of boxes: {error}") from error
    names = table.dtype.names or ()
    boxes = np.zeros(len(table) if table.ndim else 0, BOX_DTYPE)
    for name in BOX_DTYPE.names:
        source = name if name in names else OLD_NAMES.get(name)
        if source in names:
            boxes[name] = table[source]
        elif name not in ("class_confidence", "track_id"):
            raise ValueError(
                f"{path}: expected the fields t (or ts), x, y, w, h and class_id. Received: "
                f"dtype={table.dtype}"
            )
    return boxes[np.argsort(boxes["t"], kind="stable")]


def keep_boxes(
    boxes: np.ndarray,
    classes: Mapping[int, int],
    min_diagonal: float = MIN_DIAGONAL,
    skip_us: int = 0,
) -> np.ndarray:
    """Returns the boxes that count: large, late, of a class wanted; cut off at the edges.

    The diagonal is that of the whole box, before the cut, as Prophesee's own code has it.

    Args:
        boxes: As `read_boxes` gives them.
        classes: From the files' numbers to new ones.
        min_diagonal: In pixels of the sensor.
        skip_us: From when on.
    """
    w, h = boxes["w"].astype(np.float64), boxes["h"].astype(np.float64)
    kept = (np.hypot(w, h) >= min_diagonal) & (boxes["t"] >= skip_us)
    kept &= np.isin(boxes["class_id"], list(classes))
    boxes = boxes[kept].copy()
    height, width = SENSOR
    left, right = np.clip([boxes["x"], boxes["x"] + boxes["w"]], 0, width)
    top, bottom = np.clip([boxes["y"], boxes["y"] + boxes["h"]], 0, height)
    boxes["x"], boxes["y"], boxes["w"], boxes["h"] = left, top, right - left, bottom - top
    boxes["class_id"] = [classes[int(number)] for number in boxes["class_id"]]
    return boxes[(boxes["w"] > 0) & (boxes["h"] > 0)]
