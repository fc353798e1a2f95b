import numpy as np
import pytest

import keras_pleiades as kp

pytest.importorskip("matplotlib", reason="plots need matplotlib")

FOUND = np.array([[9.0, 22, 8, 12, 1, 0.9], [20, 30, 4, 6, 0, 0.6], [5, 5, 2, 2, 1, 0.2]])


def test_boxes_are_where_they_were_found():
    frame = np.zeros((32, 64, 2))
    frame[10, 40, 1] = 5
    truth = np.array([[9.5, 22.5, 8, 12, 1]])
    figure = kp.plots.detections(frame, FOUND, ["walker", "car"], truth, min_score=0.5, title="!")
    (axes,) = figure.axes
    true, worse, best = axes.patches
    assert [patch.get_linestyle() for patch in axes.patches] == ["--", "-", "-"]
    for patch, box in ((true, truth[0]), (worse, FOUND[1]), (best, FOUND[0])):
        y, x, height, width = box[:4]
        assert patch.get_xy() == (x - width / 2, y - height / 2)
        assert (patch.get_width(), patch.get_height()) == (width, height)
    assert true.get_edgecolor() == best.get_edgecolor() != worse.get_edgecolor()
    assert [text.get_text() for text in axes.texts] == ["walker 0.60", "car 0.90"]
    picture = axes.images[0]
    assert picture.get_extent() == [0, 64, 32, 0]
    assert np.argwhere((picture.get_array() < 255).any(-1)).tolist() == [[10, 40]]
    assert axes.get_title() == "!"


def test_nothing_found():
    figure = kp.plots.detections(np.zeros((4, 4, 2)), np.empty((0, 6)))
    assert not figure.axes[0].patches


def test_wrong_shapes():
    with pytest.raises(ValueError, match=r"shape=\(2, 4, 4, 2\)"):
        kp.plots.detections(np.zeros((2, 4, 4, 2)), FOUND)
    with pytest.raises(ValueError, match=r"`boxes`.*\(n, 6\).*\(3, 5\)"):
        kp.plots.detections(np.zeros((4, 4, 2)), FOUND[:, :5])
    with pytest.raises(ValueError, match=r"`truth`.*\(n, 5\)"):
        kp.plots.detections(np.zeros((4, 4, 2)), FOUND, truth=FOUND)
