"""Bins events as they arrive: arrays of any length in, complete frames out."""

import dataclasses
from collections.abc import Iterable, Iterator

import numpy as np

from keras_pleiades._checks import check_dt
from keras_pleiades.events import EVENT_DTYPE, to_frames
from keras_pleiades.events.dtype import check_events

# Frames that are handed on at once: a long silence must not take much memory.
_MOST_FRAMES = 64


@dataclasses.dataclass
class Bins:
    """Frames that have just become complete.

    Attributes:
        start_us: Where the first of them begins.
        frames: `(n, height, width, 2)`.
        segment: 0, and one more after each restart of the clock.

    Example:
        See `bin_online`, which yields them.
    """

    start_us: int
    frames: np.ndarray
    segment: int


def bin_online(
    source: Iterable,
    dt: int,
    sensor: tuple[int, int],
    shape: tuple[int, int] | None = None,
    method: str = "count",
    start_us: int | None = None,
    late_us: int = 100_000,
    gap_us: int = 60_000_000,
    outside: str = "raise",
) -> Iterator[Bins]:
    """Yield frames as soon as they are complete, from event arrays as they arrive.

    A frame is complete when an event at or after its end arrives, or when the source ends. Where
    an array ends within a frame does not matter. A silence gives empty frames. The frames are
    those that `keras_pleiades.events.to_frames` makes of all events at once (`causal=True` for
    `method="volume"`).

    Args:
        source: An iterable of event arrays: `iter_read`, a socket, a camera's driver. An item may
            also be a pair `(events, now_us)`, which says that all events before `now_us` have
            come, so that frames become complete in a silence too.
        dt: Bin size in microseconds.
        sensor: (height, width) of the sensor.
        shape: (height, width) of the frames; the sensor's by default.
        method: `"count"` or `"volume"`.
        start_us: Where the first frame begins; by default at the first event.
        late_us: An event that comes late, with a time before the current frame, counts in the
            current frame. One that is later than this means that the clock was set back: the
            frame is handed on as it is, and a new segment begins.
        gap_us: A jump forward by more than this is a new segment too, rather than empty frames.
        outside: What to do with events outside the sensor: `"raise"` or `"drop"`.

    Example:
        >>> import keras_pleiades as kp
        >>> events = kp.events.make_events(t=[0, 9, 31], x=[0, 1, 0], y=[0, 0, 0], p=[1, 1, 0])
        >>> for bins in bin_online([events[:1], events[1:]], dt=10, sensor=(1, 2)):
        ...     print(bins.start_us, bins.frames.sum((1, 2, 3)).tolist())
        0 [2.0, 0.0, 0.0]
        30 [1.0]
    """
    binner = _Binner(check_dt(dt), sensor, shape, method, outside)
    segment, latest = 0, None
    for item in source:
        events, now_us = item if isinstance(item, tuple) else (item, None)
        for part in _continuous(check_events(events), late_us, gap_us):
            first = int(part["t"][0])
            if latest is not None and not latest - late_us <= first <= latest + gap_us:
                yield from binner.rest(segment)
                segment, latest = segment + 1, None
            if latest is None:
                binner.begin(first if start_us is None or segment else start_us)
                latest = first
            latest = max(latest, int(part["t"].max()))
            binner.add(part)
            yield from binner.complete(latest, segment)
        if now_us is not None and latest is None and start_us is not None:
            binner.begin(start_us)
            latest = start_us
        if now_us is not None and latest is not None:
            latest = max(latest, int(now_us))
            yield from binner.complete(latest, segment)
    if latest is not None:
        yield from binner.rest(segment)


def _continuous(events, late_us, gap_us) -> list[np.ndarray]:
    """Cut an array where its clock jumps."""
    steps = np.diff(events["t"].astype(np.int64))
    cuts = np.flatnonzero((steps < -late_us) | (steps > gap_us)) + 1
    return [part for part in np.split(events, cuts) if len(part)]


class _Binner:
    def __init__(self, dt, sensor, shape, method, outside):
        self.dt = dt
        self._how = {
            "sensor": sensor,
            "shape": shape,
            "method": method,
            "causal": method == "volume",
            "outside": outside,
        }

    def begin(self, start: int):
        self.start = start  # of the frame that is not complete
        self._waiting = [np.zeros(0, EVENT_DTYPE)]  # events of that frame and of the one before

    def add(self, events):
        events = events.astype(EVENT_DTYPE)  # a copy
        events["t"] = np.maximum(events["t"], self.start)
        self._waiting.append(events)

    def complete(self, now: int, segment: int) -> Iterator[Bins]:
        """Hand on the frames that end at or before `now`."""
        while (count := min((now - self.start) // self.dt, _MOST_FRAMES)) > 0:
            # A volume shares an event with the next frame, so one frame more is made on each side.
            yield Bins(self.start, self._frames(count, after=1), segment)
            self.start += count * self.dt
            before = self.start - self.dt
            waiting = np.concatenate(self._waiting)
            self._waiting = [waiting[waiting["t"] >= before]]

    def rest(self, segment: int) -> Iterator[Bins]:
        """Hand on the frame that is not complete, if it has any event."""
        if any((events["t"] >= self.start).any() for events in self._waiting):
            yield Bins(self.start, self._frames(1, after=0), segment)

    def _frames(self, count, after):
        events = np.concatenate(self._waiting)
        events = events[events["t"] < self.start + count * self.dt]
        frames = to_frames(
            events, self.dt, start_us=self.start - self.dt, frames=1 + count + after, **self._how
        )
        return frames[1 : 1 + count]
