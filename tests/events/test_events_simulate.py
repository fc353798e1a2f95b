"""The pixel model against closed forms and against a slow loop over pixels and events."""

import math

import numpy as np
import pytest

from keras_pleiades import events as kpe
from keras_pleiades.events import EventSimulator, PixelModel, iter_simulate, simulate


def ramp(logs, size=(1, 1)):
    """Frames of uniform luminance exp(logs)."""
    return np.exp(np.asarray(logs, float))[:, None, None] * np.ones(size)


def slow(levels, fps, on, off, refractory_us=0.0, leak=0.0):
    """One pixel, one event after the other: [(t, polarity), ...] of log-levels at frames."""
    span = 1e6 / fps
    found, reference, free = [], levels[0], -math.inf
    for k in range(1, len(levels)):
        start, end = (k - 1) * span, k * span
        slope = (levels[k] - levels[k - 1]) / span + leak
        now, v = start, levels[k - 1]
        reference_at = reference  # in terms of a level that leaks upwards
        while True:
            if free > now:  # held: the reference follows
                if free >= end:
                    reference_at = v + slope * (end - now)
                    break
                v += slope * (free - now)
                now, reference_at = free, v
            if slope == 0:
                break
            threshold = on if slope > 0 else -off
            t = now + (reference_at + threshold - v) / slope
            if t > end + 1e-9:
                break
            found.append((t, slope > 0))
            v, now = reference_at + threshold, t
            reference_at, free = v, t + refractory_us
        reference = reference_at - leak * span
    return found


@pytest.mark.parametrize("ratio", [0.25, 0.5, 0.83, 0.9, 1.0, 1.1, 1.19, 1.23, 2.0, 7.0, 50.0])
@pytest.mark.parametrize("threshold", [0.1, 0.23, 0.5])
def test_event_count_is_log_contrast_over_threshold(ratio, threshold):
    events = simulate(
        ramp([0, math.log(ratio)]), 100, dark=0, on_threshold=threshold, off_threshold=threshold
    )
    assert len(events) == math.floor(abs(math.log(ratio)) / threshold)
    assert (events["p"] == (ratio > 1)).all()


def test_dark_current_bounds_the_contrast():
    events = simulate(np.array([[[0.0]], [[1.0]]]), 100, dark=0.02, on_threshold=0.1)
    assert len(events) == math.floor(math.log(1.02 / 0.02) / 0.1)


def test_thresholds_apart():
    events = simulate(ramp([0, 1.01, 0]), 100, dark=0, on_threshold=0.5, off_threshold=0.2)
    # Up by 1.01: two ON. Down from the reference at 1.0 by 1.0: five OFF at 0.2 (in float32 the
    # last may fall a hair short).
    assert events["p"].sum() == 2
    assert (~events["p"]).sum() in (4, 5)


def test_a_linear_ramp_gives_equally_spaced_events():
    slope = 4.0  # log units a second
    events = simulate(ramp(slope * np.arange(101) / 100), 100, dark=0, on_threshold=0.25)
    expected = 0.25 / slope * 1e6 * np.arange(1, 17)
    assert len(events) in (15, 16)  # the last one falls on the last frame, within rounding
    assert abs(events["t"] - expected[: len(events)]).max() <= 2  # float32 and whole microseconds


@pytest.mark.parametrize("refractory_us", [0.0, 700.0, 5_000.0, 60_000.0])
@pytest.mark.parametrize("leak_hz", [0.0, 3.0])
def test_equals_the_slow_loop(refractory_us, leak_hz):
    rng = np.random.default_rng(3)
    levels = np.cumsum(rng.normal(size=(40, 6)) * 0.5, axis=0) / 2
    events = simulate(
        np.exp(levels)[:, None, :],
        200,
        dark=0,
        on_threshold=0.21,
        off_threshold=0.17,
        refractory_us=refractory_us,
        leak_hz=leak_hz,
    )
    for x in range(6):
        found = events[events["x"] == x]
        t, on = zip(
            *slow(levels[:, x], 200, 0.21, 0.17, refractory_us, leak_hz * 0.21e-6), strict=True
        )
        assert found["p"].tolist() == list(on)
        assert abs(found["t"] - np.array(t)).max() < 5  # float32: 1e-6 of a level over its slope


