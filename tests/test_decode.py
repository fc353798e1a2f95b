"""Reading answers out of outputs: what the losses' targets put in comes out again."""

import numpy as np
import pytest
from keras import ops

import keras_pleiades as kp
from keras_pleiades import decode
from keras_pleiades.heatmaps import to_cells
from tests.backends import graph, to_numpy


def slow_majority(labels, frames):
    out = []
    for t in range(len(labels)):
        window = labels[max(0, t - frames + 1) : t + 1]
        votes = [window.count(label) for label in window]
        out.append([label for label, n in zip(window, votes, strict=True) if n == max(votes)][-1])
    return out


@pytest.mark.parametrize(("window_us", "frames"), [(150_000, 15), (34_999, 3), (5_000, 1)])
def test_majority_equals_a_loop(window_us, frames):
    logits = np.random.default_rng(0).normal(size=(3, 40, 4))
    found = decode.filter_clip(logits, decode.MajorityFilter(window_us, 10_000))
    for clip, labels in zip(logits, found, strict=True):
        assert labels.tolist() == slow_majority(clip.argmax(-1).tolist(), frames)


def test_exponential_equals_a_sum():
    logits = np.random.default_rng(0).normal(size=(20, 4))
    p = np.exp(logits) / np.exp(logits).sum(-1, keepdims=True)
    one = decode.ExponentialFilter(tau_us=50_000, dt=10_000)
    keep = np.exp(-10_000 / 50_000)
    for t in range(20):
        found = one.update(logits[t])
        expected = keep**t * p[0]
        for s in range(1, t + 1):
            expected = expected + (1 - keep) * keep ** (t - s) * p[s]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert found.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("kind", [decode.MajorityFilter, decode.ExponentialFilter])
def test_filters_look_back_only_and_can_be_reset(kind):
    logits = np.random.default_rng(1).normal(size=(30, 3))
    other = logits.copy()
    other[20:] = -logits[20:]
    one = kind(150_000, 10_000)
    found = decode.filter_clip(logits, one)
    assert found.shape == (30,)
    np.testing.assert_array_equal(decode.filter_clip(other, one)[:20], found[:20])
    np.testing.assert_array_equal(decode.filter_clip(logits, one), found)
    for bad in ({"dt": 0.01}, {"dt": 0}):
        with pytest.raises(ValueError, match="MICROSECONDS"):
            kind(150_000, **bad)


def encode_boxes(boxes, classes, strides, shape):
    """The outputs of a network that has learnt the targets of `CenterNetLoss`."""
    outputs = np.full((*shape, classes + 4), -20.0, "float32")
    cell, offset = to_cells(ops.convert_to_tensor(boxes[:, :2]), strides, shape)
    for box, (row, column), (y, x) in zip(
        boxes, to_numpy(cell).astype(int), to_numpy(offset), strict=True
    ):
        outputs[row, column, int(box[4])] = 20.0
        outputs[row, column, classes:] = box[2] / strides, box[3] / strides, x, y
    return outputs


def test_boxes_come_back_exactly():
    rng = np.random.default_rng(0)
    boxes = rng.uniform(0, 1, (6, 5)).astype("float32") * (160, 320, 50, 70, 0)
    boxes = boxes.astype("float32")
    boxes[:, 4] = [0, 1, 2, 3, 4, 5]
    outputs = encode_boxes(boxes, 7, 4, (40, 80))
    found = decode.boxes(outputs, 7, 4)
    found = found[np.argsort(found[:, 4])]
    np.testing.assert_array_equal(found[:, :5], boxes)
    assert (found[:, 5] > 0.999).all()
    loss = graph(kp.losses.CenterNetLoss(7, 4))
    perfect = float(loss(boxes[None, None], outputs[None, None]))
    assert perfect < 1e-6


