"""DVS128 Gesture for TensorFlow Datasets."""

import pathlib
from typing import ClassVar

import numpy as np
import tensorflow_datasets as tfds

from keras_pleiades.datasets import dvs128_gesture as source
from keras_pleiades.datasets.tfds.features import CONFIGS, event_columns, event_features

BEFORE_US = 1_000_000
DURATION_US = 1_500_000


class Dvs128Gesture(tfds.core.GeneratorBasedBuilder):
    """The first 1.5 s of each gesture and the second before it, as events.

    `events/t` is in microseconds from the gesture's beginning: negative before it.

    Example:
        ```python
        import keras_pleiades.datasets.tfds
        builder = tfds.builder("dvs128_gesture")
        builder.download_and_prepare(
            download_config=tfds.download.DownloadConfig(manual_dir="DvsGesture")
        )
        ```
    """

    VERSION = tfds.core.Version("1.0.0")
    BUILDER_CONFIGS: ClassVar[list[tfds.core.BuilderConfig]] = list(CONFIGS)
    MANUAL_DOWNLOAD_INSTRUCTIONS = (
        f"Get DvsGesture.tar.gz from {source.URL} and unpack it in manual_dir. The layouts of "
        "tonic and spikingjelly are understood too."
    )

    def _info(self) -> tfds.core.DatasetInfo:
        return tfds.core.DatasetInfo(
            builder=self,
            description="Hand and arm gestures before a 128x128 event camera; 'other' left out.",
            features=tfds.features.FeaturesDict(
                {
                    "events": event_features(),
                    "label": tfds.features.ClassLabel(names=list(_class_names())),
                    "recording": tfds.features.Text(),
                    "start_us": np.int64,
                }
            ),
            homepage="https://research.ibm.com/interactive/dvsgesture/",
            supervised_keys=("events", "label"),
        )

    def _split_generators(self, dl_manager):
        folder = pathlib.Path(dl_manager.manual_dir)
        return {split: self._generate_examples(folder, split) for split in ("train", "test")}

    def _generate_examples(self, folder, split):
        data = source.DVS128Gesture(
            folder,
            split,
            dt=DURATION_US,
            partial=self.builder_config.name == "partial",
        )
        for clip in data.clips:
            path = pathlib.Path(clip.path)
            end = clip.start_us + DURATION_US
            end = end if clip.end_us is None else min(end, clip.end_us)
            events = data.read_events(clip, clip.start_us - BEFORE_US, end)
            # A file is one gesture in two of the layouts: its folder then tells it from others.
            name = path.stem if data.layout == "aedat" else f"{path.parent.name}/{path.stem}"
            yield (
                f"{split}/{name}/{clip.start_us}/{clip.class_id}",
                {
                    "events": event_columns(events, clip.start_us),
                    "label": clip.class_id,
                    "recording": name,
                    "start_us": clip.start_us,
                },
            )


def _class_names():
    return source.DVS128Gesture.class_names
