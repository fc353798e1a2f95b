"""N-MNIST and N-Caltech101 `.bin`: 5 bytes an event and no header at all.

x, y, then 1 bit of polarity and 23 bits of microseconds, big-endian. An event with y = 240 is no
event: it adds 2**13 microseconds to every time after it.
"""

import string

import numpy as np

from keras_pleiades.events.dtype import EventFormatError, make_events
from keras_pleiades.events.formats.recording import Recording, Unwrap, record_blocks

OVERFLOW_ROW = 240
RECORD = np.dtype("(5,)u1")
WHAT = "an N-MNIST event"
_TEXT = set(string.printable.encode())


def matches(head: bytes, size: int) -> bool:
    """Whether the first records look like events: rows in range, times that seldom fall."""
    records = np.frombuffer(head[: len(head) // 5 * 5], np.uint8).reshape(-1, 5)
    if not len(records) or set(head) <= _TEXT:
        return False
    t = _times(records)
    falls = np.count_nonzero(t[1:] < t[:-1])
    return bool(records[:, 1].max() <= OVERFLOW_ROW and falls <= len(t) // 20)


def open_recording(path) -> Recording:
    """Nothing to open: the file is events from its first byte."""

    def blocks():
        return _decoded(records for _, records in record_blocks(path, 0, RECORD, WHAT))

    return Recording("N-MNIST bin", None, blocks)


def decode(data: bytes, name: str) -> np.ndarray:
    """Returns the events of a whole file held in memory, such as a member of an archive.

    Args:
        data: The file's content.
        name: What to call it in an error.
    """
    if len(data) % 5:
        raise EventFormatError(name, len(data), f"truncated: {WHAT} takes 5 bytes")
    return next(_decoded([np.frombuffer(data, RECORD)]))


def _decoded(blocks):
    unwrap, later = Unwrap(23), 0
    for records in blocks:
        t = unwrap(_times(records))
        marks = records[:, 1] == OVERFLOW_ROW
        if later or marks.any():
            t += later + (np.cumsum(marks) << 13)
            later += int(np.count_nonzero(marks)) << 13
        kept = ~marks
        events = make_events(t, records[:, 0], records[:, 1], records[:, 2] >> 7)
        yield events if kept.all() else events[kept]


def _times(records):
    high = (records[:, 2] & 0x7F).astype(np.int64)
    return (high << 16) | (records[:, 3].astype(np.int64) << 8) | records[:, 4]
