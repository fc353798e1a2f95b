"""Binning against slow loops, and its laws."""

import math
import sys

import makers
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from keras_pleiades.events import EVENT_DTYPE, make_events, to_frames

module = sys.modules["keras_pleiades.events.to_frames"]


@st.composite
def recordings(draw, most=40):
    """Events, in any order, and a sensor that holds them."""
    height, width = draw(st.integers(1, 9)), draw(st.integers(1, 9))
    one = st.tuples(
        st.integers(-50, 400),
        st.integers(0, width - 1),
        st.integers(0, height - 1),
        st.booleans(),
    )
    return np.array(draw(st.lists(one, max_size=most)), EVENT_DTYPE), (height, width)


shapes = st.tuples(st.integers(1, 12), st.integers(1, 12))
methods = st.sampled_from([("count", False), ("volume", False), ("volume", True)])


def area_share(i, size, cell, new):
    """Part of pixel i, of width new / size in cells, that lies in the cell."""
    begin, end = i * new / size, (i + 1) * new / size
    return max(0.0, min(end, cell + 1) - max(begin, cell)) * size / new


def near_share(position, cell, cells):
    """Linear share of a cell; what would go beyond the first and last one goes to them."""
    position = min(max(position, 0), cells - 1)
    return max(0.0, 1 - abs(position - cell))


def slow(events, dt, sensor, shape, method, causal, start, count):
    out = np.zeros((count, *shape, 2))
    for t, x, y, p in events.tolist():
        if not start <= t < start + count * dt:
            continue
        frame = (t - start) / dt
        for k in range(count):
            if method == "count":
                time = float(math.floor(frame) == k)
            elif causal:
                low, part = divmod(frame, 1)
                time = (low == k) * (1 - part) + (min(low + 1, count - 1) == k) * part
            else:
                time = near_share(frame - 0.5, k, count)
            if time == 0:
                continue
            for row in range(shape[0]):
                for column in range(shape[1]):
                    if method == "count":
                        share = area_share(y, sensor[0], row, shape[0])
                        share *= area_share(x, sensor[1], column, shape[1])
                    else:
                        at = (y + 0.5) * shape[0] / sensor[0] - 0.5
                        share = near_share(at, row, shape[0])
                        at = (x + 0.5) * shape[1] / sensor[1] - 0.5
                        share *= near_share(at, column, shape[1])
                    out[k, row, column, int(p)] += time * share
    return out


@given(recordings(), st.integers(1, 120), shapes, methods, st.integers(-60, 60), st.integers(0, 6))
def test_equals_a_slow_loop(recording, dt, shape, method, start, count):
    events, sensor = recording
    name, causal = method
    found = to_frames(events, dt, sensor, shape, name, start, count, causal=causal)
    assert found.dtype == np.float32
    # float32 sums of at most 40 events: 40 roundings of 6e-8.
    np.testing.assert_allclose(
        found, slow(events, dt, sensor, shape, name, causal, start, count), atol=1e-5
    )


@given(recordings(), st.integers(1, 120), st.integers(-60, 60), st.integers(0, 6))
def test_count_at_full_size_is_exact(recording, dt, start, count):
    events, sensor = recording
    found = to_frames(events, dt, sensor, start_us=start, frames=count)
    assert np.array_equal(found, slow(events, dt, sensor, sensor, "count", False, start, count))


@given(recordings(), st.integers(1, 120), shapes, methods)
def test_mass_is_conserved(recording, dt, shape, method):
    events, sensor = recording
    name, causal = method
    found = to_frames(events, dt, sensor, shape, name, causal=causal)
    mass = found.sum(axis=(0, 1, 2), dtype=np.float64)
    on = int(events["p"].sum())
    np.testing.assert_allclose(mass, [len(events) - on, on], atol=1e-4)


@given(recordings(), st.integers(1, 60), shapes, st.integers(0, 5))
def test_pairs_of_frames_are_frames_of_twice_the_length(recording, dt, shape, pairs):
    events, sensor = recording
    fine = to_frames(events, dt, sensor, shape, start_us=-50, frames=2 * pairs)
    coarse = to_frames(events, 2 * dt, sensor, shape, start_us=-50, frames=pairs)
    np.testing.assert_allclose(fine[0::2] + fine[1::2], coarse, atol=1e-5)
    if shape == sensor:
        assert np.array_equal(fine[0::2] + fine[1::2], coarse)


