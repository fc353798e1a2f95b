"""CSV and the like: one event a line, four whole numbers.

Columns may be named in a first line (t, x, y, p, also timestamp, polarity and the like) and stand
in any order; without names they are t, x, y, p. Separators are commas, semicolons, tabs or spaces.
Lines that begin with "#" or "%" are passed over.
"""

import io
import re

import numpy as np

from keras_pleiades.events.dtype import EVENT_DTYPE, EventFormatError
from keras_pleiades.events.formats.columns import NAMES, order_of
from keras_pleiades.events.formats.recording import Recording, columns_to_events

BLOCK_BYTES = 1 << 20
NUMBERS = re.compile(rb"[-+]?\d+(\.\d*)?([eE][-+]?\d+)?")
SPLIT = re.compile(rb"[,; \t]+")


def matches(head: bytes, size: int) -> bool:
    """Whether the first line of content is four numbers or names the four columns."""
    if not re.fullmatch(rb"[\t\r\n\x20-\x7e]+", head):
        return False
    lines = [line for line in head.splitlines() if _content(line)]
    return bool(lines) and (_names(lines[0]) is not None or _is_numbers(lines[0]))


def open_recording(path) -> Recording:
    """Finds the columns."""
    return Recording("CSV", None, lambda: _blocks(path))


def _content(line: bytes) -> bool:
    return bool(line.strip()) and line[:1] not in b"#%"


def _fields(line: bytes) -> list[bytes]:
    return SPLIT.split(line.strip())


def _is_numbers(line: bytes) -> bool:
    fields = _fields(line)
    return len(fields) >= 4 and all(NUMBERS.fullmatch(field) for field in fields)


def _names(line: bytes):
    return order_of([field.decode("latin-1").strip("\"'") for field in _fields(line)])


def _blocks(path):
    order, number = None, 0  # number: lines in front of this block
    with open(path, "rb") as file:
        while block := file.read(BLOCK_BYTES):
            block += file.readline(1 << 12)  # up to the end of the line
            lines = block.splitlines()
            first = number + 1
            number += len(lines)
            places = [i for i, line in enumerate(lines) if _content(line)]
            if order is None and places:
                order = _names(lines[places[0]])
                if order is not None:
                    del places[0]
                else:
                    order = (0, 1, 2, 3)
            if places:
                yield _parse(path, [lines[i] for i in places], [first + i for i in places], order)
            elif order is not None:
                yield np.empty(0, EVENT_DTYPE)


def _parse(path, lines, numbers, order):
    text = re.sub(rb"[,;\t]+", b" ", b"\n".join(lines)).decode("latin-1")
    try:
        # int64 exactly where it can be: a float would round times beyond 2^53.
        table = np.loadtxt(io.StringIO(text), np.int64, comments=None, ndmin=2, usecols=order)
        if len(table) != len(lines):
            raise ValueError("a line is missing")
    except (ValueError, OverflowError):
        table = np.array([_row(path, *pair, order) for pair in zip(lines, numbers, strict=True)])
    columns = (table[:, i] for i in range(4))
    return columns_to_events(path, *columns, lambda i: numbers[i], "line")


def _row(path, line, number, order):
    """Parses one line; the slow way, to say what is wrong with it or to take 1e3 and 5.0."""
    fields = _fields(line)
    text = line[:80].decode("latin-1")
    if len(fields) <= max(order):
        raise EventFormatError(
            path, number, f"expected {max(order) + 1} numbers. Received: {text!r}", "line"
        )
    values = []
    for name, place in zip(NAMES, order, strict=True):
        field = fields[place]
        if not NUMBERS.fullmatch(field):
            raise EventFormatError(path, number, f"{name} is no number in {text!r}", "line")
        value = int(field) if field.lstrip(b"+-").isdigit() else float(field)
        if value != value // 1 or abs(value) >= 2**63:
            hint = "; times are whole microseconds, not seconds" if name == "t" else ""
            raise EventFormatError(
                path, number, f"{name} must be a whole number{hint}. Received: {text!r}", "line"
            )
        values.append(int(value))
    return values
