"""Downloads from servers that are slow, cut off, lie or serve wrong bytes; a cache that breaks."""

import hashlib
import os
import pathlib
import signal
import socket
import subprocess
import sys

import numpy as np
import pytest

from keras_pleiades import _fetch
from tests.zoo.bad_server import serve

CONTENT = np.random.default_rng(0).bytes(50_000)
SHA256 = hashlib.sha256(CONTENT).hexdigest()
WHAT = "gesture's preset 'dvs128'"
INSTEAD = "Bundled with the package, without a download: pretrained='synthetic'."


@pytest.fixture(scope="module")
def server():
    with serve(CONTENT) as server:
        yield server


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("KERAS_PLEIADES_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("KERAS_PLEIADES_MIRROR", raising=False)
    monkeypatch.setenv("no_proxy", "*")
    return tmp_path / "home"


def get(url):
    return _fetch.fetch(url, len(CONTENT), SHA256, WHAT, INSTEAD)


def files(home):
    return sorted(path.name for path in home.rglob("*") if path.is_file())


@pytest.mark.parametrize(
    "way", ["good", "without_length", "chunked", "redirects", "slow", "says_too_long"]
)
def test_the_right_bytes_are_kept(server, home, way):
    path = get(server.url(way))
    assert path.read_bytes() == CONTENT
    assert path == _fetch.cached_path(server.url(way), SHA256)
    assert files(home) == [f"{SHA256[:12]}_file.bin"]


BAD = {
    "cuts_off": "it ended after 25000 of 50000 bytes",
    "chunked_cut_off": "IncompleteRead|it ended after",
    "says_too_short": "it ended after 16666 of 50000 bytes",
    "sends_for_ever": "other contents, sha256 .* in place of " + SHA256,
    "wrong_bytes": "other contents, sha256 .* in place of " + SHA256,
    "login_page": "it ended after 47 of 50000 bytes",
    "not_found": "404",
    "broken": "500",
    "redirects_for_ever": "infinite loop",
    "speaks_no_http": "220 smtp",
    "hangs_up": "without response",
}


@pytest.mark.parametrize("way", BAD)
def test_anything_else_is_an_error_and_leaves_nothing(server, home, way):
    with pytest.raises(_fetch.FetchError, match=BAD[way]) as error:
        get(server.url(way))
    message = str(error.value)
    # What to know and what to do: the preset, the URL, the place in the cache, the alternative.
    assert WHAT in message
    assert f"{server.url(way)}: " in message
    assert str(_fetch.cached_path(server.url(way), SHA256)) in message
    assert "KERAS_PLEIADES_MIRROR" in message
    assert INSTEAD in message
    assert files(home) == []


@pytest.mark.parametrize("way", ["stalls", "says_nothing"])
def test_silence_times_out(server, home, way, monkeypatch):
    monkeypatch.setattr(_fetch, "TIMEOUT_SECONDS", 0.2)
    with pytest.raises(_fetch.FetchError, match="timed out"):
        get(server.url(way))
    assert files(home) == []


def test_dripping_ends_too(server, home, monkeypatch):
    monkeypatch.setattr(_fetch, "TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr(_fetch, "SLOWEST", 1_000_000)  # so 0.25 s for all
    with pytest.raises(_fetch.FetchError, match="too slow, only"):
        get(server.url("drips"))
    assert files(home) == []


def unused_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def test_offline(home):
    url = f"http://127.0.0.1:{unused_port()}/file.bin"
    with pytest.raises(_fetch.FetchError, match=r"refused") as error:
        get(url)
    for part in (WHAT, url, str(_fetch.cached_path(url, SHA256)), INSTEAD):
        assert part in str(error.value)
    # The error says to put the file there by hand.
    path = _fetch.cached_path(url, SHA256)
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT)
    assert get(url) == path


def test_the_cache_is_used(server, home):
    url = server.url("good", "cached.bin")
    before = len(server.requests)
    first = get(url)
    stamp = first.stat().st_mtime_ns
    assert get(url) == first
    assert len(server.requests) == before + 1
    assert first.stat().st_mtime_ns == stamp


@pytest.mark.parametrize("broken", [CONTENT[:-1], b"", CONTENT[:-1] + b"!", CONTENT + b"more"])
def test_a_broken_cache_is_repaired(server, home, broken):
    path = get(server.url("good"))
    path.write_bytes(broken)
    assert get(server.url("good")) == path
    assert path.read_bytes() == CONTENT
    # Or, if it cannot be, the error says what is wrong with it, and leaves it alone.
    path.write_bytes(broken)
    with pytest.raises(_fetch.FetchError, match=rf"{path.name}: damaged, .* in place of"):
        get(server.url("not_found"))
    assert path.read_bytes() == broken


class TestMirrors:
    def test_are_asked_first_by_the_files_name(self, server, monkeypatch):
        monkeypatch.setenv("KERAS_PLEIADES_MIRROR", server.url("good", "a/folder/"))
        del server.requests[:]
        assert get(server.url("not_found")).read_bytes() == CONTENT
        assert server.requests == ["good"]

    def test_that_fail_are_passed_over(self, server, monkeypatch):
        mirrors = [server.url(way, "") for way in ("wrong_bytes", "broken", "slow")]
        monkeypatch.setenv("KERAS_PLEIADES_MIRROR", " ".join(mirrors))
        del server.requests[:]
        assert get(server.url("good")).read_bytes() == CONTENT
        assert server.requests == ["wrong_bytes", "broken", "slow"]

    def test_the_original_is_asked_last(self, server, monkeypatch):
        monkeypatch.setenv("KERAS_PLEIADES_MIRROR", server.url("not_found", ""))
        del server.requests[:]
        assert get(server.url("good")).read_bytes() == CONTENT
        assert server.requests == ["not_found", "good"]

    def test_the_error_names_each(self, server, monkeypatch):
        monkeypatch.setenv("KERAS_PLEIADES_MIRROR", f"{server.url('broken', '')} nonsense")
        with pytest.raises(_fetch.FetchError) as error:
            get(server.url("cuts_off"))
        lines = str(error.value).splitlines()
        assert lines[1].startswith(f"  {server.url('broken')}: ")
        assert lines[2].startswith("  nonsense/file.bin: unknown url type")
        assert lines[3].startswith(f"  {server.url('cuts_off')}: ")

    def test_may_be_a_folder_of_this_machine(self, server, tmp_path, monkeypatch):
        (tmp_path / "file.bin").write_bytes(CONTENT)
        monkeypatch.setenv("KERAS_PLEIADES_MIRROR", tmp_path.as_uri())
        assert get(server.url("not_found")).read_bytes() == CONTENT


class TestCacheFolder:
    def test_is_the_one_named(self, home, monkeypatch):
        assert _fetch.cache_folder() == home
        monkeypatch.setenv("KERAS_PLEIADES_HOME", "~/elsewhere")
        assert _fetch.cache_folder() == pathlib.Path.home() / "elsewhere"

    @pytest.mark.parametrize(
        ("platform", "variable", "expected"),
        [
            ("linux", None, "~/.cache/keras_pleiades"),
            ("linux", "XDG_CACHE_HOME", "VALUE/keras_pleiades"),
            ("darwin", None, "~/Library/Caches/keras_pleiades"),
            ("win32", "LOCALAPPDATA", "VALUE/keras_pleiades"),
        ],
    )
    def test_or_the_platforms(self, tmp_path, monkeypatch, platform, variable, expected):
        for name in ("KERAS_PLEIADES_HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.setattr(sys, "platform", platform)
        if variable:
            monkeypatch.setenv(variable, str(tmp_path))
        expected = expected.replace("VALUE", str(tmp_path))
        assert _fetch.cache_folder() == pathlib.Path(expected).expanduser()

    def test_that_cannot_be_made(self, server, tmp_path, monkeypatch):
        (tmp_path / "file").write_text("in the way")
        monkeypatch.setenv("KERAS_PLEIADES_HOME", str(tmp_path / "file"))
        with pytest.raises(_fetch.FetchError, match=r"could not be kept in .*KERAS_PLEIADES_HOME"):
            get(server.url("good"))

    def test_that_is_read_only(self, server, home):
        home.mkdir()
        home.chmod(0o500)
        if os.access(home, os.W_OK):
            pytest.skip("nothing is read-only for root")
        with pytest.raises(_fetch.FetchError, match=r"could not be kept in .*Permission denied"):
            get(server.url("good"))

    def test_with_a_folder_in_the_files_place(self, server):
        _fetch.cached_path(server.url("good"), SHA256).mkdir(parents=True)
        with pytest.raises(_fetch.FetchError, match="could not be kept"):
            get(server.url("good"))


def test_an_interrupted_write_leaves_nothing(server, home, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", interrupt)
        with pytest.raises(KeyboardInterrupt):
            get(server.url("good"))
    assert files(home) == []
    assert get(server.url("good")).read_bytes() == CONTENT


# Other processes, which run `_fetch.py` alone: it imports only the standard library.
ALONE = f"""
import sys
sys.path.insert(0, {str(pathlib.Path(_fetch.__file__).parent)!r})
import _fetch
def get():
    print(_fetch.fetch(sys.argv[1], {len(CONTENT)}, {SHA256!r}, "it"), flush=True)
"""


def start(code, url):
    command = [sys.executable, "-c", ALONE + code, url]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("cache", ["empty", "broken"])
def test_many_processes_at_once(server, home, cache):
    url = server.url("slow")
    path = _fetch.cached_path(url, SHA256)
    if cache == "broken":
        path.parent.mkdir(parents=True)
        path.write_bytes(CONTENT[: len(CONTENT) // 2])
    # Each reads the file it was given, while others may still be replacing it.
    code = f"get(); assert _fetch.sha256_of({str(path)!r}) == {SHA256!r}"
    processes = [start(code, url) for _ in range(8)]
    for process in processes:
        out, err = process.communicate()
        assert (process.returncode, out) == (0, f"{path}\n"), err
    assert path.read_bytes() == CONTENT
    assert files(home) == [path.name]


@pytest.mark.skipif(sys.platform == "win32", reason="signals are not sent there")
@pytest.mark.parametrize("stop", ["SIGINT", "SIGKILL"])
def test_a_stopped_download_leaves_nothing(home, stop):
    with serve(CONTENT) as server:
        process = start("get()", server.url("stalls"))
        assert server.asked.wait(60)
        process.send_signal(getattr(signal, stop))
        process.communicate()
        assert process.returncode != 0
        assert files(home) == []
        assert get(server.url("good")).read_bytes() == CONTENT


def test_a_full_disk(server, home):
    pytest.importorskip("resource")  # not on Windows
    # A limit on the size of files fails a write in its middle, as a full disk does.
    code = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (9_000, 9_000)); get()"
    process = start(code, server.url("good"))
    _, err = process.communicate()
    assert process.returncode == 1
    assert "FetchError: it was downloaded but could not be kept in" in err
    assert "KERAS_PLEIADES_HOME" in err
    assert files(home) == []
