"""AEDAT 4, as written by DV: compressed FlatBuffers packets, decoded by faery.

faery trusts the header and the lengths in the file (it reads the header without checks and takes
up to 4 GB because a length says so), so it is never given the file itself. The container is walked
here, and event packets that lie whole within the file go to faery in small temporary files, behind
a header that was checked. Packets of frames and inertial data are passed over.

faery never lets time run backwards: an event earlier than the one before it gets that one's time.
"""

import os
import struct
import tempfile
import xml.etree.ElementTree as ElementTree
from dataclasses import dataclass

import faery
import numpy as np

from keras_pleiades.events.dtype import EVENT_DTYPE, EventFormatError
from keras_pleiades.events.formats.aedat4_packets import unpacked_bound
from keras_pleiades.events.formats.recording import Recording, is_faery_error

MAGIC = b"#!AER-DAT4.0\r\n"
MAX_HEADER = 1 << 24
MAX_PACKET = 256 << 20
GROUP_BYTES = 1 << 20


@dataclass(frozen=True)
class _Header:
    end: int  # where the packets begin
    stop: int  # where they end: at the table of contents, or the end of the file
    data: bytes  # the header for faery, without a table of contents
    compression: int
    track: int
    sensor: tuple[int, int]


def matches(head: bytes, size: int) -> bool:
    """Whether a file that begins with `head` is of this format."""
    return head.startswith(MAGIC)


def open_recording(path) -> Recording:
    """Reads the header."""
    header = _read_header(path)
    return Recording("AEDAT 4", header.sensor, lambda: _blocks(path, header))


def _read_header(path) -> _Header:
    size = os.path.getsize(path)
    start = len(MAGIC)
    with open(path, "rb") as file:
        file.seek(start)
        length = int.from_bytes(file.read(4), "little")
        if not 16 <= length <= min(size - start - 4, MAX_HEADER):
            raise EventFormatError(
                path, start, f"the header announces {length} bytes, {size - start - 4} are left"
            )
        data = bytearray(file.read(length))
    try:
        compression, table_at, description = _fields(data)
        if compression not in range(5):
            raise ValueError(f"compression {compression} is not known")
        stop = size
        if table_at is not None:
            (table,) = struct.unpack_from("<q", data, table_at)
            if table >= 0:
                if not start + 4 + length <= table <= size:
                    raise ValueError(f"the table of contents lies at {table}, outside the file")
                stop = table
                struct.pack_into("<q", data, table_at, -1)
        track, sensor = _event_track(description)
    except (ValueError, struct.error, ElementTree.ParseError) as error:
        raise EventFormatError(path, start + 4, f"bad header: {error}") from error
    whole = MAGIC + struct.pack("<I", length) + bytes(data)
    return _Header(start + 4 + length, stop, whole, compression, track, sensor)


def _fields(data: bytearray) -> tuple[int, int | None, str]:
    """Returns compression, the place of the table's offset, and the description, all checked."""

    def unpack(form, at):
        if at < 0:
            raise ValueError(f"offset {at}")
        return struct.unpack_from(form, data, at)[0]

    if data[4:8] != b"IOHE":
        raise ValueError(f"identifier {bytes(data[4:8])!r} is not b'IOHE'")
    table = unpack("<I", 0)
    vtable = table - unpack("<i", table)
    entries = (unpack("<H", vtable) - 4) // 2
    # The whole list must lie in the header, for faery looks at it without asking.
    places = [unpack("<H", vtable + 4 + 2 * i) for i in range(max(entries, 0))]
    places = [table + place if place else None for place in (*places, 0, 0, 0)[:3]]
    compression = unpack("<i", places[0]) if places[0] is not None else 0
    if places[1] is not None:
        unpack("<q", places[1])
    if places[2] is None:
        raise ValueError("no description of the streams")
    text = places[2] + unpack("<I", places[2])
    length = unpack("<I", text)
    if length > len(data) - text - 4:
        raise ValueError(f"the description announces {length} bytes")
    return compression, places[1], data[text + 4 : text + 4 + length].decode("utf-8")


def _event_track(description: str) -> tuple[int, tuple[int, int]]:
    """Finds the first stream of events and its (height, width)."""
    if "<!" in description:
        raise ValueError("the description has XML declarations, which DV does not write")
    root = ElementTree.fromstring(description)
    streams = [node for node in root.iter("node") if node.get("name", "").isdecimal()]
    for node in sorted(streams, key=lambda node: int(node.get("name"))):
        values = {item.get("key"): item.text for item in node.iter("attr")}
        if values.get("typeIdentifier") == "EVTS":
            height, width = (int(values.get(key) or 0) for key in ("sizeY", "sizeX"))
            if not (0 < width < 32768 and 0 < height < 32768):
                raise ValueError(f"a sensor of {width}x{height} is not possible")
            return int(node.get("name")), (height, width)
    raise ValueError("no stream of events (typeIdentifier EVTS) in the description")


def _blocks(path, header):
    offset, group, held, latest = header.end, [], 0, None
    with open(path, "rb") as file:
        while offset < header.stop:
            file.seek(offset)
            head = file.read(8)
            left = header.stop - offset - 8
            if len(head) < 8 or (size := int.from_bytes(head[4:], "little")) > left:
                raise EventFormatError(
                    path,
                    offset,
                    "truncated: a packet has 8 bytes of header and "
                    f"{int.from_bytes(head[4:], 'little')} of data, {left} are left",
                )
            if int.from_bytes(head[:4], "little", signed=True) == header.track:
                data = file.read(size)
                bound = unpacked_bound(data, header.compression)
                if bound is None or bound > MAX_PACKET:
                    raise EventFormatError(
                        path, offset, f"the packet cannot be unpacked (size {bound})"
                    )
                group.append((offset, head + data))
                held += bound
            offset += 8 + size
            if held >= GROUP_BYTES:
                for events in _decode(path, header, group):
                    latest = _hold_back(events, latest)
                    yield events
                group, held = [], 0
        for events in _decode(path, header, group) if group else ():
            latest = _hold_back(events, latest)
            yield events


def _hold_back(events, latest):
    """Applies faery's rule about time across groups; returns the latest time."""
    if latest is not None and len(events):
        np.maximum(events["t"], latest, out=events["t"])
    return events["t"][-1] if len(events) else latest


def _decode(path, header, group):
    at = 0
    with tempfile.TemporaryDirectory(prefix="keras_pleiades_") as folder:
        name = os.path.join(folder, "packets.aedat4")
        with open(name, "wb") as file:
            file.write(header.data)
            file.writelines(data for _, data in group)
        try:
            with faery.aedat.Decoder(name) as decoder:
                for _, packet in decoder:
                    at += 1
                    events = np.empty(len(packet), EVENT_DTYPE)
                    for field, source in zip("txyp", ("t", "x", "y", "on"), strict=True):
                        events[field] = packet[source]
                    yield events
        except BaseException as error:
            if not is_faery_error(error):
                raise
            where = group[min(at, len(group) - 1)][0]
            raise EventFormatError(path, where, f"bad packet: {error}") from error
