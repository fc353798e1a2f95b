"""Reads the authors' PyTorch checkpoint, without torch and without running what is in it.

A `.pt` file is a zip: `data.pkl` says which tensors there are, `data/N` hold their numbers. A
pickle can name any function and have it called. This reader gives it a list of four harmless names
and refuses the rest.
"""

import collections
import os
import pickle
import zipfile

import numpy as np

_STORAGES = {
    "DoubleStorage": "<f8",
    "FloatStorage": "<f4",
    "HalfStorage": "<f2",
    "LongStorage": "<i8",
    "IntStorage": "<i4",
    "BoolStorage": "?",
}
_LARGEST = 2**30  # bytes: a thousand times the gesture network


def is_torch_checkpoint(path: str | os.PathLike) -> bool:
    """Whether the file is a zip with a pickle inside, as `torch.save` writes."""
    if not os.path.isfile(path) or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return any(name.endswith("/data.pkl") for name in archive.namelist())


def read_torch_checkpoint(path: str | os.PathLike) -> dict[str, np.ndarray]:
    """Return the tensors of a PyTorch state dict as NumPy arrays.

    Args:
        path: A file that `torch.save(model.state_dict(), path)` wrote.

    Returns:
        Names and arrays, in the file's order.

    Raises:
        ValueError: The file is no such checkpoint, is damaged, or asks for code to be run.
    """
    path = os.fspath(path)
    try:
        with zipfile.ZipFile(path) as archive:
            tensors = _Reader(archive).load()
    except _Refused as error:
        raise ValueError(f"{path}: not read, because {error}") from None
    except Exception as error:  # a damaged pickle can raise nearly anything
        raise ValueError(
            f"{path}: not a PyTorch state dict, or damaged ({type(error).__name__}: {error}). "
            "Expected a file written by torch.save(model.state_dict(), path)."
        ) from error
    return tensors


class _Refused(Exception):
    """The file asks for something that a state dict does not need."""


class _Reader(pickle.Unpickler):
    """An unpickler that can make dictionaries and arrays, and nothing else."""

    def __init__(self, archive: zipfile.ZipFile):
        self._archive = archive
        names = [name for name in archive.namelist() if name.endswith("/data.pkl")]
        if len(names) != 1:
            raise _Refused(f"it holds {len(names)} files named data.pkl, and one is expected")
        self._root = names[0].removesuffix("data.pkl")
        byteorder = self._root + "byteorder"
        if byteorder in archive.namelist() and archive.read(byteorder) != b"little":
            raise _Refused("its numbers are big-endian; save it again on a little-endian machine")
        super().__init__(self._open(names[0]))

    def load(self) -> dict[str, np.ndarray]:
        state = super().load()
        if not isinstance(state, dict):
            raise _Refused(f"it holds a {type(state).__name__}, and a dictionary is expected")
        for name, value in state.items():
            if not isinstance(name, str) or not isinstance(value, np.ndarray):
                raise _Refused(f"{name!r} is a {type(value).__name__}, and a tensor is expected")
        return dict(state)

    def find_class(self, module: str, name: str):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return _rebuild_tensor
        if (module, name) == ("torch._utils", "_rebuild_parameter"):
            return _rebuild_parameter
        if module == "torch" and name in _STORAGES:
            return np.dtype(_STORAGES[name])
        raise _Refused(
            f"it asks to call {module}.{name}, which a state dict never does: it may be harmful. "
            "Only load checkpoints that you trust, saved by torch.save(model.state_dict(), path)"
        )

    def persistent_load(self, pid):
        kind, dtype, key, _, count = pid
        if kind != "storage" or not isinstance(dtype, np.dtype) or not str(key).isalnum():
            raise _Refused(f"it holds {pid!r} in place of a tensor's numbers")
        numbers = np.frombuffer(self._open(f"{self._root}data/{key}").read(), dtype)
        if numbers.size != count:
            raise _Refused(f"tensor data {key} has {numbers.size} numbers, not {count}: damaged")
        return numbers

    def _open(self, name: str):
        entry = self._archive.getinfo(name)
        # torch never compresses, so what an entry unpacks to is bounded by the file's size.
        if entry.compress_type != zipfile.ZIP_STORED or entry.file_size > _LARGEST:
            raise _Refused(f"{name} is compressed or over {_LARGEST} bytes, as torch never writes")
        return self._archive.open(entry)


def _rebuild_tensor(storage, offset, size, stride, *_):
    """Return the view of `storage` that a tensor is, after checking that it lies inside."""
    if not isinstance(storage, np.ndarray):
        raise _Refused("a tensor is made of something other than numbers")
    last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if (
        offset < 0
        or min((*size, *stride), default=0) < 0
        or (0 not in size and last >= storage.size)
    ):
        raise _Refused(f"a tensor of size {size}, stride {stride} reaches outside of its data")
    strides = [step * storage.itemsize for step in stride]
    return np.lib.stride_tricks.as_strided(storage[offset:], size, strides).copy()


def _rebuild_parameter(tensor, *_):
    return tensor
