import numpy as np
import pytest

import keras_pleiades as kp
from keras_pleiades.datasets import DatasetNotFoundError, Gen4, RandomFlip
from keras_pleiades.events.labels import Labels
from tests.datasets import layouts

SHAPE = (36, 64)


def gen4(folder, **kwargs):
    arguments = {"dt": 10_000, "shape": SHAPE, "method": "volume", "clip_frames": 12}
    return Gen4(folder, **{**arguments, **kwargs})


def slow_boxes(boxes, start, frames, dt, max_boxes, classes=None, counted=0):
    """Frame by frame: boxes of the latest time in (begin, end], large ones, by the rules."""
    classes = classes or {n: n for n in range(7)}
    target, mask = np.zeros((frames, max_boxes, 5)), np.zeros(frames)
    target[..., 4] = -1
    for k in range(counted, frames):
        begin, end = start + k * dt, start + (k + 1) * dt
        rows = []
        for box in boxes:
            if not begin < box["t"] <= end or int(box["class_id"]) not in classes:
                continue
            if np.sqrt(float(box["w"]) ** 2 + float(box["h"]) ** 2) < 60:
                continue
            left, right = max(box["x"], 0), min(box["x"] + box["w"], 1280)
            top, bottom = max(box["y"], 0), min(box["y"] + box["h"], 720)
            if right <= left or bottom <= top:
                continue
            row = [(top + bottom) / 2, (left + right) / 2, bottom - top, right - left]
            scale = [SHAPE[0] / 720, SHAPE[1] / 1280] * 2
            row = [value * factor for value, factor in zip(row, scale, strict=True)]
            rows.append((box["t"], [*row, classes[int(box["class_id"])]]))
        latest = max((t for t, _ in rows), default=None)
        rows = [row for t, row in rows if t == latest]
        if len(rows) > max_boxes:
            sizes = sorted((-row[2] * row[3], n) for n, row in enumerate(rows))
            rows = [rows[n] for n in sorted(n for _, n in sizes[:max_boxes])]
        for n, row in enumerate(rows):
            target[k, n] = row
        mask[k] = bool(rows)
    return target, mask


@pytest.mark.parametrize("h5", [False, True])
@pytest.mark.parametrize(("dt", "max_boxes"), [(10_000, 8), (50_000, 8), (4_999, 2)])
def test_boxes_and_masks(tmp_path, h5, dt, max_boxes):
    layouts.gen4(tmp_path, h5=h5)
    data = gen4(tmp_path, dt=dt, max_boxes=max_boxes)
    labelled = 0
    for number, clip in enumerate(data.clips):
        _, y, w = data.sample(number)
        stem = clip.path.removesuffix(".dat.h5").removesuffix(".dat").removesuffix("_td")
        boxes = np.load(stem + "_bbox.npy")
        expected = slow_boxes(boxes, clip.start_us, 12, dt, max_boxes, counted=clip.counted_from)
        np.testing.assert_allclose(y, expected[0], atol=1e-3)
        np.testing.assert_array_equal(w, expected[1])
        labelled += w.sum()
    assert labelled >= 20


def test_frames_are_those_of_the_recording(tmp_path):
    layouts.gen4(tmp_path, recordings=1)
    data = gen4(tmp_path, context_frames=4)
    events = kp.events.read(data.clips[0].path)
    whole = kp.events.to_frames(
        events, 10_000, (720, 1280), SHAPE, "volume", start_us=-50_000, frames=120, causal=True
    )
    for number, clip in enumerate(data.clips):
        first = clip.start_us // 10_000 - 4 + 5
        np.testing.assert_allclose(data.sample(number)[0], whole[first : first + 16], atol=1e-5)


def test_every_labelled_bin_counts_once(tmp_path):
    layouts.gen4(tmp_path, recordings=1)
    data = gen4(tmp_path, clip_frames=7)
    total = sum(data.sample(n)[2].sum() for n in range(len(data.clips)))
    every = slow_boxes(layouts.gen4_boxes(), 0, 101, 10_000, 8)[1]
    assert total == every.sum() == 30


