"""Binning: events to frames."""

import math
import operator

import numpy as np

from keras_pleiades._checks import check_dt
from keras_pleiades.events.dtype import check_events, check_sensor
from keras_pleiades.events.resize import area_taps, bilinear_taps

# Events are binned so many at a time: what is computed for each then stays in the cache (measured:
# 1.5 times the speed of one pass), and memory beside the frames stays small.
PIECE = 1 << 16
# float32 counts exactly up to here; no more events than this are added one by one to a cell.
EXACT = 1 << 24
MAX_BYTES = 1 << 35


def to_frames(
    events: np.ndarray,
    dt: int,
    sensor: tuple[int, int],
    shape: tuple[int, int] | None = None,
    method: str = "count",
    start_us: int | None = None,
    frames: int | None = None,
    keep_last: bool = True,
    causal: bool = False,
    outside: str = "raise",
) -> np.ndarray:
    """Bins events into frames of `dt` microseconds, polarities apart.

    Frame k covers `[start + k * dt, start + (k + 1) * dt)`. Each event adds 1 in all to the frames,
    however it is spread:

    - `"count"`: all to the frame it falls into. Where `shape` differs from `sensor`, a pixel's
      event is shared among the cells that the pixel's square covers, by area; with a whole factor
      (128 to 64, say) that is one cell.
    - `"volume"`: linearly between the two frames, two rows and two columns whose centres are
      nearest, `max(0, 1 - |distance|)` along each axis (Zhu et al. 2019). At the borders of the
      picture, in front of the first frame's centre and behind the last one's, the nearest cell
      takes the whole.
    - `"volume"` with `causal=True`: an event at the part f of its frame gives 1 - f to it and f to
      the next one, so that no event changes a frame that ended before it. In the last frame, where
      there is no next one, it stays whole.

    Args:
        events: Events in any order; not changed.
        dt: Length of a frame in whole microseconds.
        sensor: (height, width) of the sensor.
        shape: (height, width) of the frames; the sensor's by default.
        method: "count" or "volume".
        start_us: Where the first frame begins; by default at the earliest event. Events before it
            are left out.
        frames: How many frames; by default as many as the events reach. Events after the last frame
            are left out.
        keep_last: Whether to keep a last frame that the events do not fill: its end lies after the
            latest event. Only asked where `frames` is not given.
        causal: Whether "volume" may look back only.
        outside: What to do with events outside the sensor: "raise" or "drop".

    Returns:
        float32 array (frames, height, width, 2); the last axis is OFF, ON.

    Example:
        >>> from keras_pleiades.events import make_events
        >>> events = make_events(t=[0, 4, 5, 12], x=[0, 0, 1, 1], y=[0, 0, 0, 0], p=[1, 1, 0, 1])
        >>> frames = to_frames(events, dt=10, sensor=(1, 2))
        >>> frames.shape
        (2, 1, 2, 2)
        >>> frames[0, 0].tolist()  # pixel 0: two ON events; pixel 1: one OFF event
        [[0.0, 2.0], [1.0, 0.0]]
        >>> to_frames(events, dt=10, sensor=(1, 2), keep_last=False).shape  # 12 us fill one frame
        (1, 1, 2, 2)
        >>> volume = to_frames(events[:1], 10, (1, 2), method="volume", start_us=-10, frames=3)
        >>> volume[:, 0, 0, 1].tolist()  # 0 us lies between the centres at -5 and 5 us
        [0.5, 0.5, 0.0]
    """
    dt = check_dt(dt)
    events = check_events(events)
    sensor = check_sensor(sensor)
    shape = sensor if shape is None else check_sensor(shape, "shape")
    for name, value, known in (
        ("method", method, ("count", "volume")),
        ("outside", outside, ("raise", "drop")),
    ):
        if value not in known:
            raise ValueError(f"`{name}` must be one of {known}. Received: {name}={value!r}")
    if causal and method != "volume":
        raise ValueError(
            "`causal` belongs to method='volume'; 'count' is causal in any case. "
            f"Received: causal={causal!r}, method={method!r}"
        )
    start, count = _span(events["t"], dt, start_us, frames, keep_last)
    size = 8 * count * shape[0] * shape[1]
    if size > MAX_BYTES:
        raise ValueError(
            f"{count} frames of {shape[0]}x{shape[1]} take {size / 2**30:.0f} GB. Give `frames`, a "
            f"longer `dt` (received: dt={dt}) or pieces from `iter_read`; or a timestamp is wrong"
        )
    taps = area_taps if method == "count" else bilinear_taps
    binner = _Binner(dt, sensor, shape, start, count, outside, method, causal, taps)
    out = np.zeros((count, *shape, 2), np.float32)
    for first in range(0, len(events), EXACT):
        part = out if first == 0 else np.zeros_like(out)
        for at in range(first, min(first + EXACT, len(events)), PIECE):
            binner.add(events[at : min(at + PIECE, first + EXACT)], part.reshape(-1))
        if first:
            out += part
    return out


