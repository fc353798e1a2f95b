"""From arriving events to answers: whatever the arrays, bins and answers are those of the whole."""

import itertools

import hypothesis
import numpy as np
import pytest
from hypothesis import strategies as st

import keras_pleiades as kp
from keras_pleiades.events import EVENT_DTYPE, make_events, to_frames
from keras_pleiades.streaming import bin_online, run
from tests.streaming.test_stream import check, small_model

SENSOR = (8, 9)
DT = 10_000


def some_events(count, duration_us, seed=0, start=0):
    rng = np.random.default_rng(seed)
    t = np.sort(rng.integers(start, start + duration_us, count))
    x, y = rng.integers(0, SENSOR[1], count), rng.integers(0, SENSOR[0], count)
    return make_events(t, x, y, rng.integers(0, 2, count))


def join(bins):
    bins = list(bins)
    for one, other in itertools.pairwise(bins):
        if one.segment == other.segment:
            assert other.start_us == one.start_us + len(one.frames) * DT
    return np.concatenate([part.frames for part in bins])


@hypothesis.settings(max_examples=40, deadline=None)
@hypothesis.given(
    cuts=st.lists(st.integers(0, 500), max_size=20),
    method=st.sampled_from(["count", "volume"]),
    shape=st.sampled_from([None, (5, 4)]),
    duration=st.sampled_from([9_000, 300_000, 5_000_000]),
)
def test_bins_do_not_depend_on_how_events_arrive(cuts, method, shape, duration):
    events = some_events(500, duration)
    before = events.copy()
    arrays = np.split(events, sorted(cuts))
    found = join(bin_online(arrays, DT, SENSOR, shape, method))
    causal = {"causal": True} if method == "volume" else {}
    expected = to_frames(events, DT, SENSOR, shape, method, **causal)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    np.testing.assert_array_equal(events, before)


def test_a_frame_comes_as_soon_as_it_is_complete():
    arrived = []

    def source():
        for t in (0, 9_999, 10_000, 25_000):
            arrived.append(t)
            yield make_events([t], [0], [0], [1])

    bins = bin_online(source(), DT, SENSOR)
    assert next(bins).frames.sum() == 2
    assert arrived == [0, 9_999, 10_000]


def test_a_source_may_say_what_time_it_is():
    empty = np.zeros(0, EVENT_DTYPE)
    events = make_events([3_000], [0], [0], [1])
    source = [(events, 4_000), (empty, 29_999), empty, (empty, 30_000)]
    bins = list(bin_online(source, DT, SENSOR, start_us=0))
    assert [(part.start_us, len(part.frames)) for part in bins] == [(0, 2), (20_000, 1)]
    assert join(bins).sum() == 1
    silent = list(bin_online([(empty, 20_000)], DT, SENSOR, start_us=0))
    assert [len(part.frames) for part in silent] == [2]


def test_late_events_count_now_and_nothing_is_lost():
    first, late = some_events(50, 30_000), some_events(7, 5_000, start=20_000)
    arrays = [first, some_events(10, 10_000, start=50_000), late]
    found = join(bin_online(arrays, DT, SENSOR, start_us=0))
    assert found.sum() == 67
    assert found[:3].sum() == 50
    assert found[5].sum() == 17


@pytest.mark.parametrize("within_an_array", [False, True])
def test_a_clock_that_starts_again_or_jumps_begins_a_segment(within_an_array):
    parts = [
        some_events(100, 1_000_000, start=5_000_000),
        some_events(100, 1_000_000, start=0),
        some_events(100, 1_000_000, start=10**12),
    ]
    source = [np.concatenate(parts)] if within_an_array else parts
    bins = list(bin_online(source, DT, SENSOR))
    for segment, part in enumerate(parts):
        found = [b for b in bins if b.segment == segment]
        assert found[0].start_us == part["t"][0]
        np.testing.assert_array_equal(join(found), to_frames(part, DT, SENSOR))


def test_a_long_silence_is_empty_frames_a_few_at_a_time():
    events = make_events([0, 50_000_000], [0, 0], [0, 0], [1, 1])
    bins = list(bin_online([events], DT, SENSOR))
    assert max(len(part.frames) for part in bins) <= 64
    assert len(join(bins)) == 5_001
    assert join(bins).sum() == 2


@pytest.fixture(scope="module")
def model():
    return small_model()


def test_answers_are_those_of_the_whole_recording(model, tmp_path):
    events = some_events(3_000, 400_000, start=77)
    kp.events.write(tmp_path / "recording.aedat", events)
    frames = model.to_frames(events, SENSOR)
    expected = model.predict(frames[None], verbose=0)[0]
    for source in ([events], np.split(events, 40), tmp_path / "recording.aedat"):
        answers = list(run(model, source, SENSOR))
        assert [a.t_us for a in answers] == [events["t"][0] + DT * (i + 1) for i in range(40)]
        assert [a.ready for a in answers] == [i >= model.context_frames for i in range(40)]
        check(np.stack([a.output for a in answers[model.context_frames :]]), expected)
        assert all(a.latency_s >= a.model_s > 0 and a.binning_s > 0 for a in answers)


def test_silence_repeats_what_the_network_says_of_silence(model):
    events = np.concatenate(
        [some_events(500, 100_000), some_events(500, 100_000, start=30_000_000)]
    )
    answers = list(run(model, [events], SENSOR))
    assert len(answers) == 3_010
    frames = model.to_frames(events, SENSOR)
    expected = model.predict_clip(frames[None], block=301)[0]
    check(np.stack([a.output for a in answers[model.context_frames :]]), expected)


def test_soak(model):
    """Random arrays, gaps, bursts, empty bins, a camera that restarts: nothing is lost."""
    rng = np.random.default_rng(0)
    now, arrays, segments = 0, [], 1
    for _ in range(120):
        kind = rng.choice(
            ["some", "gap", "burst", "empty", "restart"], p=[0.6, 0.1, 0.05, 0.2, 0.05]
        )
        if kind == "empty":
            arrays.append(np.zeros(0, EVENT_DTYPE))
            continue
        if kind == "restart" and now > 200_000:
            now, segments = 0, segments + 1
        duration = {"gap": 1, "burst": 1_000}.get(kind, int(rng.integers(1, 60_000)))
        now += int(rng.integers(1, 3_000_000)) if kind == "gap" else 1
        arrays.append(some_events(200_000 if kind == "burst" else 300, duration, now, start=now))
        now = int(arrays[-1]["t"][-1])
    total = sum(map(len, arrays))
    mass = sum(part.frames.sum(dtype="float64") for part in bin_online(arrays, DT, SENSOR))
    assert mass == total
    answers = list(run(model, arrays, SENSOR))
    assert answers[-1].segment == segments - 1
    for one, other in itertools.pairwise(answers):
        assert np.isfinite(other.output).all()
        if one.segment == other.segment:
            assert other.t_us == one.t_us + DT


def test_errors_say_what_to_do(model, tmp_path):
    with pytest.raises(ValueError, match="sensor=\\(height, width\\)"):
        next(run(model, [some_events(3, 10)]))
    kp.events.write(tmp_path / "unknown.csv", some_events(3, 10))
    with pytest.raises(ValueError, match=r"unknown\.csv.*sensor"):
        next(run(model, tmp_path / "unknown.csv"))
    with pytest.raises(FileNotFoundError, match="absent"):
        next(run(model, tmp_path / "absent.raw", SENSOR))
