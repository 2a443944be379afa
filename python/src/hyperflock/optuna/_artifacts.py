"""Artifacts of an Optuna study's trials: into the researcher's own stores, and out of the server.

    store = hyperflock.optuna.ArtifactStore(client, study=3)     # one of Optuna's, for reading
    stores = Stores.of(objective)                                # those that an objective uses
    Bringer(http, row, stores).bring(["0f3c-..."])               # in the background

A device sends each artifact to the server under the label of the store that it was written to;
`Stores` finds the object of that label in this process.
"""

from __future__ import annotations

import functools
import io
import sys
import types
import warnings
from collections.abc import Collection, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, BinaryIO, NoReturn, Protocol

import optuna
from msgspec import UNSET
from optuna.artifacts.exceptions import ArtifactNotFound

from hyperflock import _artifacts, _loop
from hyperflock._capture_stores import is_store, label_of
from hyperflock._client import Client
from hyperflock._errors import HyperflockError, NotFoundError
from hyperflock._http import Http
from hyperflock._protocol import ArtifactRow, StudyRow
from hyperflock._runtime import is_library
from hyperflock._text import clean
from hyperflock.optuna._rebuild import TAG, artifacts_of

_AT_ONCE = 2
# Containers inside of containers that are looked through.
_DEPTH = 3
# What has more items is data.
_ITEMS = 1000


class Writes(Protocol):
    """What of Optuna's ``ArtifactStore`` is used here."""

    def open_reader(self, artifact_id: str) -> BinaryIO: ...
    def write(self, artifact_id: str, content_body: BinaryIO) -> None: ...


class ArtifactStore:
    """The artifacts that trials uploaded, as Optuna reads them.

    For `optuna.artifacts.download_artifact` and for optuna-dashboard. Artifacts come from devices
    and go with their study, so nothing is written or removed here.

    Parameters
    ----------
    client
        The server; None: as ``hyperflock.Client()`` finds it.
    study : int or None
        The study's number; None: all that the client may see.

    Raises
    ------
    ArtifactNotFound
        By `open_reader`.
    HyperflockError
        ``read_only_storage``, by `write` and `remove`.
    """

    def __init__(self, client: Client | None = None, *, study: int | None = None) -> None:
        self._client = Client() if client is None else client
        self._http = self._client._core._http
        self._study = study
        self._known: dict[str, tuple[int, ArtifactRow]] = {}

    def open_reader(self, artifact_id: str) -> BinaryIO:
        """Fetch an artifact."""
        found = self._known.get(artifact_id) or self._find(artifact_id)
        if found is None:
            raise ArtifactNotFound(f"{self._client.url} has no artifact {artifact_id!r:.100}")
        try:
            return io.BytesIO(_loop.run(_artifacts.content_of(self._http, *found)))
        except NotFoundError:
            self._known.pop(artifact_id, None)
            raise ArtifactNotFound(f"the artifact {artifact_id!r:.100} is gone") from None

    def write(self, artifact_id: str, content_body: BinaryIO) -> NoReturn:
        """Refuse: a trial uploads its artifacts on its device."""
        raise _read_only()

    def remove(self, artifact_id: str) -> NoReturn:
        """Refuse: artifacts go with their study."""
        raise _read_only()

    def _find(self, artifact_id: str) -> tuple[int, ArtifactRow] | None:
        if self._study is not None:
            studies = [self._study]
        else:
            studies = [study.id for study in self._client.studies()]
        for study in studies:
            for row in _loop.run(_artifacts.rows(self._http, study)):
                self._known[row.id] = (study, row)
            if artifact_id in self._known:
                return self._known[artifact_id]
        return None


def _read_only() -> HyperflockError:
    return HyperflockError(
        "artifacts at the server are for reading; a trial uploads them on its device",
        code="read_only_storage",
    )


class Stores:
    """A process's artifact stores by the labels that devices send.

    Parameters
    ----------
    found : Iterable of stores
    """

    def __init__(self, found: Iterable[Any] = ()) -> None:
        self._stores = list({id(store): store for store in found}.values())

    @classmethod
    def of(cls, objective: Any) -> Stores:
        """Find those that an objective can reach.

        Looked through are its globals, what it closes over or holds, and the globals of the
        researcher's own modules that those name.
        """
        found = (value for held in _held(objective, set()) for value in _flat(held, _DEPTH))
        return cls(value for value in found if is_store(value))

    def __bool__(self) -> bool:
        return bool(self._stores)

    def get(self, label: str) -> Writes | None:
        """Give the store of a label; one whose path ends alike, or the only one, serves too."""
        found: Writes | None
        by_label = [store for store in self._stores if label_of(store) == label]
        by_name = [s for s in self._stores if _last(label_of(s)) == _last(label)]
        for few in (by_label, by_name, self._stores):
            if len(few) == 1:
                found = few[0]
                return found
        return by_label[0] if by_label else None

    def have(self, identity: str) -> bool:
        """Whether one of them has an artifact."""
        return any(_has(store, identity) for store in self._stores)


