"""Reading a short time out of a long recording, without reading the rest."""

import operator
import os

import numpy as np

from keras_pleiades.events.dtype import EVENT_DTYPE
from keras_pleiades.events.formats.recording import BLOCK_RECORDS
from keras_pleiades.events.read import open_recording, read

# A clock that wraps (a DAT counter does every 71 minutes) falls between two of so many places.
PROBES = 64


def read_slice(
    path: str | os.PathLike, start_us: int, end_us: int, disorder_us: int = 10_000
) -> np.ndarray:
    r"""Reads the events of `[start_us, end_us)`, however long the recording, in little time.

    In Prophesee DAT and HDF5, where events can be found by their number, the time is found by
    bisection: some 30 reads of one event, then the slice. In other formats the file is read from
    its beginning up to the slice's end.

    The result is that of `read(path, start_us, end_us)` as long as no event stands behind one that
    is more than `disorder_us` later; cameras exceed that seldom. Where the clock is seen to run
    backwards further than that, in places all over the file or in the slice, the whole is read.
    What is wrong with the rest of the file is not found: that is the price.

    Args:
        path: The recording.
        start_us: Leave out events earlier than this, on the file's own clock.
        end_us: Leave out events at this time and later.
        disorder_us: How far time may run backwards.

    Returns:
        Events as `read` gives them.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "three.csv")
        >>> _ = path.write_text("t,x,y,p\n10,3,0,1\n25,4,1,0\n90,4,1,0\n")
        >>> read_slice(path, 20, 90)["t"]
        array([25])
    """
    start_us, end_us = operator.index(start_us), operator.index(end_us)
    if disorder_us < 0:
        raise ValueError(f"`disorder_us` must not be negative. Received: disorder_us={disorder_us}")
    recording = open_recording(path)
    if recording.rows is None:
        blocks = _until(recording.blocks(), end_us + disorder_us)
        return _join(_cut(block, start_us, end_us) for block in blocks)
    with recording.rows() as rows:
        places = np.unique(np.linspace(0, rows.count - 1, PROBES, dtype=int)) if rows.count else []
        times = np.array([rows.time_at(int(i)) for i in places])
        if (np.diff(times) < -disorder_us).any():
            return read(path, start_us, end_us)
        # In front of a place whose time is `disorder_us` before the start, every time is before
        # the start; behind one whose time is `disorder_us` after the end, after the end.
        first = _bisect(rows, start_us - disorder_us)
        last = _bisect(rows, end_us + disorder_us)
        kept, latest = [], None
        for begin in range(first, last, BLOCK_RECORDS):
            block = rows.take(begin, min(begin + BLOCK_RECORDS, last))
            reached = np.maximum.accumulate(block["t"])
            if latest is not None:
                np.maximum(reached, latest, out=reached)
            if (reached - block["t"]).max() > disorder_us:
                return read(path, start_us, end_us)
            latest = reached[-1]
            kept.append(_cut(block, start_us, end_us))
    return _join(kept)


def _bisect(rows, t):
    """Returns a number whose time is at least `t` while the one in front is earlier."""
    low, high = 0, rows.count
    while low < high:
        middle = (low + high) // 2
        if rows.time_at(middle) < t:
            low = middle + 1
        else:
            high = middle
    return low


def _until(blocks, t):
    for block in blocks:
        yield block
        if len(block) and block["t"].max() >= t:
            return


def _cut(block, start_us, end_us):
    kept = (block["t"] >= start_us) & (block["t"] < end_us)
    return block if kept.all() else block[kept]


def _join(blocks):
    blocks = [block.view(np.uint8) for block in blocks if len(block)]
    return np.concatenate(blocks).view(EVENT_DTYPE) if blocks else np.empty(0, EVENT_DTYPE)
