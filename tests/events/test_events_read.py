"""`read`, `iter_read`, `info`, `write`: what holds for every format."""

import os
import pickle
import subprocess
import sys
from pathlib import Path

import makers
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from makers import same

import keras_pleiades
from keras_pleiades.events import (
    EVENT_DTYPE,
    EventFormatError,
    info,
    iter_read,
    make_events,
    read,
    write,
)

times = st.lists(st.integers(-(10**6), 10**6), min_size=0, max_size=60)


def events_at(t):
    events = makers.random_events(len(t))
    events["t"] = t
    return events


def joined(pieces):
    pieces = list(pieces)
    assert all(len(piece) for piece in pieces)
    return np.concatenate([np.empty(0, EVENT_DTYPE), *pieces])


@pytest.mark.parametrize("name", sorted(makers.WRITERS))
def test_pieces_joined_are_the_whole(name, tmp_path):
    makers.WRITERS[name](tmp_path / "recording", makers.random_events())
    whole = read(tmp_path / "recording")
    for duration in (1, 777, 10_000, 10**9):
        assert same(joined(iter_read(tmp_path / "recording", duration_us=duration)), whole)


@given(times, st.integers(1, 10**5), st.integers(1, 20), st.booleans())
def test_pieces_joined_are_the_whole_in_any_order(tmp_path_factory, t, duration, most, ordered):
    t = sorted(t) if ordered else t
    path = tmp_path_factory.mktemp("pieces") / "recording.csv"
    write(path, events_at(t))
    whole = read(path)
    pieces = list(iter_read(path, duration_us=duration, max_events=most))
    assert same(joined(pieces), whole)
    assert all(len(piece) <= most for piece in pieces)
    if ordered:  # each piece lies in one window
        for piece in pieces:
            windows = (piece["t"] - t[0]) // duration
            assert windows.min() == windows.max()


def test_windows_count_from_the_start_asked_for(tmp_path):
    write(tmp_path / "a.csv", events_at([3, 9, 10, 14, 95]))
    pieces = iter_read(tmp_path / "a.csv", duration_us=10, start_us=0)
    assert [piece["t"].tolist() for piece in pieces] == [[3, 9], [10, 14], [95]]


def test_a_window_over_many_blocks(tmp_path, monkeypatch):
    monkeypatch.setattr("keras_pleiades.events.formats.recording.BLOCK_RECORDS", 13)
    events = makers.random_events(500)
    makers.WRITERS["dat"](tmp_path / "a", events)
    pieces = list(iter_read(tmp_path / "a", duration_us=50_000, start_us=0))
    assert len(pieces) == 4
    assert same(joined(pieces), events)


def test_pieces_are_the_callers_to_change(tmp_path):
    write(tmp_path / "a.npz", events_at([1, 2, 30]))
    for piece in iter_read(tmp_path / "a.npz", duration_us=10):
        piece["t"] = 0
    read(tmp_path / "a.npz")["t"] = 0


