"""A recipe so small that it trains in a second, and ways to disturb it."""

import os
import signal

import numpy as np

from keras_pleiades.training import DATASETS, Recipe, Source
from keras_pleiades.training.bars import Bars
from keras_pleiades.training.progress import ProgressLine

STEPS = 5  # batches of 8, 8, 8, 8 and 4


def recipe(**training):
    return Recipe.of(
        {
            "model": {
                "family": "PleiadesClassifier",
                "num_classes": 4,
                "blocks": [[4, 8, False]],
                "features": 8,
                "size": [16, 16],
                "temporal": {"kernel_size": 5},
            },
            "data": {"name": "bars", "clips": 36, "clip_frames": 8, "test": {"clips": 12}},
            "training": {
                "epochs": 3,
                "batch_size": 8,
                "learning_rate": 1e-2,
                "warmup": 0.1,
                "checkpoint_steps": 2,
                **training,
            },
        }
    )


def disturb(at, what):
    """Let `what` happen to a training batch; return how to undo it.

    `at` is how many batches have been made, or the epoch and the number of the batch.
    """

    class Disturbed(Bars):
        made = 0

        def __getitem__(self, index):
            batch = super().__getitem__(index)
            if self.shuffle:
                Disturbed.made += 1
                if at in (Disturbed.made, (self.epoch, index)):
                    batch = what(batch) or batch
            return batch

    before = DATASETS["bars"]
    DATASETS["bars"] = Source(Disturbed, needs_folder=False)
    return lambda: DATASETS.update(bars=before)


def kill_after(steps):
    """End this process without warning after so many steps, before they are saved."""
    step = ProgressLine.step

    def step_and_die(line, *arguments):
        step(line, *arguments)
        if line.done == steps:
            os.kill(os.getpid(), signal.SIGKILL)

    ProgressLine.step = step_and_die


def interrupt(batch):
    os.kill(os.getpid(), signal.SIGINT)


def spoil(batch):
    frames, labels = batch
    return np.full_like(frames, np.nan), labels


def state(folder):
    """All arrays of a run's state, without what depends on the clock."""
    with np.load(folder / "state.npz") as file:
        return {name: file[name] for name in file.files if name != "progress"}


def assert_same_state(one, other):
    one, other = state(one), state(other)
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(other[name], value, err_msg=name)