def test_refractory_time_bounds_the_rate():
    # 100 log units a second: 1000 events a second without, one per 1 + 4 ms with.
    slope, threshold, refractory = 100.0, 0.1, 4_000.0
    events = simulate(
        ramp(slope * np.arange(51) / 100 - 20),
        100,
        dark=0,
        on_threshold=threshold,
        refractory_us=refractory,
    )
    gaps = np.diff(events["t"])
    assert abs(gaps - (threshold / slope * 1e6 + refractory)).max() <= 3
    assert len(events) == 100  # 500 ms


def test_refractory_time_holds_for_noise_too():
    rng = np.random.default_rng(0)
    video = np.exp(np.cumsum(rng.normal(size=(100, 4, 4)) * 0.3, axis=0))
    events = simulate(
        video, 100, dark=0, shot_hz=100, refractory_us=3_000, hot_pixels=2, hot_hz=500, seed=1
    )
    assert len(events) > 1000
    for pixel in range(16):
        t = np.sort(events["t"][events["y"] * 4 + events["x"] == pixel])
        assert np.diff(t).min() >= 2_999  # whole microseconds, rounded down


def test_threshold_mismatch():
    camera = EventSimulator(
        (200, 200), PixelModel(0.3, 0.2, mismatch=0.05), seed=np.random.SeedSequence(5)
    )
    for found, mean in zip(camera.thresholds, (0.3, 0.2), strict=True):
        spread = 0.05 * mean
        # 40 000 draws: five standard errors of the mean, and of the deviation.
        assert abs(found.mean() - mean) < 5 * spread / 200
        assert abs(found.std() - spread) < 5 * spread / 200 / math.sqrt(2)
        assert found.min() > 0
    on, off = camera.thresholds
    assert abs(np.corrcoef(on.ravel(), off.ravel())[0, 1]) < 0.025
    other = EventSimulator((200, 200), PixelModel(0.3, 0.2, mismatch=0.05), seed=6)
    assert not np.array_equal(other.thresholds[0], on)


def test_mismatch_decides_each_pixels_count():
    model = PixelModel(mismatch=0.2, dark=0)
    camera = EventSimulator((20, 20), model, seed=7)
    camera(np.ones((20, 20)), 0)
    events = camera(np.full((20, 20), 5.0), 1000)
    counts = np.zeros((20, 20))
    np.add.at(counts, (events["y"], events["x"]), 1)
    np.testing.assert_array_equal(counts, np.floor(np.float32(math.log(5)) / camera.thresholds[0]))


def test_low_pass_step_response():
    cutoff, fps, threshold = 10.0, 1000, 0.02
    video = ramp([0.0, *[1.0] * 200])
    events = simulate(video, fps, dark=0, cutoff_hz=cutoff, on_threshold=threshold)
    t = np.arange(1, 201) * 1e-3
    level = 1 - np.exp(-2 * np.pi * cutoff * t)  # the closed form, exact at the frames
    counted = np.searchsorted(events["t"], t * 1e6 + 0.5)
    expected = level / threshold
    assert (counted <= expected + 1e-3).all()
    assert (counted > expected - 1 - 1e-3).all()


def test_low_pass_follows_the_light():
    def events_of(light, by_light):
        video = light * ramp([0.0, *[0.5] * 20])
        return simulate(
            video, 1000, dark=0, cutoff_hz=10, cutoff_by_light=by_light, on_threshold=0.02
        )

    bright, dim = (len(events_of(light, True)) for light in (1.0, 0.2))
    assert bright > 2 * dim
    assert len(events_of(1.0, False)) == len(events_of(0.2, False))
    # The closed form for the dim pixel: the cut-off is that of the new light, 0.2 * e^0.5 of it.
    level = 0.5 * (1 - math.exp(-2 * math.pi * 10 * 0.2 * math.exp(0.5) * 0.02))
    assert dim == math.floor(level / 0.02)


