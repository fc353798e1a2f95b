"""Finding a data set's files, and saying what is missing and where to get it."""

import hashlib
import os
import pathlib
from dataclasses import dataclass


class DatasetNotFoundError(FileNotFoundError):
    """A data set's files are not there, or not all of them."""


@dataclass(frozen=True)
class Archive:
    """A file that a data set is distributed in.

    Attributes:
        name: Its name.
        md5: Its MD5 sum, as published.
        source: Who published the sum.
    """

    name: str
    md5: str
    source: str


# No data set here publishes sums of its single files.
ARCHIVES = (
    Archive("DvsGesture.tar.gz", "8a5c71fb11e24e5ca5b11866ca6c00a1", "spikingjelly"),
    Archive("ibmGestureTrain.tar.gz", "3a8f0d4120a166bac7591f77409cb105", "tonic"),
    Archive("ibmGestureTest.tar.gz", "56070e45dadaa85fff82e0fbfbc06de5", "tonic"),
    Archive("train.zip", "20959b8e626244a1b502305a9e6e2031", "tonic (N-MNIST)"),
    Archive("test.zip", "69ca8762b2fe404d9b9bad1103e97832", "tonic (N-MNIST)"),
)


def verify_archive(path: str | os.PathLike) -> Archive:
    """Holds a downloaded archive against its published MD5 sum.

    Args:
        path: The archive, under the name it was published with (in any case of letters).

    Returns:
        What is known of it.

    Raises:
        ValueError: The sum differs, or none is known for a file of this name.

    Example:
        >>> import tempfile
        >>> path = pathlib.Path(tempfile.mkdtemp(), "DvsGesture.tar.gz")
        >>> _ = path.write_bytes(b"half of it")
        >>> try:
        ...     verify_archive(path)
        ... except ValueError as error:
        ...     print(str(error).partition("has ")[2])
        the MD5 sum c480aa5bbf7247d48d87b46fa064c71e in place of 8a5c71fb11e24e5ca5b11866ca6c00a1
        (spikingjelly): the download is damaged or of another version. Delete it and get it again.
    """
    path = pathlib.Path(path)
    known = {archive.name.lower(): archive for archive in ARCHIVES}
    if path.name.lower() not in known:
        names = ", ".join(archive.name for archive in ARCHIVES)
        raise ValueError(f"Sums are known of {names}. Received: {path.name!r}")
    archive = known[path.name.lower()]
    with open(path, "rb") as file:
        found = hashlib.file_digest(file, "md5").hexdigest()
    if found != archive.md5:
        raise ValueError(
            f"{path} ({path.stat().st_size} bytes) has the MD5 sum {found} in place of "
            f"{archive.md5} ({archive.source}): the download is damaged or of another version. "
            "Delete it and get it again."
        )
    return archive


def missing(name: str, folder, expected: str, url: str, hint: str = "") -> DatasetNotFoundError:
    """Returns the error for a data set that is not where it was said to be.

    Args:
        name: Of the data set.
        folder: Where it was looked for.
        expected: What should be there.
        url: Where to get it.
        hint: What else to do.
    """
    folder = pathlib.Path(folder)
    if not folder.exists():
        found = "there is nothing of that name"
    elif folder.is_file():
        found = "that is a file"
    else:
        names = sorted(path.name for path in folder.iterdir())
        found = ", ".join(names[:8]) + (" ..." if len(names) > 8 else "") or "an empty folder"
    archives = {archive.name.lower() for archive in ARCHIVES}
    if folder.is_dir() and not hint:
        packed = [path.name for path in folder.iterdir() if path.name.lower() in archives]
        if packed:
            hint = f" {packed[0]} is still packed: unpack it there."
    return DatasetNotFoundError(
        f"{name}: expected {expected} in {folder}. Received: {found}.{hint} "
        f"The data set is at {url}"
    )


def check_count(name: str, what: str, found: int, expected: int, partial: bool, url: str) -> None:
    """Refuses a data set that is not whole, unless part of it is what is wanted.

    Args:
        name: Of the data set.
        what: What is counted.
        found: How many there are.
        expected: How many the whole data set has.
        partial: Whether fewer will do.
        url: Where to get the rest.
    """
    if found != expected and not partial:
        raise DatasetNotFoundError(
            f"{name}: expected {expected} {what}. Received: {found}. Give `partial=True` to use "
            f"them all the same, or get the whole at {url}"
        )