def test_classes_are_remapped(tmp_path):
    layouts.gen4(tmp_path, recordings=1)
    for classes, mapping in (
        (["pedestrian", "car"], {0: 0, 2: 1}),
        ({0: 0, 1: 0, 2: 1}, {0: 0, 1: 0, 2: 1}),
    ):
        data = gen4(tmp_path, classes=classes)
        for number, clip in enumerate(data.clips):
            expected = slow_boxes(
                layouts.gen4_boxes(), clip.start_us, 12, 10_000, 64, mapping, clip.counted_from
            )
            np.testing.assert_allclose(data.sample(number)[1], expected[0], atol=1e-3)
    assert gen4(tmp_path).class_names[2] == "car"
    with pytest.raises(ValueError, match="`classes` must be one of"):
        gen4(tmp_path, classes=["cat"])
    with pytest.raises(ValueError, match="without gaps"):
        gen4(tmp_path, classes={0: 1})


def test_older_names_of_fields(tmp_path):
    layouts.gen4(tmp_path / "new", recordings=1)
    layouts.gen4(tmp_path / "old", recordings=1, old_names=True)
    np.testing.assert_array_equal(gen4(tmp_path / "old")[0][1], gen4(tmp_path / "new")[0][1])


def test_a_label_at_a_bins_end_belongs_to_it():
    boxes = np.array([[0, 0, 100, 100]] * 2)
    labels = Labels(boxes=boxes, boxes_t=[20_000, 20_001], box_classes=[3, 4])
    spec = kp.datasets.FrameSpec(dt=10_000, shape=(720, 1280))
    clip = kp.datasets.Clip("", start_us=0, frames=4)
    target, mask = kp.datasets.boxes.box_target(labels, clip, spec, (720, 1280), 2)
    assert mask.tolist() == [0, 1, 1, 0]
    assert target[1, 0, 4] == 3
    assert target[2, 0, 4] == 4


def test_boxes_move_with_the_events(tmp_path):
    layouts.gen4(tmp_path, recordings=1)
    plain, flipped = gen4(tmp_path), gen4(tmp_path, augment=RandomFlip(1.0))
    (x, y, w), (fx, fy, fw) = plain[2], flipped[2]
    np.testing.assert_allclose(fx, x[:, :, :, ::-1], atol=1e-5)
    np.testing.assert_array_equal(w, fw)
    seen = y[..., 4] >= 0
    centre = 639.5 * SHAPE[1] / 1280  # pixels are mirrored, 0 to 1279
    np.testing.assert_allclose(fy[seen][:, 1], 2 * centre - y[seen][:, 1], atol=1e-3)
    np.testing.assert_allclose(fy[seen][:, [0, 2, 3, 4]], y[seen][:, [0, 2, 3, 4]], atol=1e-3)


def test_what_is_missing_is_said(tmp_path):
    with pytest.raises(
        DatasetNotFoundError, match=r"the folder val with NAME_td.dat.*prophesee.ai"
    ):
        gen4(tmp_path, split="val")
    layouts.gen4(tmp_path)
    recording = sorted((tmp_path / "train").glob("*.dat"))[0]
    recording.unlink()
    with pytest.raises(DatasetNotFoundError, match=r"None for: moorea_.*_bbox.npy \(1 files\)"):
        gen4(tmp_path)
    layouts.gen4(tmp_path)
    with pytest.raises(ValueError, match="No box is left"):
        gen4(tmp_path, min_diagonal=500)
    np.save(tmp_path / "train/x_bbox.npy", np.zeros(3))
    (tmp_path / "train/x_td.dat").write_bytes(b"")
    with pytest.raises(ValueError, match=r"expected the fields t \(or ts\)"):
        gen4(tmp_path)