def test_leak_gives_on_events_at_its_rate():
    still = np.ones((501, 10, 10))
    events = simulate(still, 100, leak_hz=2.05, random_start=True, seed=2)  # 5 s
    assert events["p"].all()
    counts = np.bincount(events["y"].astype(int) * 10 + events["x"], minlength=100)
    # 10.25 periods, the first of up to two: references start anywhere between the thresholds.
    assert set(counts) <= {9, 10, 11}
    gaps = np.diff(np.sort(events["t"][(events["x"] == 3) & (events["y"] == 3)]))
    assert abs(gaps - 1e6 / 2.05).max() < 100  # float32: 1e-7 of a level, a drift of 0.4 a second
    assert not len(simulate(still[:40], 100, leak_hz=2.05))  # not before the first half second


@pytest.mark.parametrize("rate", [0.1, 3.0])
def test_shot_noise_is_poisson(rate):
    still = np.ones((101, 50, 50), np.float32)
    events = simulate(still, 50, shot_hz=rate, seed=4)  # 2 s
    expected = rate * 2 * 2500
    assert abs(len(events) - expected) < 5 * math.sqrt(expected)
    assert abs(events["p"].mean() - 0.5) < 5 * 0.5 / math.sqrt(expected)
    counts = np.bincount(events["y"].astype(int) * 50 + events["x"], minlength=2500)
    # The variance of a Poisson count is its mean m; its sample variance over n pixels has the
    # standard error sqrt((m + 2 m^2) / n).
    mean = rate * 2
    assert abs(counts.var() - mean) < 5 * math.sqrt((mean + 2 * mean**2) / 2500)
    halves = np.histogram(events["t"], 20, (0, 2e6))[0]
    assert abs(halves - expected / 20).max() < 5 * math.sqrt(expected / 20)


def test_hot_pixels():
    still = np.ones((1001, 20, 20), np.float32)
    events = simulate(still, 100, hot_pixels=7, hot_hz=50, seed=0)
    pixels = set(zip(events["x"].tolist(), events["y"].tolist(), strict=True))
    assert len(pixels) == 7
    # Seven rates uniform between 0 and 100 Hz: their mean has a deviation of 11.
    assert 0 < len(events) / 10 / 7 < 100


def test_times_ascend_and_lie_between_frames():
    rng = np.random.default_rng(1)
    video = rng.random((30, 16, 12))
    pieces = list(iter_simulate(video, 90, start_us=5_000, shot_hz=5, hot_pixels=3, seed=2))
    assert len(pieces) == 29
    for k, events in enumerate(pieces):
        assert events.dtype == kpe.EVENT_DTYPE
        assert (np.diff(events["t"]) >= 0).all()
        assert events["t"].min() >= math.floor(5_000 + k * 1e6 / 90)
        assert events["t"].max() <= 5_000 + (k + 1) * 1e6 / 90
        assert events["x"].max() < 12


