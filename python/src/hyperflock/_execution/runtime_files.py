"""Fetches a server's pages and runtime for a local browser, and checks them by their hashes.

    files = await find_runtime(http)     # from the server, or from the cache if it does not answer
    content = files.read("runtime/numpy-1f.../numpy.zip")

The server sends these files to anybody, from its origin for volunteers. The files that a trial
needs are fetched before it begins, and any others on demand. The SHA-256 of each file is compared
with the server's list, and the file is kept (file_cache.py). The coroutines run on any event loop;
`read` blocks and must not be called on the loop's thread.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any

import msgspec

from hyperflock._base.errors import (
    DryRunError,
    HyperflockError,
    NotFoundError,
    ServerUnreachableError,
)
from hyperflock._base.text import clean
from hyperflock._execution.file_cache import FileCache, cache_folder
from hyperflock._transport.background_loop import in_thread
from hyperflock._transport.http import Http, Origin

RUNTIME_INDEX = "runtime/index.json"
PACK_INDEX = "runtime/packs.json"
PAGES_LIST = "local-run.json"

# The name under which the cache keeps the lists. No file of the runtime has this name, because the
# names of such files contain no space.
_PAGES = "the pages"

# The time limit for one file with all its retries. It is long enough for a slow connection.
_FETCH_S = 600.0
_MAX_FILE_BYTES = 256 << 20

_Name = Annotated[str, msgspec.Meta(pattern=r"^\w[\w.-]*$", max_length=256)]
_Sha256 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
_Bytes = Annotated[int, msgspec.Meta(ge=0, le=_MAX_FILE_BYTES)]


class _File(msgspec.Struct):
    name: _Name
    sha256: _Sha256
    bytes: _Bytes


class _Piece(msgspec.Struct):
    base: Annotated[str, msgspec.Meta(pattern=r"^/runtime/\w[\w.-]*/$", max_length=256)]
    files: list[_File]


class _Index(msgspec.Struct):
    runtime: _Sha256
    pieces: dict[str, _Piece]


class _Packs(msgspec.Struct):
    packs: dict[str, _Piece] = {}


class _Pages(msgspec.Struct):
    schema: Annotated[int, msgspec.Meta(ge=1, le=1)]
    page: _Name
    base: Annotated[str, msgspec.Meta(pattern="^/app/local/$")]
    files: list[_File]


@dataclass(frozen=True)
class _Kept:
    """A server's lists at the time of the last request. ``packs`` is empty if it has no packs."""

    compute: str
    index: bytes
    pages: bytes
    packs: bytes


class RuntimeFiles:
    """The pages and the runtime of one server.

    Attributes
    ----------
    runtime : str
        The runtime's identifier, as in `Provenance.software`.
    page : str
        The path of the page's script.
    """

    def __init__(
        self,
        kept: _Kept,
        cache: FileCache,
        patience_s: float | None,
        loop: asyncio.AbstractEventLoop,
    ) -> None:
        self._lists = {RUNTIME_INDEX: kept.index}
        if kept.packs:
            self._lists[PACK_INDEX] = kept.packs
        index, pages, packs = _parsed(kept)
        self.runtime = index.runtime
        self.page = f"{pages.base}{pages.page}"[1:]
        both = {**packs.packs, **index.pieces}
        self._folders = {name: (piece.base, piece.files) for name, piece in both.items()}
        self._folders[_PAGES] = (pages.base, pages.files)
        self._files: Mapping[str, _File] = {
            f"{base}{file.name}"[1:]: file
            for base, files in self._folders.values()
            for file in files
        }
        # Files of this run, so that nothing is fetched twice if the cache cannot be written.
        self._held: dict[str, bytes] = {}
        self._cache = cache
        self._compute = Http(Origin.parse(kept.compute), "", patience_s=patience_s)
        self._loop = loop

    def __contains__(self, path: str) -> bool:
        return path in self._lists or path in self._files

    def read(self, path: str) -> bytes:
        """Return the bytes of a file in the list.

        Raises
        ------
        DryRunError
            ``runtime_unavailable``: it is not in the cache, and the server does not send it.
            ``runtime_damaged``: the server sends other bytes.
        """
        if path in self._lists:
            return self._lists[path]
        file = self._files[path]
        content = self._held.get(path) or self._cache.get(file.sha256)
        if content is None:
            content = self._fetched(path, file)
            self._cache.put(file.sha256, content)
        self._held[path] = content
        return content

    async def prefetch(self, pieces: Iterable[str]) -> None:
        """Fetch the pages and these pieces of the runtime and packs, unless they are in the cache.

        Errors are those of `read`. A page gives up if loading makes no progress, and it cannot see
        progress within one large file. So the files are fetched before the page starts.
        """
        folders = [self._folders[name] for name in (_PAGES, *pieces) if name in self._folders]
        missing = [
            f"{base}{file.name}"[1:]
            for base, files in folders
            for file in files
            if not self._cache.has(file.sha256)
        ]
        await asyncio.gather(*(in_thread(partial(self.read, path)) for path in missing))

    def close(self) -> None:
        """Close idle connections."""
        self._compute.close()

    def _fetched(self, path: str, file: _File) -> bytes:
        asked = asyncio.run_coroutine_threadsafe(self._compute.fetch(f"/{path}"), self._loop)
        try:
            content = asked.result(_FETCH_S)
        except (HyperflockError, concurrent.futures.TimeoutError) as error:
            asked.cancel()
            raise _unavailable(f"{path} cannot be had: {_why(error)}") from None
        if len(content) != file.bytes or hashlib.sha256(content).hexdigest() != file.sha256:
            raise DryRunError(
                f"{path} of {self._compute.origin.url} is not what the runtime's index says; "
                "is there a proxy in between?",
                code="runtime_damaged",
            )
        return content


