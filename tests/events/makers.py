"""Writes recordings byte by byte from the definitions of the formats, slowly and plainly.

Nothing here uses the readers' code: what it writes is what they are held against.
"""

import struct

import faery
import h5py
import numpy as np

from keras_pleiades.events import EVENT_DTYPE

HEIGHT = WIDTH = 128


def random_events(count=1500, seed=0, height=HEIGHT, width=WIDTH, end_us=200_000):
    rng = np.random.default_rng(seed)
    events = np.zeros(count, EVENT_DTYPE)
    events["t"] = np.sort(rng.integers(0, end_us, count))
    events["x"] = rng.integers(0, width, count)
    events["y"] = rng.integers(0, height, count)
    events["p"] = rng.integers(0, 2, count)
    return events


def rows(events):
    return [(int(t), int(x), int(y), int(p)) for t, x, y, p in events.tolist()]


def same(a, b):
    return len(a) == len(b) and all(np.array_equal(a[name], b[name]) for name in "txyp")


AEDAT2_HEADER = (
    b"#!AER-DAT2.0\r\n# This is a raw AE data file - do not edit\r\n# Timestamps tick: 1 us\r\n"
)


def aedat2(events, chip=b"ch.unizh.ini.jaer.chip.retina.DVS128"):
    """Big-endian address and time; x from the right, y from the bottom, bit 0 set for OFF."""
    out = AEDAT2_HEADER + b"# AEChip: " + chip + b"\r\n"
    for t, x, y, p in rows(events):
        address = ((127 - y) << 8) | ((127 - x) << 1) | (1 - p)
        out += struct.pack(">II", address, t & 0xFFFFFFFF)
    return out


def aedat2_davis(events, height=180):
    """DAVIS240: y in bits 22-30 from the bottom, x in 12-21, polarity in 11, bit 31 for frames."""
    out = AEDAT2_HEADER + b"# AEChip: eu.seebetter.ini.chips.davis.DAVIS240C\r\n"
    for n, (t, x, y, p) in enumerate(rows(events)):
        if n % 7 == 0:
            out += struct.pack(">II", 0x80000000 | n, t)  # a frame's sample: no event
        if n % 11 == 0:
            out += struct.pack(">II", 0x400, t)  # a special event
        out += struct.pack(">II", ((height - 1 - y) << 22) | (x << 12) | (p << 11), t)
    return out


AEDAT3_HEADER = (
    b"#!AER-DAT3.1\r\n#Format: RAW\r\n#Source 1: DVS128\r\n"
    b"#Start-Time: 2020-11-20 18:06:50 (TZ+0300)\r\n#!END-HEADER\r\n"
)


def aedat3_packet(kind, item, overflow, payload, number, valid=None, time_at=4):
    valid = number if valid is None else valid
    return (
        struct.pack("<HHIIIIII", kind, 1, item, time_at, overflow, number, number, valid) + payload
    )


def aedat3(events, per_packet=100):
    """Packets of `per_packet` polarity events, with packets of special and IMU events between."""
    out = AEDAT3_HEADER
    for n, start in enumerate(range(0, len(events), per_packet)):
        part = rows(events[start : start + per_packet])
        for overflow in sorted({t >> 31 for t, *_ in part}):
            payload, number = b"", 0
            for t, x, y, p in part:
                if t >> 31 == overflow:
                    word = 1 | (p << 1) | (y << 2) | (x << 17)
                    payload += struct.pack("<Ii", word, t & 0x7FFFFFFF)
                    number += 1
            out += aedat3_packet(1, 8, overflow, payload, number)
        if n % 3 == 0:
            out += aedat3_packet(0, 8, 0, struct.pack("<Ii", 1, 5), 1)
        if n % 4 == 0:
            out += aedat3_packet(3, 36, 0, bytes(36), 1)
    return out


def dat(events, kind=0x0C, version=2, header=b"% Width 128\n% Height 128\n"):
    out = b"% Data file containing CD events.\n% Version " + str(version).encode() + b"\n"
    out += b"% Date 2020-09-14 14:18:29\n" + header + bytes([kind, 8])
    for t, x, y, p in rows(events):
        word = x | (y << 14) | (p << 28) if version == 2 else x | (y << 9) | (p << 17)
        out += struct.pack("<II", t & 0xFFFFFFFF, word)
    return out


def evt2(events, header=b"% evt 2.0\n% geometry 128x128\n"):
    out = header
    high = None
    for n, (t, x, y, p) in enumerate(rows(events)):
        if t >> 6 != high:
            high = t >> 6
            out += struct.pack("<I", (8 << 28) | (high & 0xFFFFFFF))
        if n % 50 == 0:
            out += struct.pack("<I", (0xA << 28) | ((t & 63) << 22) | (1 << 8))  # a trigger
        out += struct.pack("<I", (p << 28) | ((t & 63) << 22) | (x << 11) | y)
    return out


