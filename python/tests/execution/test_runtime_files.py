"""Tests the files for browsers on this machine: they are fetched once, checked by hash, and kept
for later runs.
"""

from __future__ import annotations

import asyncio
import hashlib
import os
from pathlib import Path

import pytest
from fake_console import FakeConsole
from hyperflock import DryRunError
from hyperflock._execution.file_cache import FileCache, cache_folder
from hyperflock._execution.runtime_files import RUNTIME_INDEX, find_runtime
from hyperflock._transport.background_loop import in_thread
from hyperflock._transport.http import Http, Origin
from small_runtime import ARCHIVE, PAGE, SmallRuntime


@pytest.fixture
def built(server: FakeConsole, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SmallRuntime:
    monkeypatch.setenv("HYPERFLOCK_CACHE", str(tmp_path / "cache"))
    built = SmallRuntime(tmp_path / "built")
    server.built = built.folder
    return built


def _read(url: str, path: str = ARCHIVE) -> bytes:
    async def main() -> bytes:
        files = await find_runtime(Http(Origin.parse(url), FakeConsole.token, patience_s=0))
        try:
            assert files.runtime == "a" * 64
            assert files.page == PAGE
            assert path in files
            return await in_thread(lambda: files.read(path))
        finally:
            files.close()

    return asyncio.run(main())


def test_each_file_is_fetched_once(server: FakeConsole, built: SmallRuntime) -> None:
    assert _read(server.url) == b"an archive"
    assert _read(server.url) == b"an archive"
    assert _read(server.url, RUNTIME_INDEX) == built.path(RUNTIME_INDEX).read_bytes()
    assert server.requests.count(f"GET /{ARCHIVE}") == 1
    assert server.requests.count(f"GET /{RUNTIME_INDEX}") == 3


def test_damaged_file_is_fetched_again(server: FakeConsole, built: SmallRuntime) -> None:
    _read(server.url)
    (cache_folder() / built.hash_of(ARCHIVE)).write_bytes(b"an archivf")
    assert _read(server.url) == b"an archive"
    assert server.requests.count(f"GET /{ARCHIVE}") == 2


def test_other_bytes_than_the_index_says_are_refused_and_not_kept(
    server: FakeConsole, built: SmallRuntime
) -> None:
    built.path(ARCHIVE).write_bytes(b"an archivf")
    with pytest.raises(DryRunError, match="is not what the runtime's index says") as caught:
        _read(server.url)
    assert caught.value.code == "runtime_damaged"
    built.path(ARCHIVE).write_bytes(b"an archive")
    assert _read(server.url) == b"an archive"


def test_server_that_is_away_is_not_missed_once_all_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYPERFLOCK_CACHE", str(tmp_path / "cache"))
    with FakeConsole() as server:
        server.built = SmallRuntime(tmp_path / "built").folder
        _read(server.url)
    assert _read(server.url) == b"an archive"
    # A file that was never fetched cannot be read without the server.
    with pytest.raises(DryRunError, match=r"page-Abc_-1\.js cannot be had") as caught:
        _read(server.url, PAGE)
    assert caught.value.code == "runtime_unavailable"
    (noted,) = cache_folder().glob("server-*.json")
    noted.write_text('{"compute": 7}')
    with pytest.raises(DryRunError, match="was never fetched, and") as caught:
        _read(server.url)
    assert caught.value.code == "runtime_unavailable"


@pytest.mark.parametrize(
    ("index", "code"),
    [
        (None, "runtime_unavailable"),
        ("no JSON", "runtime_damaged"),
        ('{"runtime": "%s", "pieces": {}}' % ("A" * 64), "runtime_damaged"),
        (
            '{"runtime": "%s", "pieces": {"x": {"base": "/runtime/../", "files": []}}}'
            % ("a" * 64),
            "runtime_damaged",
        ),
    ],
)
def test_lists_that_are_none(
    server: FakeConsole, built: SmallRuntime, index: str | None, code: str
) -> None:
    path = built.path(RUNTIME_INDEX)
    path.unlink() if index is None else path.write_text(index)
    with pytest.raises(DryRunError) as caught:
        _read(server.url)
    assert caught.value.code == code


def test_cache_stays_within_its_limit_and_drops_the_longest_unused(tmp_path: Path) -> None:
    cache = FileCache(tmp_path, limit_bytes=10)
    contents = [b"aaaa", b"bbbb", b"cccc"]
    hashes = [hashlib.sha256(content).hexdigest() for content in contents]
    for age, (sha256, content) in enumerate(zip(hashes[:2], contents[:2], strict=True)):
        cache.put(sha256, content)
        os.utime(tmp_path / sha256, (1000 + age, 1000 + age))
    assert cache.get(hashes[0]) == b"aaaa"  # used now, and so younger than the other one
    left_over = tmp_path / ".part-left"
    left_over.write_bytes(b"half")
    os.utime(left_over, (1000, 1000))
    cache.put(hashes[2], contents[2])
    assert [cache.get(sha256) for sha256 in hashes] == [b"aaaa", None, b"cccc"]
    assert not left_over.exists()
    cache.put("0" * 64, b"x" * 11)
    assert cache.get("0" * 64) is None


def test_folder_that_cannot_be_written_keeps_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = FileCache(tmp_path / "file" / "below")
    cache.put("0" * 64, b"x")
    cache.note("server", b"{}")
    assert (cache.get("0" * 64), cache.noted("server")) == (None, None)


@pytest.mark.parametrize(
    ("system", "variable", "folder"),
    [
        ("linux", "XDG_CACHE_HOME", "{base}/hyperflock"),
        ("linux", None, "{home}/.cache/hyperflock"),
        ("darwin", None, "{home}/Library/Caches/hyperflock"),
        ("win32", "LOCALAPPDATA", "{base}/hyperflock"),
    ],
)
def test_folder_is_the_platform_s(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, system: str, variable: str | None, folder: str
) -> None:
    for name in ("HYPERFLOCK_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    if variable:
        monkeypatch.setenv(variable, str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setattr("sys.platform", system)
    assert str(cache_folder()) == folder.format(base=tmp_path, home=tmp_path / "home")