@given(recordings(), st.integers(1, 60), shapes, st.integers(-60, 400))
def test_causal_frames_do_not_know_the_future(recording, dt, shape, now):
    events, sensor = recording
    past = events[events["t"] < now]
    both = [
        to_frames(e, dt, sensor, shape, "volume", start_us=-50, frames=8, causal=True)
        for e in (events, past)
    ]
    ended = max(0, min(8, (now + 50) // dt))  # frames that ended at or before now
    assert np.array_equal(both[0][:ended], both[1][:ended])


def test_volume_that_is_not_causal_does_know_the_future():
    events = make_events([12], [0], [0], [1])
    frames = to_frames(events, 10, (1, 1), method="volume", start_us=0, frames=2)
    assert frames[0, 0, 0, 1] == pytest.approx(0.3)


@given(recordings(), methods)
def test_the_callers_array_is_unchanged(recording, method):
    events, sensor = recording
    before = events.copy()
    events.setflags(write=False)
    name, causal = method
    out = to_frames(events, 25, sensor, (3, 3), name, causal=causal)
    assert np.array_equal(events, before)
    assert not np.shares_memory(out, events)


@given(recordings(), st.integers(1, 120))
def test_number_of_frames(recording, dt):
    events, sensor = recording
    kept = to_frames(events, dt, sensor)
    dropped = to_frames(events, dt, sensor, keep_last=False)
    reach = int(events["t"].max() - events["t"].min()) + 1 if len(events) else 0
    assert len(kept) == math.ceil(reach / dt)
    assert len(dropped) == reach // dt
    assert np.array_equal(kept[: len(dropped)], dropped)


def test_the_last_frame_is_whole_when_the_events_fill_it():
    events = make_events([0, 9], [0, 0], [0, 0], [1, 1])
    assert len(to_frames(events, 10, (1, 1), keep_last=False)) == 1
    assert len(to_frames(events, 10, (1, 1))) == 1


def test_no_events():
    none = np.empty(0, EVENT_DTYPE)
    assert to_frames(none, 10, (4, 5)).shape == (0, 4, 5, 2)
    assert to_frames(none, 10, (4, 5), frames=3).sum() == 0
    assert to_frames(none, 10, (4, 5), frames=3, method="volume").shape == (3, 4, 5, 2)


def test_large_counts_do_not_wrap():
    events = np.zeros(100_000, EVENT_DTYPE)  # beyond int16, at one pixel
    assert to_frames(events, 10, (2, 2))[0, 0, 0, 0] == 100_000


@pytest.mark.parametrize("ordered", [True, False])
def test_counts_beyond_what_float32_adds_by_ones(ordered, monkeypatch):
    # 2**24 + 1 ones do not add up in float32: they are added in goes of fewer. Here a go is 100.
    events = makers.random_events(1050)
    if not ordered:
        events = np.random.default_rng(0).permutation(events)
    expected = to_frames(events, 10_000, (128, 128))
    assert expected.sum() == 1050
    monkeypatch.setattr(module, "EXACT", 100)
    monkeypatch.setattr(module, "PIECE", 30)
    assert np.array_equal(to_frames(events, 10_000, (128, 128)), expected)


@pytest.mark.parametrize("method", ["count", "volume"])
def test_without_scipys_own_module(method, monkeypatch):
    events = makers.random_events(1000)
    expected = to_frames(events, 9_999, (128, 128), (50, 60), method)
    monkeypatch.setattr(module, "csc_matvec", None)
    assert np.array_equal(to_frames(events, 9_999, (128, 128), (50, 60), method), expected)


@pytest.mark.parametrize("method", ["count", "volume"])
def test_pieces_do_not_matter(method, monkeypatch):
    events = makers.random_events(1000)
    expected = to_frames(events, 9_999, (128, 128), (50, 60), method)
    monkeypatch.setattr(module, "PIECE", 7)
    np.testing.assert_allclose(
        to_frames(events, 9_999, (128, 128), (50, 60), method), expected, atol=1e-5
    )


def test_far_times_and_long_frames():
    start = 1_633_953_690_975_950  # a camera's clock since 1970
    events = make_events(
        [start, start + 10**10, start + 3 * 10**10], [0, 1, 0], [0, 0, 0], [1, 0, 1]
    )
    frames = to_frames(events, 10**10, (1, 2))
    assert frames[:, 0, :, :].tolist() == [
        [[0, 1], [0, 0]],
        [[0, 0], [1, 0]],
        [[0, 0], [0, 0]],
        [[0, 1], [0, 0]],
    ]
    volume = to_frames(events[1:2], 2 * 10**10, (1, 2), None, "volume", start, 2)
    assert volume[:, 0, 1, 0].tolist() == [1.0, 0.0]  # at the centre of frame 0


def test_other_fields_and_types_of_polarity():
    events = np.zeros(3, [("x", "i2"), ("y", "i2"), ("t", "i8"), ("p", "i1")])
    events["p"] = [-1, 1, 1]
    assert to_frames(events, 10, (1, 1))[0, 0, 0].tolist() == [1, 2]


def test_times_of_other_types():
    events = makers.random_events(100)
    unsigned = events.astype([(name, "<u8") for name in "txyp"])  # as 3ET+ has them
    expected = to_frames(events, 1000, (128, 128), start_us=-500, frames=9, method="volume")
    found = to_frames(unsigned, 1000, (128, 128), start_us=-500, frames=9, method="volume")
    assert np.array_equal(found, expected)
    seconds = events.astype([("t", "f8"), ("x", "u2"), ("y", "u2"), ("p", "?")])
    with pytest.raises(ValueError, match=r"whole microseconds.*float64"):
        to_frames(seconds, 1000, (128, 128))


@pytest.mark.parametrize("dt", [0.005, 0, -10, 2.5, float("nan"), float("inf"), True, None, "10"])
def test_dt_must_be_whole_microseconds(dt):
    with pytest.raises(ValueError, match=r"`dt` must be .* MICROSECONDS.*Received: dt="):
        to_frames(makers.random_events(3), dt, (128, 128))


@pytest.mark.parametrize("dt", [10, 10.0, np.int32(10), np.float32(10)])
def test_dt_may_be_any_whole_number(dt):
    assert to_frames(make_events([0, 19], [0, 0], [0, 0], [1, 1]), dt, (1, 1)).shape[0] == 2


def test_events_outside_the_sensor():
    events = make_events([0, 1], [5, 700], [5, 2], [1, 1])
    with pytest.raises(
        ValueError, match=r"x=700, y=2 lies outside.*\(height, width\).*\(480, 640\)"
    ):
        to_frames(events, 10, (480, 640))
    assert to_frames(events, 10, (480, 640), outside="drop").sum() == 1
    negative = np.zeros(1, [("x", "i2"), ("y", "i2"), ("t", "i8"), ("p", "i1")])
    negative["x"] = -1
    with pytest.raises(ValueError, match="x=-1"):
        to_frames(negative, 10, (2, 2))


def test_a_wrong_timestamp_does_not_take_all_memory():
    events = make_events([0, 2**62], [0, 0], [0, 0], [1, 1])
    with pytest.raises(ValueError, match=r"frames of 720x1280 take .* GB.*or a timestamp is wrong"):
        to_frames(events, 10, (720, 1280))
    assert to_frames(events, 10, (720, 1280), frames=1).sum() == 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"method": "sum"}, "`method` must be one of"),
        ({"outside": "clip"}, "`outside` must be one of"),
        ({"causal": True}, "`causal` belongs to method='volume'"),
        ({"sensor": (0, 5)}, "`sensor` must be"),
        ({"sensor": 5}, "`sensor` must be"),
        ({"shape": (2.5, 5)}, "`shape` must be"),
        ({"frames": -1}, "`frames` must not be negative"),
        ({"events": np.zeros((3, 4))}, "fields t, x, y and p"),
    ],
)
def test_bad_arguments(changed, message):
    arguments = {"events": makers.random_events(3), "dt": 10, "sensor": (128, 128), **changed}
    with pytest.raises(ValueError, match=message):
        to_frames(**arguments)
