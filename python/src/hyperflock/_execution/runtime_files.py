"""What the volunteers' browsers run, for a browser here: pages and runtime of a server, by hash.

    files = await find_runtime(http)     # two small lists; a server that is away: those from before
    content = files.read("runtime/numpy-1f.../numpy.zip")

The compute origin serves them to anybody. What a trial needs is fetched before it begins, anything
else when it is asked for; each file is looked at by its SHA-256 in the list, and kept
(`_file_cache`). Coroutines for any event loop; `read` blocks, on any other thread than the loop's.
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
PAGES_LIST = "local-run.json"

# Beside the names of pieces, none of which has a blank.
_PAGES = "the pages"

# For one file, with its retries: a slow line is no fault.
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


class _Pages(msgspec.Struct):
    schema: Annotated[int, msgspec.Meta(ge=1, le=1)]
    page: _Name
    base: Annotated[str, msgspec.Meta(pattern="^/app/local/$")]
    files: list[_File]


@dataclass(frozen=True)
class _Kept:
    """What a server's lists were when it was last asked."""

    compute: str
    index: bytes
    pages: bytes


class RuntimeFiles:
    """Pages and runtime of one server.

    Attributes
    ----------
    runtime : str
        The identifier of all of it, as results have it (`Provenance.software`).
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
        self._index = kept.index
        index, pages = _parsed(kept)
        self.runtime = index.runtime
        self.page = f"{pages.base}{pages.page}"[1:]
        self._folders = {name: (piece.base, piece.files) for name, piece in index.pieces.items()}
        self._folders[_PAGES] = (pages.base, pages.files)
        self._files: Mapping[str, _File] = {
            f"{base}{file.name}"[1:]: file
            for base, files in self._folders.values()
            for file in files
        }
        # Of this run: where nothing can be kept, nothing is fetched twice.
        self._held: dict[str, bytes] = {}
        self._cache = cache
        self._compute = Http(Origin.parse(kept.compute), "", patience_s=patience_s)
        self._loop = loop

    def __contains__(self, path: str) -> bool:
        return path == RUNTIME_INDEX or path in self._files

    def read(self, path: str) -> bytes:
        """Give a file's bytes, those of the list.

        Raises
        ------
        DryRunError
            ``runtime_unavailable``: it is not kept, and the server does not give it.
            ``runtime_damaged``: what the server gives is something else.
        """
        if path == RUNTIME_INDEX:
            return self._index
        file = self._files[path]
        content = self._held.get(path) or self._cache.get(file.sha256)
        if content is None:
            content = self._fetched(path, file)
            self._cache.put(file.sha256, content)
        self._held[path] = content
        return content

    async def prefetch(self, pieces: Iterable[str]) -> None:
        """Fetch what is not kept of these pieces, and the pages; errors as of `read`.

        A page gives a loading that stands still up, and sees a file of megabytes all at once.
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
    """Ask a server for the lists of its pages and its runtime.

    Raises
    ------
    DryRunError
        ``runtime_unavailable``: it does not answer and did not before, or has none.
        ``runtime_damaged``: they are no such lists.
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
    except NotFoundError:
        raise _unavailable(
            f"{origin.url} serves no runtime, or none for runs here; update the server, or look "
            "at its --app and --runtime"
        ) from None
    finally:
        there.close()
    kept = _Kept(origin.url, index, pages)
    _parsed(kept)
    return kept


def _parsed(kept: _Kept) -> tuple[_Index, _Pages]:
    try:
        index = msgspec.json.decode(kept.index, type=_Index)
        return index, msgspec.json.decode(kept.pages, type=_Pages)
    except msgspec.DecodeError as error:
        raise DryRunError(
            f"what {kept.compute} says of its runtime cannot be read ({clean(str(error))}); "
            "take server and package of one release",
            code="runtime_damaged",
        ) from None


def _written(kept: _Kept) -> bytes:
    told = {"compute": kept.compute, "index": kept.index.decode(), "pages": kept.pages.decode()}
    return json.dumps(told).encode()


def _read(noted: bytes | None) -> _Kept | None:
    """What was kept; None where there is nothing, or it is damaged."""
    if noted is None:
        return None
    try:
        told: dict[str, Any] = json.loads(noted)
        kept = _Kept(
            Origin.parse(told["compute"]).url, told["index"].encode(), told["pages"].encode()
        )
        _parsed(kept)
    except (ValueError, KeyError, TypeError, AttributeError, HyperflockError):
        return None
    return kept


def _unavailable(why: str) -> DryRunError:
    return DryRunError(why, code="runtime_unavailable")


def _why(error: BaseException) -> str:
    return error.message if isinstance(error, HyperflockError) else "it takes too long"
