"""The TFDS builders, in TFDS' own harness. They need TFDS, Beam and dill: `make test-tfds`."""

import pathlib
import tempfile
from typing import ClassVar

import numpy as np
import pytest

tfds = pytest.importorskip("tensorflow_datasets", reason="needs the extra [datasets]")
pytest.importorskip("dill", reason="TFDS' harness needs dill")

import keras_pleiades as kp  # noqa: E402
from keras_pleiades.datasets import tfds as builders  # noqa: E402
from tests.datasets import layouts  # noqa: E402

# What TFDS, Beam and their own dependencies warn of is theirs.
pytestmark = pytest.mark.filterwarnings("ignore")


class Harness(tfds.testing.DatasetBuilderTestCase):
    """Writes the folder to read, which the harness wants to find on disk."""

    MAKE = None
    __test__ = False

    @classmethod
    def setUpClass(cls):
        cls.EXAMPLE_DIR = tempfile.mkdtemp()
        cls.MAKE(pathlib.Path(cls.EXAMPLE_DIR))
        super().setUpClass()

    def prepared(self, config):
        builder = self.dataset_class(data_dir=self.tmp_dir, config=config)
        settings = tfds.download.DownloadConfig(manual_dir=self.EXAMPLE_DIR)
        builder.download_and_prepare(download_config=settings)
        return builder

    def examples(self, config, split):
        return list(tfds.as_numpy(self.prepared(config).as_dataset(split=split)))


def as_events(example):
    columns = example["events"]
    return kp.events.make_events(columns["t"], columns["x"], columns["y"], columns["p"])


class TestDvs128Gesture(Harness):
    __test__ = True
    DATASET_CLASS = builders.Dvs128Gesture
    BUILDER_CONFIG_NAMES_TO_TEST = ("partial",)
    SPLITS: ClassVar[dict] = {"train": 4, "test": 2}
    MAKE = staticmethod(layouts.dvs128_aedat)

    def test_examples_are_the_recordings_events(self):
        for example in self.examples("partial", "test"):
            path = pathlib.Path(self.EXAMPLE_DIR, f"{example['recording'].decode()}.aedat")
            start = int(example["start_us"])
            end = {1_000_000: 2_000_000, 3_000_123: 4_500_000}[start]
            whole = kp.events.read(path, start - 1_000_000, min(end, start + 1_500_000))
            events = as_events(example)
            np.testing.assert_array_equal(events["t"], whole["t"] - start)
            for name in "xyp":
                np.testing.assert_array_equal(events[name], whole[name])
            assert int(example["label"]) == {1_000_000: 0, 3_000_123: 7}[start]

    def test_a_part_is_refused_unless_asked_for(self):
        with pytest.raises(kp.datasets.DatasetNotFoundError, match="98 recordings to train"):
            self.prepared("full")


class TestThreeEtPlus(Harness):
    __test__ = True
    DATASET_CLASS = builders.ThreeEtPlus
    BUILDER_CONFIG_NAMES_TO_TEST = ("partial",)
    SPLITS: ClassVar[dict] = {"train": 2, "val": 1, "test": 1}

    @staticmethod
    def MAKE(folder):
        layouts.eye_3et(folder, ("5_1", "7_3", "7_4"))
        layouts.eye_3et(folder, ("1_1",), split="test", seed=9)

    def test_examples_are_the_sessions(self):
        for example in self.examples("partial", "train"):
            session = example["session"].decode()
            place = pathlib.Path(self.EXAMPLE_DIR, "train", session)
            events = kp.events.read(place / f"{session}.h5")
            for name in "txyp":
                np.testing.assert_array_equal(as_events(example)[name], events[name])
            lines = (place / "label.txt").read_text().split("\n")
            labels = np.loadtxt([line.strip("()") for line in lines if line], delimiter=",")
            np.testing.assert_array_equal(example["labels"], labels)


GEN4 = builders.Gen4Config(
    name="small",
    description="For this test.",
    shape=(18, 32),
    clip_frames=8,
    context_frames=2,
    max_boxes=5,
)


def gen4_folder(folder):
    layouts.gen4(folder, "train")
    layouts.gen4(folder, "test", 1, seconds=0.5, h5=True)


class TestPropheseeGen4(Harness):
    """By Beam's direct runner."""

    __test__ = True
    DATASET_CLASS = builders.PropheseeGen4
    BUILDER_CONFIG_NAMES_TO_TEST = (GEN4,)
    SPLITS: ClassVar[dict] = {"train": 26, "test": 7}
    MAKE = staticmethod(gen4_folder)

    @classmethod
    def setUpClass(cls):
        pytest.importorskip("apache_beam", reason="needs the extra [beam]")
        super().setUpClass()

    def test_examples_are_the_data_sets_samples(self):
        data = kp.datasets.Gen4(self.EXAMPLE_DIR, "train", **GEN4.arguments())
        found = {
            (example["recording"].decode(), int(example["start_us"])): example
            for example in self.examples(GEN4, "train")
        }
        assert len(found) == len(data.clips) == self.SPLITS["train"]
        for number, clip in enumerate(data.clips):
            example = found[pathlib.Path(clip.path).name, clip.start_us]
            names = ("frames", "boxes", "labelled")
            for name, expected in zip(names, data.sample(number), strict=True):
                np.testing.assert_array_equal(example[name], expected)
