"""Makes an Optuna study and the server agree, right after a claim: nothing runs that nobody knows.

    agreed = reconcile(owner, http)        # what is to be asked again, and how many have ended

A trial marked as the server's that still runs there goes on, one that finished there is told, one
that the server never heard of fails. Trials without a mark belong to other processes on the same
storage and stay as they are. Blocking; the thread of the owner.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from contextlib import suppress
from typing import NamedTuple

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.storages import InMemoryStorage
from optuna.trial import FrozenTrial, TrialState

from hyperflock._base.errors import NotFoundError, OwnerError
from hyperflock._execution.replay import fetch_spec
from hyperflock._transport import background_loop as _loop
from hyperflock._transport.http import Http
from hyperflock._transport.messages import TrialRow
from hyperflock.optuna.internals import (
    forget_trials,
    memory_of,
    storage_of,
    study_id_of,
    trial_id_of,
)
from hyperflock.optuna.owner.owner import Owner, set_attributes, tell
from hyperflock.optuna.study_import import (
    IDENTITY,
    STATES,
    TAG,
    Outcome,
    add_row,
    asked_as,
    fill_hole,
    finished_rows,
    is_hole,
    key_prefix,
    outcome_of,
    suggestions_of,
    trial_row,
    unfinished_rows,
)


class Agreed(NamedTuple):
    """What both sides have in common now.

    Attributes
    ----------
    again : list of int
        Numbers that must be asked again.
    ended : int
        How many trials had their outcome at the server. What ends from now on, the owner is told.
    """

    again: list[int]
    ended: int


def reconcile(owner: Owner, http: Http) -> Agreed:
    """Make both sides agree.

    Parameters
    ----------
    owner
        Its ``live`` trials, if any, are of this very process: what the server has not heard of is
        asked again.
    http
        The client's connection.

    Returns
    -------
    Agreed
        What is to be asked again, and how many have ended.

    Raises
    ------
    OwnerError
        ``study_differs``: a number means different trials here and there.
    """
    study, row = owner.study, owner.row
    forget_trials(study)
    trials = study.get_trials(deepcopy=False)
    in_memory = isinstance(storage_of(study), InMemoryStorage)
    holes = {t.number: t for t in trials if in_memory and is_hole(row.study, t)}
    wanted = _running(trials).keys() | holes.keys()
    # Curves are fetched of those alone that will be told or added.
    open_rows = {r.trial: r for r in unfinished_rows(http, row)}
    ended = {r.trial: r for r in finished_rows(http, row, _Missing(wanted, len(trials)))}
    known = {**open_rows, **ended}
    _refuse_conflicts(owner, trials, known)
    for number in holes.keys() & known.keys():
        fill_hole(study, holes[number], known[number])
    running = _running(study.get_trials(deepcopy=False))
    for number in sorted(known.keys() - set(range(len(trials)))):
        found = known[number]
        trial_id = add_row(study, row, found)
        if number not in ended:
            owner.take(trial_id, started=found.attempts > 0)
            _add_points(owner, http, found)
    again: list[int] = []
    for number, trial in running.items():
        if _study_of(trial) != row.study:
            _settle_elsewhere(study, trial, http)
        elif number in ended:
            _tell_ended(owner, trial, ended[number])
        elif number in open_rows:
            if number not in owner.live:
                owner.take(trial_id_of(trial), started=open_rows[number].attempts > 0)
                _add_points(owner, http, open_rows[number])
            _catch_up(owner, number, open_rows[number])
        elif number in owner.live:
            again.append(number)
        else:
            tell(study, number, Outcome(TrialState.FAIL))
    return Agreed(sorted(again), len(ended))


def sweep(owner: Owner, http: Http) -> None:
    """Settle what an owner that was just replaced has begun since, unheard by the server."""
    running = owner.study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
    if _running(running).keys() - owner.live.keys():
        reconcile(owner, http)


def leave(owner: Owner, http: Http) -> None:
    """End what this process began and the server never heard of: another one owns the study now."""
    if not owner.live:
        return
    known = {row.trial for row in unfinished_rows(http, owner.row)}
    for number in set(owner.live) - known:
        if _row_of(http, owner.row.study, number) is None:
            tell(owner.study, number, Outcome(TrialState.FAIL))


def _running(trials: list[FrozenTrial]) -> dict[int, FrozenTrial]:
    """Those with a mark; one that was taken back, as another process was faster, is none."""
    running = (t for t in trials if t.state is TrialState.RUNNING)
    return {t.number: t for t in running if isinstance(t.system_attrs.get(TAG), dict)}


class _Missing:
    """The numbers of trials that have no outcome here, and all behind the last one."""

    def __init__(self, wanted: Set[int], first: int) -> None:
        self._wanted = wanted
        self._first = first

    def __contains__(self, number: object) -> bool:
        return number in self._wanted or (isinstance(number, int) and number >= self._first)


def _refuse_conflicts(
    owner: Owner, trials: list[FrozenTrial], rows: Mapping[int, TrialRow]
) -> None:
    for trial in trials:
        if trial.state is TrialState.WAITING and trial.number in rows:
            raise OwnerError(
                f"trial {trial.number} waits in the Optuna study and is another one at the server; "
                f"take client.study({owner.row.study}).to_optuna(), or a study of another name",
                code="study_differs",
            )


def _tell_ended(owner: Owner, trial: FrozenTrial, row: TrialRow) -> None:
    """Tell what finished while nobody listened."""
    if trial.number in owner.live:
        _catch_up(owner, trial.number, row)
        owner.report(trial.number, row.points if isinstance(row.points, list) else [])
        owner.finish(trial.number, outcome_of(row))
    else:
        _complete(owner.study, trial, row)


def _complete(study: optuna.Study, trial: FrozenTrial, row: TrialRow) -> None:
    storage = storage_of(study)
    with suppress(UpdateFinishedTrialError):  # the owner before was faster by a moment
        _add_params(study, trial_id_of(trial), row)
        for step, value in row.points if isinstance(row.points, list) else []:
            storage.set_trial_intermediate_value(trial_id_of(trial), step, value)
    outcome = outcome_of(row)
    set_attributes(study, trial_id_of(trial), outcome)
    tell(study, trial.number, outcome)


def _catch_up(owner: Owner, number: int, row: TrialRow) -> None:
    """Suggest again what the server's log has, so that the trial here has it too."""
    live = owner.live[number]
    with suppress(UpdateFinishedTrialError):
        _add_params(owner.study, trial_id_of(live.trial), row)
    stored = storage_of(owner.study).get_trial(trial_id_of(live.trial))
    memory_of(live.trial).params = dict(stored.params)
    memory_of(live.trial).distributions = dict(stored.distributions)


