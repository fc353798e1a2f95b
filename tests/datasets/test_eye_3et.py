import numpy as np
import pytest

import keras_pleiades as kp
from keras_pleiades.datasets import DatasetNotFoundError, EyeTracking3ET, RandomFlip
from tests.datasets import layouts


def slow_target(table, start, frames, dt, shape, mask=True):
    """Each frame's label, from the rule: that of its end, between the rows beside it."""
    target, weight = np.zeros((frames, 3)), np.zeros(frames)
    for k in range(frames):
        end = start + (k + 1) * dt
        row = end / 10_000 - 1  # row i stands at (i + 1) * 10 ms
        if row > len(table) - 1:
            target[k] = table[-1] * (shape[1] / 640, shape[0] / 480, 1)
            if mask and table[-1, 2]:
                target[k] = 0, 0, 1
            continue
        row = max(row, 0)
        low, high = int(np.floor(row)), int(np.ceil(row))
        part = row - low
        x, y, _ = table[low] * (1 - part) + table[high] * part
        closed = mask and (table[low, 2] or table[high, 2])
        target[k] = (0, 0, 1) if closed else (x * shape[1] / 640, y * shape[0] / 480, 0)
        weight[k] = not closed
    return target, weight


@pytest.mark.parametrize("dt", [10_000, 5_000, 20_000, 3_000, 7_777])
@pytest.mark.parametrize("mask", [True, False])
def test_labels_are_those_of_the_bins_ends(tmp_path, dt, mask):
    tables = layouts.eye_3et(tmp_path)
    data = EyeTracking3ET(
        tmp_path,
        sessions=["5_1"],
        dt=dt,
        shape=(96, 128),
        clip_frames=20,
        stride=7,
        mask_closed=mask,
        batch_size=3,
    )
    for number, clip in enumerate(data.clips):
        _, y, w = data.sample(number)
        expected = slow_target(tables["5_1"], clip.start_us, 20, dt, (96, 128), mask)
        np.testing.assert_allclose(y, expected[0], atol=1e-4)
        np.testing.assert_array_equal(w, expected[1])
    assert data.clips[-1].start_us // dt + 20 >= 570_000 // dt  # to the last whole frame


def test_at_10_ms_frame_i_has_row_i(tmp_path):
    tables = layouts.eye_3et(tmp_path, closed=())
    data = EyeTracking3ET(tmp_path, sessions=["5_1"], dt=10_000, shape=(60, 80), clip_frames=57)
    _, y, w = data[0]
    np.testing.assert_allclose(y[0], tables["5_1"] * (1 / 8, 1 / 8, 1), atol=1e-5)
    assert w.all()


@pytest.mark.parametrize("dt", [10_000, 5_000, 20_000])
def test_the_challenges_rows(tmp_path, dt):
    tables = layouts.eye_3et(tmp_path)
    data = EyeTracking3ET(
        tmp_path, "val", partial=True, dt=dt, rows="20hz", clip_frames=13, shape=(480, 640)
    )
    found = []
    for number in range(len(data.clips)):
        _, y, w = data.sample(number)
        found += y[w > 0].tolist()
    table = tables["7_4"]
    rows = [
        row
        for row in range(0, 57, 5)
        if not table[row, 2] and row * 10_000 < 57 * 10_000 // dt * dt
    ]
    assert 20 not in rows  # closed
    np.testing.assert_allclose(found, table[rows], atol=1e-3)


def test_every_frame_of_a_session_counts_once_and_has_its_context(tmp_path):
    layouts.eye_3et(tmp_path, closed=())
    data = EyeTracking3ET(
        tmp_path, sessions=["7_4"], dt=10_000, shape=(48, 64), clip_frames=10, context_frames=6
    )
    assert sum(data.sample(n)[2].sum() for n in range(len(data.clips))) == 57
    events = kp.events.read(tmp_path / "train/7_4/7_4.h5")
    whole = kp.events.to_frames(
        events, 10_000, (480, 640), (48, 64), start_us=-60_000, frames=6 + 57
    )
    for number, clip in enumerate(data.clips):
        first = clip.start_us // 10_000
        np.testing.assert_array_equal(data.sample(number)[0], whole[first : first + 16])


def test_points_move_with_the_events(tmp_path):
    layouts.eye_3et(tmp_path)
    arguments = {"sessions": ["5_1"], "dt": 10_000, "clip_frames": 30}
    _, plain, weight = EyeTracking3ET(tmp_path, **arguments)[0]
    _, flipped, same = EyeTracking3ET(tmp_path, **arguments, augment=RandomFlip(1.0))[0]
    np.testing.assert_array_equal(weight, same)
    seen = weight > 0
    np.testing.assert_allclose(flipped[seen][:, 0], 639 - plain[seen][:, 0], atol=1e-3)
    np.testing.assert_array_equal(flipped[..., 1:], plain[..., 1:])


def test_the_test_split_needs_no_labels(tmp_path):
    layouts.eye_3et(tmp_path, ("1_1",), split="test")
    place = tmp_path / "test/1_1"
    (place / "label.txt").unlink()
    (place / "label_zeros.txt").write_text("(0, 0, 0)\n" * 57)
    data = EyeTracking3ET(tmp_path, "test", dt=10_000, partial=True, rows="20hz", clip_frames=57)
    assert data[0][2].sum() == 12
    assert "no labels" in str(data.summary(None))


def test_what_is_missing_is_said(tmp_path):
    with pytest.raises(DatasetNotFoundError, match="expected the folder train/"):
        EyeTracking3ET(tmp_path, dt=10_000)
    layouts.eye_3et(tmp_path)
    with pytest.raises(DatasetNotFoundError, match=r"31 sessions to train .*missing: 1_2, 1_3"):
        EyeTracking3ET(tmp_path, dt=10_000)
    with pytest.raises(DatasetNotFoundError, match=r"Missing: 9_9. The data set is at https"):
        EyeTracking3ET(tmp_path, dt=10_000, sessions=["5_1", "9_9"])
    (tmp_path / "train/5_1/label.txt").write_text("(1, 2, 0)\n(1, 2)\n")
    with pytest.raises(ValueError, match=r"label.txt, line 2: expected `\(x, y, closed\)`"):
        EyeTracking3ET(tmp_path, dt=10_000, sessions=["5_1"])


def test_the_splits_do_not_overlap():
    names = [set(names) for names in kp.datasets.eye_3et.SESSIONS.values()]
    assert [len(part) for part in names] == [31, 9, 12]
    assert len(set.union(*names)) == 52


def test_real_sessions(shared):
    folder = shared / "data/eye_3et"
    data = EyeTracking3ET(
        folder,
        sessions=["5_1", "7_3", "12_2"],
        dt=10_000,
        shape=(96, 128),
        context_frames=9,
        clip_frames=50,
    )
    summary = data.summary(None)
    assert summary.files == 3
    assert "2,266 labels" in str(summary)
    x, y, w = data[3]
    assert x.shape == (1, 59, 96, 128, 2)
    assert x.sum() > 1000
    assert (y[w > 0][:, :2] > 0).all()
    whole = EyeTracking3ET(folder, "val", partial=True, dt=10_000, rows="20hz", clip_frames=200)
    total = sum(whole.target(clip, whole.labels_of(clip))[1].sum() for clip in whole.clips)
    labels = kp.datasets.eye_3et.read_labels(folder / "train/7_4/label.txt")
    assert total == (labels[::5, 2] == 0).sum()
