"""Tests the manifest's form, and that its pinned versions and hashes are respected."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import fetching
import gather
import pytest
from fetching import GatherError, SourceUnavailable, Tools
from places import SCRIPTS

MANIFEST = SCRIPTS / "manifest.json"


def pieces() -> list[dict[str, Any]]:
    return gather.load_manifest(MANIFEST)


def tools(cache: Path, local: Path | None = None) -> Tools:
    return Tools(python="false", node="false", cache=cache, local=local)


def test_every_piece_is_there() -> None:
    names = [piece["name"] for piece in pieces()]
    chainers = ["chainer-7.8.1", "chainer-5.4.0"]
    optuna = ["packaging", "colorlog", "tqdm", "optuna"]
    assert names == ["pyodide", "numpy", *chainers, "six", "worker", "arraycore", *optuna]


@pytest.mark.parametrize("piece", pieces(), ids=lambda piece: str(piece["name"]))
def test_piece_is_pinned_and_has_sources(piece: dict[str, Any]) -> None:
    known = {"name", "version", "file", "sha256", "sources", "pack", "exclude"}
    assert set(piece) <= known | {
        "docstrings", "untyped", "append", "lazy", "modules", "on_demand",
    }  # fmt: skip
    assert piece["pack"] in {"pyodide", "python"}
    assert piece["version"]
    kinds = [source["kind"] for source in piece["sources"]]
    if set(kinds) == {"tree"}:
        return
    assert re.fullmatch(r"[0-9a-f]{64}", piece["sha256"])
    assert piece["version"] in piece["file"]
    assert kinds[0] == "folder", "an operator's own files come first"
    assert set(kinds) <= set(fetching.SOURCES)
    assert len(kinds) > 1


def test_numpy_is_the_one_that_pyodides_lock_file_names(cache: Path) -> None:
    core = next(piece for piece in pieces() if piece["name"] == "pyodide")
    lock_file = cache / core["file"].removesuffix(".tgz") / "package" / "pyodide-lock.json"
    locked = json.loads(lock_file.read_text())["packages"]["numpy"]
    numpy = next(piece for piece in pieces() if piece["name"] == "numpy")
    assert (numpy["file"], numpy["sha256"]) == (locked["file_name"], locked["sha256"])


def test_manifest_of_another_schema_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "manifest.json"
    other.write_text('{"schema": 2, "pieces": []}')
    with pytest.raises(GatherError, match="has schema 2"):
        gather.load_manifest(other)


PIECE = {
    "name": "thing",
    "version": "1",
    "file": "thing-1.whl",
    "sha256": "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",  # b"foo"
    "sources": [{"kind": "folder"}],
    "pack": "python",
    "exclude": [],
}


def test_operators_folder_is_taken_and_kept(tmp_path: Path) -> None:
    own, cache = tmp_path / "own", tmp_path / "cache"
    own.mkdir()
    cache.mkdir()
    (own / "thing-1.whl").write_bytes(b"foo")
    assert fetching.fetch(PIECE, tools(cache, own)).read_bytes() == b"foo"
    shutil.rmtree(own)
    assert fetching.fetch(PIECE, tools(cache, own)).read_bytes() == b"foo", "from the cache"


def test_file_with_another_hash_is_refused(tmp_path: Path) -> None:
    own, cache = tmp_path / "own", tmp_path / "cache"
    own.mkdir()
    cache.mkdir()
    (own / "thing-1.whl").write_bytes(b"bar")
    with pytest.raises(GatherError, match=r"thing-1\.whl from source 'folder' has sha256 fcde2b2e"):
        fetching.fetch(PIECE, tools(cache, own))
    assert list(cache.rglob("*.whl")) == [], "a refused file is not kept"


def test_damaged_cache_is_refused(tmp_path: Path) -> None:
    (tmp_path / "downloads").mkdir()
    (tmp_path / "downloads" / "thing-1.whl").write_bytes(b"half")
    with pytest.raises(GatherError, match="from the cache has sha256"):
        fetching.fetch(PIECE, tools(tmp_path))


def test_file_that_no_source_has_is_one_clear_sentence(tmp_path: Path) -> None:
    with pytest.raises(GatherError) as caught:
        fetching.fetch(PIECE, tools(tmp_path))
    text = str(caught.value)
    assert text.startswith("thing-1.whl could not be had from any source (folder: not in the")
    assert text.endswith("name it by --pyodide-dir.")


def test_next_source_is_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(source: Any, file: str, into: Path, tools: Tools) -> None:
        raise SourceUnavailable("no route")

    def works(source: Any, file: str, into: Path, tools: Tools) -> None:
        (into / file).write_bytes(b"foo")

    monkeypatch.setattr(fetching, "SOURCES", {"folder": unreachable, "wheel": works})
    piece = {**PIECE, "sources": [{"kind": "folder"}, {"kind": "wheel"}]}
    assert fetching.fetch(piece, tools(tmp_path)).read_bytes() == b"foo"


def test_tries_back_off_and_end(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr("time.sleep", waits.append)

    def fail() -> None:
        raise SourceUnavailable("busy")

    with pytest.raises(SourceUnavailable, match="busy"):
        fetching.backed_off("thing", fail)
    assert len(waits) == fetching.ATTEMPTS - 1
    for number, wait in enumerate(waits):
        assert 0.8 * 2**number <= wait <= 1.2 * 2**number


def test_unreachable_url_is_left_at_once(tmp_path: Path) -> None:
    source = {"url": "http://127.0.0.1:9/file", "timeout_s": 5}
    with pytest.raises(SourceUnavailable, match=r"127\.0\.0\.1:9 cannot be reached"):
        fetching.from_url(source, "file", tmp_path, tools(tmp_path))


def test_failed_tool_is_told_by_its_own_words() -> None:
    command = ["sh", "-c", "echo start; echo 'ERROR: no such version' >&2; exit 3"]
    with pytest.raises(SourceUnavailable, match="sh ended with 3: ERROR: no such version"):
        fetching.run_tool("thing", command)


def test_missing_tool_is_named() -> None:
    with pytest.raises(GatherError, match="cannot start /no/such/tool"):
        fetching.run_tool("thing", ["/no/such/tool"])
