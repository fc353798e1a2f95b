"""One step of training on each data set, by the facts of a network."""

import keras
import numpy as np
import pytest

import keras_pleiades as kp
from tests.backends import to_numpy
from tests.datasets import layouts
from tests.datasets.test_base import fit


def classes_loss(y_true, y_pred):
    return keras.losses.sparse_categorical_crossentropy(y_true, y_pred, from_logits=True)


def boxes_loss(y_true, y_pred):
    return keras.ops.mean(keras.ops.square(y_true - y_pred), axis=(2, 3))


def network(shape, method="count", channels=2, dt=20_000):
    """Not run, only asked: a network with a context of three frames."""
    temporal = {"kernel_size": 4, "degree": 2}
    model = kp.models.PleiadesClassifier(
        3, [(4, 4, False)], 4, (None, *shape, channels), dt=dt, temporal=temporal
    )
    model.binning_method = method
    return model


def dvs128(folder, **kwargs):
    layouts.dvs128_aedat(folder)
    model = network((32, 32), dt=100_000)
    return kp.datasets.DVS128Gesture(folder, "train", model, partial=True, **kwargs)


def eye(folder, **kwargs):
    layouts.eye_3et(folder)
    return kp.datasets.EyeTracking3ET(
        folder, "val", network((24, 32)), partial=True, clip_frames=14, **kwargs
    )


def gen4(folder, **kwargs):
    layouts.gen4(folder)
    model = network((18, 32), "volume")
    return kp.datasets.Gen4(folder, "train", model, clip_frames=5, max_boxes=4, **kwargs)


def kitti(folder, **kwargs):
    pytest.importorskip("PIL", reason="needs the extra [images]")
    layouts.kitti(folder)
    model = network((16, 32), channels=3)
    return kp.datasets.Kitti(folder, "all", model, partial=True, max_boxes=4, **kwargs)


def nmnist(folder, **kwargs):
    layouts.nmnist_zip(folder / "some.zip")
    return kp.datasets.NMNIST(folder / "some.zip", None, network((34, 34)), **kwargs)


def table(folder, **kwargs):
    layouts.csv_folder(folder)
    model = network((32, 32))
    return kp.datasets.RecordingFolder(folder, model, duration_us=80_000, **kwargs)


CASES = {
    "dvs128": (dvs128, (10,), classes_loss),
    "eye": (eye, (3,), "mse"),
    "gen4": (gen4, (4, 5), boxes_loss),
    "kitti": (kitti, (4, 5), boxes_loss),
    "nmnist": (nmnist, (10,), classes_loss),
    "folder": (table, (2,), classes_loss),
}


@pytest.mark.parametrize("name", CASES)
def test_one_epoch(tmp_path, name):
    make, outputs, loss = CASES[name]
    data = make(tmp_path, batch_size=2, shuffle=True, workers=2, cache=tmp_path / "cache")
    x = data[0][0]
    assert x.shape == data.x_shape
    assert x.shape[1] == 3 + data.clip_frames
    assert x.dtype == np.float32
    assert all(part.shape[1] == data.clip_frames for part in data[0][1:])
    fit(data, outputs, loss)
    if len(data) > 1:
        assert data.epoch == 1
    data.close()


def test_a_pleiades_network_trains(tmp_path):
    """The network asked for its facts is the one that trains."""
    layouts.nmnist_zip(tmp_path / "some.zip")
    model = kp.models.PleiadesClassifier(
        10,
        [(4, 4, False)],
        4,
        (None, 12, 12, 2),
        dt=30_000,
        temporal={"kernel_size": 4, "degree": 2},
    )
    data = kp.datasets.NMNIST(tmp_path / "some.zip", None, model, batch_size=5)
    before = [to_numpy(w) for w in model.trainable_weights]
    model.compile("adam", keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    history = model.fit(data, shuffle=False, verbose=0).history
    assert np.isfinite(history["loss"]).all()
    assert any(
        (a != to_numpy(b)).any() for a, b in zip(before, model.trainable_weights, strict=True)
    )
