"""Metrics against loops, and COCO's against pycocotools called by hand."""

import contextlib
import io

import keras
import numpy as np
import pytest

from keras_pleiades import decode, metrics, plots
from keras_pleiades.metrics import coco_map, paper_map


def slow_iou(a, b):
    top, bottom = max(a[0] - a[2] / 2, b[0] - b[2] / 2), min(a[0] + a[2] / 2, b[0] + b[2] / 2)
    left, right = max(a[1] - a[3] / 2, b[1] - b[3] / 2), min(a[1] + a[3] / 2, b[1] + b[3] / 2)
    both = max(bottom - top, 0) * max(right - left, 0)
    return both / (a[2] * a[3] + b[2] * b[3] - both)


def slow_matches(truth, found, label, min_iou):
    """(score, right) of every box of a class, best first within its frame."""
    out = []
    for true, boxes in zip(truth, found, strict=True):
        free = [t for t in true if t[4] == label]
        for box in sorted((b for b in boxes if b[4] == label), key=lambda b: -b[5]):
            best = max(range(len(free)), key=lambda i: slow_iou(box, free[i]), default=None)
            hit = best is not None and slow_iou(box, free[best]) >= min_iou
            if hit:
                free.pop(best)
            out.append((box[5], hit))
    return out


def slow_paper_map(truth, found, classes):
    areas = []
    for label in classes:
        total = sum(t[4] == label for frame in truth for t in frame)
        if not total:
            continue
        matches = slow_matches(truth, found, label, 0.5)
        curve = []
        for step in range(19, 0, -1):
            kept = [hit for score, hit in matches if score >= step / 20]
            if kept:
                curve.append((sum(kept) / total, sum(kept) / len(kept)))
        area, last = 0.0, (0.0, curve[0][1] if curve else 0.0)
        for point in curve:
            area += (point[0] - last[0]) * (point[1] + last[1]) / 2
            last = point
        areas.append(area)
    return np.mean(areas)


def slow_coco_map(truth, found, classes):
    """COCO's rules for boxes of any size: 10 overlaps, precision at 101 recalls."""
    values = []
    for label in classes:
        total = sum(t[4] == label for frame in truth for t in frame)
        if not total:
            continue
        for min_iou in np.linspace(0.5, 0.95, 10):
            matches = sorted(slow_matches(truth, found, label, min_iou), key=lambda m: -m[0])
            hits = np.cumsum([hit for _, hit in matches])
            recall = hits / total
            precision = hits / np.arange(1, len(hits) + 1)
            for wanted in np.linspace(0, 1, 101):
                reached = precision[recall >= wanted]
                values.append(reached.max() if len(reached) else 0.0)
    return np.mean(values)


def random_frames(seed=0, frames=12, classes=3):
    rng = np.random.default_rng(seed)
    truth, found = [], []
    for _ in range(frames):
        n = rng.integers(0, 5)
        true = rng.uniform(20, 100, (n, 5))
        true[:, 2:4] = rng.uniform(10, 40, (n, 2))
        true[:, 4] = rng.integers(0, classes, n)
        near = true.copy()
        near[:, :4] += rng.normal(0, 3, (n, 4))
        m = rng.integers(0, 3)
        wrong = rng.uniform(20, 100, (m, 5))
        wrong[:, 2:4] = rng.uniform(10, 40, (m, 2))
        wrong[:, 4] = rng.integers(0, classes, m)
        boxes = np.concatenate([near[rng.random(n) < 0.8], wrong])
        scores = rng.uniform(0.02, 1, len(boxes))
        truth.append(true)
        found.append(np.column_stack([boxes, scores]))
    return truth, found


