"""Each reader against files written from the format's definition."""

import struct

import faery
import h5py
import makers
import numpy as np
import pytest
from makers import same

from keras_pleiades.events import EVENT_DTYPE, EventFormatError, info, make_events, read

EXACT_FORMATS = sorted(makers.WRITERS)


def save(folder, data, name="recording"):
    path = folder / name
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("name", EXACT_FORMATS)
def test_reads_what_was_written(name, tmp_path):
    events = makers.random_events()
    makers.WRITERS[name](tmp_path / "no_ending", events)
    found = read(tmp_path / "no_ending")
    assert found.dtype == EVENT_DTYPE
    assert same(found, events)


# N-MNIST without events is a file of 0 bytes; CSV and AEDAT 4 have tests of their own.
@pytest.mark.parametrize(
    "name", [n for n in EXACT_FORMATS if not n.startswith(("nmnist", "csv", "aedat4"))]
)
def test_no_events_is_an_empty_array(name, tmp_path):
    options = {"maxshape": (None,)} if name == "hdf5" else {}
    makers.WRITERS[name](tmp_path / "empty", makers.random_events(0), **options)
    assert len(read(tmp_path / "empty")) == 0
    report = info(tmp_path / "empty")
    assert (report.events, report.duration_us, report.rate_hz) == (0, 0, 0.0)
    assert "events    0" in str(report)


def test_csv_with_a_header_only_is_empty(tmp_path):
    assert len(read(save(tmp_path, b"t,x,y,p\n"))) == 0


def test_a_file_of_zero_bytes_is_refused(tmp_path):
    with pytest.raises(EventFormatError, match="empty"):
        read(save(tmp_path, b""))


@pytest.mark.parametrize("data", [bytes(range(255, 0, -1)) * 9, b"hello world\n", b"AAAAA"])
def test_an_unknown_file_is_refused_by_name(tmp_path, data):
    path = save(tmp_path, data)
    with pytest.raises(EventFormatError, match="format not known") as caught:
        read(path)
    assert caught.value.path == str(path)
    assert caught.value.offset == 0


# === AEDAT 2.0 ===


def test_aedat2_bits(tmp_path):
    # Address 0b0_0000101_0000011_0: y 5 from the bottom, x 3 from the right, bit 0 clear is ON.
    address = (5 << 8) | (3 << 1) | 0
    data = makers.AEDAT2_HEADER + bytes([0, 0, address >> 8, address & 255, 0, 0, 1, 2])
    events = read(save(tmp_path, data))
    assert events.tolist() == [(258, 124, 122, True)]


def test_aedat2_special_events_are_passed_over(tmp_path):
    data = makers.AEDAT2_HEADER + struct.pack(">IIII", 0x8000, 7, 0x0001, 8)
    assert read(save(tmp_path, data)).tolist() == [(8, 127, 127, False)]


def test_aedat2_davis(tmp_path):
    events = makers.random_events(200, height=180, width=240)
    path = save(tmp_path, makers.aedat2_davis(events))
    assert same(read(path), events)
    assert info(path).sensor == (180, 240)


def test_aedat2_address_beyond_the_chip_names_its_offset(tmp_path):
    events = makers.random_events(10)
    data = makers.aedat2(events)
    bad = data[:-16] + struct.pack(">I", 0x12345) + data[-12:]
    with pytest.raises(EventFormatError, match="16 bits") as caught:
        read(save(tmp_path, bad))
    assert caught.value.offset == len(data) - 16


def test_aedat2_time_wraps(tmp_path):
    events = makers.random_events(6)
    events["t"] = [2**32 - 20, 2**32 - 1, 2**32, 2**32 - 5, 2**32 + 3, 2**32 + 2]
    assert same(read(save(tmp_path, makers.aedat2(events))), events)


def test_aedat2_unknown_chip(tmp_path):
    with pytest.raises(EventFormatError, match="DVS128 or DAVIS"):
        read(save(tmp_path, makers.aedat2(makers.random_events(2), chip=b"a.b.Cochlea")))


# === AEDAT 3.1 ===


def test_aedat3_bits(tmp_path):
    word = (100 << 17) | (30 << 2) | (1 << 1) | 1
    payload = struct.pack("<Ii", word, 77)
    data = makers.AEDAT3_HEADER + makers.aedat3_packet(1, 8, 2, payload, 1)
    assert read(save(tmp_path, data)).tolist() == [(2 * 2**31 + 77, 100, 30, True)]


def test_aedat3_overflow(tmp_path):
    events = makers.random_events(300)
    events["t"] += 2**31 - 100_000
    assert same(read(save(tmp_path, makers.aedat3(events))), events)