class Bringer:
    """Brings artifacts from the server into the stores, in threads of its own.

    Parameters
    ----------
    http, row
        The study at the server.
    stores
        Where to.
    """

    def __init__(self, http: Http, row: StudyRow, stores: Stores) -> None:
        self._http = http
        self._row = row
        self._stores = stores
        self._pool = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="hyperflock-artifacts")
        self._told: set[str] = set()

    def bring(self, ids: Collection[str], trial: int | None = None) -> Future[None]:
        """Begin to bring these artifacts, of one trial or of any; never raises, but warns."""
        return self._pool.submit(self._bring, frozenset(ids), trial)

    def lacking(self, study: optuna.Study) -> list[str]:
        """Find what the study's finished trials of the server uploaded and no store has."""
        trials = study.get_trials(deepcopy=False)
        told = [t.system_attrs for t in trials if t.state.is_finished() and TAG in t.system_attrs]
        found = [identity for attrs in told for identity in artifacts_of(attrs)]
        try:
            return [identity for identity in found if not self._stores.have(identity)]
        except Exception as error:  # of whichever store it is
            self._warn(clean(f"{type(error).__name__}: {error}", limit=300))
            return []

    def close(self) -> None:
        """Forget what has not begun."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _bring(self, ids: frozenset[str], trial: int | None) -> None:
        study = self._row.study
        if not ids:
            return
        try:
            # What a trial says and the server does not know was of a run that does not count.
            for row in _loop.run(_artifacts.rows(self._http, study, trial)):
                if row.id not in ids:
                    continue
                store = self._stores.get("" if row.store is UNSET else row.store)
                if store is None:
                    self._warn("it matches none of the stores that the objective uses", row)
                else:
                    content = _loop.run(_artifacts.content_of(self._http, study, row))
                    store.write(row.id, io.BytesIO(content))
        except Exception as error:  # a store's own, too: the trial's result counts all the same
            self._warn(clean(f"{type(error).__name__}: {error}", limit=300))

    def _warn(self, reason: str, row: ArtifactRow | None = None) -> None:
        if reason in self._told:
            return
        self._told.add(reason)
        what = "artifacts" if row is None else f"the artifact '{clean(row.name, limit=100)}'"
        warnings.warn(
            f"{what} of study {self._row.study} stayed at the server ({reason}); read them by "
            f"hyperflock.optuna.ArtifactStore(client, study={self._row.study})",
            stacklevel=2,
        )


def _has(store: Writes, identity: str) -> bool:
    try:
        store.open_reader(identity).close()
    except ArtifactNotFound:
        return False
    return True


def _last(label: str) -> str:
    return label.replace("\\", "/").rstrip("/").rpartition("/")[2]


def _flat(value: Any, depth: int) -> Iterator[Any]:
    """A value, and what it has inside where it is a container."""
    yield value
    kind = type(value)
    if depth and kind in (list, tuple, set, frozenset, dict) and len(value) <= _ITEMS:
        for item in list(value.values() if kind is dict else value):
            yield from _flat(item, depth - 1)


def _held(value: Any, seen: set[str]) -> Iterator[Any]:
    """What a callable can reach without being run; ``seen`` are modules that were looked into."""
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
    """The globals of a module, and of those that they come from; not of libraries."""
    file = namespace.get("__file__")
    if name in seen or (file is not None and is_library(Path(file).resolve().parent)):
        return
    seen.add(name)
    for value in list(namespace.values()):
        yield value
        is_module = isinstance(value, types.ModuleType)
        origin = value.__name__ if is_module else getattr(value, "__module__", None)
        found = sys.modules.get(origin) if isinstance(origin, str) else None
        if found is not None and getattr(found, "__file__", None) is not None:
            yield from _of_module(found.__name__, vars(found), seen)


def _inside(value: Any) -> list[Any]:
    return list(getattr(value, "__dict__", {}).values())
