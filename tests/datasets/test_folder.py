import numpy as np
import pytest

import keras_pleiades as kp
from keras_pleiades.datasets import DatasetNotFoundError, RecordingFolder
from tests.datasets import layouts
from tests.datasets.test_base import slow_frames


def folder(path, **kwargs):
    return RecordingFolder(path, **{"duration_us": 100_000, "dt": 20_000, **kwargs})


def test_rows_become_clips(tmp_path):
    layouts.csv_folder(tmp_path)
    data = folder(tmp_path, context_frames=1)
    assert data.class_names == ("clap", "wave")
    assert data.sensor == (128, 128)
    events = [kp.events.read(tmp_path / f"{n}.aedat") for n in range(4)]
    starts = [events[0]["t"].min(), 50_000, 20_000, 0]
    ends = [10**9, 10**9, 90_000, 10**9]
    for n in range(4):
        x, y = data.sample(n)
        kept = events[n][events[n]["t"] < ends[n]]
        expected = slow_frames(kept, 20_000, int(starts[n]) - 20_000, 6, (128, 128))
        np.testing.assert_array_equal(x, expected)
        assert y.tolist() == [[1, 0, 1, 0][n]] * 5


def test_classes_by_number_and_by_name(tmp_path):
    layouts.csv_folder(tmp_path)
    (tmp_path / "labels.csv").write_text("label,file\n10,0.aedat\n9,1.aedat\n")
    assert folder(tmp_path).class_names == ("9", "10")
    only = folder(tmp_path, classes=("10",))
    assert [clip.class_id for clip in only.clips] == [0]
    assert "1 rows of other classes left out" in str(only.summary(None))


def test_what_is_wrong_is_said(tmp_path):
    with pytest.raises(DatasetNotFoundError, match="Expected a CSV file of labels"):
        folder(tmp_path)
    layouts.csv_folder(tmp_path)
    (tmp_path / "3.aedat").unlink()
    with pytest.raises(DatasetNotFoundError, match=r"3.aedat \(1 files\)"):
        folder(tmp_path)
    labels = tmp_path / "labels.csv"
    for text, message in (
        ("file,class\n0.aedat,1\n", "expected the columns file,label"),
        ("file,label,start_us\n0.aedat,1,soon\n", "line 2: expected a file, a label and whole"),
        ("file,label\n", "has no rows"),
    ):
        labels.write_text(text)
        with pytest.raises(ValueError, match=message):
            folder(tmp_path)
    (tmp_path / "a.csv").write_bytes(b"t,x,y,p\n1,2,3,1\n")
    labels.write_text("file,label\na.csv,1\n")
    with pytest.raises(ValueError, match="does not say the size of its sensor: give `sensor=`"):
        folder(tmp_path)