def test_overlaps_equal_a_loop():
    truth, found = random_frames()
    a, b = np.concatenate(truth), np.concatenate(found)
    expected = [[slow_iou(one, two) for two in b] for one in a]
    np.testing.assert_allclose(metrics.box_iou(a, b), expected, rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("classes", [None, (0, 2), (1, 9)])
def test_paper_map_equals_a_loop(seed, classes):
    truth, found = random_frames(seed)
    expected = slow_paper_map(truth, found, classes or (0, 1, 2))
    assert 0 < expected < 1
    np.testing.assert_allclose(paper_map(truth, found, classes), expected, rtol=1e-12)


def with_scores(truth, score=1.0):
    return [np.column_stack([frame, np.full(len(frame), score)]) for frame in truth]


def measures():
    yield "paper", paper_map
    yield "coco", lambda *a, **k: coco_map(*a, **k)["mAP"]


@pytest.mark.parametrize("measure", ["paper", "coco"])
def test_truth_scores_one_and_nothing_scores_zero(measure):
    if measure == "coco":
        pytest.importorskip("pycocotools", reason="COCO's mAP needs pycocotools")
    score = dict(measures())[measure]
    truth, _ = random_frames()
    assert score(truth, with_scores(truth)) == pytest.approx(1.0)
    assert score(truth, with_scores(truth, 0.5)) == pytest.approx(1.0)
    assert score(truth, [np.zeros((0, 6))] * len(truth)) == 0.0
    assert np.isnan(score([np.zeros((0, 5))], [np.zeros((0, 6))]))
    # The right boxes one frame late are wrong boxes: there is no tolerance in time.
    alternate = [frame if i % 2 else np.zeros((0, 5)) for i, frame in enumerate(truth)]
    late = with_scores([alternate[-1], *alternate[:-1]])
    assert score(alternate, with_scores(alternate)) == pytest.approx(1.0)
    assert score(alternate, late) == 0.0
    with pytest.raises(ValueError, match="12 and 11"):
        score(truth, with_scores(truth)[:-1])


@pytest.mark.parametrize("seed", range(3))
def test_coco_map_equals_pycocotools_and_a_loop(seed):
    pytest.importorskip("pycocotools", reason="COCO's mAP needs pycocotools")
    from pycocotools.coco import COCO
    from pycocotools.cocoeval import COCOeval

    truth, found = random_frames(seed)
    with contextlib.redirect_stdout(io.StringIO()):
        coco = COCO()
        corner = [(f[:, 1] - f[:, 3] / 2, f[:, 0] - f[:, 2] / 2, f[:, 3], f[:, 2]) for f in truth]
        coco.dataset = {
            "images": [{"id": i} for i in range(len(truth))],
            "categories": [{"id": k} for k in range(3)],
            "annotations": [
                {
                    "id": 1000 * i + j + 1,
                    "image_id": i,
                    "category_id": int(truth[i][j, 4]),
                    "bbox": [float(v) for v in row],
                    "area": float(row[2] * row[3]),
                    "iscrowd": 0,
                }
                for i, columns in enumerate(corner)
                for j, row in enumerate(zip(*columns, strict=True))
            ],
        }
        coco.createIndex()
        results = coco.loadRes(
            [
                {
                    "image_id": i,
                    "category_id": int(k),
                    "bbox": [x - w / 2, y - h / 2, w, h],
                    "score": s,
                }
                for i, frame in enumerate(found)
                for y, x, h, w, k, s in frame.tolist()
            ]
        )
        evaluation = COCOeval(coco, results, "bbox")
        evaluation.evaluate()
        evaluation.accumulate()
        evaluation.summarize()
    ours = coco_map(truth, found)
    assert list(ours.values()) == evaluation.stats[:3].tolist()
    # pycocotools lets a box take a later true box of the same overlap; there is none here.
    np.testing.assert_allclose(ours["mAP"], slow_coco_map(truth, found, (0, 1, 2)), rtol=1e-9)
    some = coco_map(truth, found, classes=(1,))["mAP"]
    np.testing.assert_allclose(some, slow_coco_map(truth, found, (1,)), rtol=1e-9)


def test_coco_map_without_pycocotools(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pycocotools.coco", None)
    with pytest.raises(ImportError, match=r"keras-pleiades\[detection\]"):
        coco_map(*random_frames())


def test_labelled_frames_are_those_with_a_weight():
    y_true = np.full((2, 3, 2, 5), -1.0)
    y_true[0, 1, 0] = 9.0, 22.0, 8.0, 12.0, 1
    outputs = np.full((2, 3, 8, 8, 6), -9.0, "float32")
    outputs[0, 0, 2, 5] = -9.0, 3.0, 2.0, 3.0, 0.5, 0.25  # right, but one bin too early
    weight = np.array([[0, 1, 0], [0, 0, 1]])
    truth, found = metrics.labelled_frames(y_true, outputs, weight, 2, 4)
    assert [len(one) for one in truth] == [1, 0]
    assert [len(one) for one in found] == [0, 0]
    assert paper_map(truth, found) == 0.0
    outputs[0, 1] = outputs[0, 0]
    assert paper_map(*metrics.labelled_frames(y_true, outputs, weight, 2, 4)) == 1.0
    with pytest.raises(ValueError, match="same frames"):
        metrics.labelled_frames(y_true, outputs[:, 1:], weight, 2, 4)


def test_accuracy_equals_a_loop():
    rng = np.random.default_rng(0)
    logits, labels = rng.normal(size=(5, 20, 3)), rng.integers(0, 3, 5)
    right = np.array([[logits[b, t].argmax() == labels[b] for t in range(20)] for b in range(5)])
    assert metrics.frame_accuracy(labels, logits) == pytest.approx(right.mean())
    assert metrics.frame_accuracy(labels, logits, first_frame=7) == pytest.approx(
        right[:, 7:].mean()
    )
    every = np.repeat(labels[:, None], 20, axis=1)
    assert metrics.frame_accuracy(every, logits) == pytest.approx(right.mean())
    majority = decode.filter_clip(logits, decode.MajorityFilter(150_000, 10_000))
    filtered = (majority == labels[:, None]).mean()
    found = metrics.frame_accuracy(labels, logits, window_us=150_000, dt=10_000)
    assert found == pytest.approx(filtered)
    latency, accuracy = metrics.accuracy_latency(labels, logits, dt=10_000)
    assert latency.tolist() == [10_000 * (t + 1) for t in range(20)]
    np.testing.assert_allclose(accuracy, right.mean(axis=0))
    _, accuracy = metrics.accuracy_latency(labels, logits, 10_000, window_us=150_000)
    np.testing.assert_allclose(accuracy, (majority == labels[:, None]).mean(axis=0))

    metric = metrics.FrameAccuracy()
    weight = rng.integers(0, 2, (5, 20)).astype("float32")
    for rows in (slice(0, 2), slice(2, 5)):
        metric.update_state(labels[rows], logits[rows], weight[rows])
    np.testing.assert_allclose(float(metric.result()), right[weight > 0].mean(), rtol=1e-6)


def test_distances_equal_a_loop():
    rng = np.random.default_rng(0)
    outputs = rng.normal(size=(4, 6, 3, 4, 3)).astype("float32")
    points = rng.uniform(0, 1, (4, 6, 3)) * (128, 96, 0)
    points[1, :3, 2] = 1
    weight = np.ones((4, 6))
    weight[3] = 0
    xy, _ = decode.points(outputs, 32)
    distance = []
    for b, t in np.ndindex(4, 6):
        if not points[b, t, 2] and weight[b, t]:
            dx, dy = xy[b, t] - points[b, t, :2]
            distance.append(np.hypot(dx * 80 / 128, dy * 60 / 96))
    found = metrics.point_distances(points[:3], xy[:3], (96, 128))
    assert found["distance"] == pytest.approx(np.mean(distance))
    for within in (10, 5, 3):
        expected = 100 * np.mean(np.array(distance) <= within)
        assert found[f"p{within}"] == pytest.approx(expected)
    for within, name in ((None, "distance"), (10, "p10"), (30, "p30")):
        metric = metrics.PointDistance(32, (96, 128), within)
        assert metric.name == name
        for rows in (slice(0, 1), slice(1, 4)):
            metric.update_state(points[rows], outputs[rows], weight[rows])
        expected = np.mean(distance)
        if within:
            expected = 100 * np.mean(np.array(distance) <= within)
        np.testing.assert_allclose(float(metric.result()), expected, rtol=1e-5)
        again = keras.metrics.deserialize(keras.metrics.serialize(metric))
        assert again.get_config() == metric.get_config()
    assert metrics.point_distances(points[..., :2], xy, (96, 128))["distance"] > 0
    assert np.isnan(metrics.point_distances(points[1:2, :3], xy[1:2, :3], (96, 128))["p10"])


def test_curve_is_drawn(tmp_path):
    pytest.importorskip("matplotlib", reason="plots need matplotlib")
    logits, labels = np.random.default_rng(0).normal(size=(5, 20, 3)), np.array([0, 1, 2, 0, 1])
    curves = {
        f"{dt // 1000} ms": metrics.accuracy_latency(labels, logits, dt) for dt in (5_000, 10_000)
    }
    figure = plots.accuracy_latency(curves, title="two bin sizes")
    lines = figure.axes[0].get_lines()
    assert [line.get_label() for line in lines] == ["5 ms", "10 ms"]
    np.testing.assert_allclose(lines[1].get_xdata(), np.arange(1, 21) * 10)
    figure.savefig(tmp_path / "curve.png")
