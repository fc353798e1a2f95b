"""KITTI 2D object detection: camera frames of road scenes (Geiger et al. 2012)."""

import os
import pathlib
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from keras_pleiades._checks import check_choice
from keras_pleiades.datasets.base import EventDataset
from keras_pleiades.datasets.boxes import box_target
from keras_pleiades.datasets.clips import Clip
from keras_pleiades.datasets.clips import split as split_items
from keras_pleiades.datasets.files import check_count, missing
from keras_pleiades.datasets.frame_spec import FrameSpec
from keras_pleiades.events.labels import Labels
from keras_pleiades.models import PleiadesModel

URL = "https://www.cvlibs.net/datasets/kitti/eval_object.php?obj_benchmark=2d"
FRAMES = 7481  # with labels; those of the test are kept by the authors
CLASSES = ("Car", "Van", "Truck", "Pedestrian", "Person_sitting", "Cyclist", "Tram", "Misc")
IGNORED = "DontCare"
FRAME_US = 100_000  # KITTI has 10 frames a second
SHAPE = (160, 512)


class Kitti(EventDataset):
    """Pictures as clips of equal frames; y is (clips, frames, max_boxes, 5), as in `Gen4`.

    A picture is one moment: every frame of its clip shows it, and has its boxes as labels. With
    `fill="repeat"` the context shows it too, as if the scene had stood still before; with
    `fill="zeros"` the context is zero, as online inference starts. Brightness is from 0 to 1.

    Args:
        folder: Has `training/image_2/NUMBER.png` and `training/label_2/NUMBER.txt`.
        split: "train", "val" or "all". KITTI has no validation set of its own: `fraction` of the
            pictures, drawn by `split_seed`, are "train".
        model: The network, or the next three.
        clip_frames: Frames in a clip.
        fill: "repeat" or "zeros".
        classes: From KITTI's names to numbers; names that are not in it are left out, `DontCare`
            always. By default the eight classes in KITTI's order.
        shape: (height, width) of the frames; pictures are scaled to it, whatever their own size.
        context_frames: Frames in front of each clip.
        channels: 3 for colours; 1 for grey, 2 for grey twice, as an event network takes two.
        max_boxes: Rows for each frame.
        fraction: See `split`.
        split_seed: See `split`.
        partial: Whether to be content with fewer than the 7481 pictures.
        **kwargs: See `EventDataset`. Augmentations of events do not apply.

    Example:
        ```python
        model = kp.zoo.detector(num_classes=8)
        train = kp.datasets.Kitti("kitti", "train", model, clip_frames=4, batch_size=4)
        ```
    """

    def __init__(
        self,
        folder: str | os.PathLike,
        split: str = "train",
        model: PleiadesModel | None = None,
        *,
        clip_frames: int = 1,
        fill: str = "repeat",
        classes: Mapping[str, int] | None = None,
        shape: tuple[int, int] | None = None,
        context_frames: int | None = None,
        channels: int | None = None,
        max_boxes: int = 64,
        fraction: float = 0.8,
        split_seed: int = 0,
        partial: bool = False,
        **kwargs,
    ):
        check_choice(split, ("train", "val", "all"), "split")
        check_choice(fill, ("repeat", "zeros"), "fill")
        spec = FrameSpec.of(
            SHAPE, model, FRAME_US if model is None else None, shape, None, context_frames
        )
        if channels is None:
            channels = 3 if model is None else model.input_shape[-1]
        self.fill, self.channels = fill, check_choice(channels, (1, 2, 3), "channels")
        self.max_boxes = max_boxes
        classes = (
            dict(zip(CLASSES, range(len(CLASSES)), strict=True)) if classes is None else classes
        )
        for name in classes:
            check_choice(name, CLASSES, "classes")
        self.classes = dict(classes)
        self.class_names = _names(self.classes)
        pairs = find(folder, partial)
        if split != "all":
            pairs = split_items(pairs, fraction, split_seed)[0 if split == "train" else 1]
        self._labels = {str(image): read_labels(labels) for image, labels in pairs}
        clips = [Clip(str(image), 0, clip_frames) for image, _ in pairs]
        super().__init__(clips, spec.shape, spec, **kwargs)
        on_events = [one for one in self.augment if getattr(one, "on", "events") == "events"]
        if on_events:
            raise ValueError(
                "Pictures have no events: `augment` can hold augmentations of frames only. "
                f"Received: {on_events}"
            )
        objects = sum(name in self.classes for rows in self._labels.values() for name, _ in rows)
        self.notes.append(f"{objects:,} objects of {len(self.class_names)} classes")

    @property
    def x_shape(self) -> tuple[int, ...]:
        """Shape of a whole batch of frames."""
        return (*super().x_shape[:-1], self.channels)

    def frames_of(
        self, clip: Clip, labels: Labels, rng: np.random.Generator
    ) -> tuple[np.ndarray, Labels]:
        """Returns the picture in every frame of the clip, and before it as `fill` says."""
        kind = f"image, {self.channels} channels"
        picture = self._cached(
            clip, kind, lambda: read_picture(clip.path, self.spec.shape, self.channels)
        )
        frames = np.repeat(picture[None], self.spec.context_frames + clip.frames, axis=0)
        if self.fill == "zeros":
            frames[: self.spec.context_frames] = 0
        return frames, labels

    def labels_of(self, clip: Clip) -> Labels:
        """Returns the boxes of the classes wanted, in pixels of the network's input."""
        rows = [(name, box) for name, box in self._labels[clip.path] if name in self.classes]
        scale = np.array(self.spec.shape[::-1] * 2) / (_picture_size(clip.path) * 2)
        boxes = np.array([box for _, box in rows], np.float64).reshape(-1, 4) * scale
        classes = np.array([self.classes[name] for name, _ in rows], int)
        return Labels(boxes=boxes, box_classes=classes)

    def target(self, clip: Clip, labels: Labels) -> tuple[np.ndarray, np.ndarray]:
        """Returns the same boxes for each frame; a picture without any is labelled too."""
        first = replace(clip, frames=1)
        labels = replace(labels, boxes_t=np.full(len(labels.boxes), clip.start_us + self.spec.dt))
        one, _ = box_target(labels, first, self.spec, self.spec.shape, self.max_boxes)
        return np.repeat(one, clip.frames, axis=0), np.ones(clip.frames, np.float32)