async def find_runtime(http: Http) -> RuntimeFiles:
    """Fetch a server's lists of its pages and its runtime.

    Raises
    ------
    DryRunError
        ``runtime_unavailable``: the server has no such lists, or does not answer and no earlier
        list is in the cache. ``runtime_damaged``: the lists are invalid.
    ServerError
        The console refuses the token.
    """
    cache = FileCache(cache_folder())
    name = f"server-{hashlib.sha256(http.origin.url.encode()).hexdigest()[:16]}"
    try:
        kept = await _asked(http)
    except ServerUnreachableError as error:
        before = _read(cache.noted(name))
        if before is None:
            raise _unavailable(
                f"the browsers' runtime was never fetched, and {error.message}"
            ) from None
        kept = before
    else:
        cache.note(name, _written(kept))
    return RuntimeFiles(kept, cache, http.patience_s, asyncio.get_running_loop())


async def _asked(http: Http) -> _Kept:
    compute = str((await http.get("/api/me")).get("join_origin", ""))
    try:
        origin = Origin.parse(compute)
    except HyperflockError as error:
        raise _unavailable(
            f"the server does not say where volunteers join: {error.message}"
        ) from None
    there = Http(origin, "", patience_s=http.patience_s)
    try:
        index = await there.fetch(f"/{RUNTIME_INDEX}")
        pages = await there.fetch(f"/{PAGES_LIST}")
        try:
            packs = await there.fetch(f"/{PACK_INDEX}")
        except NotFoundError:
            packs = b""
    except NotFoundError:
        raise _unavailable(
            f"{origin.url} serves no runtime, or none for runs here; update the server, or look "
            "at its --app and --runtime"
        ) from None
    finally:
        there.close()
    kept = _Kept(origin.url, index, pages, packs)
    _parsed(kept)
    return kept


def _parsed(kept: _Kept) -> tuple[_Index, _Pages, _Packs]:
    try:
        index = msgspec.json.decode(kept.index, type=_Index)
        packs = msgspec.json.decode(kept.packs, type=_Packs) if kept.packs else _Packs()
        return index, msgspec.json.decode(kept.pages, type=_Pages), packs
    except msgspec.DecodeError as error:
        raise DryRunError(
            f"what {kept.compute} says of its runtime cannot be read ({clean(str(error))}); "
            "take server and package of one release",
            code="runtime_damaged",
        ) from None


def _written(kept: _Kept) -> bytes:
    told = {
        "compute": kept.compute,
        "index": kept.index.decode(),
        "pages": kept.pages.decode(),
        "packs": kept.packs.decode(),
    }
    return json.dumps(told).encode()


def _read(noted: bytes | None) -> _Kept | None:
    """Return the lists in the cache; None if there are none or they are damaged."""
    if noted is None:
        return None
    try:
        told: dict[str, Any] = json.loads(noted)
        kept = _Kept(
            Origin.parse(told["compute"]).url,
            told["index"].encode(),
            told["pages"].encode(),
            told.get("packs", "").encode(),  # older versions wrote none
        )
        _parsed(kept)
    except (ValueError, KeyError, TypeError, AttributeError, HyperflockError):
        return None
    return kept


def _unavailable(why: str) -> DryRunError:
    return DryRunError(why, code="runtime_unavailable")


def _why(error: BaseException) -> str:
    return error.message if isinstance(error, HyperflockError) else "it takes too long"
