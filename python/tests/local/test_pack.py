"""Tests that the files in a wheel are unpacked once, and completely or not at all."""

from __future__ import annotations

import errno
import gzip
import json
import os
import shutil
import threading
from pathlib import Path

import pytest
from hyperflock import HyperflockError
from hyperflock._local import parts as _parts
from hyperflock._local.pack import ARCHIVE, LIST, unpacked, write_pack

TEXT = b"the same words again and again; " * 500


@pytest.fixture
def packed(tmp_path: Path) -> Path:
    """Return a packed folder, as a wheel has it, with a few files of each kind."""
    built = tmp_path / "built"
    files = {
        "web/join.html": TEXT,
        "web/join.html.br": b"a form that is not packed",
        "web/app/noise.bin": os.urandom(4096),
        "runtime/index.json": b"{}",
        "volunteer/volunteer.js": b"// none",
    }
    for name, content in files.items():
        (built / name).parent.mkdir(parents=True, exist_ok=True)
        (built / name).write_bytes(content)
    write_pack(
        tmp_path / "packed", {name: built / name for name in ("web", "runtime", "volunteer")}
    )
    return tmp_path / "packed"


def _names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_files_are_unpacked_with_the_forms_that_save_bytes(packed: Path, tmp_path: Path) -> None:
    folder = unpacked(packed, tmp_path / "cache")
    assert _names(folder) == {
        "web/join.html",
        "web/join.html.gz",
        "web/app/noise.bin",
        "runtime/index.json",
        "volunteer/volunteer.js",
        "sizes.json",
    }
    assert (folder / "web/join.html").read_bytes() == TEXT
    assert gzip.decompress((folder / "web/join.html.gz").read_bytes()) == TEXT
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [folder.name]
    # Once the files are unpacked, only the archive's hash and size are read, from the list next to
    # it. So the archive itself can be missing.
    (packed / ARCHIVE).unlink()
    assert unpacked(packed, tmp_path / "cache") == folder


def test_two_packs_of_the_same_files_are_the_same_bytes(packed: Path, tmp_path: Path) -> None:
    for path in (tmp_path / "built").rglob("*"):
        os.utime(path, (1, 1))
    again = tmp_path / "again"
    built = tmp_path / "built"
    write_pack(again, {name: built / name for name in ("volunteer", "runtime", "web")})
    assert (again / ARCHIVE).read_bytes() == (packed / ARCHIVE).read_bytes()


@pytest.mark.parametrize("name", [ARCHIVE, LIST])
@pytest.mark.parametrize("damage", ["cut", "changed", "gone"])
def test_damaged_pack_is_one_sentence(name: str, damage: str, packed: Path, tmp_path: Path) -> None:
    path = packed / name
    content = path.read_bytes()
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(content[:40] if damage == "cut" else b"x" + content[1:])
    with pytest.raises(HyperflockError, match="install the package again") as caught:
        unpacked(packed, tmp_path / "cache")
    assert caught.value.code == "parts_damaged"
    assert str(path) in caught.value.message
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("damage", ["cut", "gone", "no list"])
def test_damaged_folder_is_made_again(damage: str, packed: Path, tmp_path: Path) -> None:
    folder = unpacked(packed, tmp_path / "cache")
    before = _names(folder)
    if damage == "cut":
        (folder / "web/join.html.gz").write_bytes(b"half")
    elif damage == "gone":
        shutil.rmtree(folder / "web")
    else:
        (folder / "sizes.json").write_text("[")
    assert unpacked(packed, tmp_path / "cache") == folder
    assert _names(folder) == before
    assert (folder / "web/join.html").read_bytes() == TEXT
    assert len(list((tmp_path / "cache").iterdir())) == 1


def test_two_starts_at_once_both_get_the_whole_folder(packed: Path, tmp_path: Path) -> None:
    at_once = threading.Barrier(6)
    found: list[Path] = []

    def start() -> None:
        at_once.wait()
        folder = unpacked(packed, tmp_path / "cache")
        assert (folder / "web/join.html").read_bytes() == TEXT
        found.append(folder)

    threads = [threading.Thread(target=start) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 6
    assert len(set(found)) == 1
    assert list((tmp_path / "cache").iterdir()) == [found[0]]


@pytest.mark.parametrize(
    ("fault", "raised"),
    [(KeyboardInterrupt(), None), (OSError(errno.ENOSPC, "No space left on device"), "space")],
)
def test_interrupted_start_or_full_disk_leaves_nothing(
    fault: BaseException,
    raised: str | None,
    packed: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def compress(*_: object, **__: object) -> bytes:
        raise fault

    with monkeypatch.context() as patched:
        patched.setattr("hyperflock._local.pack.gzip.compress", compress)
        with pytest.raises(KeyboardInterrupt if raised is None else HyperflockError) as caught:
            unpacked(packed, tmp_path / "cache")
    if raised is not None:
        assert isinstance(caught.value, HyperflockError)
        assert caught.value.code == "cannot_write"
        assert "No space left on device; HYPERFLOCK_CACHE names another" in caught.value.message
    assert list((tmp_path / "cache").iterdir()) == []
    assert unpacked(packed, tmp_path / "cache").is_dir()


def test_cache_that_cannot_be_made_is_one_sentence(packed: Path, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(HyperflockError, match="HYPERFLOCK_CACHE") as caught:
        unpacked(packed, tmp_path / "file" / "cache")
    assert caught.value.code == "cannot_write"


def test_leftovers_of_killed_starts_and_old_versions_go(packed: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    for name in (".parts-killed", ".parts-running", "parts-unused", "parts-used", "other"):
        (cache / name).mkdir(parents=True)
    os.utime(cache / ".parts-killed", (1, 1))
    os.utime(cache / "parts-unused", (1, 1))
    os.utime(cache / "other", (1, 1))
    folder = unpacked(packed, cache)
    left = {path.name for path in cache.iterdir()}
    assert left == {".parts-running", "parts-used", "other", folder.name}


def test_server_of_a_wheel_is_found_after_a_checkouts_and_before_the_paths(
    packed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_parts, "_PACKED", packed)
    monkeypatch.setattr(_parts, "_CHECKOUT", tmp_path / "checkout")
    monkeypatch.setenv("HYPERFLOCK_CACHE", str(tmp_path / "cache"))
    on_path = tmp_path / "bin" / _parts.BINARY
    built = tmp_path / "checkout" / "build" / "release" / "bin" / _parts.BINARY
    for binary in (on_path, built, packed / _parts.BINARY):
        binary.parent.mkdir(parents=True, exist_ok=True)
        binary.write_text("#!/bin/sh\n")
    on_path.chmod(0o755)
    monkeypatch.setenv("PATH", str(on_path.parent))
    for name in ("web", "runtime"):
        (tmp_path / "checkout" / "build" / name).mkdir()
    assert _parts.find_parts(None, None, None).server == built
    built.unlink()
    found = _parts.find_parts(None, None, None)
    assert found.server == packed / _parts.BINARY
    assert os.access(found.server, os.X_OK)  # the wheel was unpacked without its permissions
    folder = unpacked(packed, tmp_path / "cache")
    assert (found.app, found.runtime) == (folder / "web", folder / "runtime")
    assert found.volunteer == folder / "volunteer"
    (packed / _parts.BINARY).unlink()
    assert _parts.find_program(None) == on_path


def test_list_says_what_is_needed(packed: Path) -> None:
    told = json.loads((packed / LIST).read_text())
    assert told["unpacked_bytes"] == len(TEXT) + 4096 + 2 + 7
