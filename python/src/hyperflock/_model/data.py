"""Turns a researcher's arrays and files into named data sets for a server.

    sets = prepare({"digits": {"x": images, "y": labels}, "words": "words.txt"})
    sets[0].ref                      # name, kind, filename, sha256, bytes
    with sets[0].open() as file: ...

A data set is one array (``npy``), several arrays (``npz``) or a file as it is; nothing is pickled.
Tables of pandas and lists are sent as several arrays.
Arrays are written in memory, and files are read from disk while they are sent. Any thread may use
this module.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import re
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from hyperflock._base.errors import DataError
from hyperflock._transport.messages import MAX_DATA, MAX_TEXT, DataRef
from hyperflock._trial.tables import arrays_of, needs_pandas, value_of

MAX_BLOB_BYTES = 512 << 20

_CHUNK_BYTES = 1 << 20
_EPOCH = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class DataSet:
    """A data set that is ready to be sent."""

    ref: DataRef
    content: bytes | Path
    # The packs that a trial needs to read it.
    packs: frozenset[str] = frozenset()

    def open(self) -> BinaryIO:
        """Open the content for reading."""
        if isinstance(self.content, bytes):
            return io.BytesIO(self.content)
        return self.content.open("rb")


def prepare(data: Mapping[str, Any] | None) -> list[DataSet]:
    """Return the data sets for ``data``, a mapping of names to paths, arrays, dicts of arrays,
    tables of pandas or lists.

    Raises
    ------
    DataError
        A name, a path or an array cannot be sent.
    """
    if data is None:
        return []
    if not isinstance(data, Mapping):
        raise DataError(
            f"data is a {type(data).__name__}; give a dict of names and data sets",
            code="bad_field",
            field="data",
        )
    if len(data) > MAX_DATA:
        raise DataError(f"a study has at most {MAX_DATA} data sets", code="too_many", field="data")
    return [_prepared(name, value) for name, value in data.items()]


@contextlib.contextmanager
def as_seen_by_trial(data: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Return the data that a trial in a browser gets, read from the bytes that would be sent."""
    seen: dict[str, Any] = {}
    with tempfile.TemporaryDirectory(prefix="hyperflock-") as folder:
        for number, item in enumerate(prepare(data)):
            if item.ref.kind == "file":
                # The objective gets a copy, as in a browser, because it may change its data.
                copy = Path(folder) / f"{number}-{item.ref.filename}"
                with item.open() as source, copy.open("wb") as target:
                    shutil.copyfileobj(source, target)
                seen[item.ref.name] = str(copy)
                continue
            with item.open() as file:
                seen[item.ref.name] = load_arrays(item.ref.kind, file)
        yield seen


def load_arrays(kind: str, file: BinaryIO) -> Any:
    """Return an ``npy`` file as an array, or an ``npz`` file as a dict of arrays or as the table or
    list that it describes; refuse pickles.
    """
    try:
        loaded = np.load(file, allow_pickle=False)
        if kind == "npy":
            if not isinstance(loaded, np.ndarray):
                raise DataError("the file is an archive of arrays, not one array")
            return loaded
        if isinstance(loaded, np.ndarray):
            raise DataError("the file is one array, not an archive of arrays")
        with loaded:
            return value_of({name: loaded[name] for name in loaded.files})
    except (ValueError, KeyError, TypeError, OSError, EOFError, zipfile.BadZipFile) as error:
        if isinstance(error, DataError):
            raise
        raise DataError(f"the arrays cannot be read: {error}") from None


def _prepared(name: str, value: Any) -> DataSet:
    if not isinstance(name, str) or not name or len(name) > MAX_TEXT:
        raise DataError(
            f"the data name {name!r} is not a string of 1 to {MAX_TEXT} characters",
            code="bad_field",
            field="data",
        )
    if isinstance(value, np.ndarray):
        return _from_bytes(name, "npy", npy_bytes(name, value))
    if isinstance(value, Mapping):
        return _from_bytes(name, "npz", npz_bytes(name, value))
    if isinstance(value, str | os.PathLike):
        return _from_path(name, Path(value))
    try:
        arrays = arrays_of(value)
    except ValueError as error:
        raise DataError(f"the data set '{name}' cannot be sent: {error}", field=name) from None
    if arrays is not None:
        made = _from_bytes(name, "npz", npz_bytes(name, arrays))
        return replace(made, packs=frozenset({"pandas"} if needs_pandas(value) else ()))
    raise DataError(
        f"the data set '{name}' is a {type(value).__name__}; "
        "give a path, a NumPy array, a dict of NumPy arrays, a DataFrame of pandas or a list",
        field=name,
    )


