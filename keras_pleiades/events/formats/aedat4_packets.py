"""How large a compressed packet can become, found without unpacking it."""

import struct

NONE, LZ4, LZ4_HIGH, ZSTD, ZSTD_HIGH = range(5)
LZ4_MAGIC, ZSTD_MAGIC = b"\x04\x22\x4d\x18", b"\x28\xb5\x2f\xfd"
LZ4_BLOCK = {4: 1 << 16, 5: 1 << 18, 6: 1 << 20, 7: 1 << 22}
ZSTD_BLOCK = 1 << 17
ZSTD_MAX_WINDOW_LOG = 27


def unpacked_bound(data: bytes, compression: int) -> int | None:
    """Returns an upper bound on the unpacked size, or None when the frame is not sound.

    Args:
        data: One packet: one LZ4 or Zstandard frame, or plain bytes.
        compression: The number in the file's header.

    Example:
        >>> unpacked_bound(b"plain", 0)
        5
        >>> unpacked_bound(b"no frame", 1) is None
        True
    """
    try:
        if compression == NONE:
            return len(data)
        return _lz4(data) if compression in (LZ4, LZ4_HIGH) else _zstd(data)
    except (IndexError, KeyError, struct.error):
        return None


def _lz4(data):
    if data[:4] != LZ4_MAGIC:
        return None
    flags, block = data[4], LZ4_BLOCK[(data[5] >> 4) & 7]
    at = 7 + 8 * ((flags >> 3) & 1) + 4 * (flags & 1)
    bound = 0
    while (size := struct.unpack_from("<I", data, at)[0]) != 0:
        at += 4 + (size & 0x7FFFFFFF) + 4 * ((flags >> 4) & 1)
        # A byte of LZ4 stands for at most 255.
        bound += min(block, 255 * (size & 0x7FFFFFFF))
    return bound


def _zstd(data):
    if data[:4] != ZSTD_MAGIC:
        return None
    flags = data[4]
    single = (flags >> 5) & 1
    if not single and 10 + (data[5] >> 3) > ZSTD_MAX_WINDOW_LOG:
        return None
    content = (single, 2, 4, 8)[flags >> 6]
    at = 5 + (1 - single) + (0, 1, 2, 4)[flags & 3] + content
    bound, last = 0, False
    while not last:
        head = int.from_bytes(data[at : at + 3], "little")
        if at + 3 > len(data):
            return None
        last, kind, size = head & 1, (head >> 1) & 3, head >> 3
        # Kinds: raw, one byte repeated, compressed.
        at += 3 + (1 if kind == 1 else size)
        bound += min(size, ZSTD_BLOCK) if kind < 2 else ZSTD_BLOCK
    return bound
