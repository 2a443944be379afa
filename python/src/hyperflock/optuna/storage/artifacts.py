"""The server's artifacts as an Optuna artifact store, and the stores that an objective uses.

    store = hyperflock.optuna.ArtifactStore(client, study=3)     # read-only
    stores = Stores.of(objective)                                # the stores of an objective

A device sends each artifact to the server with the label of the store to which it was written.
`Stores` finds the store with this label in this process.
"""

from __future__ import annotations

import functools
import io
import math
import sys
import time
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, Protocol

from optuna.artifacts.exceptions import ArtifactNotFound

from hyperflock._base.errors import HyperflockError, NotFoundError
from hyperflock._bundle.capture_stores import is_store, label_of
from hyperflock._bundle.source.runtime import is_library
from hyperflock._client import artifacts as _artifacts
from hyperflock._client.client import Client
from hyperflock._transport import background_loop as _loop
from hyperflock._transport.messages import ArtifactRow

# The list is fetched again only after this many seconds, because a page of the dashboard asks for
# many artifacts at once.
_LOOK_AGAIN_S = 2.0
# The depth to which nested containers are searched.
_DEPTH = 3
# Containers with more items than this are not searched, because they are data.
_ITEMS = 1000


class Writes(Protocol):
    """The methods of Optuna's ``ArtifactStore`` that are used here."""

    def open_reader(self, artifact_id: str) -> BinaryIO: ...
    def write(self, artifact_id: str, content_body: BinaryIO) -> None: ...
    def remove(self, artifact_id: str) -> None: ...


class ArtifactStore:
    """A read-only Optuna artifact store of the artifacts that trials uploaded.

    It is for `optuna.artifacts.download_artifact` and optuna-dashboard. Devices write artifacts,
    and they stay with their study, so this store can neither write nor remove one.

    Parameters
    ----------
    client
        The client of a server; None means ``hyperflock.Client()``.
    study : int or None
        The study's number; None means all studies that the client may see.

    Raises
    ------
    ArtifactNotFound
        `open_reader` did not find the artifact.
    HyperflockError
        ``read_only_storage``: `write` and `remove` raise it.
    """

    def __init__(self, client: Client | None = None, *, study: int | None = None) -> None:
        self._client = Client() if client is None else client
        self._http = self._client._core._http
        self._study = study
        self._known: dict[str, list[tuple[int, ArtifactRow]]] = {}
        self._looked_at = -math.inf

    def open_reader(self, artifact_id: str) -> BinaryIO:
        """Return an artifact's content as a file."""
        found = self._known.get(artifact_id) or self._look(artifact_id)
        # Ids come from devices. If two studies have the same one, neither artifact is returned.
        if len(found) != 1:
            reason = "has several artifacts" if found else "has no artifact"
            raise ArtifactNotFound(f"{self._client.url} {reason} {artifact_id!r:.100}")
        try:
            return io.BytesIO(_loop.run(_artifacts.content_of(self._http, *found[0])))
        except NotFoundError:
            self._known.pop(artifact_id, None)
            raise ArtifactNotFound(f"the artifact {artifact_id!r:.100} is gone") from None

    def write(self, artifact_id: str, content_body: BinaryIO) -> NoReturn:
        """Raise an error: trials upload artifacts on their devices."""
        raise _read_only()

    def remove(self, artifact_id: str) -> NoReturn:
        """Raise an error: artifacts stay with their study."""
        raise _read_only()

    def _look(self, artifact_id: str) -> list[tuple[int, ArtifactRow]]:
        """Return the artifacts whose id is ``artifact_id``.

        The list of all artifacts is fetched again, unless it was fetched less than `_LOOK_AGAIN_S`
        seconds ago.
        """
        if time.monotonic() - self._looked_at >= _LOOK_AGAIN_S:
            one = self._study
            studies = [study.id for study in self._client.studies()] if one is None else [one]
            known: dict[str, list[tuple[int, ArtifactRow]]] = {}
            for study in studies:
                for row in _loop.run(_artifacts.rows(self._http, study)):
                    known.setdefault(row.id, []).append((study, row))
            self._known, self._looked_at = known, time.monotonic()
        return self._known.get(artifact_id, [])