def _names(classes):
    names = {}
    for name, number in classes.items():
        names[number] = f"{names[number]}, {name}" if number in names else name
    if sorted(names) != list(range(len(names))):
        raise ValueError(
            f"`classes` must map to 0, 1, 2 and so on without gaps. Received: {dict(classes)}"
        )
    return tuple(names[number] for number in sorted(names))


def find(
    folder: str | os.PathLike, partial: bool = False
) -> list[tuple[pathlib.Path, pathlib.Path]]:
    """Returns the pictures that have labels, and these."""
    folder = pathlib.Path(folder)
    expected = "training/image_2/NUMBER.png and training/label_2/NUMBER.txt"
    place = folder / "training"
    if not (place / "image_2").is_dir() or not (place / "label_2").is_dir():
        raise missing("KITTI", folder, expected, URL)
    pairs = []
    for image in sorted((place / "image_2").glob("*.png")):
        labels = place / "label_2" / f"{image.stem}.txt"
        if labels.is_file():
            pairs.append((image, labels))
    check_count("KITTI", f"pictures with labels in {place}", len(pairs), FRAMES, partial, URL)
    if not pairs:
        raise missing("KITTI", folder, expected, URL)
    return pairs


def read_labels(path: str | os.PathLike) -> list[tuple[str, tuple[float, ...]]]:
    r"""Returns (class, (left, top, right, bottom)) of each object, `DontCare` left out.

    Example:
        >>> import tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "000000.txt")
        >>> _ = path.write_text("Car 0.00 0 1.85 387.63 181.54 423.81 203.12 1 1 1 1 1 1 1\n")
        >>> read_labels(path)
        [('Car', (387.63, 181.54, 423.81, 203.12))]
    """
    rows: list[tuple[str, tuple[float, ...]]] = []
    for number, line in enumerate(pathlib.Path(path).read_text().splitlines(), 1):
        columns = line.split()
        if not columns or columns[0] == IGNORED:
            continue
        try:
            box = tuple(float(value) for value in columns[4:8])
        except ValueError:
            box = ()
        if len(box) != 4 or columns[0] not in CLASSES:
            raise ValueError(
                f"{path}, line {number}: expected a class of {(*CLASSES, IGNORED)}, three numbers "
                f"and a box. Received: {line!r}"
            )
        rows.append((columns[0], box))
    return rows


def _pillow():
    try:
        import PIL.Image
    except ImportError as error:
        raise ImportError(
            "Pillow is needed to read KITTI's pictures: pip install 'keras-pleiades[images]'"
        ) from error
    return PIL.Image


def _picture_size(path):
    """Returns (width, height); only the header is read."""
    with _pillow().open(path) as picture:
        return picture.size


def read_picture(path: str | os.PathLike, shape: tuple[int, int], channels: int) -> np.ndarray:
    """Reads a picture scaled to `shape`, float32 from 0 to 1, (height, width, channels)."""
    library = _pillow()
    with library.open(path) as picture:
        picture = picture.convert("RGB" if channels == 3 else "L")
        picture = picture.resize(shape[::-1], library.Resampling.BILINEAR)
        pixels = np.asarray(picture, np.float32) / 255
    return pixels if channels == 3 else np.repeat(pixels[..., None], channels, axis=-1)