def _add_points(owner: Owner, http: Http, row: TrialRow) -> None:
    """Read what a running trial reported to the owner before this one."""
    if row.attempts:
        told = trial_row(http, row.study, row.trial)
        owner.report(row.trial, told.points if isinstance(told.points, list) else [])


def _add_params(study: optuna.Study, trial_id: int, row: TrialRow) -> None:
    storage = storage_of(study)
    known = storage.get_trial(trial_id).params
    for name, (kind, value) in suggestions_of(row).items():
        if name not in known:
            storage.set_trial_param(trial_id, name, kind.to_internal_repr(value), kind)


def _settle_elsewhere(study: optuna.Study, trial: FrozenTrial, http: Http) -> None:
    """End a trial that was asked for an earlier study of the server's: its generation is dead."""
    earlier = _study_of(trial)
    row = _row_of(http, earlier, trial.number) if _is_of(study, http, earlier) else None
    if row is not None and STATES[row.state].is_finished():
        _complete(study, trial, row)
    else:
        tell(study, trial.number, Outcome(TrialState.FAIL))


def _is_of(study: optuna.Study, http: Http, earlier: int) -> bool:
    """Whether the server's study is of this one: another server may have the number, too."""
    known = storage_of(study).get_study_system_attrs(study_id_of(study)).get(IDENTITY)
    try:
        spec = _loop.run(fetch_spec(http, earlier))
    except NotFoundError:
        return False
    return known is not None and spec.submit_key.startswith(key_prefix(known, asked_as(spec)))


def _row_of(http: Http, study: int, number: int) -> TrialRow | None:
    try:
        return trial_row(http, study, number)
    except NotFoundError:
        return None


def _study_of(trial: FrozenTrial) -> int:
    return int(trial.system_attrs[TAG]["study"])
