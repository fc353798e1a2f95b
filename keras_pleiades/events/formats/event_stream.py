"""Event Stream (.es) with DVS or ATIS events, through faery.

Each byte's meaning depends on all those before it, which is work for faery's compiled decoder.
Types without polarity (generic, colour) are refused here, before faery sees them. Rows count from
the bottom in the file and are turned round.
"""

import struct

import faery
import numpy as np

from keras_pleiades.events.dtype import EventFormatError, make_events
from keras_pleiades.events.formats.recording import Recording, is_faery_error

MAGIC = b"Event Stream"
TYPES = {1: "DVS", 2: "ATIS"}
FAERY_BLOCK = 1 << 16  # bytes that faery decodes at a time


def matches(head: bytes, size: int) -> bool:
    """Whether a file that begins with `head` is of this format."""
    return head.startswith(MAGIC)


def open_recording(path) -> Recording:
    """Reads the header."""
    with open(path, "rb") as file:
        header = file.read(20)
    if len(header) < 20:
        raise EventFormatError(path, len(header), "truncated: the header has 20 bytes")
    major, kind, width, height = struct.unpack_from("<B2xBHH", header, len(MAGIC))
    if major != 2:
        raise EventFormatError(path, 12, f"expected Event Stream version 2. Received: {major}")
    if kind not in TYPES:
        raise EventFormatError(path, 15, f"expected type 1 (DVS) or 2 (ATIS). Received: {kind}")
    if not width or not height:
        raise EventFormatError(path, 16, f"a sensor of {width}x{height} has no pixels")

    def blocks():
        offset = len(header)
        try:
            with faery.es.Decoder(str(path), 0) as decoder:
                for events in decoder:
                    offset += FAERY_BLOCK
                    on = "on"
                    if kind == 2:
                        events = events[~events["exposure"].astype(bool)]
                        on = "polarity"
                    rows = height - 1 - events["y"].astype(np.int64)
                    yield make_events(events["t"].astype(np.int64), events["x"], rows, events[on])
        except BaseException as error:
            if not is_faery_error(error):
                raise
            reason = f"in the {FAERY_BLOCK} bytes from here: {error}"
            raise EventFormatError(path, offset, reason) from error

    return Recording(f"Event Stream {TYPES[kind]}", (height, width), blocks)