def test_points_come_back_exactly():
    rng = np.random.default_rng(0)
    xy = rng.uniform(0, 1, (2, 5, 2)).astype("float32") * np.float32((128, 96))
    outputs = np.full((2, 5, 3, 4, 3), -20.0, "float32")
    cell, offset = to_cells(ops.convert_to_tensor(xy[..., ::-1].copy()), 32, (3, 4))
    cell, offset = to_numpy(cell).astype(int), to_numpy(offset)
    for b, t in np.ndindex(2, 5):
        outputs[b, t, cell[b, t, 0], cell[b, t, 1]] = 20.0, offset[b, t, 1], offset[b, t, 0]
    found, score = decode.points(outputs, 32)
    np.testing.assert_array_equal(found, xy)
    assert score.shape == (2, 5)
    y_true = np.concatenate([xy, np.zeros((2, 5, 1))], axis=-1)
    assert float(graph(kp.losses.CenterPointLoss(32))(y_true, outputs)) < 1e-6


def test_only_peaks_are_boxes_best_first():
    rng = np.random.default_rng(0)
    outputs = rng.normal(size=(2, 3, 7, 9, 3 + 4)).astype("float32")
    found = decode.boxes(outputs, 3, 8, top_k=5, min_score=0.3)
    assert len(found) == 2
    for b, t in np.ndindex(2, 3):
        expected = []
        for i, j, k in np.ndindex(7, 9, 3):
            around = outputs[b, t, max(i - 1, 0) : i + 2, max(j - 1, 0) : j + 2, k]
            score = 1 / (1 + np.exp(-outputs[b, t, i, j, k]))
            if outputs[b, t, i, j, k] >= around.max() and score >= 0.3:
                h, w, x, y = outputs[b, t, i, j, 3:]
                box = (i + y) * 8, (j + x) * 8, max(h, 0) * 8, max(w, 0) * 8, k, score
                expected.append(box)
        expected = sorted(expected, key=lambda box: -box[5])[:5]
        np.testing.assert_allclose(found[b][t], expected, rtol=1e-5, atol=1e-5)
    assert decode.boxes(outputs[0, 0] - 50, 3, 8).shape == (0, 6)
    with pytest.raises(ValueError, match="7 output channels"):
        decode.boxes(outputs[..., :6], 3, 8)


def test_strides_of_the_networks():
    assert decode.output_strides(kp.zoo.detector(input_shape=(None, 64, 64, 2))) == 4
    assert decode.output_strides(kp.zoo.eye_tracking(input_shape=(None, 60, 80, 2))) == 32
    with pytest.raises(ValueError, match="PleiadesClassifier"):
        decode.output_strides(kp.zoo.gesture())


def slow_hold(points, scores, events, dt):
    """The formulas of the docstring, frame by frame."""
    average = most = 0.0
    at, out = points[0], []
    for point, score, count in zip(points, scores, events, strict=True):
        average += (1 - np.exp(-dt / 40_000)) * (count - average)
        seen = average * score * score
        most = max(seen, most * np.exp(-dt / 800_000))
        part = min(1, 2 * seen / most) ** 2 if most > 0 else 0
        at = at + (1 - (1 - part) ** (dt / 10_000)) * (point - at)
        out.append(at)
    return np.array(out)


@pytest.mark.parametrize("dt", [2_500, 10_000, 40_000])
def test_held_points_equal_a_loop(dt):
    rng = np.random.default_rng(0)
    points, scores = rng.normal(size=(3, 50, 2)), rng.uniform(size=(3, 50))
    events = rng.poisson(5, (3, 50)) * rng.integers(0, 2, (3, 50)) * 10
    events[2] = 0  # nothing ever happens
    by = decode.HoldFilter(dt)
    found = decode.hold_clip(points, scores, events, by)
    for k in range(3):
        expected = slow_hold(points[k], scores[k], events[k], dt)
        np.testing.assert_allclose(found[k], expected, rtol=1e-12)
    assert (found[2] == points[2, 0]).all()
    assert (by.update([1.0, 2.0], 1.0, 7) == [1.0, 2.0]).all()  # it was reset after the last clip


def test_the_scale_of_events_does_not_matter():
    rng = np.random.default_rng(1)
    points, scores, events = rng.normal(size=(30, 2)), rng.uniform(size=30), rng.uniform(size=30)
    by = decode.HoldFilter(dt=5_000)
    one, other = (decode.hold_clip(points, scores, n * events, by) for n in (1, 1000))
    np.testing.assert_allclose(one, other, rtol=1e-9)


def test_hold_filter_refuses_seconds():
    with pytest.raises(ValueError, match="hold_us"):
        decode.HoldFilter(dt=10_000, hold_us=0.8)
