"""AEDAT 2.0, as written by jAER: a text header, then 8 bytes an event, big-endian.

Addresses (bit numbers from 0):

- DVS128: 0 polarity (0 is ON), 1-7 x from the right, 8-14 y from the bottom, 15 special event.
- DAVIS: 10 special event, 11 polarity (1 is ON), 12-21 x, 22-30 y from the bottom, 31 frame or IMU
  sample.

Rows are turned round, so that y counts from the top as in every other format.
"""

import re

import numpy as np

from keras_pleiades.events.dtype import EVENT_DTYPE, EventFormatError
from keras_pleiades.events.formats.recording import (
    Recording,
    Unwrap,
    check_inside,
    record_blocks,
)

MAGIC = b"#!AER-DAT2.0"
MAX_HEADER = 1 << 20
PRINTABLE = re.compile(rb"[\t\r\n\x20-\x7e\x80-\xff]*")
DAVIS_SENSORS = {
    "128": (128, 128),
    "208": (192, 208),
    "240": (180, 240),
    "346": (260, 346),
    "640": (480, 640),
}


def matches(head: bytes, size: int) -> bool:
    """Whether a file that begins with `head` is of this format."""
    return head.startswith(MAGIC)


def open_recording(path) -> Recording:
    """Reads the header."""
    start, header = _header(path)
    found = re.search(r"AEChip:\s*(\S+)", header)
    chip = found.group(1).rsplit(".", 1)[-1] if found else "DVS128"
    if davis := re.match(r"(?i)davis(\d{3})", chip):
        if davis.group(1) not in DAVIS_SENSORS:
            raise EventFormatError(path, 0, f"size of the sensor of the chip {chip!r} is not known")
        sensor, decode = DAVIS_SENSORS[davis.group(1)], _decode_davis
    elif chip.upper().startswith(("DVS128", "TMPDIFF128")):
        sensor, decode = (128, 128), _decode_dvs128
    else:
        raise EventFormatError(path, 0, f"expected a DVS128 or DAVIS chip. Received: {chip!r}")

    def blocks():
        unwrap = Unwrap(32)
        for offset, words in record_blocks(path, start, ">u4,>u4", "an AEDAT 2.0 event"):
            t = unwrap(words["f1"])
            address = words["f0"].astype(np.uint32)
            events, kept = decode(path, offset, address, t, sensor)
            check_inside(path, events, sensor, lambda i, o=offset, k=kept: o + 8 * _nth(k, i))
            yield events

    return Recording(f"AEDAT 2.0 ({chip})", sensor, blocks)


def _nth(kept, i):
    return i if kept is None else int(np.flatnonzero(kept)[i])


def _header(path) -> tuple[int, str]:
    # Lines of printable text that begin with "#", up to the mark that newer files have. Without the
    # mark, an event can begin with the byte "#" too; then its other bytes are not printable.
    lines, start = [], 0
    with open(path, "rb") as file:
        while start < MAX_HEADER:
            line = file.readline(1 << 16)
            if not (line.startswith(b"#") and line.endswith(b"\n") and PRINTABLE.fullmatch(line)):
                break
            start += len(line)
            lines.append(line.decode("latin-1"))
            if b"End Of ASCII Header" in line:
                break
    return start, "".join(lines)


def _decode_dvs128(path, offset, address, t, sensor):
    if len(address) and address.max() > 0xFFFF:
        first = int(np.argmax(address > 0xFFFF))
        raise EventFormatError(
            path,
            offset + 8 * first,
            f"a DVS128 address has 16 bits. Received: {address[first]:#x}",
        )
    kept = None
    if len(address) and address.max() > 0x7FFF:
        kept = address <= 0x7FFF
        address, t = address[kept], t[kept]
    events = np.empty(len(t), EVENT_DTYPE)
    events["t"] = t
    events["x"] = 127 - ((address >> 1) & 127)
    events["y"] = 127 - (address >> 8)
    events["p"] = (address & 1) == 0
    return events, kept


def _decode_davis(path, offset, address, t, sensor):
    kept = (address & 0x80000400) == 0
    address, t = address[kept], t[kept]
    rows = (address >> 22) & 0x1FF
    events = np.empty(len(t), EVENT_DTYPE)
    events["t"] = t
    events["x"] = (address >> 12) & 0x3FF
    # A row beyond the sensor stays beyond it, to be refused with its offset.
    events["y"] = np.where(rows < sensor[0], sensor[0] - 1 - rows.astype(np.int64), rows)
    events["p"] = (address >> 11) & 1
    return events, kept
