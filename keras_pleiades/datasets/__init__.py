"""Data sets as `keras.utils.PyDataset`, on every backend; TFDS builders are in `datasets.tfds`."""

from keras_pleiades.datasets import synthetic
from keras_pleiades.datasets.augmentations import MaskPrefix, RandomAffine, RandomFlip
from keras_pleiades.datasets.base import EventDataset
from keras_pleiades.datasets.cache import ArrayCache
from keras_pleiades.datasets.clips import Clip, cut, split
from keras_pleiades.datasets.dvs128_gesture import DVS128Gesture
from keras_pleiades.datasets.eye_3et import EyeTracking3ET
from keras_pleiades.datasets.files import DatasetNotFoundError, verify_archive
from keras_pleiades.datasets.folder import RecordingFolder
from keras_pleiades.datasets.frame_spec import FrameSpec
from keras_pleiades.datasets.gen4 import Gen4
from keras_pleiades.datasets.kitti import Kitti
from keras_pleiades.datasets.nmnist import NMNIST
from keras_pleiades.datasets.simulated import (
    SyntheticDataset,
    SyntheticEyes,
    SyntheticGestures,
    SyntheticRoads,
)
from keras_pleiades.datasets.summary import Summary

__all__ = [
    "NMNIST",
    "ArrayCache",
    "Clip",
    "DVS128Gesture",
    "DatasetNotFoundError",
    "EventDataset",
    "EyeTracking3ET",
    "FrameSpec",
    "Gen4",
    "Kitti",
    "MaskPrefix",
    "RandomAffine",
    "RandomFlip",
    "RecordingFolder",
    "Summary",
    "SyntheticDataset",
    "SyntheticEyes",
    "SyntheticGestures",
    "SyntheticRoads",
    "cut",
    "split",
    "synthetic",
    "verify_archive",
]
