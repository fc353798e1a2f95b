"""Puts what was written in the place of what was there, whole."""

import contextlib
import os
import pathlib
import shutil
import tempfile
from collections.abc import Iterator


@contextlib.contextmanager
def replacing(target: pathlib.Path, overwrite: bool) -> Iterator[pathlib.Path]:
    """Yield a path to write to; what is written there becomes `target` when all went well.

    A file may have companions, whose names begin with the target's name or its stem and a dot:
    they are put in place before it, and what was there before is removed first. So whoever finds
    the target finds companions that belong to it.

    Args:
        target: A file, or a folder with a SavedModel in it.
        overwrite: Whether an earlier export may be replaced.

    Example:
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> with replacing(folder / "a.onnx", overwrite=False) as path:
        ...     _ = path.write_text("new")
        >>> os.listdir(folder)
        ['a.onnx']
    """
    _check(target, overwrite)
    target.parent.mkdir(parents=True, exist_ok=True)
    # Beside the target: only within a file system is renaming one step.
    folder = pathlib.Path(tempfile.mkdtemp(prefix=".export-", dir=target.parent))
    try:
        new = folder / target.name
        yield new
        _check(target, overwrite)  # once more: writing took a while
        if new.is_dir():
            old = folder / "old"
            if target.exists():
                target.rename(old)
            try:
                new.rename(target)
            except OSError:
                if old.exists():
                    old.rename(target)
                raise
        else:
            target.unlink(missing_ok=True)
            for path in sorted(folder.iterdir()):
                if path != new:
                    os.replace(path, target.parent / path.name)
            os.replace(new, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _check(target: pathlib.Path, overwrite: bool) -> None:
    if not target.exists():
        return
    if not overwrite:
        raise FileExistsError(f"{target} exists. Give another path, or overwrite=True.")
    if target.is_dir() and any(target.iterdir()) and not (target / "saved_model.pb").is_file():
        raise FileExistsError(
            f"{target} is a folder with something else than a SavedModel in it, which an export "
            "does not replace. Give another path."
        )
