"""The folder for what the package fetches or makes and could fetch or make again."""

import os
import pathlib
import sys

HOME = "KERAS_PLEIADES_HOME"


def home() -> pathlib.Path:
    """Return `KERAS_PLEIADES_HOME`, or a folder in the platform's cache folder.

    Example:
        >>> os.environ[HOME] = "/data/pleiades"
        >>> home().as_posix()
        '/data/pleiades'
        >>> del os.environ[HOME]
    """
    named = os.environ.get(HOME)
    if named:
        return pathlib.Path(named).expanduser()
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        base = "~/Library/Caches"
    else:
        base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return pathlib.Path(base).expanduser() / "keras_pleiades"
