"""The simulated tasks as data sets: what they give is what the simulation says."""

import numpy as np
import pytest

from keras_pleiades import datasets
from keras_pleiades.datasets import synthetic
from keras_pleiades.datasets.boxes import EMPTY
from keras_pleiades.events import to_frames

SHORT = {"duration_us": 60_000, "processes": 0, "dt": 10_000}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("synthetic")


def test_gestures_are_those_of_the_simulation(folder):
    data = datasets.SyntheticGestures(folder, "test", recordings=2, first=12, **SHORT)
    x, y = data[0]
    recording = synthetic.record("gestures", 12, "test", duration_us=60_000)
    expected = to_frames(recording.events, 10_000, (128, 128), start_us=0, frames=6)
    np.testing.assert_array_equal(x[0], expected)
    assert y.tolist() == [[2] * 6]
    assert data.class_names[2] == "left hand wave"
    assert len(data) == 2


def test_clips_have_what_came_before_as_context(folder):
    whole = datasets.SyntheticGestures(folder, "test", recordings=1, first=12, **SHORT)[0][0][0]
    cut = datasets.SyntheticGestures(
        folder, "test", recordings=1, first=12, clip_frames=3, context_frames=2, **SHORT
    )
    assert len(cut) == 2
    np.testing.assert_array_equal(cut[1][0][0], whole[1:])
    first = cut[0][0][0]
    assert not first[:2].any()
    np.testing.assert_array_equal(first[2:], whole[:3])


def test_a_recording_is_made_once(folder, monkeypatch):
    options = {"recordings": 1, "first": 12, **SHORT}
    datasets.SyntheticGestures(folder, "test", **options)
    monkeypatch.setattr(synthetic.gestures, "clip", lambda *args, **kwargs: 1 / 0)
    datasets.SyntheticGestures(folder, "test", **options)
    with pytest.raises(ZeroDivisionError):
        datasets.SyntheticGestures(folder, "train", **options)


def test_options_go_to_the_simulation(folder):
    options = {"recordings": 1, **SHORT}
    plain = datasets.SyntheticGestures(folder, "test", **options)
    thinned = datasets.SyntheticGestures(
        folder, "test", simulation={"variation": "thinned"}, **options
    )
    assert thinned[0][0].sum() < 0.3 * plain[0][0].sum()
    with pytest.raises(ValueError, match="variation"):
        datasets.SyntheticGestures(folder, simulation={"variation": "upside down"}, **options)


def test_eyes_have_points_in_pixels_of_the_frames(folder):
    data = datasets.SyntheticEyes(folder, "test", recordings=1, shape=(96, 128), **SHORT)
    _, y, weight = data[0]
    points = synthetic.record("eyes", 0, "test", duration_us=60_000).labels.points
    seen = np.isfinite(points).all(axis=1)
    np.testing.assert_array_equal(weight[0] > 0, seen)
    np.testing.assert_allclose(y[0, seen, :2], points[seen] / 5, rtol=1e-6)
    np.testing.assert_array_equal(y[0, :, 2] > 0, ~seen)


def test_roads_have_boxes_that_are_large_enough(folder):
    options = {"recordings": 1, "first": 3, "shape": (160, 320), **SHORT}
    data = datasets.SyntheticRoads(folder, "test", **options)
    _, y, weight = data[0]
    assert weight.tolist() == [[1.0] * 6]  # all frames have labels, also where there is no box
    labels = synthetic.record("roads", 3, "test", duration_us=60_000).labels
    left, top, right, bottom = labels.boxes.T
    large = np.hypot(right - left, bottom - top) >= 15
    for frame in range(6):
        at = large & (labels.boxes_t == (frame + 1) * 10_000)
        found = y[0, frame][y[0, frame, :, 4] != EMPTY]
        expected = np.stack(
            [(top + bottom) / 2 * 160 / 180, (left + right) / 2, (bottom - top) * 160 / 180],
            axis=1,
        )[at]
        order, other = np.lexsort(found[:, :3].T), np.lexsort(expected.T)
        np.testing.assert_allclose(found[order, :3], expected[other], rtol=1e-5)
        assert sorted(found[:, 4]) == sorted(labels.box_classes[at])
    every = datasets.SyntheticRoads(folder, "test", min_diagonal=0, **options)[0][1]
    assert (every[..., 4] != EMPTY).sum() == len(labels.boxes)


def test_a_recipe_needs_no_folder(folder, monkeypatch):
    from keras_pleiades.training import make_dataset

    monkeypatch.setenv("KERAS_PLEIADES_HOME", str(folder / "home"))
    options = {"name": "synthetic_gestures", "recordings": 1, **SHORT}
    data = make_dataset(options, "test", None, None, 1, 0)
    assert len(data) == 1
    assert list((folder / "home" / "synthetic").glob("gestures_validation_0_*.npz"))


def test_ranges_of_a_recipe_are_lists(folder):
    """TOML has no tuples; the recordings are those of a tuple."""
    one, other = (
        datasets.SyntheticEyes(
            folder / name,
            "test",
            recordings=1,
            shape=(96, 128),
            simulation={"glints": many},
            **SHORT,
        )
        for name, many in (("list", [8, 9]), ("tuple", (8, 9)))
    )
    np.testing.assert_array_equal(one[0][0], other[0][0])
    assert [clip.path[-16:] for clip in one.clips] == [clip.path[-16:] for clip in other.clips]
