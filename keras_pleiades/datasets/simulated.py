"""The simulated tasks as data sets: made from seeds when they are first asked for, then kept."""

import os
import pathlib
from dataclasses import replace

import numpy as np

from keras_pleiades._fetch import cache_folder
from keras_pleiades.datasets.base import EventDataset
from keras_pleiades.datasets.boxes import bin_of, box_target
from keras_pleiades.datasets.class_names import GESTURES, ROAD_USERS
from keras_pleiades.datasets.clips import Clip, cut
from keras_pleiades.datasets.frame_spec import FrameSpec
from keras_pleiades.datasets.points import point_target
from keras_pleiades.datasets.synthetic import generate, load, load_labels, roads
from keras_pleiades.datasets.synthetic._generate import TASKS
from keras_pleiades.events.labels import Labels
from keras_pleiades.models import PleiadesModel


class SyntheticDataset(EventDataset):
    """Simulated recordings in clips: what the three below share.

    Recordings `first` to `first + recordings` of a split are made in parallel when the data set is,
    and kept: see `keras_pleiades.datasets.synthetic.generate`.

    Args:
        folder: Where recordings are kept; `synthetic` in the cache folder by default.
        split: "train", "validation" or "test"; no subject or scene is in two of them.
        model: The network, or the last four: see `DVS128Gesture`.
        recordings: How many.
        first: Seed of the first one.
        duration_us: Length of a recording.
        clip_frames: Frames in a clip; by default a recording is one clip.
        stride: Frames from one clip to the next; `clip_frames` by default.
        simulation: Further arguments of the task's `clip`, such as `{"variation": "noise"}`.
        processes: To make recordings with; as many as there are cores by default.
        dt: Length of a frame in microseconds.
        shape: (height, width) of the frames; the sensor's by default.
        method: "count" (default) or "volume".
        context_frames: Frames in front of each clip.
        **kwargs: See `EventDataset`.
    """

    task: str

    def __init__(
        self,
        folder: str | os.PathLike | None = None,
        split: str = "train",
        model: PleiadesModel | None = None,
        *,
        recordings: int = 1000,
        first: int = 0,
        duration_us: int = 1_500_000,
        clip_frames: int | None = None,
        stride: int | None = None,
        simulation: dict | None = None,
        processes: int | None = None,
        dt: int | None = None,
        shape: tuple[int, int] | None = None,
        method: str | None = None,
        context_frames: int | None = None,
        **kwargs,
    ):
        sensor = TASKS[self.task].SENSOR
        spec = FrameSpec.of(sensor, model, dt, shape, method, context_frames)
        files = generate(
            self.task,
            range(first, first + recordings),
            split,
            pathlib.Path(folder) if folder is not None else cache_folder() / "synthetic",
            processes,
            duration_us=duration_us,
            **_with_tuples(simulation or {}),
        )
        self.duration_us = duration_us
        self._labels = {str(path): load_labels(path) for path in files}
        frames = duration_us // spec.dt
        clips = [
            Clip(path, at * spec.dt, clip_frames or frames, None, labels.class_id, counted)
            for path, labels in self._labels.items()
            for at, counted in cut(frames, clip_frames or frames, stride)
        ]
        super().__init__(clips, sensor, spec, **kwargs)

    def read_events(self, clip: Clip, start_us: int, end_us: int) -> np.ndarray:
        """Reads the events of a time."""
        events = load(clip.path).events
        return events[np.searchsorted(events["t"], start_us) : np.searchsorted(events["t"], end_us)]

    def labels_of(self, clip: Clip) -> Labels:
        """Returns the recording's labels."""
        return self._labels[clip.path]


def _with_tuples(options):
    """Return options whose ranges are tuples, as the simulators want: a recipe has lists."""
    return {k: tuple(v) if isinstance(v, list) else v for k, v in options.items()}


class SyntheticGestures(SyntheticDataset):
    """Simulated DVS128 gestures; y is the class in every frame, (clips, frames).

    Takes the arguments of `SyntheticDataset`.

    Example:
        >>> import tempfile
        >>> data = SyntheticGestures(tempfile.mkdtemp(), "test", recordings=2, dt=10_000,
        ...                          duration_us=50_000, processes=0)
        >>> x, y = data[0]
        >>> x.shape, data.class_names[y[0, 0]]
        ((1, 5, 128, 128, 2), 'hand clapping')
    """

    task, class_names = "gestures", GESTURES


class SyntheticEyes(SyntheticDataset):
    """Simulated eyes; y is (clips, frames, 3) and has weights, as in `EyeTracking3ET`.

    Takes the arguments of `SyntheticDataset`.

    Example:
        >>> import tempfile
        >>> data = SyntheticEyes(tempfile.mkdtemp(), "test", recordings=1, dt=5_000,
        ...                      duration_us=50_000, shape=(96, 128), processes=0)
        >>> x, y, weight = data[0]
        >>> x.shape, y.shape, weight.shape
        ((1, 10, 96, 128, 2), (1, 10, 3), (1, 10))
    """

    task = "eyes"

    def target(self, clip: Clip, labels: Labels) -> tuple[np.ndarray, np.ndarray]:
        """Returns x, y, closed of each frame, and the frames' weights."""
        return point_target(labels, clip, self.spec, self.sensor)


class SyntheticRoads(SyntheticDataset):
    """Simulated road scenes; y is (clips, frames, max_boxes, 5) as in `Gen4`.

    Takes the arguments of `SyntheticDataset`, and:

    Args:
        min_diagonal: Smaller boxes are left out; 15 pixels here are GEN4's 60.
        max_boxes: Rows for each frame.

    Example:
        >>> import tempfile
        >>> data = SyntheticRoads(tempfile.mkdtemp(), "test", recordings=1, dt=10_000,
        ...                       duration_us=20_000, shape=(160, 320), processes=0)
        >>> x, y, weight = data[0]
        >>> x.shape, y.shape, weight.tolist()
        ((1, 2, 160, 320, 2), (1, 2, 64, 5), [[1.0, 1.0]])
    """

    task, class_names = "roads", ROAD_USERS
    label_us = 10_000  # from one set of boxes to the next: the default of `roads.clip`

    def __init__(
        self,
        *args,
        min_diagonal: float = roads.MIN_DIAGONAL,
        max_boxes: int = 64,
        **kwargs,
    ):
        super().__init__(*args, **kwargs)
        self.min_diagonal, self.max_boxes = min_diagonal, max_boxes

    def labels_of(self, clip: Clip) -> Labels:
        """Returns the recording's boxes that are large enough."""
        labels = self._labels[clip.path]
        left, top, right, bottom = labels.boxes.T
        kept = np.hypot(right - left, bottom - top) >= self.min_diagonal
        return replace(
            labels,
            boxes=labels.boxes[kept],
            boxes_t=labels.boxes_t[kept],
            box_classes=labels.box_classes[kept],
        )

    def target(self, clip: Clip, labels: Labels) -> tuple[np.ndarray, np.ndarray]:
        """Returns the boxes of each frame, and which frames have labels, with boxes or without."""
        target, _ = box_target(labels, clip, self.spec, self.sensor, self.max_boxes)
        times = np.arange(0, self.duration_us + 1, self.label_us)[1:]
        at = bin_of(times, clip.start_us, self.spec.dt)
        labelled = np.isin(np.arange(clip.frames), at).astype(np.float32)
        labelled[: clip.counted_from] = 0
        return target, labelled
