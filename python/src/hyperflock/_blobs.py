"""Sends blobs by their hash, only those that the server lacks. Blocking; the caller's thread."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any, BinaryIO, cast

from hyperflock._errors import server_error
from hyperflock._http import Http

# Below that a progress bar would be gone before it can be read.
BAR_FROM_BYTES = 4 << 20
# A server that refuses a smaller body still reads it to its end. Over a larger one it closes the
# connection, and then not every system lets us read why.
_ASK_FROM_BYTES = 1 << 20


@dataclass(frozen=True)
class Blob:
    """Content and its hash."""

    sha256: str
    size: int
    label: str
    open: Callable[[], BinaryIO]


def upload_missing(http: Http, blobs: Iterable[Blob], progress: bool | None = None) -> int:
    """Upload what the server lacks; each content once.

    Parameters
    ----------
    http, blobs
        Where to, and what.
    progress
        Show a bar for large ones; None: when standard error is a terminal.

    Returns
    -------
    int
        Bytes sent.

    Raises
    ------
    ServerError
        ``blob_too_large``, before anything is sent.
    """
    sent = 0
    distinct = {blob.sha256: blob for blob in blobs}.values()
    _check_sizes(http, distinct)
    for blob in distinct:
        path = f"/api/blobs/{blob.sha256}"
        if http.exists(path):
            continue
        with _bar(blob, progress) as advance:
            http.put(path, partial(_watched, blob, advance), blob.size)
        sent += blob.size
    return sent


def _check_sizes(http: Http, blobs: Iterable[Blob]) -> None:
    large = [blob for blob in blobs if blob.size > _ASK_FROM_BYTES]
    if not large:
        return
    most = http.get("/api/me").get("max_blob_bytes")
    for blob in large:
        if isinstance(most, int) and blob.size > most:
            raise server_error(
                "blob_too_large",
                f"{blob.label} has {blob.size} bytes; this server takes at most {most} in one blob",
                None,
            )


def _watched(blob: Blob, position: Callable[[int], None]) -> BinaryIO:
    return cast(BinaryIO, _Watched(blob.open(), position))


class _Watched(io.RawIOBase):
    """A file that tells how much of it was read."""

    def __init__(self, file: BinaryIO, position: Callable[[int], None]) -> None:
        self._file = file
        self._position = position
        self._read = 0

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        chunk = self._file.read(size)
        self._read += len(chunk)
        self._position(self._read)
        return chunk

    def close(self) -> None:
        self._file.close()
        super().close()


class _Bar:
    """A tqdm bar for one upload, or none; entering gives the function that moves it."""

    def __init__(self, blob: Blob, shown: bool) -> None:
        self._bar: Any = None
        if shown:
            from tqdm.auto import tqdm

            self._bar = tqdm(
                total=blob.size,
                desc=f"sending {blob.label}",
                unit="B",
                unit_scale=True,
                leave=False,
                file=sys.stderr,
            )

    def __enter__(self) -> Callable[[int], None]:
        return self._move

    def __exit__(self, *exception: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def _move(self, position: int) -> None:
        # A retry starts again: the bar goes back with it.
        if self._bar is not None:
            self._bar.update(position - self._bar.n)


def _bar(blob: Blob, progress: bool | None) -> _Bar:
    wanted = sys.stderr.isatty() if progress is None else progress
    return _Bar(blob, wanted and blob.size >= BAR_FROM_BYTES)
