"""Writing: NPZ, CSV and AEDAT 3.1, so that a recording can be converted."""

import os
import struct
import uuid

import numpy as np

from keras_pleiades.events.dtype import EVENT_DTYPE, check_events

CSV_ROWS = 1 << 16
PACKET_EVENTS = 1 << 13


def write(path: str | os.PathLike, events: np.ndarray) -> None:
    """Writes events to `.npz`, `.csv` or `.aedat` (AEDAT 3.1); `read` gives them back unchanged.

    The file is written beside its place under another name and then moved there: it is there whole
    or not at all.

    Args:
        path: Where to; the ending chooses the format.
        events: The events.

    Example:
        >>> import tempfile
        >>> from keras_pleiades.events import make_events, read
        >>> path = os.path.join(tempfile.mkdtemp(), "two.aedat")
        >>> write(path, make_events(t=[10, 25], x=[3, 4], y=[0, 1], p=[1, 0]))
        >>> read(path)["x"]
        array([3, 4], dtype=uint16)
    """
    events = check_events(events)
    path = os.fspath(path)
    ending = os.path.splitext(path)[1].lower()
    writers = {".npz": _write_npz, ".csv": _write_csv, ".aedat": _write_aedat3}
    if ending not in writers:
        raise ValueError(
            f"`path` must end in {', '.join(writers)}: those formats can be written. "
            f"Received: path={path!r}"
        )
    events = _as_event_dtype(events)
    temporary = f"{path}.{uuid.uuid4().hex[:12]}.writing"
    try:
        with open(temporary, "xb") as file:
            writers[ending](file, events)
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise


def _as_event_dtype(events):
    """Copies fields of other number types, refusing any value that would change."""
    if events.dtype == EVENT_DTYPE:
        return events
    same = np.empty(len(events), EVENT_DTYPE)
    for name in "txyp":
        same[name] = events[name]
        wrong = same[name] != events[name]
        if wrong.any():
            first = int(np.argmax(wrong))
            raise ValueError(
                f"`events[{name!r}]` does not fit {EVENT_DTYPE[name]}. "
                f"Received: {events[name][first]!r} in row {first}"
            )
    return same


def _write_npz(file, events):
    # Without the padding of EVENT_DTYPE: smaller, and the same bytes for the same events.
    packed = np.empty(len(events), [(name, EVENT_DTYPE[name]) for name in "txyp"])
    for name in "txyp":
        packed[name] = events[name]
    np.savez_compressed(file, events=packed)


def _write_csv(file, events):
    file.write(b"t,x,y,p\n")
    for start in range(0, len(events), CSV_ROWS):
        block = events[start : start + CSV_ROWS]
        rows = np.stack([block[name].astype(np.int64) for name in "txyp"], axis=1)
        file.write("".join(f"{t},{x},{y},{p}\n" for t, x, y, p in rows.tolist()).encode())


def _write_aedat3(file, events):
    for name, limit in (("t", 1 << 62), ("x", 1 << 15), ("y", 1 << 15)):
        column = events[name]
        if len(events) and not (column.min() >= 0 and column.max() < limit):
            raise ValueError(
                f"AEDAT 3.1 holds {name} from 0 to {limit - 1}. "
                f"Received: {column.min()} to {column.max()}; write .npz instead"
            )
    file.write(b"#!AER-DAT3.1\r\n#Format: RAW\r\n#Source 1: keras_pleiades\r\n#!END-HEADER\r\n")
    words = np.empty((len(events), 2), "<u4")
    words[:, 0] = 1 | (events["p"].astype(np.uint32) << 1) | (events["y"].astype(np.uint32) << 2)
    words[:, 0] |= events["x"].astype(np.uint32) << 17
    words[:, 1] = events["t"] & 0x7FFFFFFF
    overflow = events["t"] >> 31
    cuts = np.flatnonzero(np.diff(overflow)) + 1
    for begin, end in zip((0, *cuts), (*cuts, len(events)), strict=True):
        for start in range(begin, end, PACKET_EVENTS):
            packet = words[start : min(start + PACKET_EVENTS, end)]
            n = len(packet)
            file.write(struct.pack("<HHIIIIII", 1, 1, 8, 4, int(overflow[start]), n, n, n))
            file.write(packet.tobytes())