def _span(t, dt, start_us, frames, keep_last):
    """Returns the time at which frames begin, and their number."""
    if start_us is None:
        start_us = t.min() if len(t) else 0
    start = operator.index(start_us)
    if frames is not None:
        frames = operator.index(frames)
        if frames < 0:
            raise ValueError(f"`frames` must not be negative. Received: frames={frames}")
        return start, frames
    reach = max(int(t.max()) + 1 - start, 0) if len(t) else 0
    return start, -(-reach // dt) if keep_last else reach // dt


class _Binner:
    """What is the same for all events: the cells and shares of each row, column and time."""

    def __init__(self, dt, sensor, shape, start, count, outside, method, causal, taps):
        self.dt, self.sensor, self.start, self.count = dt, sensor, start, count
        self.outside, self.method, self.causal = outside, method, causal
        self.cells = 2 * shape[0] * shape[1]  # numbers in a frame
        self.rows = [(_table(cell, 2 * shape[1]), s) for cell, s in taps(sensor[0], shape[0])]
        self.columns = [(_table(cell, 2), s) for cell, s in taps(sensor[1], shape[1])]

    def add(self, events, out):
        """Adds a piece of the events to the frames."""
        x, y, p, t = self._select(events)
        if not len(t):
            return
        times = self._time_taps(t)
        for row, row_share in self.rows:
            for column, column_share in self.columns:
                place = row(y)
                place += column(x)
                place += p
                share = _product(row_share, y, column_share, x)
                some = slice(None)
                if share is not None and np.count_nonzero(share) < 0.7 * len(share):
                    some = np.flatnonzero(share)
                    place, share = place[some], share[some]
                for frame_place, time_share in times:
                    value = np.float32(1) if share is None else share
                    if time_share is not None:
                        value = time_share[some] * value
                    np.add.at(out, place + frame_place[some], value)

    def _select(self, events):
        """Returns x, y, p and the time since the start, of the events inside."""
        x, y = events["x"], events["y"]
        height, width = self.sensor
        kept = None
        if _outside(x, width) or _outside(y, height):
            kept = (x >= 0) & (x < width) & (y >= 0) & (y < height)
            if self.outside == "raise":
                first = int(np.argmin(kept))
                raise ValueError(
                    f"an event at x={x[first]}, y={y[first]} lies outside the sensor. `sensor` is "
                    "(height, width); outside='drop' leaves such events out. "
                    f"Received: sensor={self.sensor}"
                )
        t = events["t"]
        end = self.start + self.count * self.dt
        if int(t.min()) < self.start or int(t.max()) >= end:
            inside = (t >= self.start) & (t < end)
            kept = inside if kept is None else kept & inside
        p = events["p"]
        if p.dtype != np.bool_:
            p = p > 0  # also from -1 and 1
        if kept is not None:
            x, y, p, t = x[kept], y[kept], p[kept], t[kept]
        since = t - self.start
        if 2 * (end - self.start) + self.dt < 1 << 32:
            since = since.astype(np.uint32)  # NumPy divides these three times as fast
        return x, y, p, since

    def _time_taps(self, since):
        """Returns pairs: where each event's frame begins in the output, and its share of it."""
        if self.method == "count":
            return [(self._frame_place(since // self.dt), None)]
        last = self.count - 1
        if self.causal:
            low, part = self._divide(since, self.dt)
            high = np.minimum(low + 1, last)
        else:
            # In half microseconds, so that a centre is a whole number for odd dt too.
            high, part = self._divide(2 * since + self.dt, 2 * self.dt)
            low = np.maximum(high, 1) - 1
            high = np.minimum(high, last)
        return [(self._frame_place(low), 1 - part), (self._frame_place(high), part)]

    def _divide(self, since, dt):
        whole = since // dt
        return whole, (since - whole * dt).astype(np.float32) * np.float32(1 / dt)

    def _frame_place(self, frame):
        return frame.astype(np.intp) * self.cells


def _table(cell, step):
    """Returns a function from coordinates to places; without a table where none is needed."""
    if np.array_equal(cell, np.arange(len(cell))):
        return lambda coordinate: coordinate.astype(np.intp) * step
    return (cell * step).take


def _outside(column, size):
    return column.max() >= size or column.min() < 0 if len(column) else False


def _product(row_share, y, column_share, x):
    if row_share is None and column_share is None:
        return None
    if row_share is None:
        return column_share[x]
    if column_share is None:
        return row_share[y]
    return row_share[y] * column_share[x]


def frames_in(duration_us: int, dt: int) -> int:
    """How many frames of `dt` begin in `duration_us`: the length `to_frames` gives by default.

    Example:
        >>> frames_in(1_500_000, 10_000), frames_in(1_500_001, 10_000)
        (150, 151)
    """
    return math.ceil(duration_us / check_dt(dt))
