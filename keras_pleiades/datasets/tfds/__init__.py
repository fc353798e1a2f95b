"""Builders for TensorFlow Datasets: importing this registers them with `tfds.load`.

The data sets must be downloaded by hand, into the folder given as `manual_dir`; each builder says
where from. Needs `pip install 'keras-pleiades[datasets]'`, GEN4 also `'keras-pleiades[beam]'`.
"""

try:
    import tensorflow_datasets  # noqa: F401
except ImportError as error:
    raise ImportError(
        "The builders need TensorFlow Datasets: pip install 'keras-pleiades[datasets]'. The data "
        "sets of `keras_pleiades.datasets` do not."
    ) from error

from keras_pleiades.datasets.tfds.dvs128_gesture import Dvs128Gesture
from keras_pleiades.datasets.tfds.prophesee_gen4 import Gen4Config, PropheseeGen4
from keras_pleiades.datasets.tfds.three_et_plus import ThreeEtPlus

__all__ = ["Dvs128Gesture", "Gen4Config", "PropheseeGen4", "ThreeEtPlus"]
