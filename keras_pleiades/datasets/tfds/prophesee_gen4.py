"""Prophesee GEN4 for TensorFlow Datasets, as a Beam pipeline: some 14 hours at a megapixel.

A worker is given one recording or one clip at a time and reads no more than that; it must find the
recordings under the same path as the others.
"""

import dataclasses
import pathlib
from typing import ClassVar

import numpy as np
import tensorflow_datasets as tfds

from keras_pleiades.datasets import gen4 as source

SPLITS = ("train", "val", "test")


@dataclasses.dataclass(eq=False)
class Gen4Config(tfds.core.BuilderConfig):
    """How the recordings are cut into clips and binned; see `keras_pleiades.datasets.Gen4`."""

    dt: int = 10_000
    shape: tuple[int, int] = (160, 320)
    method: str = "volume"
    clip_frames: int = 20
    context_frames: int = 36
    min_diagonal: float = source.MIN_DIAGONAL
    max_boxes: int = 64

    def arguments(self) -> dict:
        """Returns the arguments of `Gen4`."""
        names = (
            "dt",
            "shape",
            "method",
            "clip_frames",
            "context_frames",
            "min_diagonal",
            "max_boxes",
        )
        return {name: getattr(self, name) for name in names}


class PropheseeGen4(tfds.core.BeamBasedBuilder):
    """Clips of frames with the boxes of each frame, as `keras_pleiades.datasets.Gen4` has them."""

    VERSION = tfds.core.Version("1.0.0")
    BUILDER_CONFIGS: ClassVar[list[Gen4Config]] = [
        Gen4Config(
            name="detector", description="As the paper's detector takes it: 10 ms, 160x320, volume."
        )
    ]
    MANUAL_DOWNLOAD_INSTRUCTIONS = (
        f"Get the 1 Megapixel Automotive Detection Dataset from {source.URL} and unpack it in "
        "manual_dir, so that there are train/NAME_td.dat and train/NAME_bbox.npy, and val and test "
        "likewise."
    )

    def _info(self) -> tfds.core.DatasetInfo:
        config = self.builder_config
        frames = config.context_frames + config.clip_frames
        return tfds.core.DatasetInfo(
            builder=self,
            description="Road scenes before a 720x1280 event camera, with boxes of seven classes.",
            features=tfds.features.FeaturesDict(
                {
                    "frames": tfds.features.Tensor(
                        shape=(frames, *config.shape, 2),
                        dtype=np.float32,
                        encoding=tfds.features.Encoding.ZLIB,
                    ),
                    "boxes": tfds.features.Tensor(
                        shape=(config.clip_frames, config.max_boxes, 5), dtype=np.float32
                    ),
                    "labelled": tfds.features.Tensor(shape=(config.clip_frames,), dtype=np.float32),
                    "recording": tfds.features.Text(),
                    "start_us": np.int64,
                }
            ),
            homepage=source.URL,
        )

    def _split_generators(self, dl_manager, pipeline):
        del pipeline
        folder = pathlib.Path(dl_manager.manual_dir)
        splits = [split for split in SPLITS if (folder / split).is_dir()] or SPLITS[:1]
        return {split: self._generate_examples(source.find(folder, split)) for split in splits}

    def _generate_examples(self, recordings):
        beam = tfds.core.lazy_imports.apache_beam
        arguments = self.builder_config.arguments()
        return (
            beam.Create([(str(recording), str(boxes)) for recording, boxes in recordings])
            | "Cut" >> beam.FlatMap(clips_of, arguments)
            | "Spread" >> beam.Reshuffle()
            | "Bin" >> beam.Map(example_of, arguments)
        )


def clips_of(recording: tuple[str, str], arguments: dict) -> list[tuple[tuple[str, str], int]]:
    """Returns the numbers of a recording's clips, each with the recording."""
    if not len(_kept(recording, arguments)):
        return []
    data = source.Gen4("", None, recordings=[recording], **arguments)
    return [(recording, number) for number in range(len(data.clips))]


def example_of(clip: tuple[tuple[str, str], int], arguments: dict) -> tuple[str, dict]:
    """Returns a clip's key and example."""
    recording, number = clip
    data = source.Gen4("", None, recordings=[recording], **arguments)
    frames, boxes, labelled = data.sample(number)
    name, start = pathlib.Path(recording[0]).name, data.clips[number].start_us
    return f"{name}/{start}", {
        "frames": frames,
        "boxes": boxes,
        "labelled": labelled,
        "recording": name,
        "start_us": start,
    }


def _kept(recording, arguments):
    boxes = source.read_boxes(recording[1])
    return source.keep_boxes(boxes, source.class_map(None)[0], arguments["min_diagonal"])