def test_aedat3_invalid_events_are_left_out(tmp_path):
    payload = struct.pack("<IiIi", (1 << 17) | 1, 5, 2 << 17, 6)
    data = makers.AEDAT3_HEADER + makers.aedat3_packet(1, 8, 0, payload, 2, valid=1)
    assert read(save(tmp_path, data))["x"].tolist() == [1]
    # A packet that says "all valid" is believed, whatever its bits.
    data = makers.AEDAT3_HEADER + makers.aedat3_packet(1, 8, 0, payload, 2)
    assert read(save(tmp_path, data))["x"].tolist() == [1, 2]


@pytest.mark.parametrize(
    ("packet", "message", "at"),
    [
        (b"\x01\x00\x01", "28 bytes, 3 are left", 0),
        (makers.aedat3_packet(1, 8, 0, bytes(7), 1), "announces 8 bytes of events, 7 are left", 0),
        (makers.aedat3_packet(1, 12, 0, bytes(12), 1), "8 bytes with its time at 4", 0),
        (makers.aedat3_packet(1, 8, 0, bytes(8), 1, time_at=0), "8 bytes with its time at 4", 0),
        (makers.aedat3_packet(99, 8, 0, bytes(8), 1), "type 99", 0),
        (makers.aedat3_packet(1, 8, 0, bytes(8), 1, valid=2), "2 valid of 1", 0),
        (makers.aedat3_packet(1, 8, 0, struct.pack("<Ii", 1, -5), 1), "negative timestamp -5", 28),
        (makers.aedat3_packet(1, 8, 0, struct.pack("<Ii", 200 << 17, 5), 1), "outside", 28),
    ],
)
def test_aedat3_damage_is_named_with_its_offset(packet, message, at, tmp_path):
    good = makers.aedat3(makers.random_events(100))
    with pytest.raises(EventFormatError, match=message) as caught:
        read(save(tmp_path, good + packet))
    assert caught.value.offset == len(good) + at


def test_aedat3_other_encodings_are_refused(tmp_path):
    data = makers.aedat3(makers.random_events(2)).replace(b"RAW", b"Serial-TS")
    with pytest.raises(EventFormatError, match="Serial-TS"):
        read(save(tmp_path, data))


# === Prophesee ===


def test_dat_2d_and_version_1(tmp_path):
    events = makers.random_events(100)
    path = save(tmp_path, makers.dat(events, kind=0x00))
    assert same(read(path), events)
    assert "2d" in info(path).format
    assert info(path).sensor == (128, 128)
    assert same(read(save(tmp_path, makers.dat(events, kind=0x00, version=1))), events)


def test_dat_trigger_files_are_refused(tmp_path):
    with pytest.raises(EventFormatError, match="Received: 0e 08"):
        read(save(tmp_path, makers.dat(makers.random_events(3), kind=0x0E)))


def test_dat_polarity_beyond_1_is_refused(tmp_path):
    data = bytearray(makers.dat(makers.random_events(3)))
    data[-1] = 0x50
    with pytest.raises(EventFormatError, match=r"polarity must be 0 or 1.*Received: 5") as caught:
        read(save(tmp_path, bytes(data)))
    assert caught.value.offset == len(data) - 8


def test_dat_time_wraps(tmp_path):
    events = makers.random_events(4)
    events["t"] = [2**32 - 9, 2**32 + 1, 2**32 + 7, 2 * 2**32 - 2**30]
    # From 7 to 2**32 - 2**30 is a rise of more than half the range: a late event, by the rule.
    found = read(save(tmp_path, makers.dat(events)))["t"]
    assert found.tolist() == [2**32 - 9, 2**32 + 1, 2**32 + 7, 2**32 - 2**30]


def test_jump_ahead_is_kept(tmp_path):
    events = makers.random_events(3)
    events["t"] = [5, 3_000_000_000, 3_000_000_001]
    assert same(read(save(tmp_path, makers.dat(events))), events)


def test_times_that_run_backwards_are_kept(tmp_path):
    events = makers.random_events(500)
    events["t"] = events["t"][::-1].copy()
    for name in ("dat", "aedat2", "aedat3", "evt2", "evt3", "csv", "npy", "hdf5"):
        makers.WRITERS[name](tmp_path / name, events)
        assert same(read(tmp_path / name), events), name


