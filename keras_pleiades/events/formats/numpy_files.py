"""NPY and NPZ: a structured array with t, x, y, p, an (N, 4) table, or (NPZ) four columns.

Arrays are read in pieces, after their header was held against the size of the file: a header that
promises more than there is gets an error and no memory. Pickled objects are never loaded.
"""

import os
import zipfile
from contextlib import ExitStack, contextmanager

import numpy as np

from keras_pleiades.events.dtype import EventFormatError
from keras_pleiades.events.formats.columns import order_of
from keras_pleiades.events.formats.recording import BLOCK_RECORDS, Recording, columns_to_events

NPY_MAGIC, ZIP_MAGIC = b"\x93NUMPY", (b"PK\x03\x04", b"PK\x05\x06")
READ_HEADER = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}


def matches(head: bytes, size: int) -> bool:
    """Whether a file that begins with `head` is NPY or a ZIP archive."""
    return head.startswith((NPY_MAGIC, *ZIP_MAGIC))


def open_recording(path) -> Recording:
    """Reads the headers of the arrays."""
    with open(path, "rb") as file:
        if file.read(6) == NPY_MAGIC:
            return _open_npy(path)
    return _open_npz(path)


def _open_npy(path):
    @contextmanager
    def opened():
        with open(path, "rb") as file:
            array = _Array(path, file, "the array", os.path.getsize(path))
            yield _columns_of(path, array)

    with opened():  # the header is checked now, the data later
        pass
    return Recording("NPY", None, lambda: _blocks(path, opened))


def _open_npz(path):
    @contextmanager
    def opened():
        with ExitStack() as stack:
            try:
                archive = stack.enter_context(zipfile.ZipFile(path))
                sizes = {
                    item.filename.removesuffix(".npy"): item.file_size
                    for item in archive.infolist()
                    if item.filename.endswith(".npy")
                }
                # Deflate cannot expand more than 1032 times: more than that is no real size.
                names = [n for n, s in sizes.items() if s <= 1032 * os.path.getsize(path)]
                arrays = {
                    name: _Array(
                        path, stack.enter_context(archive.open(name + ".npy")), name, sizes[name]
                    )
                    for name in names
                }
            except EventFormatError:
                raise
            except Exception as error:  # zipfile raises a dozen types over damaged archives
                raise EventFormatError(path, 0, f"broken NPZ archive: {error}") from error
            events = arrays.get("events") or (
                next(iter(arrays.values())) if len(arrays) == 1 else None
            )
            if events is not None:
                yield _columns_of(path, events)
                return
            order = order_of(arrays)
            if order is None:
                raise EventFormatError(
                    path, 0, f"expected an array 'events' or t, x, y, p. Received: {list(arrays)}"
                )
            columns = [list(arrays.values())[i] for i in order]
            if any(column.shape != (columns[0].shape[0],) for column in columns):
                shapes = [column.shape for column in columns]
                raise EventFormatError(path, 0, f"t, x, y, p differ in shape: {shapes}")
            yield columns[0].shape[0], lambda n: [column.take(n) for column in columns]

    with opened():
        pass
    return Recording("NPZ", None, lambda: _blocks(path, opened))


class _Array:
    """One array of a file or archive: its header, and its items piece by piece."""

    def __init__(self, path, file, name, size):
        self.path, self.file, self.name = path, file, name
        try:
            version = np.lib.format.read_magic(file)
            if version not in READ_HEADER:
                raise ValueError(f"NPY version {version} is not 1.0 or 2.0")
            self.shape, fortran, self.dtype = READ_HEADER[version](file)
            start = file.tell()
        except Exception as error:  # NumPy parses the header as Python: any error may come
            raise EventFormatError(path, 0, f"bad header of {name}: {error}") from error
        if self.dtype.hasobject or not self.shape or (fortran and len(self.shape) > 1):
            raise EventFormatError(
                path,
                0,
                f"{name} must be rows of numbers. Received: dtype={self.dtype}, "
                f"shape={self.shape}, fortran_order={fortran}",
            )
        self.width = int(np.prod(self.shape[1:], dtype=object)) * self.dtype.itemsize
        if self.width == 0 or self.shape[0] * self.width > size - start:
            raise EventFormatError(
                path,
                start,
                f"truncated: {name} of shape {self.shape} and dtype {self.dtype} needs "
                f"{self.shape[0] * self.width} bytes, {size - start} are left",
            )

    def take(self, count):
        """The next `count` rows."""
        try:
            data = self.file.read(count * self.width)
        except Exception as error:
            raise EventFormatError(self.path, 0, f"{self.name} is damaged: {error}") from error
        if len(data) != count * self.width:
            raise EventFormatError(self.path, 0, f"{self.name} ends too early")
        return np.frombuffer(data, self.dtype).reshape(count, *self.shape[1:])


def _columns_of(path, array):
    """Returns the number of events and a function that takes the next n as four columns."""
    names = array.dtype.names
    if names is None and len(array.shape) == 2 and array.shape[1] == 4:
        return array.shape[0], lambda n: list(array.take(n).T)
    order = order_of(names or ())
    if order is None or len(array.shape) != 1:
        raise EventFormatError(
            path,
            0,
            f"{array.name} must have the fields t, x, y, p or four columns in that order. "
            f"Received: dtype={array.dtype}, shape={array.shape}",
        )

    def take(n):
        records = array.take(n)
        return [records[names[i]] for i in order]

    return array.shape[0], take


def _blocks(path, opened):
    with opened() as (total, take):
        done = 0
        while done < total:
            count = min(BLOCK_RECORDS, total - done)
            columns = take(count)
            if any(c.shape != (count,) for c in columns):
                raise EventFormatError(path, done, "each of t, x, y, p must be one number", "row")
            yield columns_to_events(path, *columns, lambda i, d=done: d + i, "row")
            done += count
