"""The real recordings, where there are any."""

import zipfile

import numpy as np
import pytest
from test_events_formats import slow_evt3

from keras_pleiades.events import EventFormatError, info, read

COUNTS = {
    "evt2_sample.raw": 539_481,
    "evt3_sample.raw": 219_596,
    "evt3_sample.npy": 219_596,
    "dvs.aedat4": 111_954,
    "davis.aedat4": 117_667,
    "pendulum.aedat2.aedat": 160_245,
    "sample_ncars.dat": 2_009,
    "sample_nmnist.bin": 4_325,
}


@pytest.mark.parametrize("name", COUNTS)
def test_count(name, shared):
    path = shared / "recordings" / name
    events = read(path)
    assert len(events) == COUNTS[name] == info(path).events
    assert np.all(np.diff(events["t"]) >= 0)


def test_every_file_reads(shared):
    files = [p for p in (shared / "recordings").rglob("*") if p.is_file()]
    files = [p for p in files if not p.name.endswith("_labels.csv")]
    assert len(files) >= 13
    for path in files:
        assert len(read(path)), path


def test_evt3_sample(shared):
    """x, y and p equal the decoded file's; t equals it but for expelliarmus' rule about low times.

    `evt3_sample.npy` was decoded by expelliarmus, which adds 4096 us whenever the low time falls.
    In this recording it falls 11 times, twice with a new high time and nine times by 3 to 12 us, so
    that there 8.8 ms become 53.9 ms, though the high times in the file allow for 12 ms.
    """
    path = shared / "recordings" / "evt3_sample.raw"
    events, decoded = read(path), np.load(path.with_suffix(".npy"))
    for name in "xyp":
        assert np.array_equal(events[name], decoded[name])
    late = decoded["t"] - events["t"]
    assert np.all(late % 4096 == 0)
    assert late[0] == 0
    assert np.all(np.diff(late) >= 0)
    data = path.read_bytes()
    words = np.frombuffer(data[data.index(b"system_ID 48\n") + 13 :], "<u2").tolist()
    assert np.array_equal(events["t"], [t for t, *_ in slow_evt3(words)])
    rule = slow_evt3(words, low_fall_is_overflow=True)
    assert np.array_equal(decoded["t"], [t for t, *_ in rule])


@pytest.mark.parametrize(
    ("name", "count"), [("5_1", 595_863), ("7_3", 510_944), ("7_4", 377_288), ("12_2", 441_452)]
)
def test_eye_sessions(name, count, shared):
    report = info(shared / "eye_3et" / "train" / name / f"{name}.h5")
    assert report.events == count
    assert report.extent == (480, 640)
    assert report.format == "HDF5 (events)"


def test_labels_are_no_recording(shared):
    for path in (shared / "recordings" / "dvs_gesture_layout").glob("*_labels.csv"):
        with pytest.raises(EventFormatError, match="format not known"):
            read(path)


def test_nmnist_samples(shared, tmp_path):
    with zipfile.ZipFile(shared / "nmnist_1000.zip") as archive:
        names = [name for name in archive.namelist() if name.endswith(".bin")]
        for name in names[::20]:
            path = tmp_path / "sample"
            path.write_bytes(archive.read(name))
            events = read(path)
            assert events["x"].max() < 34
            assert events["y"].max() < 34
            assert len(events) == path.stat().st_size // 5