def _read_only() -> HyperflockError:
    return HyperflockError(
        "artifacts at the server are for reading; a trial uploads them on its device",
        code="read_only_storage",
    )


class Stores:
    """The artifact stores of a process, found by the labels that devices send.

    Parameters
    ----------
    found : Iterable of stores
        The stores; one that occurs twice counts once.
    """

    def __init__(self, found: Iterable[Any] = ()) -> None:
        self._stores = list({id(store): store for store in found}.values())

    @classmethod
    def of(cls, objective: Any) -> Stores:
        """Return the stores that an objective can reach.

        It searches the objective's globals, closures and attributes, and the globals of the
        researcher's own modules that these refer to.
        """
        found = (value for held in _held(objective, set()) for value in _flat(held, _DEPTH))
        return cls(value for value in found if is_store(value))

    def __bool__(self) -> bool:
        return bool(self._stores)

    def get(self, label: str) -> Writes | None:
        """Return the store with a label.

        If no store has this label, return the store whose path has the same last part. If there is
        none either, return the only store of the process.
        """
        found: Writes | None
        by_label = [store for store in self._stores if label_of(store) == label]
        by_name = [s for s in self._stores if _last(label_of(s)) == _last(label)]
        for few in (by_label, by_name, self._stores):
            if len(few) == 1:
                found = few[0]
                return found
        return by_label[0] if by_label else None


def _last(label: str) -> str:
    return label.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _flat(value: Any, depth: int) -> Iterator[Any]:
    """Yield a value, and the items in it if it is a container."""
    yield value
    kind = type(value)
    if depth and kind in (list, tuple, set, frozenset, dict) and len(value) <= _ITEMS:
        for item in list(value.values() if kind is dict else value):
            yield from _flat(item, depth - 1)


def _held(value: Any, seen: set[str]) -> Iterator[Any]:
    """Yield the values that a callable can reach. ``seen`` contains the modules that were already
    searched.
    """
    if isinstance(value, functools.partial):
        yield from (*value.args, *value.keywords.values())
        yield from _held(value.func, seen)
    elif isinstance(value, types.MethodType):
        yield from _inside(value.__self__)
        yield from _held(value.__func__, seen)
    elif isinstance(value, types.FunctionType):
        yield from value.__defaults__ or ()
        yield from (value.__kwdefaults__ or {}).values()
        for cell in value.__closure__ or ():
            try:
                yield cell.cell_contents
            except ValueError:  # not assigned yet
                continue
        yield from _of_module(str(value.__globals__.get("__name__")), value.__globals__, seen)
        if (wrapped := getattr(value, "__wrapped__", None)) is not None:
            yield from _held(wrapped, seen)
    else:
        yield from _inside(value)
        called = type(value).__call__ if callable(value) else None
        if isinstance(called, types.FunctionType):
            yield from _held(called, seen)


def _of_module(name: str, namespace: dict[str, Any], seen: set[str]) -> Iterator[Any]:
    """Yield the globals of a module, and the globals of the modules in which their values are
    defined. Modules of libraries are left out.
    """
    file = namespace.get("__file__")
    if name in seen:
        return
    seen.add(name)
    if file is not None and is_library(Path(file).resolve().parent):
        return
    for value in list(namespace.values()):
        yield value
        is_module = isinstance(value, types.ModuleType)
        origin = value.__name__ if is_module else getattr(value, "__module__", None)
        found = sys.modules.get(origin) if isinstance(origin, str) else None
        if found is not None and getattr(found, "__file__", None) is not None:
            yield from _of_module(found.__name__, vars(found), seen)


def _inside(value: Any) -> list[Any]:
    return list(getattr(value, "__dict__", {}).values())
