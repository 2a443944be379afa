"""Runs `optimize`: Optuna's `Study.optimize` with the objective on volunteers' devices.

The calling thread samples, prunes, stores trials and runs the callbacks.
"""

from __future__ import annotations

import dataclasses
import os
import socket
import sys
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from contextlib import contextmanager
from numbers import Real
from pathlib import Path
from typing import Any

import optuna
from optuna.storages import InMemoryStorage

from hyperflock._base.errors import HyperflockError
from hyperflock._bundle.bundle import bundle_objective
from hyperflock._bundle.source.runtime import DEFAULT_RUNTIME
from hyperflock._bundle.wheels import read_wheels
from hyperflock._client.client import Client
from hyperflock._client.placement import Requires, backend_of
from hyperflock._client.searches import Objective, name_of
from hyperflock._client.submission import DEFAULT_MAX_FAILURES, Submission
from hyperflock._model.data import prepare
from hyperflock._model.value_range import Range
from hyperflock._transport.http import Http
from hyperflock._transport.messages import Backend, Direction, StudyRow, WebhookEvent
from hyperflock._transport.owner_link import OwnerLink
from hyperflock.optuna.internals import UNNAMED, is_optimizing, optimizing, storage_of, study_id_of
from hyperflock.optuna.owner.artifact_sync import Bringer
from hyperflock.optuna.owner.ask_ahead import parallel_tpe
from hyperflock.optuna.owner.bar import bar
from hyperflock.optuna.owner.detached import detached_text
from hyperflock.optuna.owner.owner import LATE_S, Callback, Owner
from hyperflock.optuna.owner.rejections import show_rejections
from hyperflock.optuna.owner.run import Plan, Run
from hyperflock.optuna.storage.artifacts import Stores
from hyperflock.optuna.study_import import IDENTITY, key_prefix


def optimize(
    study: optuna.Study,
    objective: Objective,
    n_trials: int | None = None,
    timeout: float | None = None,
    n_jobs: int | None = None,
    catch: type[Exception] | Iterable[type[Exception]] = (),
    callbacks: Iterable[Callback] | None = None,
    gc_after_trial: bool = False,
    show_progress_bar: bool = False,
    *,
    client: Client | None = None,
    name: str | None = None,
    data: Mapping[str, Any] | None = None,
    seed: int = 0,
    runtime: str = DEFAULT_RUNTIME,
    backend: Backend | None = None,
    requires: Requires | None = None,
    time_limit_s: float | None = None,
    max_failures: int | None = DEFAULT_MAX_FAILURES,
    value_range: Range | Sequence[Range] | None = None,
    priority: int = 0,
    webhook: str | None = None,
    webhook_events: Sequence[WebhookEvent] | None = None,
    wheels: Sequence[str | Path] = (),
) -> None:
    """Optimize an objective on volunteers' devices, like ``study.optimize`` on this machine.

    The study may have any sampler, pruner and storage. Ctrl-C ends the call and leaves the trials
    at the server; the same call continues the study. A call in a new process with the same
    objective also continues it, if the study is in a storage, or if it is in memory and has a name
    that the researcher gave. In this last case its finished trials are restored first.

    Parameters
    ----------
    study
        An `optuna.Study`.
    objective
        ``objective(trial)``, where ``trial`` is like Optuna's. `Client.grid` describes what can be
        sent.
    n_trials
        How many trials this call finishes, in whatever state; None means no limit. If a result is
        rejected, the call asks for one more trial.
    timeout
        No trial starts after this many seconds; the call waits for running ones.
    n_jobs
        How many trials may run at the same time; None and -1 mean as many as there are devices.
    catch
        Exceptions of the objective that fail only their trial.
    callbacks
        Functions ``callback(study, frozen_trial)``, called on this machine after each trial.
    gc_after_trial
        Ignored: devices always clean up after each trial.
    show_progress_bar
        Whether to show a bar on standard error: finished and running trials, and the best value.
    client
        The client of a server; None means ``hyperflock.Client()``.
    name
        The study's name at the server. None means the Optuna study's name, or the objective's if
        Optuna chose that name.
    data, seed, runtime, backend, requires, time_limit_s, max_failures, priority, wheels
        See `Client.grid`. ``seed`` is for the random generators of trials; the sampler has its own.
    value_range
        See `Client.grid`. A study with several directions has one pair for each.
    webhook, webhook_events
        See `Client.grid`.

    Raises
    ------
    ObjectiveError
        ``objective_failed``: the objective raised an exception that is not in ``catch``. Trials
        that ran at the same time have finished.
    OwnerError
        ``owner_replaced``: another process became the study's sampler. ``study_differs``: the
        trials at the server belong to another study.
    HyperflockError
        ``not_optuna_study``; ``bad_number`` for ``n_trials``, ``timeout`` or ``n_jobs``; the codes
        of `Client.grid`.
    """
    del gc_after_trial
    _check_study(study)
    plan = Plan(
        _limit("n_trials", n_trials, 0),
        _seconds("timeout", timeout),
        None if n_jobs is None or n_jobs == -1 else _limit("n_jobs", n_jobs, 1),
    )
    caught = (catch,) if isinstance(catch, type) else tuple(catch)
    if is_optimizing(study):
        raise RuntimeError("Nested invocation of `Study.optimize` method isn't allowed.")
    # This call must be here, because it reads its caller's stack.
    bundle = bundle_objective(objective, read_wheels(wheels), asked=True)
    backend_of(backend, bundle)
    directions = _directions(study)
    asked_as = name or study.study_name
    is_unnamed = asked_as.startswith(UNNAMED)
    made = Submission(
        bundle=bundle,
        space={},
        data=prepare(data),
        name=name_of(objective) if is_unnamed else asked_as,
        asked_as=asked_as if is_unnamed else None,
        direction=directions[0],
        directions=directions,
        seed=seed,
        runtime=runtime,
        backend=backend,
        requires=requires,
        time_limit_s=time_limit_s,
        max_failures=max_failures,
        value_range=value_range,
        priority=priority,
        webhook=webhook,
        webhook_events=webhook_events,
    )
    made = dataclasses.replace(made, submit_key=_key(study, asked_as, made))
    client = Client() if client is None else client
    row = client.submit(made).row
    owner = Owner(study, row, catch=caught, callbacks=callbacks or ())
    own(owner, client, plan, stores=Stores.of(objective), show_progress_bar=show_progress_bar)


