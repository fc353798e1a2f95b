"""3ET+ for TensorFlow Datasets."""

import pathlib
from typing import ClassVar

import numpy as np
import tensorflow_datasets as tfds

from keras_pleiades.datasets import eye_3et as source
from keras_pleiades.datasets.files import DatasetNotFoundError
from keras_pleiades.datasets.tfds.features import CONFIGS, event_columns, event_features
from keras_pleiades.events import read


class ThreeEtPlus(tfds.core.GeneratorBasedBuilder):
    """One example a session: its events, and a label for each 10 ms: x, y, closed.

    With the configuration "partial" a split without any session is empty.
    """

    VERSION = tfds.core.Version("1.0.0")
    BUILDER_CONFIGS: ClassVar[list[tfds.core.BuilderConfig]] = list(CONFIGS)
    MANUAL_DOWNLOAD_INSTRUCTIONS = (
        f"Get the data of the AIS 2024 challenge from {source.URL} and unpack it in manual_dir, so "
        "that there are train/SESSION/SESSION.h5 and train/SESSION/label.txt, and test likewise."
    )

    def _info(self) -> tfds.core.DatasetInfo:
        return tfds.core.DatasetInfo(
            builder=self,
            description="Pupils before a 480x640 event camera, labelled 100 times a second.",
            features=tfds.features.FeaturesDict(
                {
                    "events": event_features(),
                    "labels": tfds.features.Tensor(shape=(None, 3), dtype=np.float32),
                    "session": tfds.features.Text(),
                }
            ),
            homepage="https://eetchallenge.github.io/EET.github.io/",
        )

    def _split_generators(self, dl_manager):
        folder = pathlib.Path(dl_manager.manual_dir)
        return {split: self._generate_examples(folder, split) for split in source.SESSIONS}

    def _generate_examples(self, folder, split):
        partial = self.builder_config.name == "partial"
        try:
            found = source.find(folder, split, partial=partial)
        except DatasetNotFoundError:
            if not partial:
                raise
            found = []
        for recording, labels in found:
            yield (
                recording.stem,
                {
                    "events": event_columns(read(recording)),
                    "labels": source.read_labels(labels).astype(np.float32),
                    "session": recording.stem,
                },
            )
