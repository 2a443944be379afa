"""Writes a bundle: a zip that contains sources and a lock file. Any thread may use this module.

    content, sources_sha256 = pack({"train.py": b"..."}, lock_text(wheels, arrays))

The lock file contains the versions of the runtime that the sources need. The same sources and lock
file give the same bytes. The worker (``hyperflock_worker.bundles``) refuses file names that lead
outside its folder, so this module refuses to write them.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hyperflock._base.codes import cannot
from hyperflock._bundle.source.runtime import PACKS, RUNTIME_VERSIONS, with_needs
from hyperflock._transport.messages import DataRef

LOCK_NAME = "hyperflock_lock.json"
MAX_BUNDLE_BYTES = 16 << 20

# The beginning of the comment of a zip whose code imports Optuna or packs. Their names follow. A
# device reads the zip's last bytes and loads the packages before it unpacks the zip
# (worker-runtime/src/agent/files/bundle_needs.ts).
_NEEDS = "hyperflock needs "

_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_MODE = 0o100644 << 16
_PART = re.compile(r"[^/\\\x00-\x1f:]{1,200}")


def lock_text(
    wheels: Sequence[tuple[DataRef, str]],
    arrays: Sequence[tuple[DataRef, str]],
    packs: Iterable[str] = (),
) -> bytes:
    """Return the content of a lock file.

    Parameters
    ----------
    wheels, arrays
        The data items that are sent with the bundle, each with its place: the file name of a wheel,
        or the path of an array inside the bundle.
    packs
        The names of the packs that the code imports. The lock file gets their versions and those of
        all that they need.
    """
    lock: dict[str, Any] = {"schema": 1, "versions": RUNTIME_VERSIONS}
    for kind, items in (("wheels", wheels), ("arrays", arrays)):
        lock[kind] = [{"name": r.name, "file": file, "sha256": r.sha256} for r, file in items]
    if versions := {name: PACKS[name].version for name in with_needs(packs)}:
        lock["packs"] = versions
    return _text(lock)


def _text(lock: Mapping[str, Any]) -> bytes:
    return (json.dumps(lock, indent=1, sort_keys=True) + "\n").encode()


def pack(
    sources: Mapping[str, bytes], lock: bytes, *, needs: Iterable[str] = ()
) -> tuple[bytes, str]:
    """Return a zip of the sources and the lock file. ``needs`` are the packages that the code
    imports and that not every browser loads: ``optuna`` and the names of packs.

    Returns
    -------
    bytes, str
        The zip, and the SHA-256 of the sources' names and contents, which does not depend on the
        version of zlib.

    Raises
    ------
    BundleError
        ``cannot_bundle_source``: a name is not a valid file name on every system.
    """
    digest = hashlib.sha256()
    file = io.BytesIO()
    seen: set[str] = set()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in sorted({**sources, LOCK_NAME: lock}.items()):
            parts = name.split("/")
            if not all(_PART.fullmatch(p) and p not in {".", ".."} for p in parts):
                raise cannot("source", f"{name!r} cannot be a file's name on every system")
            if name.casefold() in seen:
                raise cannot("source", f"two files differ from '{name}' by capital letters only")
            seen.add(name.casefold())
            if name != LOCK_NAME:
                digest.update(f"{name}\0{len(content)}\0".encode())
                digest.update(content)
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = _UNIX
            entry.external_attr = _MODE
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
        if needed := " ".join(sorted(needs)):
            archive.comment = f"{_NEEDS}{needed}".encode()
    return file.getvalue(), digest.hexdigest()


def repacked(bundle: bytes, needs: Iterable[str]) -> bytes:
    """Return a bundle that names further packages; see `pack`."""
    with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
        sources = {name: archive.read(name) for name in archive.namelist()}
    lock = json.loads(sources.pop(LOCK_NAME))
    named = needs_of(bundle) | set(needs)
    if versions := {name: PACKS[name].version for name in with_needs(named)}:
        lock["packs"] = versions
    return pack(sources, _text(lock), needs=named)[0]


def needs_of(bundle: bytes) -> frozenset[str]:
    """Return ``optuna`` and the names of the packs that a bundle's code imports."""
    try:
        with zipfile.ZipFile(io.BytesIO(bundle)) as archive:
            comment = archive.comment.decode("ascii", "replace")
    except zipfile.BadZipFile:
        return frozenset()
    if not comment.startswith(_NEEDS):
        return frozenset()
    return frozenset(comment.removeprefix(_NEEDS).split())