def own(
    owner: Owner,
    client: Client,
    plan: Plan,
    *,
    label: str | None = None,
    standby: bool = False,
    stores: Stores | None = None,
    show_progress_bar: bool = False,
    notice: Callable[[str], None] = lambda text: None,
) -> None:
    """Ask for a study's trials and take their results until the plan is done.

    `optimize` and the sampler service call it.

    Artifacts of trials are copied into ``stores``.
    """
    http = client._core._http
    check_directions(owner.study, owner.row)
    show_rejections(owner.study)
    try:
        with (
            optimizing(owner.study),
            parallel_tpe(owner.study.sampler) as tpe,
            bar(show_progress_bar, plan, owner) as moved,
            _bringing(owner, http, stores),
            OwnerLink(http, owner.row.study, label or _label(), standby=standby) as link,
        ):
            Run(owner, link, http, plan, tpe, moved, notice).until_done()
    except KeyboardInterrupt:
        print(f"\n{detached_text(owner.study, owner.row)}", file=sys.stderr)
        raise


def check_directions(study: optuna.Study, row: StudyRow) -> None:
    """Check that the Optuna study and the server's study have the same directions.

    Raises
    ------
    HyperflockError
        ``directions_differ``.
    """
    here, there = _directions(study), row.aims
    if here != there:
        raise HyperflockError(
            f"the Optuna study's directions are {', '.join(here)}, those of study {row.study} at "
            f"the server {', '.join(there)}; take a study of the same",
            code="directions_differ",
        )


def _check_study(study: object) -> None:
    if not isinstance(study, optuna.Study):
        raise HyperflockError(
            f"optimize takes an optuna.Study, not a {type(study).__name__}; optuna.create_study() "
            "makes one",
            code="not_optuna_study",
        )


def _limit(what: str, value: int | None, least: int) -> int | None:
    # The test `value % 1 != 0` refuses NaN and infinity too, because their remainder is NaN.
    if value is not None and (not _is_real(value) or value % 1 != 0 or value < least):
        raise HyperflockError(
            f"{what} is {value!r}, but must be a whole number from {least} on, or None",
            code="bad_number",
            field=what,
        )
    return value


def _seconds(what: str, value: float | None) -> float | None:
    if value is None:
        return None
    if not _is_real(value) or not value >= 0:  # NaN is excluded too
        raise HyperflockError(
            f"{what} is {value!r}, but must be a number of seconds from 0 on, or None",
            code="bad_number",
            field=what,
        )
    return float(value)


def _is_real(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _directions(study: optuna.Study) -> list[Direction]:
    maximize = optuna.study.StudyDirection.MAXIMIZE
    return ["maximize" if d is maximize else "minimize" for d in study.directions]


def _key(study: optuna.Study, name: str, made: Submission) -> str:
    """Return the submit key. The same Optuna study with the same content gets the same key, and so
    finds its study at the server again.
    """
    return key_prefix(_identity(study, name), name) + made.content_sha256[:32]


def _identity(study: optuna.Study, name: str) -> str:
    """Return an identity of the Optuna study that is the same in the next process.

    The identity is random and kept in the storage. A study in memory is identified by its name. But
    if it already has trials, its identity is random, because their numbers at the server would
    differ.
    """
    storage, study_id = storage_of(study), study_id_of(study)
    known = storage.get_study_system_attrs(study_id).get(IDENTITY)
    if known is None:
        by_name = isinstance(storage, InMemoryStorage) and not study.get_trials(deepcopy=False)
        known = f"name:{name}" if by_name else f"drawn:{uuid.uuid4().hex}"
        storage.set_study_system_attr(study_id, IDENTITY, known)
    return str(known)


def _label() -> str:
    what = "notebook" if "ipykernel" in sys.modules else Path(sys.argv[0] or "python").name
    return f"{what}@{socket.gethostname()}:{os.getpid()}"


@contextmanager
def _bringing(owner: Owner, http: Http, stores: Stores | None) -> Iterator[None]:
    """Copy each trial's artifacts into the stores, and at the end those that earlier owners
    left.
    """
    if not stores:
        yield
        return
    bringer = Bringer(http, owner.row, stores)
    owner.bring = bringer.bring
    try:
        yield
        # `wait` is used because Python 3.10 raises another TimeoutError in `result`.
        _, late = wait([bringer.bring_lacking(owner.study)], LATE_S)
        if late or owner.late:
            bringer.stayed(f"they took longer than {LATE_S:.0f} s")
    finally:
        bringer.close()
