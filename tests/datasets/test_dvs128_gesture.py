import numpy as np
import pytest

import keras_pleiades as kp
from keras_pleiades.datasets import DatasetNotFoundError, DVS128Gesture
from tests.datasets import layouts
from tests.datasets.test_base import slow_frames

DT = 100_000


def dvs128(folder, split="train", **kwargs):
    return DVS128Gesture(folder, split, **{"dt": DT, "partial": True, **kwargs})


def test_the_original_layout(tmp_path):
    layouts.dvs128_aedat(tmp_path)
    data = dvs128(tmp_path, context_frames=5)
    assert [(clip.class_id, clip.start_us) for clip in data.clips] == [
        (0, 1_000_000),
        (7, 3_000_123),
    ] * 2
    events = kp.events.read(tmp_path / "user01_led.aedat")
    for number, end in ((0, 2_000_000), (1, 4_500_000)):
        x, y = data.sample(number)
        start = data.clips[number].start_us
        expected = slow_frames(events[events["t"] < end], DT, start - 5 * DT, 20, (128, 128))
        np.testing.assert_array_equal(x, expected)
        np.testing.assert_array_equal(y, [data.clips[number].class_id] * 15)
    assert x[:5].any()  # the recording before the gesture
    assert not dvs128(tmp_path).sample(0)[0][10:].any()  # a gesture of 1 s, then nothing


def test_the_splits_are_the_files_lists(tmp_path):
    layouts.dvs128_aedat(tmp_path / "DvsGesture", train=3, test=2)
    train = {clip.path for clip in dvs128(tmp_path).clips}
    test = {clip.path for clip in dvs128(tmp_path, "test").clips}
    assert len(train) == 3
    assert len(test) == 2
    assert not train & test


def test_tonics_layout(tmp_path):
    layouts.dvs128_tonic(tmp_path)
    data = dvs128(tmp_path, context_frames=2)
    assert data.layout == "tonic"
    assert [clip.class_id for clip in data.clips] == [0, 7, 0, 7]
    table = np.load(tmp_path / "DVSGesture/ibmGestureTrain/user02_led/7.npy")
    expected = np.zeros((17, 128, 128, 2))
    for x, y, p, t in table:
        k = int((t - table[0, 3]) * 1000 // DT) + 2
        if k < 17:
            expected[k, int(y), int(x), int(p)] += 1
    x, y = data.sample(3)
    np.testing.assert_array_equal(x, expected)
    assert y.tolist() == [7] * 15


def test_spikingjellys_layout(tmp_path):
    layouts.dvs128_spikingjelly(tmp_path)
    data = dvs128(tmp_path)
    assert data.layout == "spikingjelly"
    assert [clip.class_id for clip in data.clips] == list(range(10))
    x, y = data.sample(4)
    events = layouts.gesture_events(4, seconds=2)
    expected = slow_frames(events, DT, events["t"][0], 15, (128, 128))
    np.testing.assert_array_equal(x, expected)
    assert y.tolist() == [4] * 15


def test_a_part_of_the_data_set_is_refused_unless_asked_for(tmp_path):
    layouts.dvs128_aedat(tmp_path)
    with pytest.raises(DatasetNotFoundError, match=r"98 recordings to train. Received: 2.*partial"):
        dvs128(tmp_path, partial=False)
    with pytest.raises(DatasetNotFoundError, match=r"24 recordings to test. Received: 1.*ibm"):
        dvs128(tmp_path, "test", partial=False)
    (tmp_path / "user01_led.aedat").unlink()
    with pytest.raises(DatasetNotFoundError, match=r"Missing in .*: user01_led.aedat \(1 files"):
        dvs128(tmp_path, partial=False)
    assert {clip.path for clip in dvs128(tmp_path).clips} == {str(tmp_path / "user02_led.aedat")}


def test_the_whole_data_set_is_accepted(tmp_path):
    layouts.dvs128_aedat(tmp_path, train=0, test=0)
    names = [f"user{n:02}_{n}" for n in range(98)]
    (tmp_path / "trials_to_train.txt").write_text("".join(f"{name}.aedat\n" for name in names))
    for name in names:
        (tmp_path / f"{name}.aedat").write_bytes(b"")
        (tmp_path / f"{name}_labels.csv").write_text("class,startTime_usec,endTime_usec\n3,1,9\n")
    assert len(dvs128(tmp_path, partial=False).clips) == 98


def test_what_is_missing_is_said(tmp_path):
    with pytest.raises(DatasetNotFoundError, match=r"there is nothing of that name.*ibm.ent.box"):
        dvs128(tmp_path / "nowhere")
    (tmp_path / "DvsGesture.tar.gz").write_bytes(b"")
    with pytest.raises(DatasetNotFoundError, match=r"DvsGesture.tar.gz is still packed: unpack it"):
        dvs128(tmp_path)
    with pytest.raises(ValueError, match="has the MD5 sum"):
        kp.datasets.verify_archive(tmp_path / "DvsGesture.tar.gz")


@pytest.mark.parametrize("row", ["12,1,2", "1,5,5", "1,2", "x,1,2", "0,1,2"])
def test_wrong_labels_are_named(tmp_path, row):
    layouts.dvs128_aedat(tmp_path)
    labels = tmp_path / "user02_led_labels.csv"
    labels.write_text(f"class,startTime_usec,endTime_usec\n1,5,6\n{row}\n")
    with pytest.raises(ValueError, match=f"user02_led_labels.csv, line 3: .* Received: '{row}'"):
        dvs128(tmp_path)


def test_the_hand_made_files(shared):
    """Label files of the real layout, made by others."""
    folder = shared / "data/recordings/dvs_gesture_layout"
    for path in sorted(folder.glob("*_labels.csv")):
        rows = kp.datasets.dvs128_gesture.read_labels(path)
        assert rows
        assert all(0 <= class_id <= 10 and start < end for class_id, start, end in rows)


def test_summary(tmp_path, capsys):
    layouts.dvs128_aedat(tmp_path)
    summary = dvs128(tmp_path).summary()
    assert capsys.readouterr().out == f"{summary}\n"
    assert summary.classes == {"hand clapping": 2, "arm roll": 2}
    assert summary.files == 2
    assert "2 of 'other' left out" in str(summary)