def evt21(events, header=b"% format EVT21;height=128;width=128\n% end\n"):
    """One word an event, its pixel as a bit among 32."""
    out = header
    high = None
    for t, x, y, p in rows(events):
        if t >> 6 != high:
            high = t >> 6
            out += struct.pack("<Q", (8 << 60) | ((high & 0xFFFFFFF) << 32))
        word = (p << 60) | ((t & 63) << 54) | ((x // 32 * 32) << 43) | (y << 32) | (1 << (x % 32))
        out += struct.pack("<Q", word)
    return out


def evt3(events, header=b"% format EVT3;height=128;width=128\n% end\n"):
    """Events of one time, row and polarity become vectors now and then, others single words."""
    words, high, low, row = [], None, None, None
    for n, (t, x, y, p) in enumerate(rows(events)):
        if t >> 12 != high:
            high, low = t >> 12, 0
            words.append((8 << 12) | (high & 4095))
        elif n % 20 == 0:
            words.append((8 << 12) | (high & 4095))  # said again, as cameras do
        if t & 4095 != low:
            low = t & 4095
            words.append((6 << 12) | low)
        if y != row:
            row = y
            words.append(y)
        if n % 3 == 0:
            words.append((2 << 12) | (p << 11) | x)
        elif n % 3 == 1:
            words += [(3 << 12) | (p << 11) | x, (4 << 12) | 1]
        else:  # the base moves on by 12 with an empty vector in front
            base = max(x - 12, 0)
            words.append((3 << 12) | (p << 11) | base)
            bit = x - base
            words += [4 << 12, (5 << 12) | 1] if bit == 12 else [(4 << 12) | (1 << bit)]
    return header + struct.pack(f"<{len(words)}H", *words)


def nmnist(events):
    out = b""
    for t, x, y, p in rows(events):
        out += bytes([x, y, (p << 7) | ((t >> 16) & 127), (t >> 8) & 255, t & 255])
    return out


def csv(events):
    return b"t,x,y,p\n" + b"".join(b"%d,%d,%d,%d\n" % row for row in rows(events))


def write_npy(path, events):
    with open(path, "wb") as file:
        np.save(file, events)


def write_npz_columns(path, events):
    with open(path, "wb") as file:
        np.savez_compressed(file, **{name: events[name] for name in "txyp"})


def write_npz(path, events):
    with open(path, "wb") as file:
        np.savez(file, events=events)


def write_hdf5(path, events, place="events", **options):
    options = options or {"compression": "gzip", "chunks": (min(len(events), 500),)}
    wide = np.dtype([(name, "<u8") for name in "txyp"])
    with h5py.File(path, "w") as file:
        file.create_dataset(place, data=events.astype(wide), **options)


def write_hdf5_prophesee(path, events):
    layout = np.dtype([("x", "<u2"), ("y", "<u2"), ("p", "<i2"), ("t", "<i8")])
    records = np.empty(len(events), layout)
    for name in "txyp":
        records[name] = events[name]
    with h5py.File(path, "w") as file:
        file.create_dataset("CD/events", data=records)
        file.attrs["geometry"] = "128x128"


def faery_events(events, flip=False):
    out = np.empty(len(events), faery.EVENTS_DTYPE)
    for ours, theirs in zip("txyp", ("t", "x", "y", "on"), strict=True):
        out[theirs] = events[ours]
    return out


def write_event_stream(path, events):
    turned = faery_events(events)
    turned["y"] = HEIGHT - 1 - turned["y"]
    with faery.es.Encoder(str(path), "dvs", False, (WIDTH, HEIGHT)) as encoder:
        encoder.write(turned)


def write_aedat4(path, events, compression=faery.aedat.LZ4_DEFAULT):
    stream = faery.events_stream_from_array(faery_events(events), (WIDTH, HEIGHT))
    stream.to_file(str(path), compression=compression, file_type="aedat")


def write_aedat4_zstd(path, events):
    write_aedat4(path, events, faery.aedat.ZSTD_DEFAULT)


def _plain(function):
    def write(path, events):
        with open(path, "wb") as file:
            file.write(function(events))

    return write


# Every format that is read, with a writer from the definition (or the reference library).
WRITERS = {
    "aedat2": _plain(aedat2),
    "aedat3": _plain(aedat3),
    "aedat4": write_aedat4,
    "aedat4-zstd": write_aedat4_zstd,
    "dat": _plain(dat),
    "evt2": _plain(evt2),
    "evt21": _plain(evt21),
    "evt3": _plain(evt3),
    "event_stream": write_event_stream,
    "hdf5": write_hdf5,
    "hdf5-prophesee": write_hdf5_prophesee,
    "nmnist": _plain(nmnist),
    "csv": _plain(csv),
    "npy": write_npy,
    "npz": write_npz,
    "npz-columns": write_npz_columns,
}