@given(times, st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_start_and_end(tmp_path_factory, t, start, end):
    path = tmp_path_factory.mktemp("cut") / "recording.csv"
    write(path, events_at(t))
    found = read(path, start_us=start, end_us=end)["t"].tolist()
    assert found == [one for one in t if start <= one < end]
    assert read(path, end_us=end)["t"].tolist() == [one for one in t if one < end]


@pytest.mark.parametrize("duration", [0, -1, 0.005, float("nan"), True, "10"])
def test_duration_must_be_whole_microseconds(duration, tmp_path):
    with pytest.raises(ValueError, match=r"duration_us.*MICROSECONDS"):
        iter_read(tmp_path / "any", duration_us=duration)


def test_stop_at_the_damage(tmp_path):
    events = makers.random_events(100)
    (tmp_path / "cut").write_bytes(makers.dat(events)[:-3])
    with pytest.raises(EventFormatError, match="truncated: 5 bytes are left over") as caught:
        read(tmp_path / "cut")
    assert caught.value.offset == len(makers.dat(events)) - 8
    with pytest.warns(UserWarning, match="truncated"):
        assert same(read(tmp_path / "cut", on_error="stop"), events[:-1])
    pieces = iter_read(tmp_path / "cut", duration_us=1000, on_error="stop")
    with pytest.warns(UserWarning, match="truncated"):
        assert same(joined(pieces), events[:-1])
    with pytest.raises(ValueError, match="on_error"):
        read(tmp_path / "cut", on_error="ignore")


def test_the_error_can_be_sent_between_processes():
    error = EventFormatError("a.raw", 7, "no good", "line")
    again = pickle.loads(pickle.dumps(error))
    assert (str(again), again.offset) == ("a.raw, line 7: no good", 7)


def test_missing_files_and_folders_keep_their_own_errors(tmp_path):
    with pytest.raises(FileNotFoundError):
        read(tmp_path / "nowhere")
    with pytest.raises(OSError):
        read(tmp_path)


@given(st.lists(st.tuples(st.integers(0, 2**40), *[st.integers(0, 2**15 - 1)] * 2, st.booleans())))
@pytest.mark.parametrize("ending", [".npz", ".csv", ".aedat"])
def test_write_then_read_gives_the_same_events(tmp_path_factory, ending, rows):
    path = tmp_path_factory.mktemp("written") / f"recording{ending}"
    events = np.array(rows, EVENT_DTYPE)
    write(path, events)
    assert same(read(path), events)
    assert os.listdir(path.parent) == [path.name]  # nothing left beside it


@pytest.mark.parametrize("name", sorted(makers.WRITERS))
@pytest.mark.parametrize("ending", [".npz", ".csv", ".aedat"])
def test_convert(name, ending, tmp_path):
    makers.WRITERS[name](tmp_path / "a", makers.random_events(300))
    write(tmp_path / f"b{ending}", read(tmp_path / "a"))
    assert same(read(tmp_path / f"b{ending}"), read(tmp_path / "a"))


def test_write_refuses_what_would_change(tmp_path):
    events = make_events(t=[-5], x=[40_000], y=[0], p=[1])
    with pytest.raises(ValueError, match=r"t from 0 to .*write .npz instead"):
        write(tmp_path / "a.aedat", events)
    with pytest.raises(ValueError, match=r"must end in .npz, .csv, .aedat"):
        write(tmp_path / "a.raw", events)
    with pytest.raises(ValueError, match="fields t, x, y and p"):
        write(tmp_path / "a.npz", np.zeros((3, 4)))
    wide = np.zeros(2, [("t", "i8"), ("x", "i8"), ("y", "i8"), ("p", "i8")])
    wide["x"][1] = 70_000
    with pytest.raises(ValueError, match=r"events\['x'\].*70000.* in row 1"):
        write(tmp_path / "a.npz", wide)
    assert os.listdir(tmp_path) == []  # and leaves nothing behind


def test_write_leaves_the_old_file_when_it_fails(tmp_path):
    write(tmp_path / "a.aedat", events_at([1, 2]))
    with pytest.raises(ValueError):
        write(tmp_path / "a.aedat", events_at([-1]))
    assert len(read(tmp_path / "a.aedat")) == 2


def test_info(tmp_path):
    makers.WRITERS["dat"](tmp_path / "a", make_events([5, 1_000_004], [3, 100], [2, 9], [1, 0]))
    report = info(tmp_path / "a")
    assert report.sensor == (128, 128)
    assert report.extent == (10, 101)
    assert (report.events, report.start_us, report.end_us) == (2, 5, 1_000_004)
    assert report.duration_us == 1_000_000
    assert report.rate_hz == 2.0
    assert report.on_fraction == 0.5
    assert "50.0% ON" in str(report)


def test_reading_needs_neither_keras_nor_matplotlib():
    # The package itself may import Keras; its rooms for events and pictures must not.
    folder = str(Path(keras_pleiades.__file__).parent)
    code = (
        "import sys, types; house = types.ModuleType('keras_pleiades');"
        f"house.__path__ = [{folder!r}];"
        "sys.modules['keras_pleiades'] = house; import keras_pleiades.events, keras_pleiades.plots;"
        "print([m for m in ('keras', 'matplotlib', 'PIL', 'tensorflow') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert result.stdout.strip() == b"[]"
