"""Brings a file of known size and sha256 into the cache: whole and right, or not at all.

`keras.utils.get_file` writes under the file's final name while it downloads, checks afterwards,
never times out, and deletes what another process may just have finished. pooch does better, but has
no limit of size. Both would leave the checks below to be written all the same.
"""

import hashlib
import http.client
import logging
import os
import pathlib
import sys
import time
import urllib.parse
import urllib.request
import uuid

# Only the standard library: the tests start this file alone, in many processes at once.

HOME, MIRROR = "KERAS_PLEIADES_HOME", "KERAS_PLEIADES_MIRROR"
TIMEOUT_SECONDS = 30.0  # without a single byte
SLOWEST = 8_000  # bytes a second: a server that drips keeps nobody for ever
CHUNK = 1 << 16


class FetchError(OSError):
    """A file could not be had, or not be kept."""


def cache_folder() -> pathlib.Path:
    """Return where downloads are kept: `KERAS_PLEIADES_HOME`, or the platform's cache folder."""
    named = os.environ.get(HOME)
    try:
        if named:
            return pathlib.Path(named).expanduser()
        if sys.platform == "win32":
            base = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
        elif sys.platform == "darwin":
            base = "~/Library/Caches"
        else:
            base = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
        return pathlib.Path(base).expanduser() / "keras_pleiades"
    except RuntimeError as error:  # a user without a home
        raise FetchError(f"There is no cache folder ({error}): set {HOME} to one.") from error


def whats_wrong(path: pathlib.Path, size: int, sha256: str) -> str | None:
    """Return in what a file differs from the one expected, or `None` if it is that one."""
    try:
        found = os.path.getsize(path)
        if found != size:
            return f"{found} bytes in place of {size}"
        digest = sha256_of(path)
    except FileNotFoundError:
        return "no such file"
    except OSError as error:
        return f"it cannot be read ({error})"
    return None if digest == sha256 else f"sha256 {digest} in place of {sha256}"


def sha256_of(path: pathlib.Path) -> str:
    """Return a file's sha256, in hexadecimal digits."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def cached_path(url: str, sha256: str) -> pathlib.Path:
    """Return where a file is kept: the hash in its name keeps versions apart."""
    return cache_folder() / "weights" / f"{sha256[:12]}_{_name(url)}"


def fetch(url: str, size: int, sha256: str, what: str, instead: str = "") -> pathlib.Path:
    """Return the path of a verified copy in the cache, downloading it if there is none.

    No lock is taken: processes that come at the same time all download, and each puts the same
    bytes in the same place, so that none waits for one that has died.

    Args:
        url: Where the file is. The mirrors in `KERAS_PLEIADES_MIRROR` are asked first.
        size: Its bytes; no more than these are ever read.
        sha256: Its hash, checked before anything is written.
        what: What it is, for messages.
        instead: What else the caller can do, for the error: one sentence.

    Raises:
        FetchError: It could not be had from anywhere, or not be kept.
    """
    path = cached_path(url, sha256)
    wrong = whats_wrong(path, size, sha256)
    if wrong is None:
        return path
    tried = [] if wrong == "no such file" else [f"{path}: damaged, {wrong}"]
    for source in (*_mirrors(url), url):
        logging.getLogger("keras_pleiades").warning("Downloading %s from %s", what, source)
        try:
            data = _download(source, size, sha256)
        except (OSError, http.client.HTTPException, ValueError) as error:
            tried.append(f"{source}: {error or type(error).__name__}")
            continue
        _keep(data, path, what, whole=lambda: whats_wrong(path, size, sha256) is None)
        return path
    raise FetchError(
        f"{what} could not be downloaded ({size} bytes, sha256 {sha256}):\n"
        + "".join(f"  {one}\n" for one in tried)
        + f"To use it offline put the file at {path}, or set {MIRROR} to the URL of a folder that "
        f"has a {_name(url)}. {instead}".rstrip()
    )


def _name(url):
    return urllib.parse.urlsplit(url).path.rpartition("/")[2]


def _mirrors(url):
    """Return the file's URLs under the folders that the environment names, in their order."""
    return [f"{base.rstrip('/')}/{_name(url)}" for base in os.environ.get(MIRROR, "").split()]


def _download(url: str, size: int, sha256: str) -> bytes:
    """Return the verified bytes of a URL. In memory: what is not verified never meets the disk."""
    request = urllib.request.Request(url, headers={"User-Agent": "keras_pleiades"})
    deadline = time.monotonic() + TIMEOUT_SECONDS + size / SLOWEST
    data = bytearray()
    with urllib.request.urlopen(request, timeout=TIMEOUT_SECONDS) as response:
        # What a server says of the length is not looked at: bytes are counted.
        while len(data) < size:
            chunk = response.read1(min(CHUNK, size - len(data)))  # returns with what has come
            if not chunk:
                raise ValueError(f"it ended after {len(data)} of {size} bytes")
            data += chunk
            if time.monotonic() > deadline:
                raise ValueError(f"too slow, only {len(data)} of {size} bytes so far")
    digest = hashlib.sha256(data).hexdigest()
    if digest != sha256:
        raise ValueError(f"other contents, sha256 {digest} in place of {sha256}")
    return bytes(data)


def _keep(data, path, what, whole):
    """Write beside `path` and rename: whoever reads finds no file, the old one or the new one."""
    temporary = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            with open(temporary, "xb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, path)
        finally:  # also after ctrl-C; nothing is left of it after the rename
            temporary.unlink(missing_ok=True)
    except OSError as error:
        if whole():  # on Windows a file that another process reads cannot be replaced
            return
        raise FetchError(
            f"{what} was downloaded but could not be kept in {path.parent}: {error}. Make room or "
            f"give write access there, or set {HOME} to another folder."
        ) from error
