"""Reads a bundle: unpacks its sources, checks its lock file, and unpacks its wheels and arrays.

    lock = unpack(bundle_bytes, folder / "code")
    check_runtime(lock)
    wheels = lay_out(lock, attached, folder)     # folders for sys.path

A bundle comes from another person's machine over a network, so it is not trusted: every name is
checked before the first file is written, and sizes and checksums are checked while writing. It runs
on Python's thread.
"""

from __future__ import annotations

import hashlib
import io
import json
import re
import stat
import sys
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

LOCK_NAME = "hyperflock_lock.json"
MAX_FILES = 4_000
MAX_UNPACKED_BYTES = 256 << 20
# A wheel may hold more than a researcher's own sources do.
MAX_WHEEL_FILES = 20_000

# On Windows a colon names a drive. The browser's file system refuses names of more than 255 bytes.
_PART = re.compile(r"[^/\\\x00-\x1f:]{1,200}")
_SHA256 = re.compile(r"[0-9a-f]{64}")


class BundleReadError(Exception):
    """Raised for a bundle that this worker cannot use.

    Attributes
    ----------
    code : str
        ``bundle_damaged``, ``bundle_unsafe``, ``bundle_too_large`` or ``runtime_mismatch``.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Attached:
    """A wheel or an array that a bundle needs; it is sent as one of the study's data items."""

    name: str
    file: str
    sha256: str


@dataclass(frozen=True)
class Lock:
    """The content of a bundle's lock file: versions, wheels and arrays. It is empty if the bundle
    has no lock file.

    Attributes
    ----------
    versions : Mapping
        ``python``, ``pyodide``, ``numpy``: the versions of the runtime.
    wheels, arrays : tuple of Attached
        Wheels by their file names; arrays by their paths inside the bundle's folder.
    """

    versions: Mapping[str, str]
    wheels: tuple[Attached, ...]
    arrays: tuple[Attached, ...]


def unpack(content: bytes, folder: Path) -> Lock:
    """Unpack a bundle into ``folder``, which must not exist yet, and read its lock file.

    Raises
    ------
    BundleReadError
        ``bundle_damaged``: the zip is damaged, or its lock cannot be read. ``bundle_unsafe``: a
        name leaves the folder, occurs twice or is not a plain file's. ``bundle_too_large``: there
        are too many files or bytes.
    """
    extract(content, folder, MAX_FILES)
    path = folder / LOCK_NAME
    if not path.is_file():
        return Lock({}, (), ())
    try:
        return _read_lock(json.loads(path.read_text("utf-8")))
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise BundleReadError(
            "bundle_damaged", f"the bundle's lock cannot be read: {error}"
        ) from error


def extract(content: bytes, folder: Path, max_files: int) -> None:
    """Unpack a zip after all its names were checked; errors are those of :func:`unpack`."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as archive:
            entries = archive.infolist()
            _check_entries(entries, max_files)
            folder.mkdir(parents=True)
            left = MAX_UNPACKED_BYTES
            for entry in entries:
                left -= _write_entry(archive, entry, folder, left)
    # Python's zipfile raises many kinds of errors for damaged archives.
    except (
        zipfile.BadZipFile,
        NotImplementedError,
        EOFError,
        ValueError,
        RuntimeError,
        OSError,
        LookupError,
        zlib.error,
    ) as error:
        raise BundleReadError(
            "bundle_damaged", f"the bundle cannot be unpacked: {error}"
        ) from error


def check_runtime(lock: Lock, there: Mapping[str, str] | None = None) -> None:
    """Compare the lock's versions with this runtime's.

    Outside of a browser there is nothing to compare, unless ``there`` gives the versions of a
    runtime.

    Raises
    ------
    BundleReadError
        ``runtime_mismatch``, naming each version that differs.
    """
    found = runtime_versions() if there is None else there
    different = [
        f"{name} {wanted} (here {found[name]})"
        for name, wanted in lock.versions.items()
        if name in found and found[name] != wanted
    ]
    if different:
        raise BundleReadError(
            "runtime_mismatch",
            f"the bundle was made for {', '.join(different)}; "
            "submit the study again with the package of this server's version",
        )


def runtime_versions() -> dict[str, str]:
    """Return the runtime's versions that a lock names; an empty dict outside of a browser."""
    if sys.platform != "emscripten":
        return {}
    import pyodide  # type: ignore[import-not-found]

    return {
        "python": f"{sys.version_info.major}.{sys.version_info.minor}",
        "pyodide": str(pyodide.__version__),
        "numpy": np.__version__,
    }


