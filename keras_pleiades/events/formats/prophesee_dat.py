"""Prophesee DAT, "2d" and "cd" events: 8 bytes an event, little-endian.

After the text header: one byte with the type (0x00 is 2d, 0x0C is cd) and one with the size (8). An
event is a uint32 of microseconds, then 14 bits of x, 14 bits of y and 4 bits of polarity. Version 1
has 9 bits of x, 8 bits of y and 1 bit of polarity. Files of version 1 may lack the two bytes.
"""

import os
from contextlib import contextmanager

import numpy as np

from keras_pleiades.events.dtype import EVENT_DTYPE, EventFormatError
from keras_pleiades.events.formats.prophesee_header import read_header, sensor_of
from keras_pleiades.events.formats.recording import (
    Recording,
    Rows,
    Unwrap,
    check_inside,
    polarity_of,
    record_blocks,
)

TYPES = {0x00: "2d", 0x0C: "cd"}
RECORD = np.dtype("<u4,<u4")


def matches(head: bytes, size: int) -> bool:
    """Whether a file that begins with `head` has a Prophesee header."""
    return head.startswith(b"% ")


def open_recording(path) -> Recording:
    """Reads the header and the two bytes after it."""
    start, keys = read_header(path)
    version = keys.get("version", "1")
    if version not in ("1", "2"):
        raise EventFormatError(path, 0, f"expected DAT version 1 or 2. Received: {version!r}")
    with open(path, "rb") as file:
        file.seek(start)
        mark = file.read(2)
    kind = mark[0] if mark else -1
    if len(mark) < 2 or kind not in TYPES or mark[1] != 8:
        raise EventFormatError(
            path,
            start,
            "expected the event type (0x00 for 2d, 0x0C for cd) and the size 8. "
            f"Received: {mark.hex(' ') or 'the end of the file'}",
        )
    sensor = sensor_of(keys)
    x_bits, y_bits, p_bits = (14, 14, 4) if version == "2" else (9, 8, 1)

    def decode(words, offset, t):
        def offset_of(i):
            return offset + RECORD.itemsize * i

        word = words["f1"]
        p = (word >> (x_bits + y_bits)) & ((1 << p_bits) - 1)
        events = np.empty(len(words), EVENT_DTYPE)
        events["t"] = t
        events["x"] = word & ((1 << x_bits) - 1)
        events["y"] = (word >> x_bits) & ((1 << y_bits) - 1)
        events["p"] = polarity_of(path, p, offset_of)
        check_inside(path, events, sensor, offset_of)
        return events

    def blocks():
        unwrap = Unwrap(32)
        for offset, words in record_blocks(path, start + 2, RECORD, "a DAT event"):
            yield decode(words, offset, unwrap(words["f0"]))

    @contextmanager
    def rows():
        with open(path, "rb") as file:

            def words(first, last):
                file.seek(start + 2 + first * RECORD.itemsize)
                found = np.fromfile(file, RECORD, last - first)
                if len(found) < last - first:
                    raise EventFormatError(path, file.tell(), "the file became shorter")
                return found

            def take(first, last):
                found = words(first, last)
                return decode(found, start + 2 + first * RECORD.itemsize, found["f0"])

            count = max(os.path.getsize(path) - start - 2, 0) // RECORD.itemsize
            yield Rows(count, lambda i: int(words(i, i + 1)["f0"][0]), take)

    return Recording(f"Prophesee DAT {TYPES[kind]}, version {version}", sensor, blocks, rows)