def aedat4_packets(path):
    """Returns header and packets of a file by faery, the header without its table of contents."""
    data = path.read_bytes()
    start = at = 18 + int.from_bytes(data[14:18], "little")
    while at < len(data) and data[at : at + 4] == bytes(4):  # track 0
        at += 8 + int.from_bytes(data[at + 4 : at + 8], "little")
    assert data[:start].count(struct.pack("<q", at)) == 1
    return data[:start].replace(struct.pack("<q", at), struct.pack("<q", -1)), data[start:at]


def test_aedat4_without_packets_is_empty(tmp_path):
    makers.write_aedat4(tmp_path / "recording", makers.random_events())
    path = save(tmp_path, aedat4_packets(tmp_path / "recording")[0])
    assert len(read(path)) == 0
    assert info(path).sensor == (128, 128)


def test_aedat4_packet_beyond_the_end_takes_no_memory(tmp_path):
    makers.write_aedat4(tmp_path / "recording", makers.random_events())
    header, _ = aedat4_packets(tmp_path / "recording")
    with pytest.raises(EventFormatError, match="4294967295 of data, 0 are left") as caught:
        read(save(tmp_path, header + struct.pack("<iI", 0, 0xFFFFFFFF)))
    assert caught.value.offset == len(header)


def test_aedat4_holds_back_times_that_run_backwards(tmp_path, monkeypatch):
    late, early = makers.random_events(9000, 1, end_us=100_000), makers.random_events(9000, 2)
    late["t"] += 50_000
    path = tmp_path / "recording"
    packets = b""
    for part in (late, early):
        makers.write_aedat4(path, part)
        header, more = aedat4_packets(path)
        packets += more
    path.write_bytes(header + packets)
    expected = np.maximum.accumulate(np.concatenate([late["t"], early["t"]]))
    assert np.array_equal(read(path)["t"], expected)
    monkeypatch.setattr("keras_pleiades.events.formats.aedat4.GROUP_BYTES", 1)
    assert np.array_equal(read(path)["t"], expected)  # the same, however packets are grouped


@pytest.mark.parametrize(("name", "bits"), [("evt2", 34), ("evt21", 34), ("evt3", 24)])
def test_evt_time_wraps(name, bits, tmp_path):
    events = makers.random_events(2000)
    events["t"] += 2**bits - 100_000
    makers.WRITERS[name](tmp_path / name, events)
    assert same(read(tmp_path / name), events)


def test_evt_events_before_the_first_time_are_left_out(tmp_path):
    events = makers.random_events(50)
    for name, header, word in (
        ("evt2", b"% evt 2.0\n", struct.pack("<I", (1 << 28) | (3 << 11) | 4)),
        ("evt3", b"% evt 3.0\n", struct.pack("<HHH", 6 << 12 | 9, 4, 2 << 12 | 3)),
    ):
        data = getattr(makers, name)(events, header)
        path = save(tmp_path, header + word + data[len(header) :])
        assert same(read(path), events)
        assert len(read(save(tmp_path, header + word))) == 0


def slow_evt3(words, low_fall_is_overflow=False):
    """One word at a time. With the flag: expelliarmus' rule, which made `evt3_sample.npy`."""
    found, high, low, row, base, polarity, extra = [], None, 0, 0, 0, 0, 0
    for word in words:
        kind, value = word >> 12, word & 4095
        if kind == 8:
            low = 0 if value != high and not low_fall_is_overflow else low
            high = value
        if high is None:
            continue
        if kind == 6:
            if low_fall_is_overflow and value < low:
                extra += 4096
            low = value
        elif kind == 0:
            row = value & 2047
        elif kind == 2:
            found.append(((high << 12) + low + extra, value & 2047, row, value >> 11))
        elif kind == 3:
            base, polarity = value & 2047, value >> 11
        elif kind in (4, 5):
            size = 12 if kind == 4 else 8
            for bit in range(size):
                if value >> bit & 1:
                    found.append(((high << 12) + low + extra, base + bit, row, polarity))
            base += size
    return found


def test_evt3_equals_a_slow_decoder_on_random_words(tmp_path):
    rng = np.random.default_rng(3)
    for _ in range(20):
        kind = rng.choice([0, 2, 3, 4, 5, 6, 8, 10, 14, 15], 3000)
        value = rng.integers(0, 4096, 3000)
        value[(kind == 2) | (kind == 3)] &= 0x0BFF  # x below 1024: no base runs out of 11 bits
        value[kind == 8] = 7
        words = (kind << 12 | value).tolist()
        header = b"% evt 3.0\n"
        path = save(tmp_path, header + struct.pack(f"<{len(words)}H", *words))
        assert read(path).tolist() == [(t, x, y, bool(p)) for t, x, y, p in slow_evt3(words)]


