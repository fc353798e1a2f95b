"""Recordings on disk: whole, made once, the same in parallel."""

import numpy as np
import pytest

import keras_pleiades as kp
from keras_pleiades.datasets import synthetic

SHORT = {"duration_us": 30_000}


def same(a, b):
    np.testing.assert_array_equal(a.events, b.events)
    assert a.sensor == b.sensor
    assert a.labels.class_id == b.labels.class_id
    for name in ("points", "points_t", "boxes", "boxes_t", "box_classes"):
        one, other = getattr(a.labels, name), getattr(b.labels, name)
        assert (one is None) == (other is None)
        if one is not None:
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("task", ["gestures", "eyes", "roads"])
def test_files_hold_what_is_recorded(task, tmp_path):
    (path,) = synthetic.generate(task, [7], "test", tmp_path, workers=0, **SHORT)
    recording = synthetic.record(task, 7, "test", **SHORT)
    loaded = synthetic.load(path)
    same(loaded, recording)
    assert loaded.events.dtype == kp.events.EVENT_DTYPE
    np.testing.assert_array_equal(kp.events.read(path), recording.events)


def test_made_once_and_repaired(tmp_path):
    first = synthetic.generate("gestures", range(3), folder=tmp_path, workers=0, **SHORT)
    times = [path.stat().st_mtime_ns for path in first]
    whole = synthetic.load(first[1])
    first[1].write_bytes(first[1].read_bytes()[:300])
    again = synthetic.generate("gestures", range(3), folder=tmp_path, workers=0, **SHORT)
    assert again == first
    now = [path.stat().st_mtime_ns for path in first]
    assert (now[0], now[2]) == (times[0], times[2])
    same(synthetic.load(first[1]), whole)
    assert {path.suffix for path in tmp_path.iterdir()} == {".npz"}


def test_other_options_are_other_files(tmp_path):
    a, b, c = (
        synthetic.generate("gestures", [0], split, tmp_path, 0, **SHORT, **more)[0]
        for split, more in (("train", {}), ("test", {}), ("train", {"variation": "noise"}))
    )
    assert len({a, b, c}) == 3


def test_parallel_is_the_same(tmp_path):
    many = synthetic.generate("gestures", range(2), folder=tmp_path, workers=2, **SHORT)
    for seed, path in enumerate(many):
        same(synthetic.load(path), synthetic.record("gestures", seed, **SHORT))


def test_an_error_leaves_nothing(tmp_path):
    with pytest.raises(ValueError, match="'weather' is none"):
        synthetic.generate("roads", [0], folder=tmp_path, workers=0, weather=1)
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="task='cats'"):
        synthetic.generate("cats", [0], folder=tmp_path)
