"""Reading: find the format by content, then all events at once or piece by piece."""

import os
import warnings
from collections.abc import Iterator

import numpy as np

from keras_pleiades._checks import check_choice, check_dt
from keras_pleiades.events.dtype import EVENT_DTYPE, EventFormatError
from keras_pleiades.events.formats import FORMATS
from keras_pleiades.events.formats.recording import Recording

HEAD_BYTES = 4096


def open_recording(path: str | os.PathLike) -> Recording:
    """Finds a file's format by its content and reads its header.

    The file's name plays no part: a `.raw` may be EVT2 or EVT3 and a `.dat` anything at all.

    Raises:
        EventFormatError: The format is not known, or the header is damaged.
    """
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        head = file.read(HEAD_BYTES)
    if not head:
        raise EventFormatError(path, 0, "the file is empty (0 bytes)")
    for candidate in FORMATS:
        if candidate.matches(head, size):
            return candidate.open_recording(path)
    raise EventFormatError(
        path,
        0,
        "format not known: expected AEDAT 2.0, 3.1 or 4, Prophesee RAW or DAT, Event Stream, HDF5, "
        f"NPY, NPZ, CSV or N-MNIST. Received: {head[:16]!r}",
    )


def read(
    path: str | os.PathLike,
    start_us: int | None = None,
    end_us: int | None = None,
    on_error: str = "raise",
) -> np.ndarray:
    r"""Reads the events of a recording, whatever its format.

    Events come in the order of the file. Counters that wrap are made into growing times; times that
    run backwards stay as they are. `docs/events.md` has the rules.

    Args:
        path: The recording.
        start_us: Leave out events earlier than this, on the file's own clock.
        end_us: Leave out events at this time and later.
        on_error: What to do when the file turns out damaged: "raise", or "stop" to warn and return
            the events in front of the damage.

    Returns:
        A structured array with the fields t (int64, microseconds), x, y (uint16) and p (bool).

    Raises:
        EventFormatError: Names the file, the place in it and what is wrong.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "two.csv")
        >>> _ = path.write_text("t,x,y,p\n10,3,0,1\n25,4,1,0\n")
        >>> events = read(path)
        >>> events["t"], events["p"]
        (array([10, 25]), array([ True, False]))
        >>> len(read(path, start_us=20))
        1
    """
    # Blocks are copied as plain bytes: NumPy copies structured arrays field by field.
    blocks = [block.view(np.uint8) for block in _blocks(path, start_us, end_us, on_error)]
    if not blocks:
        return np.empty(0, EVENT_DTYPE)
    return np.concatenate(blocks).view(EVENT_DTYPE)


def iter_read(
    path: str | os.PathLike,
    duration_us: int,
    start_us: int | None = None,
    end_us: int | None = None,
    max_events: int = 4_000_000,
    on_error: str = "raise",
) -> Iterator[np.ndarray]:
    r"""Reads a recording of any length in pieces of `duration_us`, in bounded memory.

    Piece k holds the events of `[start + k * duration_us, start + (k + 1) * duration_us)`, where
    start is `start_us` or the time of the first event. Windows without events are passed over. The
    pieces joined are exactly what `read` returns: an event that comes late, with a time before the
    current window, stays in the piece in which the file has it.

    Args:
        path: The recording.
        duration_us: Length of a piece in microseconds.
        start_us: Leave out events earlier than this.
        end_us: Leave out events at this time and later.
        max_events: A piece also ends when it has this many events, so that memory stays bounded
            however dense the recording or broken its clock. 4 million events are 64 MB.
        on_error: As in `read`.

    Yields:
        Event arrays with at least one event.

    Example:
        >>> import pathlib, tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "three.csv")
        >>> _ = path.write_text("t,x,y,p\n100,3,0,1\n104,4,1,0\n110,4,1,0\n")
        >>> [piece["t"].tolist() for piece in iter_read(path, duration_us=10)]
        [[100, 104], [110]]
    """
    duration_us = check_dt(duration_us, "duration_us")
    if max_events < 1:
        raise ValueError(f"`max_events` must be positive. Received: max_events={max_events}")
    return _pieces(_blocks(path, start_us, end_us, on_error), duration_us, start_us, max_events)


def _blocks(path, start_us, end_us, on_error):
    """Yields the blocks of a recording, cut to the time asked for."""
    check_choice(on_error, ("raise", "stop"), "on_error")
    blocks = iter(open_recording(path).blocks())
    while True:
        try:
            block = next(blocks, None)
        except EventFormatError as error:
            if on_error == "raise":
                raise
            warnings.warn(f"Stopped reading in front of the damage: {error}", stacklevel=3)
            return
        if block is None:
            return
        kept = True
        if start_us is not None:
            kept = block["t"] >= start_us
        if end_us is not None:
            kept &= block["t"] < end_us
        yield block if kept is True or kept.all() else block[kept]


def _pieces(blocks, duration_us, start_us, max_events):
    held, count, window, latest = [], 0, None, None
    for block in blocks:
        if not len(block):
            continue
        if start_us is None:
            start_us = int(block["t"][0])
        # An event counts as being at the latest time so far: late events start no new window.
        t = np.maximum.accumulate(block["t"])
        if latest is not None:
            np.maximum(t, latest, out=t)
        latest = t[-1]
        windows = (t - start_us) // duration_us
        cuts = np.flatnonzero(np.diff(windows, prepend=windows[0] if window is None else window))
        window = windows[-1]
        begin = 0
        for end in (*cuts.tolist(), len(block)):
            while begin < end:
                take = min(end - begin, max_events - count)
                held.append(block[begin : begin + take])
                begin, count = begin + take, count + take
                if count == max_events:
                    yield _join(held)
                    held, count = [], 0
            if held and end < len(block):
                yield _join(held)
                held, count = [], 0
    if held:
        yield _join(held)


def _join(held):
    if len(held) == 1:
        return held[0].copy()
    return np.concatenate([block.view(np.uint8) for block in held]).view(EVENT_DTYPE)
