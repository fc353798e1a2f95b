"""What every reader returns, and what several of them share."""

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass

import numpy as np

from keras_pleiades.events.dtype import EventFormatError

# Records decoded at a time. Small enough that the passes over a block stay in the cache (measured:
# 1.7 to 2.2 times the speed of one block for all, but for EVT3, which is no faster), large enough
# to hide Python.
BLOCK_RECORDS = 1 << 16


@dataclass(frozen=True)
class Recording:
    """An opened recording: what the file says of itself, and its events in blocks.

    Attributes:
        format: The format's name, for people.
        sensor: (height, width) where the file knows it, else None.
        blocks: Called, gives event arrays of bounded size, in the order of the file.
        rows: Called, gives a context manager over the `Rows` of a format in which an event can be
            found by its number; None in others.
    """

    format: str
    sensor: tuple[int, int] | None
    blocks: Callable[[], Iterator[np.ndarray]]
    rows: Callable[[], AbstractContextManager["Rows"]] | None = None


@dataclass(frozen=True)
class Rows:
    """A recording's events by number, read where they are asked for and nowhere else.

    Attributes:
        count: How many there are.
        time_at: From an event's number to its time as it stands in the file: a counter that wraps
            is not made into a growing time.
        take: From two numbers to the events from the first up to the second.
    """

    count: int
    time_at: Callable[[int], int]
    take: Callable[[int, int], np.ndarray]


class Unwrap:
    """Makes a counter of a few bits into a 64-bit time, block by block.

    A fall of more than half the counter's range is a wrap. A rise of more than half the range after
    a wrap is a late event from before that wrap. Any smaller step is a step, also backwards.

    Example:
        >>> unwrap = Unwrap(bits=8)
        >>> unwrap(np.array([250, 255, 3, 254, 4])), unwrap(np.array([2, 200, 1]))
        (array([250, 255, 259, 254, 260]), array([258, 200, 257]))
    """

    def __init__(self, bits: int):
        self.bits, self.half = bits, 1 << (bits - 1)
        self.last, self.level = None, 0

    def __call__(self, counter: np.ndarray) -> np.ndarray:
        """Returns the times of the next block of counter values."""
        t = counter.astype(np.int64)
        if not len(t):
            return t
        first = t[0] if self.last is None else self.last
        self.last = t[-1].copy()
        steps = np.empty_like(t)
        np.subtract(t[1:], t[:-1], out=steps[1:])
        steps[0] = t[0] - first
        if self.level == 0 and steps.min() >= -self.half:
            return t
        walk = np.cumsum((steps < -self.half).astype(np.int64) - (steps > self.half))
        # The level never falls below 0: there, a great rise is a jump ahead and no undone wrap.
        level = self.level + walk
        level -= np.minimum(np.minimum.accumulate(level), 0)
        self.level = int(level[-1])
        t += level << self.bits
        return t


def record_blocks(path, start: int, dtype, what: str) -> Iterator[tuple[int, np.ndarray]]:
    """Yields (byte offset, records) from `start` to the end of a file of equal records."""
    dtype = np.dtype(dtype)
    left, odd = divmod(max(os.path.getsize(path) - start, 0), dtype.itemsize)
    with open(path, "rb") as file:
        file.seek(start)
        offset = start
        while left:
            records = np.fromfile(file, dtype, min(left, BLOCK_RECORDS))
            if not len(records):
                raise EventFormatError(path, offset, "the file became shorter while it was read")
            yield offset, records
            offset += records.nbytes
            left -= len(records)
    if odd:
        raise EventFormatError(
            path,
            offset,
            f"truncated: {odd} bytes are left over, {what} takes {dtype.itemsize}",
        )


def is_faery_error(error: BaseException) -> bool:
    """Whether faery gave up: with an exception, or with a Rust panic, which is no `Exception`."""
    return isinstance(error, Exception) or type(error).__name__ == "PanicException"


def check_inside(path, events, sensor, offset, unit="byte") -> None:
    """Refuses events outside the sensor that the file itself declares.

    Args:
        path: The file, for the message.
        events: The events.
        sensor: (height, width), or None for "not known".
        offset: Function from an event's number in `events` to its place in the file.
        unit: What that place counts.
    """
    if sensor is None or not len(events):
        return
    height, width = sensor
    if events["x"].max() < width and events["y"].max() < height:
        return
    first = int(np.argmax((events["x"] >= width) | (events["y"] >= height)))
    raise EventFormatError(
        path,
        offset(first),
        f"event at x={events['x'][first]}, y={events['y'][first]} lies outside the sensor of "
        f"{width}x{height} (width x height) that the file declares or its encoding allows",
        unit,
    )


def polarity_of(path, p: np.ndarray, offset, unit="byte") -> np.ndarray:
    """Returns polarity as bool from 0/1 or -1/1; refuses anything else."""
    if p.dtype == np.bool_:
        return p
    on = p == 1
    good = on | (p == 0)
    if p.dtype.kind in "if":
        good |= p == -1
    if not good.all():
        first = int(np.argmin(good))
        raise EventFormatError(
            path,
            offset(first),
            f"polarity must be 0 or 1 (or -1 for OFF). Received: {p[first]}",
            unit,
        )
    return on


def columns_to_events(path, t, x, y, p, offset, unit) -> np.ndarray:
    """Builds events from columns of any number type; refuses what would not fit."""
    from keras_pleiades.events.dtype import EVENT_DTYPE

    for name, column, top in (("t", t, 2**63 - 1), ("x", x, 65535), ("y", y, 65535)):
        kind = column.dtype.kind
        if kind not in "iuf":
            raise EventFormatError(path, offset(0), f"{name} is of type {column.dtype}", unit)
        low = -(2**63) if name == "t" else 0
        # Floats hold 2^63 exactly but not 2^63 - 1, hence the strict comparison.
        bad = (
            (column < low) | (column > top)
            if kind != "f"
            else ~((column >= low) & (column < float(top + 1)) & (column == np.floor(column)))
        )
        if bad.any():
            first = int(np.argmax(bad))
            need = "whole microseconds" if name == "t" else "whole pixels from 0 to 65535"
            raise EventFormatError(
                path, offset(first), f"{name} must be {need}. Received: {column[first]}", unit
            )
    events = np.empty(len(t), EVENT_DTYPE)
    events["t"], events["x"], events["y"] = t, x, y
    events["p"] = polarity_of(path, p, offset, unit)
    return events