def test_evt3_state_survives_the_block(tmp_path, monkeypatch):
    events = makers.random_events(800)
    path = save(tmp_path, makers.evt3(events))
    for size in (1, 7, 64):
        monkeypatch.setattr("keras_pleiades.events.formats.recording.BLOCK_RECORDS", size)
        assert same(read(path), events), size


def test_evt_outside_the_declared_sensor(tmp_path):
    data = makers.evt2(make_events([70], [5], [200], [1]))
    with pytest.raises(EventFormatError, match=r"x=5, y=200 lies outside.*128x128") as caught:
        read(save(tmp_path, data))
    assert caught.value.offset == len(data) - 4


def test_evt3_vectors_that_run_off_are_refused(tmp_path):
    words = [8 << 12, 3 << 12 | 2040] + [4 << 12 | 1] * 20_000
    with pytest.raises(EventFormatError, match="outside"):
        read(save(tmp_path, b"% evt 3.0\n" + struct.pack(f"<{len(words)}H", *words)))


@pytest.mark.parametrize("header", [b"% evt 4.0\n", b"% format EVT9;width=4;height=4\n"])
def test_unknown_evt_version(header, tmp_path):
    with pytest.raises(EventFormatError, match="expected EVT"):
        read(save(tmp_path, makers.evt2(makers.random_events(3), header)))


# === N-MNIST ===


def test_nmnist_overflow_marks_add_time(tmp_path):
    data = bytes([1, 2, 0x80, 0, 10, 0, 240, 0, 0, 10, 3, 4, 0, 0, 20])
    assert read(save(tmp_path, data)).tolist() == [(10, 1, 2, True), (8192 + 20, 3, 4, False)]


# === Text ===


@pytest.mark.parametrize(
    "text",
    [
        "5,1,2,1\n9,3,4,0\n",
        "t x y p\n5 1 2 1\n9 3 4 0\n",
        "# a comment\nx;y;polarity;timestamp\n1;2;1;5\n3;4;0;9\n",
        "5\t1\t2\t1\r\n\r\n9\t3\t4\t-1",
        "ts,x,y,pol\n5.0,1,2,1\n9,3,4,0",
    ],
)
def test_text_layouts(text, tmp_path):
    assert read(save(tmp_path, text.encode())).tolist() == [(5, 1, 2, True), (9, 3, 4, False)]


@pytest.mark.parametrize(
    ("text", "message", "line"),
    [
        ("t,x,y,p\n5,1,2,1\n0.003811,1,2,1\n", "not seconds", 3),
        ("5,1,2,1\n6,1,2\n", "expected 4 numbers", 2),
        ("5,1,2,1\n6,1,two,1\n", "y is no number", 2),
        ("5,1,2,1\n6,70000,2,1\n", "0 to 65535.*70000", 2),
        ("5,1,2,1\n6,-1,2,1\n", "0 to 65535.*-1", 2),
        ("5,1,2,1\n6,1,2,7\n", "polarity must be 0 or 1.*7", 2),
        ("5,1,2,1\n99999999999999999999,1,2,1\n", "whole number", 2),
    ],
)
def test_text_damage_is_named_with_its_line(text, message, line, tmp_path):
    with pytest.raises(EventFormatError, match=message) as caught:
        read(save(tmp_path, text.encode()))
    assert (caught.value.unit, caught.value.offset) == ("line", line)


def test_text_keeps_times_beyond_what_floats_hold(tmp_path):
    assert read(save(tmp_path, b"9007199254740993,1,2,1\n"))["t"][0] == 9007199254740993


def test_text_in_several_blocks(tmp_path, monkeypatch):
    events = makers.random_events(500)
    monkeypatch.setattr("keras_pleiades.events.formats.text.BLOCK_BYTES", 100)
    assert same(read(save(tmp_path, makers.csv(events))), events)


# === NumPy ===


def test_npy_table_and_other_types(tmp_path):
    events = makers.random_events(100)
    table = np.stack([events[name].astype(np.int64) for name in "txyp"], axis=1)
    makers.write_npy(tmp_path / "table", table)
    assert same(read(tmp_path / "table"), events)
    makers.write_npy(tmp_path / "floats", table.astype(np.float64))
    assert same(read(tmp_path / "floats"), events)
    signed = np.empty(100, [("x", "i4"), ("y", "i4"), ("ts", "f8"), ("polarity", "i1")])
    signed["x"], signed["y"], signed["ts"] = events["x"], events["y"], events["t"]
    signed["polarity"] = np.where(events["p"], 1, -1)
    makers.write_npy(tmp_path / "signed", signed)
    assert same(read(tmp_path / "signed"), events)


