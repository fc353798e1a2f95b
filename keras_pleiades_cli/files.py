"""Checks of the files that a command is given, before it takes the time to import Keras."""

import contextlib
import os
import pathlib
import tempfile
from collections.abc import Iterator
from typing import IO

from keras_pleiades_cli.errors import UserError


def check_file(path: str, what: str) -> str:
    """Return the path of a file that exists and has something in it."""
    if not os.path.exists(path):
        raise UserError(f"{path}: there is no such file. Expected {what}")
    if os.path.isdir(path):
        raise UserError(f"{path} is a directory. Expected {what}")
    if os.path.isfile(path) and not os.path.getsize(path):
        raise UserError(f"{path}: the file is empty (0 bytes). Expected {what}")
    return path


def check_out(path: str, endings: tuple[str, ...]) -> str:
    """Return the ending of a file to be written, if it is one of `endings` and can be written."""
    ending = pathlib.Path(path).suffix.lower()
    if ending not in endings:
        raise UserError(f"The output's name must end in {', '.join(endings)}. Received: {path}")
    folder = os.path.dirname(path) or "."
    if not os.path.isdir(folder):
        raise UserError(f"There is no folder {folder} to write {os.path.basename(path)} to")
    if os.path.isdir(path) or not os.access(folder, os.W_OK):
        raise UserError(f"{path} cannot be written: it is a directory, or lies in a protected one")
    return ending


@contextlib.contextmanager
def replacing(path: str) -> Iterator[IO[str]]:
    """Open a text file that takes the place of `path` when all was written.

    Example:
        >>> path = os.path.join(tempfile.mkdtemp(), "a.txt")
        >>> with replacing(path) as file:
        ...     _ = file.write("whole")
        >>> pathlib.Path(path).read_text()
        'whole'
    """
    folder, name = os.path.split(path)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{name}.", dir=folder or ".")
    try:
        with open(descriptor, "w", encoding="utf-8", newline="") as file:
            yield file
        # mkstemp lets the owner alone read: what others may do is for the umask to say.
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(temporary, 0o666 & ~mask)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
