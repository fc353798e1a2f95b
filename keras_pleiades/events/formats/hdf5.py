"""HDF5 with a compound dataset `events` (3ET+) or `CD/events` (Prophesee), or a group of columns.

A group `events` with one dataset for each of t, x, y, p (DSEC and others) is read too.
"""

import os
from contextlib import contextmanager

import h5py
import numpy as np

from keras_pleiades.events.dtype import EventFormatError
from keras_pleiades.events.formats.columns import order_of
from keras_pleiades.events.formats.recording import (
    BLOCK_RECORDS,
    Recording,
    Rows,
    check_inside,
    columns_to_events,
)

MAGIC = b"\x89HDF\r\n\x1a\n"
PLACES = ("CD/events", "events")
MAX_CHUNK = 64 << 20
BROKEN = (OSError, RuntimeError, ValueError, TypeError, KeyError, AttributeError, MemoryError)


def matches(head: bytes, size: int) -> bool:
    """Whether a file that begins with `head` is HDF5."""
    return head.startswith(MAGIC)


def open_recording(path) -> Recording:
    """Finds the events and the size of the sensor."""
    with _Refused(path), h5py.File(path, "r") as file:
        place, _, _ = _columns(path, file)
        sensor = _sensor(file)
    return Recording(
        f"HDF5 ({place})", sensor, lambda: _blocks(path, sensor), lambda: _rows(path, sensor)
    )


class _Refused:
    """Turns what h5py raises over a damaged file into an EventFormatError."""

    def __init__(self, path):
        self.path, self.row = path, 0

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if isinstance(error, BROKEN) and not isinstance(
            error, EventFormatError | FileNotFoundError
        ):
            # A missing filter (Prophesee's ECF codec is a plugin) is reported here too.
            reason = f"HDF5 cannot be read: {error or type(error).__name__}"
            raise EventFormatError(self.path, self.row, reason, "row") from error


def _columns(path, file):
    """Returns the events' place, their number, and a function from a slice to four columns."""
    for place in PLACES:
        found = file.get(place)
        if isinstance(found, h5py.Dataset):
            order = order_of(found.dtype.names or ())
            if order is None or found.ndim != 1:
                raise EventFormatError(
                    path,
                    0,
                    f"{place} must be 1-D with the fields t, x, y, p. "
                    f"Received: dtype={found.dtype}, shape={found.shape}",
                    "row",
                )
            _check_storage(path, found)
            names = [found.dtype.names[i] for i in order]

            def take(rows, found=found, names=names):
                records = found[rows]
                return [records[name] for name in names]

            return place, found.shape[0], take
        if isinstance(found, h5py.Group):
            order = order_of(found)
            if order is None:
                continue
            columns = [found[name] for name in (list(found)[i] for i in order)]
            for column in columns:
                if not isinstance(column, h5py.Dataset) or column.ndim != 1:
                    raise EventFormatError(path, 0, f"{place} must hold 1-D datasets", "row")
                _check_storage(path, column)
            if len({column.shape for column in columns}) != 1:
                shapes = [column.shape for column in columns]
                raise EventFormatError(path, 0, f"t, x, y, p differ in shape: {shapes}", "row")
            return place, columns[0].shape[0], lambda rows, found=columns: [c[rows] for c in found]
    raise EventFormatError(
        path, 0, f"expected a dataset 'events' or 'CD/events'. Received: {list(file)}", "row"
    )


def _check_storage(path, dataset):
    """Refuses a dataset that promises far more than the file holds."""
    if dataset.dtype.hasobject:
        raise EventFormatError(path, 0, f"{dataset.name} holds objects, not numbers", "row")
    size = os.path.getsize(path)
    bytes_wanted = dataset.shape[0] * dataset.dtype.itemsize
    if dataset.chunks is None:
        held = min(dataset.id.get_storage_size(), size)
    else:
        chunk = dataset.chunks[0] * dataset.dtype.itemsize
        # Deflate cannot expand more than 1032 times.
        if chunk > max(MAX_CHUNK, 1032 * size):
            raise EventFormatError(path, 0, f"{dataset.name} has chunks of {chunk} bytes", "row")
        held = min(dataset.id.get_num_chunks() * chunk, 1032 * size)
    if bytes_wanted > held:
        raise EventFormatError(
            path,
            0,
            f"truncated: {dataset.name} of shape {dataset.shape} needs {bytes_wanted} bytes, "
            f"the file holds {held}",
            "row",
        )


def _sensor(file):
    for attributes in (file.attrs, *(file[p].attrs for p in PLACES if p in file)):
        for height, width in (("height", "width"), ("sensor_height", "sensor_width")):
            if height in attributes and width in attributes:
                sensor = int(attributes[height]), int(attributes[width])
                if all(0 < size <= 65536 for size in sensor):
                    return sensor
        geometry = attributes.get("geometry")  # Prophesee: "1280x720"
        geometry = geometry.decode() if isinstance(geometry, bytes) else geometry
        width, _, height = geometry.partition("x") if isinstance(geometry, str) else ("", "", "")
        if width.isdecimal() and height.isdecimal() and 0 < int(width) * int(height) <= 2**32:
            return int(height), int(width)
    return None


def _blocks(path, sensor):
    with _Refused(path) as place, h5py.File(path, "r") as file:
        _, total, take = _columns(path, file)
        for start in range(0, total, BLOCK_RECORDS):
            place.row = start
            yield _events(path, sensor, take, start, min(start + BLOCK_RECORDS, total))


@contextmanager
def _rows(path, sensor):
    with _Refused(path) as place, h5py.File(path, "r") as file:
        _, total, columns = _columns(path, file)

        def take(first, last):
            place.row = first
            return _events(path, sensor, columns, first, last)

        yield Rows(total, lambda i: int(columns(slice(i, i + 1))[0][0]), take)


def _events(path, sensor, take, start, end):
    columns = [np.asarray(column) for column in take(slice(start, end))]
    if any(c.shape != columns[0].shape or c.ndim != 1 for c in columns):
        raise EventFormatError(path, start, "t, x, y, p must be one number each", "row")

    def offset_of(i):
        return start + i

    events = columns_to_events(path, *columns, offset_of, "row")
    check_inside(path, events, sensor, offset_of, "row")
    return events
