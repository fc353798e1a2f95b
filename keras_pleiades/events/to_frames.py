"""Binning: events to frames."""

import operator

import numpy as np
from scipy.sparse import csc_array

from keras_pleiades._checks import check_dt
from keras_pleiades.events.dtype import check_events, check_sensor
from keras_pleiades.events.shares import Shares

# Events are prepared so many at a time: what is computed for each then stays in the cache
# (measured: 1.5 times the speed of one pass).
PIECE = 1 << 16
# Shares that are added in one go: 32 MB of them. float32 counts exactly up to 2^24, so that no cell
# can stop counting within one go.
ENTRIES = 1 << 22
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
    shares = Shares(dt, sensor, shape, start, count, outside, method, causal)
    adder = _Adder(count, shares.cells, shares.index, len(events) * shares.most)
    for at in range(0, len(events), PIECE):
        for index, share in shares.of(events[at : at + PIECE]):
            adder.add(index, share)
    return adder.total().reshape(count, *shape, 2)


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


class _Adder:
    """Adds shares to cells.

    A sparse matrix of one column, times 1, is a vector to which compiled code has added every
    entry: measured 1.5 times as fast as `np.add.at`, and in 32-bit numbers.
    """

    def __init__(self, frames, cells, dtype, most):
        self.frames, self.cells = frames, cells
        size = max(min(ENTRIES, most), PIECE)
        self.index, self.share = np.empty(size, dtype), np.empty(size, np.float32)
        self.held, self.out = 0, None

    def add(self, index, share):
        """Takes places in the output, and what to add there."""
        end = self.held + len(index)
        if end > len(self.index):
            self._flush(last=False)
            end = len(index)
        self.index[self.held : end] = index
        self.share[self.held : end] = share
        self.held = end

    def total(self):
        """Returns the sums, (frames * cells,)."""
        self._flush(last=True)
        return self.out

    def _flush(self, last):
        index, share = self.index[: self.held], self.share[: self.held]
        self.held = 0
        if last and self.out is None:
            self.out = _scatter(index, share, self.frames * self.cells)
            return
        if self.out is None:
            self.out = np.zeros(self.frames * self.cells, np.float32)
        if not len(index):
            return
        # Only the frames that these events touch: few, where events come in order.
        begin = int(index.min()) // self.cells * self.cells
        end = (int(index.max()) // self.cells + 1) * self.cells
        self.out[begin:end] += _scatter(index - index.dtype.type(begin), share, end - begin)


def _scatter(index, share, size):
    if not size:
        return np.zeros(0, np.float32)
    column = csc_array((share, index, np.array([0, len(index)])), shape=(size, 1))
    return column @ np.ones(1, np.float32)