def lay_out(lock: Lock, data: Mapping[str, bytes], folder: Path) -> list[Path]:
    """Unpack the lock's wheels, and write its arrays to the paths that the bundle's code uses.

    Parameters
    ----------
    lock : Lock
        The bundle's lock, which names the items.
    data : Mapping
        The content of each item by its name.
    folder : Path
        The attempt's folder, which has the bundle in ``code``.

    Returns
    -------
    list of Path
        The folders to add to ``sys.path``, one for each wheel.

    Raises
    ------
    BundleReadError
        See :func:`unpack`; ``bundle_damaged`` also if an item is missing or has another checksum.
    """
    for item in lock.arrays:
        path = folder / "code" / item.file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_content(item, data))
    places = []
    for number, item in enumerate(lock.wheels):
        places.append(folder / "wheels" / str(number))
        extract(_content(item, data), places[-1], MAX_WHEEL_FILES)
    return places


def _content(item: Attached, data: Mapping[str, bytes]) -> bytes:
    content = data.get(item.name)
    if content is None or hashlib.sha256(content).hexdigest() != item.sha256:
        raise BundleReadError(
            "bundle_damaged", f"'{item.name}', which travels with the bundle, did not arrive whole"
        )
    return content


def _check_entries(entries: list[zipfile.ZipInfo], max_files: int) -> None:
    if len(entries) > max_files:
        raise BundleReadError("bundle_too_large", f"the bundle has more than {max_files} files")
    if sum(entry.file_size for entry in entries) > MAX_UNPACKED_BYTES:
        raise _too_large()
    seen: set[str] = set()
    for entry in entries:
        name = entry.orig_filename
        mode = entry.external_attr >> 16
        if (
            not is_safe(name.removesuffix("/"))
            or entry.filename != name
            or name.casefold() in seen
            or (mode and not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_IFMT(mode) == 0))
        ):
            raise BundleReadError(
                "bundle_unsafe", f"the bundle has the name {name[:200]!r}, which is not allowed"
            )
        seen.add(name.casefold())
        if entry.compress_type not in {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise BundleReadError("bundle_damaged", "the bundle is packed as no bundle is")


def is_safe(name: str) -> bool:
    """Return whether a name stays within the folder that it is unpacked to, on every system."""
    return all(
        _PART.fullmatch(part) and part not in {".", ".."} for part in name.split("/")
    ) and not name.startswith("/")


def _write_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, folder: Path, limit: int) -> int:
    """Write one file and return its size. The written bytes are counted, because the size in a
    zip's directory may be wrong.
    """
    path = folder / entry.filename
    if entry.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        return 0
    path.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with archive.open(entry) as source, path.open("wb") as file:
        while chunk := source.read(1 << 20):
            size += len(chunk)
            if size > limit:
                raise _too_large()
            file.write(chunk)
    return size


def _too_large() -> BundleReadError:
    return BundleReadError(
        "bundle_too_large", f"the bundle has more than {MAX_UNPACKED_BYTES >> 20} MiB unpacked"
    )


def _read_lock(value: Any) -> Lock:
    if value["schema"] != 1:
        raise ValueError(f"it has the schema {value['schema']!r}")
    versions = {str(name): str(version) for name, version in value["versions"].items()}
    return Lock(versions, _attached(value["wheels"]), _attached(value["arrays"]))


def _attached(items: Any) -> tuple[Attached, ...]:
    found = tuple(Attached(str(i["name"]), str(i["file"]), str(i["sha256"])) for i in items)
    for item in found:
        if not is_safe(item.file) or not _SHA256.fullmatch(item.sha256):
            raise ValueError(f"it has the item {item.file[:200]!r}")
    return found
