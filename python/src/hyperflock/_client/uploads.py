"""Sends those blobs that the server does not have. The coroutines run on any event loop."""

from __future__ import annotations

import contextlib
import hashlib
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO, cast

from hyperflock._base.errors import ServerError, server_error
from hyperflock._reports.progress import Bar, wanted
from hyperflock._transport.background_loop import in_thread
from hyperflock._transport.http import Http

# An upload of fewer bytes than this is over before anybody can read a progress bar.
BAR_FROM_BYTES = 4 << 20
# If a server refuses a request whose body has fewer bytes than this, it first reads the whole body.
# With a larger body it closes the connection, and on some systems its answer is then lost.
_ASK_FROM_BYTES = 1 << 20


@dataclass(frozen=True)
class Blob:
    """Bytes or a file to upload, with their hash."""

    sha256: str
    size: int
    label: str
    open: Callable[[], BinaryIO]


async def upload_missing(http: Http, blobs: Iterable[Blob], progress: bool | None = None) -> int:
    """Upload the blobs that the server does not have, each content once.

    Parameters
    ----------
    http, blobs
        The connection to the server, and the blobs.
    progress
        Whether to show a bar for large ones; by default only if standard error is a terminal.

    Returns
    -------
    int
        The number of bytes that were sent.

    Raises
    ------
    ServerError
        ``blob_too_large``: a blob is too large. Nothing has been sent.
    """
    sent = 0
    distinct = {blob.sha256: blob for blob in blobs}.values()
    await _check_sizes(http, distinct)
    for blob in distinct:
        path = f"/api/blobs/{blob.sha256}"
        if await _is_there(http, path, blob):
            continue
        bar = Bar(
            wanted(progress) and blob.size >= BAR_FROM_BYTES,
            total=blob.size,
            desc=f"sending {blob.label}",
            unit="B",
            unit_scale=True,
            leave=False,
        )
        try:
            # A retry reads from the start again, so the bar moves back.
            await http.put(path, partial(_watched, blob, bar.move), blob.size)
        finally:
            bar.close()
        sent += blob.size
    return sent


async def _is_there(http: Http, path: str, blob: Blob) -> bool:
    """Return whether the upload can be left out, because the server has the bytes.

    Unless this researcher has uploaded them, the server asks for a proof that they are here: the
    SHA-256 of a salt and the bytes. A server without such proofs says itself whether it has them.
    """
    try:
        told = await http.post(f"{path}/salt", {"bytes": blob.size})
    except ServerError as error:
        if error.code in ("not_found", "method_not_allowed"):
            return await http.exists(path)
        raise
    if told.get("owned") is True:
        return True
    salt = told.get("salt")
    if not isinstance(salt, str):
        return False
    proof = await in_thread(partial(_proof, blob, salt))
    try:
        await http.post(f"{path}/proof", {"salt": salt, "proof": proof})
    except ServerError as error:
        if error.code in ("unknown_blob", "unknown_salt", "rate_limited"):
            return False
        raise
    return True


def _proof(blob: Blob, salt: str) -> str:
    digest = hashlib.sha256(bytes.fromhex(salt))
    with contextlib.closing(blob.open()) as content:
        while chunk := content.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


async def _check_sizes(http: Http, blobs: Iterable[Blob]) -> None:
    large = [blob for blob in blobs if blob.size > _ASK_FROM_BYTES]
    if not large:
        return
    most = (await http.get("/api/me")).get("max_blob_bytes")
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
    """A file that reports how much of it has been read."""

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
