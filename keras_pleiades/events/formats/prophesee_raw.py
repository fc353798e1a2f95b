"""Prophesee RAW: the header, and which of the encodings EVT2, EVT2.1 and EVT3 follows."""

import re
from typing import Any

from keras_pleiades.events.dtype import EventFormatError
from keras_pleiades.events.formats import evt2, evt3
from keras_pleiades.events.formats.prophesee_header import read_header, sensor_of
from keras_pleiades.events.formats.recording import Recording, check_inside, record_blocks

DECODERS: dict[str, Any] = {"2": evt2.Evt2, "21": evt2.Evt21, "3": evt3.Evt3}


def matches(head: bytes, size: int) -> bool:
    """Whether the header names an EVT encoding; without one it is a DAT file."""
    return head.startswith(b"% ") and re.search(rb"\n?% (evt |format EVT)", head) is not None


def open_recording(path) -> Recording:
    """Reads the header and chooses the decoder."""
    start, keys = read_header(path)
    found = re.match(r"(?:EVT)?(\d)\.?(\d?)", keys.get("format") or keys.get("evt", ""))
    version = "".join(found.groups()).removesuffix("0") if found else ""
    if version not in DECODERS:
        name = keys.get("format") or keys.get("evt")
        raise EventFormatError(path, 0, f"expected EVT 2.0, 2.1 or 3.0. Received: {name!r}")
    if keys.get("endianness", "little") != "little":
        raise EventFormatError(
            path, 0, f"only little-endian words can be read. Received: {keys['endianness']!r}"
        )
    sensor = sensor_of(keys)
    limit = sensor or (2048, 2048)  # coordinates have 11 bits
    decoder = DECODERS[version]

    def blocks():
        decode = decoder()
        for offset, words in record_blocks(path, start, decoder.word, f"an {decoder.name} word"):
            events, source = decode(words)
            step = words.itemsize
            check_inside(path, events, limit, lambda i, o=offset, s=source, k=step: o + k * s(i))
            yield events

    return Recording(f"Prophesee RAW {decoder.name}", sensor, blocks)