def test_the_stream_is_the_whole():
    rng = np.random.default_rng(1)
    video = (rng.random((30, 16, 12)) * 255).astype(np.uint8)
    arguments = {"shot_hz": 5, "mismatch": 0.1, "leak_hz": 1, "cutoff_hz": 30}
    arguments |= {"refractory_us": 500, "random_start": True}
    whole = simulate(video, 90, seed=3, **arguments)
    pieces = list(iter_simulate((frame for frame in video), 90, seed=3, **arguments))
    assert len(whole) > 1000
    np.testing.assert_array_equal(whole, np.concatenate(pieces))
    np.testing.assert_array_equal(whole, simulate(video, 90, PixelModel(**arguments), seed=3))
    assert not np.array_equal(whole, simulate(video, 90, seed=4, **arguments))
    np.testing.assert_array_equal(video, (np.random.default_rng(1).random((30, 16, 12)) * 255) // 1)


def test_integers_are_parts_of_their_largest():
    video = np.random.default_rng(0).integers(0, 256, (5, 8, 8), dtype=np.uint8)
    np.testing.assert_array_equal(simulate(video, 10), simulate(video / np.float32(255), 10))


def test_random_start_is_stationary():
    # A slow ramp of a third of a threshold: a third of the pixels cross within it.
    events = simulate(
        ramp([0, 0.1], (100, 100)),
        10,
        dark=0,
        on_threshold=0.3,
        off_threshold=0.0001,
        random_start=True,
    )
    assert abs(len(events) / 1e4 - 1 / 3) < 5 * math.sqrt(2 / 9) / 100


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"fps": None}, "fps=None"),
        ({"fps": -1}, "fps=-1"),
        ({"on_threshold": 0}, "on_threshold=0"),
        ({"cutoff_hz": 0}, "cutoff_hz=0"),
        ({"shot_hz": -1}, "shot_hz=-1"),
        ({"hot_pixels": 5}, "hot_pixels=5"),
    ],
)
def test_wrong_arguments(arguments, message):
    with pytest.raises(ValueError, match=message):
        simulate(np.ones((3, 2, 2)), **{"fps": 10, **arguments})


def test_wrong_frames():
    with pytest.raises(ValueError, match=r"shape=\(4, 4, 3\)"):
        simulate(np.ones((2, 4, 4, 3)), 10)
    with pytest.raises(ValueError, match=r"shape=\(3, 3\)"):
        simulate(iter([np.ones((2, 2)), np.ones((3, 3))]), 10)
    for bad in (-1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="Luminance must be finite"):
            simulate(np.array([[[1.0]], [[bad]]]), 10)
    camera = EventSimulator((1, 1))
    camera(np.ones((1, 1)), 10)
    with pytest.raises(ValueError, match="t_us=10"):
        camera(np.ones((1, 1)), 10)


class TestVideoFile:
    @pytest.fixture
    def path(self, tmp_path):
        av = pytest.importorskip("av")
        path = tmp_path / "square.mp4"
        with av.open(path, "w") as container:
            stream = container.add_stream("mpeg4", rate=50)
            stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
            for k in range(12):
                image = np.full((48, 64, 3), 40, np.uint8)
                image[16:32, 4 + 2 * k : 20 + 2 * k] = 220
                for packet in stream.encode(av.VideoFrame.from_ndarray(image, format="rgb24")):
                    container.mux(packet)
            for packet in stream.encode():
                container.mux(packet)
        return path

    def test_a_square_moves_to_the_right(self, path):
        events = simulate(path)
        assert events["t"].min() > 0
        assert 200_000 < events["t"].max() <= 220_000  # eleven intervals of the file's own 50 fps
        on, off = events[events["p"]], events[~events["p"]]
        assert len(on) > 300
        assert on["x"].mean() > off["x"].mean() + 8  # bright edge ahead, dark behind
        assert len(simulate(path, fps=25)) == len(events)
        assert simulate(path, fps=25)["t"].max() > 400_000

    def test_errors(self, tmp_path):
        pytest.importorskip("av")
        with pytest.raises(FileNotFoundError, match=r"none\.mp4"):
            simulate(tmp_path / "none.mp4")
        (tmp_path / "text.mp4").write_text("no video")
        with pytest.raises(ValueError, match=r"text\.mp4"):
            simulate(tmp_path / "text.mp4")


def test_without_pyav(monkeypatch, tmp_path):
    monkeypatch.setitem(__import__("sys").modules, "av", None)
    with pytest.raises(ImportError, match=r"keras-pleiades\[video\]"):
        simulate(tmp_path / "a.mp4")
