"""`read_slice` against `read`, and that it leaves the rest of the file alone."""

import os

import makers
import numpy as np
import pytest

from keras_pleiades.events import EventFormatError, read, read_slice
from keras_pleiades.events.formats import hdf5, prophesee_dat

WRITERS = ("dat", "hdf5", "hdf5-prophesee", "npz", "aedat3", "csv", "evt3")


@pytest.mark.parametrize("name", WRITERS)
def test_a_slice_is_what_read_gives(tmp_path, name):
    path = tmp_path / "recording"
    makers.WRITERS[name](path, makers.random_events())
    for start, end in ((0, 200_000), (50_000, 50_001), (-5, 10), (199_000, 10**6), (7, 7), (9, 3)):
        assert makers.same(read_slice(path, start, end), read(path, start, end))


@pytest.mark.parametrize("name", ["dat", "hdf5"])
@pytest.mark.parametrize("disorder", [0, 5_000, 60_000])
def test_disorder_up_to_the_limit_loses_nothing(tmp_path, name, disorder):
    """Also beyond the limit, where it is noticed: here it is everywhere."""
    path = tmp_path / "recording"
    events = makers.random_events(4000)
    late = events["t"] + np.random.default_rng(1).integers(0, disorder + 1, len(events))
    makers.WRITERS[name](path, events[np.argsort(late, kind="stable")])
    for start in range(0, 200_000, 23_456):
        expected = read(path, start, start + 10_000)
        assert makers.same(read_slice(path, start, start + 10_000), expected)


def test_a_counter_that_wraps_is_read_whole(tmp_path):
    path = tmp_path / "recording.dat"
    events = makers.random_events(3000)
    events["t"] += 2**32 - 100_000
    path.write_bytes(makers.dat(events))
    start = 2**32 - 20_000
    expected = read(path, start, start + 40_000)
    assert len(expected) > 100
    assert makers.same(read_slice(path, start, start + 40_000), expected)


def test_little_of_a_long_dat_file_is_read(tmp_path, monkeypatch):
    """An hour of 8 MB events, of which a clip of 0.2 s is read: some kilobytes."""
    path = tmp_path / "hour.dat"
    events = makers.random_events(10, height=720, width=1280)
    header = makers.dat(events[:0], header=b"% Width 1280\n% Height 720\n")
    records = np.zeros(1_000_000, "<u4,<u4")
    records["f0"] = np.linspace(0, 3600e6, len(records))
    path.write_bytes(header + records.tobytes())
    taken = []
    fromfile = np.fromfile
    monkeypatch.setattr(
        prophesee_dat.np, "fromfile", lambda *args: taken.append(args[-1]) or fromfile(*args)
    )
    found = read_slice(path, 1_800_000_000, 1_800_200_000)
    t = records["f0"].astype(np.int64)
    expected = np.count_nonzero((t >= 1_800_000_000) & (t < 1_800_200_000))
    assert len(found) == expected > 50
    assert sum(taken) < 1000  # events, of a million
    assert os.path.getsize(path) > 8e6


def test_little_of_a_long_hdf5_file_is_read(tmp_path, monkeypatch):
    path = tmp_path / "long.h5"
    makers.write_hdf5(path, makers.random_events(100_000, end_us=10_000_000))
    taken = []
    inner = hdf5._columns

    def columns(*args):
        place, total, take = inner(*args)
        return place, total, lambda rows: taken.append(rows.stop - rows.start) or take(rows)

    monkeypatch.setattr(hdf5, "_columns", columns)
    assert len(read_slice(path, 5_000_000, 5_100_000)) > 800
    assert sum(taken) < 2000


def test_damage_elsewhere_does_not_matter(tmp_path):
    path = tmp_path / "recording.dat"
    events = makers.random_events()
    path.write_bytes(makers.dat(events) + b"odd")
    with pytest.raises(EventFormatError):
        read(path)
    expected = events[(events["t"] >= 1000) & (events["t"] < 5000)]
    assert makers.same(read_slice(path, 1000, 5000), expected)


def test_wrong_arguments(tmp_path):
    path = tmp_path / "recording.csv"
    path.write_bytes(makers.csv(makers.random_events(5)))
    with pytest.raises(ValueError, match="`disorder_us` must not be negative"):
        read_slice(path, 0, 1, disorder_us=-1)
    with pytest.raises(TypeError):
        read_slice(path, 0.5, 1)
