"""Copies artifacts that trials uploaded into the researcher's own artifact stores.

    bringer = Bringer(http, row, Stores.of(objective))
    brought = bringer.bring(["0f3c5b8a-..."], trial=7)     # a Future that never fails
    bringer.bring_lacking(study).result(timeout_s)
    bringer.close()                                        # warns of missing artifacts

Ids, names and bytes come from devices. An artifact is written to a store only if its id has the
form of Optuna's ids, and it never replaces another artifact in the store.
"""

from __future__ import annotations

import io
import queue
import threading
import warnings
from collections.abc import Callable, Collection
from concurrent.futures import Future
from contextlib import suppress
from typing import TypeVar

import optuna
from msgspec import UNSET
from optuna.artifacts.exceptions import ArtifactNotFound

from hyperflock._base.text import clean
from hyperflock._client import artifacts as _artifacts
from hyperflock._transport import background_loop as _loop
from hyperflock._transport.http import Http
from hyperflock._transport.messages import ArtifactRow, StudyRow
from hyperflock.optuna.storage.artifacts import Stores, Writes
from hyperflock.optuna.study_import import TAG, artifacts_of

_THREADS = 2
_Answer = TypeVar("_Answer")


class Bringer:
    """A copier of one study's artifacts. Its threads do not keep the process alive.

    Parameters
    ----------
    http, row
        The connection, and the study's row at the server.
    stores
        The researcher's stores.
    """

    def __init__(self, http: Http, row: StudyRow, stores: Stores) -> None:
        self._http = http
        self._row = row
        self._stores = stores
        # Stores that failed in this call, and the reasons for which artifacts were not copied.
        self._broken: set[int] = set()
        self._reasons: dict[str, str] = {}
        self._done: set[str] = set()
        self._work: queue.SimpleQueue[Callable[[], None] | None] = queue.SimpleQueue()
        for number in range(_THREADS):
            threading.Thread(
                target=self._run, name=f"hyperflock-artifacts-{number}", daemon=True
            ).start()

    def bring(self, ids: Collection[str], trial: int | None = None) -> Future[None]:
        """Start copying these artifacts, of one trial or of all trials."""
        wanted = frozenset(ids) - self._done
        return self._soon(lambda: self._bring(wanted, trial))

    def bring_lacking(self, study: optuna.Study) -> Future[None]:
        """Start copying the artifacts of finished trials, except those that a store already has."""
        trials = study.get_trials(deepcopy=False)
        told = [t.system_attrs for t in trials if t.state.is_finished() and TAG in t.system_attrs]
        return self.bring({identity for attrs in told for identity in artifacts_of(attrs)})

    def close(self) -> None:
        """Start no more copies, and warn of artifacts that are only at the server."""
        with suppress(queue.Empty):
            while True:
                self._work.get_nowait()
        for _ in range(_THREADS):
            self._work.put(None)
        for reason, what in self._reasons.items():
            warnings.warn(
                f"{what} of study {self._row.study} stayed at the server ({reason}); read them by "
                f"hyperflock.optuna.ArtifactStore(client, study={self._row.study})",
                stacklevel=2,
            )

    def stayed(self, reason: str) -> None:
        """Remember that artifacts were not copied, and why."""
        self._reasons.setdefault(reason, "artifacts")

    # ---- its threads

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            work()

    def _soon(self, work: Callable[[], None]) -> Future[None]:
        brought: Future[None] = Future()

        def run() -> None:
            try:
                work()
            except Exception as error:  # the trial's result counts anyway
                self._note(error)
            brought.set_result(None)

        self._work.put(run)
        return brought

    def _bring(self, ids: frozenset[str], trial: int | None) -> None:
        if not ids:
            return
        # An id that the server does not know belongs to a run that does not count.
        for row in _loop.run(_artifacts.rows(self._http, self._row.study, trial)):
            if row.id not in ids:
                continue
            try:
                self._bring_one(row)
            except Exception as error:  # any exception of any store
                self._note(error, row)

    def _bring_one(self, row: ArtifactRow) -> None:
        store = self._stores.get("" if row.store is UNSET else row.store)
        if store is None:
            self._reasons.setdefault("no store that the objective uses is of its name", _named(row))
            return
        if id(store) in self._broken:
            return
        there = self._asked(store, lambda: _size(store, row.id))
        if there is not None and there in (row.bytes, -1):
            self._done.add(row.id)
            return
        content = _loop.run(_artifacts.content_of(self._http, self._row.study, row))
        self._asked(store, lambda: self._write(store, row, content, is_new=there is None))

    def _asked(self, store: Writes, ask: Callable[[], _Answer]) -> _Answer:
        """Call a store; after an error the store is not called again."""
        try:
            return ask()
        except Exception:
            self._broken.add(id(store))
            raise

    def _write(self, store: Writes, row: ArtifactRow, content: bytes, *, is_new: bool) -> None:
        if not is_new and not _begins(store, row.id, content):
            self._reasons.setdefault("the store has another artifact of that id", _named(row))
            return
        try:
            store.write(row.id, io.BytesIO(content))
        except BaseException:
            # Remove a half-written artifact, which would count as complete later.
            with suppress(Exception):
                store.remove(row.id)
            raise
        self._done.add(row.id)

    def _note(self, error: Exception, row: ArtifactRow | None = None) -> None:
        reason = clean(f"{type(error).__name__}: {error}", limit=300)
        self._reasons.setdefault(reason, "artifacts" if row is None else _named(row))


def _named(row: ArtifactRow) -> str:
    return f"the artifact '{clean(row.name, limit=100)}'"


def _size(store: Writes, identity: str) -> int | None:
    """Return the size of a store's artifact; -1 if it is unknown, None if there is none."""
    try:
        with store.open_reader(identity) as reader:
            return reader.seek(0, io.SEEK_END) if reader.seekable() else -1
    except ArtifactNotFound:
        return None


def _begins(store: Writes, identity: str, content: bytes) -> bool:
    """Return whether a store has only the beginning of an artifact, because writing was
    interrupted.
    """
    with store.open_reader(identity) as reader:
        return content.startswith(reader.read(len(content) + 1))