def test_npy_with_objects_is_refused_and_runs_nothing(tmp_path):
    class Bomb:
        def __reduce__(self):
            return (pytest.fail, ("code in a file was run",))

    np.save(tmp_path / "bomb.npy", np.array([Bomb()], object), allow_pickle=True)
    with pytest.raises(EventFormatError, match="rows of numbers"):
        read(tmp_path / "bomb.npy")


def test_npy_that_promises_too_much_takes_no_memory(tmp_path):
    makers.write_npy(tmp_path / "recording", makers.random_events(100))
    data = (tmp_path / "recording").read_bytes().replace(b"(100,)", b"(9999999999999,)")
    data = data.replace(b"          \n", b"\n", 1)
    with pytest.raises(EventFormatError, match="truncated"):
        read(save(tmp_path, data))


@pytest.mark.parametrize("name", ["t", "x"])
def test_npy_with_fractions_is_refused(name, tmp_path):
    table = np.ones(3, [(n, "f8") for n in "txyp"])
    table[name][1] = 0.25
    makers.write_npy(tmp_path / "recording", table)
    with pytest.raises(EventFormatError, match=rf"{name} must be whole.*0\.25") as caught:
        read(tmp_path / "recording")
    assert (caught.value.unit, caught.value.offset) == ("row", 1)


def test_npz_without_events(tmp_path):
    np.savez(tmp_path / "other.npz", a=np.zeros(3), b=np.zeros(3))
    with pytest.raises(EventFormatError, match=r"'events' or t, x, y, p.*\['a', 'b'\]"):
        read(tmp_path / "other.npz")


# === HDF5 ===


def test_hdf5_group_of_columns(tmp_path):
    events = makers.random_events(200)
    with h5py.File(tmp_path / "recording", "w") as file:
        for name in "txyp":
            file[f"events/{name}"] = events[name]
        file.attrs["height"], file.attrs["width"] = 128, 128
    assert same(read(tmp_path / "recording"), events)
    assert info(tmp_path / "recording").sensor == (128, 128)


def test_hdf5_sensor_of_prophesee(tmp_path):
    makers.write_hdf5_prophesee(tmp_path / "recording", makers.random_events(20))
    assert info(tmp_path / "recording").sensor == (128, 128)


def test_hdf5_that_promises_too_much_takes_no_memory(tmp_path):
    path = tmp_path / "recording"
    makers.write_hdf5(path, makers.random_events(100), maxshape=(None,), chunks=(100,))
    with h5py.File(path, "a") as file:
        file["events"].resize((10**12,))
    with pytest.raises(EventFormatError, match="truncated"):
        read(path)


def test_hdf5_without_events(tmp_path):
    with h5py.File(tmp_path / "recording", "w") as file:
        file["pictures"] = np.zeros(3)
    with pytest.raises(EventFormatError, match=r"'events' or 'CD/events'.*pictures"):
        read(tmp_path / "recording")


# === Event Stream ===


def test_event_stream_atis(tmp_path):
    events = makers.random_events(100)
    atis = np.zeros(
        100, [("t", "<u8"), ("x", "<u2"), ("y", "<u2"), ("exposure", "?"), ("polarity", "?")]
    )
    atis["t"], atis["x"], atis["y"] = events["t"], events["x"], 127 - events["y"]
    atis["polarity"] = events["p"]
    atis["exposure"][::4] = True
    with faery.es.Encoder(str(tmp_path / "recording"), "atis", False, (128, 128)) as encoder:
        encoder.write(atis)
    assert same(read(tmp_path / "recording"), events[~atis["exposure"]])


def test_event_stream_of_other_types_is_refused(tmp_path):
    with pytest.raises(EventFormatError, match=r"type 1 \(DVS\) or 2 \(ATIS\). Received: 0"):
        read(save(tmp_path, b"Event Stream\x02\x00\x00\x00" + bytes(20)))


@pytest.mark.parametrize(("name", "module"), [("event_stream", "es"), ("aedat4", "aedat")])
def test_a_panic_in_faery_is_a_refusal(name, module, tmp_path, monkeypatch):
    class PanicException(BaseException):  # as in pyo3_runtime: not an Exception
        pass

    class Decoder:
        def __init__(self, *arguments):
            raise PanicException("index out of range")

    makers.WRITERS[name](tmp_path / "recording", makers.random_events(10))
    monkeypatch.setattr(getattr(faery, module), "Decoder", Decoder)
    with pytest.raises(EventFormatError, match="index out of range"):
        read(tmp_path / "recording")