def npy_bytes(name: str, array: np.ndarray[Any, Any]) -> bytes:
    """Return an array in NumPy's file format."""
    if array.dtype.hasobject:
        raise DataError(
            f"the array '{name}' holds Python objects, which cannot be sent", field=name
        )
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=False)
    return file.getvalue()


def npz_bytes(name: str, arrays: Mapping[str, Any]) -> bytes:
    """Return a compressed npz file; its bytes depend only on the names and arrays."""
    if not arrays:
        raise DataError(f"the data set '{name}' has no arrays", field=name)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for key in sorted(arrays, key=str):
            if not isinstance(key, str) or not re.fullmatch(r"[^/\\\x00]{1,128}", key):
                raise DataError(
                    f"'{name}' has the array name {key!r}, which cannot be sent", field=name
                )
            array = arrays[key]
            if not isinstance(array, np.ndarray):
                raise DataError(
                    f"'{key}' of the data set '{name}' is a {type(array).__name__}, no NumPy array",
                    field=name,
                )
            entry = zipfile.ZipInfo(f"{key}.npy", _EPOCH)
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, npy_bytes(f"{name}.{key}", array))
    return file.getvalue()


def _from_bytes(name: str, kind: Any, content: bytes) -> DataSet:
    _check_size(name, len(content))
    filename = re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".")[:200] or "data"
    digest = hashlib.sha256(content).hexdigest()
    return DataSet(DataRef(name, kind, f"{filename}.{kind}", digest, len(content)), content)


def _from_path(name: str, path: Path) -> DataSet:
    try:
        if path.is_dir():
            raise DataError(f"'{path}' is a folder; give the files one by one", field=name)
        size, digest = hash_file(path)
        kind: Any = path.suffix[1:] if path.suffix in {".npy", ".npz"} else "file"
        _check_size(name, size)
        if kind != "file":
            _check_arrays(name, kind, path)
    except OSError as error:
        raise DataError(
            f"'{path}' cannot be read: {error.strerror or error}", code="data_not_found", field=name
        ) from None
    return DataSet(DataRef(name, kind, path.name, digest, size), path)


def hash_file(path: Path) -> tuple[int, str]:
    """Return a file's size in bytes and its SHA-256."""
    digest = hashlib.sha256()
    size = 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK_BYTES):
            digest.update(chunk)
            size += len(chunk)
    return size, digest.hexdigest()


def _check_arrays(name: str, kind: str, path: Path) -> None:
    """Check the headers of a file's arrays, so that a file that no trial can read is not sent."""
    try:
        if kind == "npy":
            np.load(path, mmap_mode="r", allow_pickle=False)
            return
        with zipfile.ZipFile(path) as archive:
            for entry in archive.namelist():
                with archive.open(entry) as member:
                    version = np.lib.format.read_magic(member)
                    reader = {(1, 0): np.lib.format.read_array_header_1_0}.get(
                        version, np.lib.format.read_array_header_2_0
                    )
                    if reader(member)[2].hasobject:
                        raise ValueError("it holds Python objects")
    except (ValueError, EOFError, zipfile.BadZipFile) as error:
        raise DataError(
            f"'{path}' is no {kind} file that can be sent: {error}", field=name
        ) from None


def _check_size(name: str, size: int) -> None:
    if size > MAX_BLOB_BYTES:
        raise DataError(
            f"the data set '{name}' has {size:,} bytes; "
            f"at most {MAX_BLOB_BYTES >> 20} MiB can be sent",
            code="blob_too_large",
            field=name,
        )
