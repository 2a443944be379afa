"""Unpacks the files in a wheel with a server: the pages, the browsers' runtime, the volunteer.

    folder = unpacked(packed, cache_folder())    # .../parts-0123456789abcdef with web, runtime

The wheel has one compressed copy of each file (``parts.tar.xz``). The first start unpacks it into a
folder of the cache whose name is the hash of the archive, and adds the gzip forms that the server
sends to browsers. The folder gets its name last, so it is complete or absent: a start that is
interrupted, fails or runs next to another one leaves no incomplete folder. Functions block; any
thread and several processes may call them.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import io
import json
import os
import shutil
import tarfile
import tempfile
import time
import uuid
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from hyperflock._base.errors import HyperflockError

ARCHIVE = "parts.tar.xz"
LIST = "parts.json"

_SCHEMA = 1
_NAME = "parts-"
_TEMPORARY = ".parts-"
# The file with the sizes of all files of an unpacked folder, by which a damaged one is noticed.
_SIZES = "sizes.json"
_STALE_S = 3600.0
_UNUSED_S = 60 * 86_400.0
# A gzip form is kept only if it is at most this fraction of the file, as in a build: a smaller
# saving is not worth the work. Level 6 takes a third of the time of level 9 and makes files that
# are 1 % larger.
_WORTH = 0.95
_LEVEL = 6


def unpacked(packed: Path, cache: Path) -> Path:
    """Return the folder with the unpacked files; unpack them if this was not done before.

    Parameters
    ----------
    packed
        The folder of the wheel with the archive and its list.
    cache
        The folder in which the unpacked files are kept.

    Raises
    ------
    HyperflockError
        ``parts_damaged``: the archive is not what its list says; ``cannot_write``: the cache cannot
        hold the files.
    """
    listed = _listed(packed)
    sha256, expected = str(listed["sha256"]), int(listed["unpacked_bytes"])
    folder = cache / f"{_NAME}{sha256[:16]}"
    try:
        if not _is_intact(folder):
            archive = _checked(packed, sha256)
            cache.mkdir(parents=True, exist_ok=True, mode=0o700)
            _remove_leftovers(cache, folder)
            _make(folder, archive)
        # The folder's time is set to now, so that `_remove_leftovers` of other versions keeps it.
        with contextlib.suppress(OSError):
            os.utime(folder)
    except OSError as error:
        # The gzip forms need about half as much space in addition.
        raise HyperflockError(
            f"'{cache}' cannot hold the server's files (about {expected * 3 // 2_000_000} MB): "
            f"{error.strerror or error}; HYPERFLOCK_CACHE names another folder",
            code="cannot_write",
        ) from None
    return folder


def write_pack(packed: Path, trees: dict[str, Path]) -> None:
    """Write the archive and its list, as the build of a wheel does.

    Parameters
    ----------
    packed
        The folder for the two files.
    trees
        Each folder to pack, by its name in the archive. Compressed forms of a file are left out.
    """
    files = [
        (f"{name}/{path.relative_to(root).as_posix()}", path)
        for name, root in sorted(trees.items())
        for path in sorted(root.rglob("*"))
        if path.is_file() and not _is_form(path)
    ]
    packed.mkdir(parents=True, exist_ok=True)
    # The largest dictionary is used, because the two versions of Chainer have most of their text in
    # common.
    with tarfile.open(packed / ARCHIVE, "w:xz", preset=9, format=tarfile.PAX_FORMAT) as archive:
        for name, path in files:
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode, entry.mtime = path.stat().st_size, 0o644, 0
            with path.open("rb") as content:
                archive.addfile(entry, content)
    told = {
        "schema": _SCHEMA,
        "sha256": hashlib.sha256((packed / ARCHIVE).read_bytes()).hexdigest(),
        "unpacked_bytes": sum(path.stat().st_size for _, path in files),
    }
    (packed / LIST).write_text(json.dumps(told, indent=1) + "\n", "utf-8")


def _is_form(path: Path) -> bool:
    """Return whether a file is a compressed form of the file next to it."""
    return path.suffix in {".br", ".gz"} and path.with_suffix("").is_file()


def _damaged(packed: Path, what: str) -> HyperflockError:
    return HyperflockError(
        f"'{packed / what}' is damaged; install the package again: "
        "pip install --force-reinstall --no-deps and the wheel",
        code="parts_damaged",
    )


def _listed(packed: Path) -> dict[str, Any]:
    try:
        listed = json.loads((packed / LIST).read_text("utf-8"))
        assert listed["schema"] == _SCHEMA
        assert len(listed["sha256"]) == 64
        assert isinstance(listed["unpacked_bytes"], int)
    except (OSError, ValueError, KeyError, TypeError, AssertionError):
        raise _damaged(packed, LIST) from None
    found: dict[str, Any] = listed
    return found


def _checked(packed: Path, sha256: str) -> bytes:
    try:
        content = (packed / ARCHIVE).read_bytes()
    except OSError:
        raise _damaged(packed, ARCHIVE) from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise _damaged(packed, ARCHIVE)
    return content


def _is_intact(folder: Path) -> bool:
    try:
        sizes = json.loads((folder / _SIZES).read_text("utf-8"))
        return all((folder / name).stat().st_size == size for name, size in sizes.items())
    except (OSError, ValueError, AttributeError):
        return False


def _make(folder: Path, archive: bytes) -> None:
    temporary = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=folder.parent))
    try:
        made = temporary / "made"
        made.mkdir()
        names = list(_extracted(archive, made))
        # Compression releases Python's lock, so other threads can run.
        with ThreadPoolExecutor() as threads:
            forms = list(threads.map(lambda name: _compressed(made, name), names))
        sizes = {name: (made / name).stat().st_size for name in (*names, *filter(None, forms))}
        (made / _SIZES).write_text(json.dumps(sizes), "utf-8")
        _put_in_place(made, folder, temporary)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _extracted(archive: bytes, into: Path) -> Iterator[str]:
    """Write the archive's files and yield their names. The archive's hash was checked."""
    with tarfile.open(fileobj=io.BytesIO(archive), mode="r:xz") as entries:
        for entry in entries:
            content = entries.extractfile(entry)
            assert content is not None, "the archive holds only files"
            path = into / entry.name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("wb") as file:
                shutil.copyfileobj(content, file, 1 << 20)
            yield entry.name


def _compressed(folder: Path, name: str) -> str | None:
    """Write the gzip form of a file and return its name; None if it would save too little."""
    plain = (folder / name).read_bytes()
    packed = gzip.compress(plain, _LEVEL, mtime=0)
    if len(packed) > len(plain) * _WORTH:
        return None
    (folder / f"{name}.gz").write_bytes(packed)
    return f"{name}.gz"


def _put_in_place(made: Path, folder: Path, temporary: Path) -> None:
    """Give a temporary folder its final name. Another process may do the same at this moment."""
    while True:
        try:
            made.rename(folder)
            return
        except OSError:
            if _is_intact(folder):  # the other process was first
                return
            if not folder.exists():
                raise
        # A damaged folder is moved away, because a folder cannot replace one that is not empty.
        with contextlib.suppress(FileNotFoundError):
            folder.rename(temporary / uuid.uuid4().hex)


def _remove_leftovers(cache: Path, keep: Path) -> None:
    """Remove what killed processes left, and versions that nobody has used for two months."""
    now = time.time()
    for path in cache.iterdir():
        age_s = 0.0
        with contextlib.suppress(OSError):
            age_s = now - path.stat().st_mtime
        is_left = path.name.startswith(_TEMPORARY) and age_s > _STALE_S
        is_unused = path.name.startswith(_NAME) and path != keep and age_s > _UNUSED_S
        if is_left or is_unused:
            shutil.rmtree(path, ignore_errors=True)
