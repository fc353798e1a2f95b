"""The cache on disk: arrays by what they were made from, whole or not there at all."""

import hashlib
import json
import os
import pathlib
import struct
import uuid
import zipfile
import zlib
from collections.abc import Callable

import numpy as np

VERSION = 1
# What zipfile and NumPy raise over a file that is cut off or damaged.
BROKEN = (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile, zlib.error, struct.error)


class ArrayCache:
    """Keeps arrays in a folder; several threads and processes may use it at once.

    A file is written beside its place under another name and then moved there, so that nobody ever
    sees half of it, also after ctrl-C. Two that make the same array at once both write it, and the
    second takes the place of the first: they are equal. A file that cannot be read (cut off by a
    full disk, damaged) is made anew. Frames, which are mostly zeros, are kept as the places and
    values of the others.

    Args:
        folder: Where to; made if need be. It may be deleted at any time.

    Example:
        >>> import tempfile
        >>> cache = ArrayCache(tempfile.mkdtemp())
        >>> cache.get({"name": "a"}, lambda: np.eye(2))
        array([[1., 0.],
               [0., 1.]])
        >>> cache.get({"name": "a"}, lambda: 1 / 0)  # not made again
        array([[1., 0.],
               [0., 1.]])
    """

    def __init__(self, folder: str | os.PathLike):
        self.folder = pathlib.Path(folder)
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OSError(
                f"The cache folder cannot be made: {error}. Give `cache=` a folder that can be "
                "written, or None for no cache."
            ) from error

    def path_of(self, identity: dict) -> pathlib.Path:
        """Returns where the array of this identity is kept."""
        key = hashlib.sha256(_text(identity).encode()).hexdigest()[:40]
        return self.folder / key[:2] / f"{key}.npz"

    def get(self, identity: dict, make: Callable[[], np.ndarray]) -> np.ndarray:
        """Returns the array from disk, or makes it and keeps it.

        Args:
            identity: Everything the array depends on, as plain values.
            make: Makes the array.
        """
        path = self.path_of(identity)
        try:
            return _load(path, identity)
        except BROKEN:  # not there, or not whole
            pass
        array = make()
        _store(path, array, identity)
        return array


def file_identity(path: str | os.PathLike) -> list:
    """Returns what tells one state of a file from another: its path, size and time of change."""
    path = os.path.abspath(path)
    found = os.stat(path)
    return [path, found.st_size, found.st_mtime_ns]


def _text(identity):
    return json.dumps({"cache": VERSION, **identity}, sort_keys=True)


def _store(path, array, identity):
    parts = {"identity": np.array(_text(identity)), "shape": np.array(array.shape, np.int64)}
    index = None
    if array.dtype.names is None and array.size < 2**31:
        index = np.flatnonzero(array).astype(np.int32)
    if index is not None and len(index) * (4 + array.itemsize) < array.nbytes:
        parts |= {"index": index, "value": array.reshape(-1)[index]}
    else:
        parts["array"] = array
    path.parent.mkdir(exist_ok=True)
    temporary = path.with_name(f"{path.name}.{uuid.uuid4().hex[:12]}.writing")
    try:
        with open(temporary, "xb") as file:
            np.savez(file, **parts)
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _load(path, identity):
    # Opened here: NumPy leaves a file open that it cannot read.
    with open(path, "rb") as file, np.load(file, allow_pickle=False) as parts:
        if str(parts["identity"]) != _text(identity):
            raise ValueError("made from something else")
        shape = tuple(parts["shape"])
        if "array" in parts:
            array = parts["array"]
            if array.shape != shape:
                raise ValueError("another shape")
            return array
        value = parts["value"]
        array = np.zeros(shape, value.dtype)
        array.reshape(-1)[parts["index"]] = value
        return array
