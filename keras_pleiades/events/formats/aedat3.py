"""AEDAT 3.1, as written by cAER and used by DVS128 Gesture: packets of events, little-endian.

A packet begins with 28 bytes: type and source (uint16 each), event size, offset of the timestamp in
an event, timestamp overflow, capacity, number of events, number of valid events (uint32 each). A
polarity event has 8 bytes: a word (bit 0 valid, 1 polarity, 2-16 y, 17-31 x) and an int32 time; the
whole time is `overflow * 2**31 + time`. Packets of other types are passed over.
"""

import os
import re
import struct

import numpy as np

from keras_pleiades.events.dtype import EVENT_DTYPE, EventFormatError
from keras_pleiades.events.formats.recording import BLOCK_RECORDS, Recording, check_inside

MAGIC = b"#!AER-DAT3.1"
HEADER = struct.Struct("<HHIIIIII")
POLARITY = 1
KNOWN_TYPES = range(
    21
)  # special 0, polarity 1, frame 2, IMU 3 and 4, ... spike 12, up to matrix 20
SENSORS = {
    "DVS128": (128, 128),
    "DAVIS128": (128, 128),
    "DAVIS208": (192, 208),
    "DAVIS240": (180, 240),
    "DAVIS346": (260, 346),
    "DAVIS640": (480, 640),
}


def matches(head: bytes, size: int) -> bool:
    """Whether a file that begins with `head` is of this format."""
    return head.startswith(MAGIC)


def open_recording(path) -> Recording:
    """Reads the header."""
    start, header = _header(path)
    found = re.search(r"#Source \d+: *([^\r\n]*)", header)
    source = found.group(1).strip() if found else "unknown source"
    name = re.match(r"(?i)(dvs|davis)\d{3}", source)
    sensor = SENSORS.get(name.group(0).upper()) if name else None
    return Recording(f"AEDAT 3.1 ({source})", sensor, lambda: _blocks(path, start, sensor))


def _header(path) -> tuple[int, str]:
    lines, start = [], 0
    with open(path, "rb") as file:
        while True:
            line = file.readline(1 << 12)
            if not line.startswith(b"#") or not line.endswith(b"\n"):
                raise EventFormatError(
                    path, start, "the header must be lines with '#' up to '#!END-HEADER'"
                )
            start += len(line)
            lines.append(line.decode("latin-1"))
            if line.startswith(b"#!END-HEADER"):
                break
    header = "".join(lines)
    kind = re.search(r"#Format: *(\S+)", header)
    if kind and kind.group(1) != "RAW":
        raise EventFormatError(
            path, 0, f"only '#Format: RAW' can be read. Received: {kind.group(1)!r}"
        )
    return start, header


def _blocks(path, start, sensor):
    size = os.path.getsize(path)
    with open(path, "rb", buffering=1 << 20) as file:
        file.seek(start)
        offset, pieces, held = start, [], 0
        while header := file.read(HEADER.size):
            count, piece = _check_header(path, offset, header, size)
            offset += HEADER.size
            if piece is None:  # another type of event: step over it
                offset += count
                file.seek(offset)
                continue
            while count:
                take = min(count, BLOCK_RECORDS - held)
                pieces.append((offset, take, *piece, file.read(8 * take)))
                offset, count, held = offset + 8 * take, count - take, held + take
                if held == BLOCK_RECORDS:
                    yield _decode(path, pieces, sensor)
                    pieces, held = [], 0
        if pieces:
            yield _decode(path, pieces, sensor)


def _check_header(path, offset, header, size):
    """Returns (number of events, (overflow, all valid)), or (bytes to pass over, None)."""
    if len(header) < HEADER.size:
        raise EventFormatError(
            path, offset, f"truncated: a packet header has 28 bytes, {len(header)} are left"
        )
    kind, _, item, time_at, overflow, capacity, number, valid = HEADER.unpack(header)
    wrong = None
    left = size - offset - HEADER.size
    if kind not in KNOWN_TYPES:
        wrong = f"event type {kind} is not known"
    elif number * item > left:
        wrong = f"truncated: the packet announces {number * item} bytes of events, {left} are left"
    elif valid > number or number > capacity:
        wrong = f"{valid} valid of {number} events in a packet for {capacity}"
    elif kind == POLARITY and (item, time_at) != (8, 4):
        wrong = f"a polarity event has 8 bytes with its time at 4. Received: {item} and {time_at}"
    elif overflow > 0x7FFFFFFF:
        wrong = f"timestamp overflow {overflow} is negative"
    if wrong:
        raise EventFormatError(path, offset, f"bad packet: {wrong}")
    if kind != POLARITY:
        return number * item, None
    return number, (overflow, valid == number)


def _decode(path, pieces, sensor):
    offsets, counts, overflows, whole, data = zip(*pieces, strict=True)
    words = np.frombuffer(b"".join(data), "<u4").reshape(-1, 2)
    if len(words) != sum(counts):
        raise EventFormatError(path, offsets[0], "the file became shorter while it was read")
    word, time = words[:, 0], words[:, 1].astype(np.int64)

    def offset_of(i):
        ends = np.cumsum(counts)
        piece = int(np.searchsorted(ends, i, side="right"))
        return offsets[piece] + 8 * int(i - (ends[piece] - counts[piece]))

    if len(time) and time.max() > 0x7FFFFFFF:
        first = int(np.argmax(time > 0x7FFFFFFF))
        raise EventFormatError(path, offset_of(first), f"negative timestamp {time[first] - 2**32}")
    if any(overflows):
        time += np.repeat(np.asarray(overflows, np.int64) << 31, counts)
    events = np.empty(len(words), EVENT_DTYPE)
    events["t"] = time
    events["x"] = word >> 17
    events["y"] = (word >> 2) & 0x7FFF
    events["p"] = (word >> 1) & 1
    check_inside(path, events, sensor, offset_of)
    # Where a packet says that all its events are valid, that is believed: some writers leave the
    # bits empty. Otherwise the bits decide.
    if not all(whole):
        events = events[np.repeat(whole, counts) | ((word & 1) == 1)]
    return events
