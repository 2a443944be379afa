"""Makes an Optuna study and the server's study agree after a claim.

    agreed = reconcile(owner, http)        # trials to announce again, and how many have ended

Only trials whose system attribute `TAG` names the server's study are changed, because other trials
belong to other processes that use the same storage. A trial that still runs at the server
continues. If a trial has finished at the server, its outcome is stored. A trial that the server
does not know fails. Functions block and run in the owner's thread.
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
from hyperflock.optuna.owner.outcomes import set_attributes, tell
from hyperflock.optuna.owner.owner import Owner
from hyperflock.optuna.rejection import rejection_in
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
    """The state that both sides have agreed on.

    Attributes
    ----------
    again : list of int
        The numbers of trials that must be announced to the server again.
    ended : int
        How many trials had an outcome at the server. The server sends later outcomes to the owner.
        The results of some may have been rejected (`Owner.rejected`).
    """

    again: list[int]
    ended: int


def reconcile(owner: Owner, http: Http) -> Agreed:
    """Make the Optuna study and the server's study agree.

    Parameters
    ----------
    owner
        The owner. Its ``live`` trials belong to this process. Live trials that the server does not
        know must be announced again.
    http
        The client's connection.

    Returns
    -------
    Agreed
        The trials to announce again, and how many have ended.

    Raises
    ------
    OwnerError
        ``study_differs``: a number belongs to different trials on the two sides.
    """
    study, row = owner.study, owner.row
    forget_trials(study)
    trials = study.get_trials(deepcopy=False)
    in_memory = isinstance(storage_of(study), InMemoryStorage)
    holes = {t.number: t for t in trials if in_memory and is_hole(row.study, t)}
    wanted = _running(trials).keys() | holes.keys()
    # Curves are fetched only for trials whose outcome will be stored or that will be added.
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
            if rejection_in(ended[number]) and number not in owner.live:
                owner.replaced += 1
        elif number in open_rows:
            if number not in owner.live:
                owner.take(trial_id_of(trial), started=open_rows[number].attempts > 0)
                _add_points(owner, http, open_rows[number])
            _catch_up(owner, number, open_rows[number])
        elif number in owner.live:
            again.append(number)
        else:
            tell(study, number, Outcome(TrialState.FAIL))
    _take_back(owner, trials, ended)
    return Agreed(sorted(again), len(ended))


def _take_back(owner: Owner, trials: list[FrozenTrial], ended: Mapping[int, TrialRow]) -> None:
    """Fail the trials that had a result here and whose results were rejected."""
    rejected = {n: error for n, row in ended.items() if (error := rejection_in(row))}
    owner.rejected |= rejected.keys()
    for trial in trials:
        mark = trial.system_attrs.get(TAG)
        is_ours = isinstance(mark, dict) and mark.get("study") == owner.row.study
        if is_ours and trial.number in rejected:
            error, row = rejected[trial.number], ended[trial.number]
            owner.reject(trial.number, error, row.finished_at)
    owner.take_back()


def sweep(owner: Owner, http: Http) -> None:
    """Reconcile again if a replaced owner has started trials that still run in the storage."""
    running = owner.study.get_trials(deepcopy=False, states=(TrialState.RUNNING,))
    if _running(running).keys() - owner.live.keys():
        reconcile(owner, http)


def leave(owner: Owner, http: Http) -> None:
    """Fail this process's live trials that the server does not know.

    Another process owns the study now, so this process cannot announce them any more.
    """
    if not owner.live:
        return
    known = {row.trial for row in unfinished_rows(http, owner.row)}
    for number in set(owner.live) - known:
        if _row_of(http, owner.row.study, number) is None:
            tell(owner.study, number, Outcome(TrialState.FAIL))


def _running(trials: list[FrozenTrial]) -> dict[int, FrozenTrial]:
    """Return the running trials that have the system attribute `TAG`, by number."""
    running = (t for t in trials if t.state is TrialState.RUNNING)
    return {t.number: t for t in running if isinstance(t.system_attrs.get(TAG), dict)}


class _Missing:
    """The trials whose curves are needed: the given numbers, and all numbers from ``first`` on."""

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
    """Store the outcome of a trial that finished while no owner was connected."""
    if trial.number in owner.live:
        _catch_up(owner, trial.number, row)
        owner.report(trial.number, row.points if isinstance(row.points, list) else [])
        if rejection_in(row) is None:  # `_take_back` ends it
            owner.finish(trial.number, outcome_of(row))
    else:
        _complete(owner.study, trial, row)


def _complete(study: optuna.Study, trial: FrozenTrial, row: TrialRow) -> None:
    storage = storage_of(study)
    with suppress(UpdateFinishedTrialError):  # the earlier owner was faster
        _add_params(study, trial_id_of(trial), row)
        for step, value in row.points if isinstance(row.points, list) else []:
            storage.set_trial_intermediate_value(trial_id_of(trial), step, value)
    outcome = outcome_of(row)
    set_attributes(study, trial_id_of(trial), outcome)
    tell(study, trial.number, outcome)


def _catch_up(owner: Owner, number: int, row: TrialRow) -> None:
    """Set, in this owner's copy of the trial, the suggested values that the server logged."""
    live = owner.live[number]
    with suppress(UpdateFinishedTrialError):
        _add_params(owner.study, trial_id_of(live.trial), row)
    stored = storage_of(owner.study).get_trial(trial_id_of(live.trial))
    memory_of(live.trial).params = dict(stored.params)
    memory_of(live.trial).distributions = dict(stored.distributions)


def _add_points(owner: Owner, http: Http, row: TrialRow) -> None:
    """Report the values that a running trial reported to an earlier owner."""
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
    """End a trial that still runs in the storage but belongs to an earlier study at the server."""
    earlier = _study_of(trial)
    row = _row_of(http, earlier, trial.number) if _is_of(study, http, earlier) else None
    if row is not None and STATES[row.state].is_finished():
        _complete(study, trial, row)
    else:
        tell(study, trial.number, Outcome(TrialState.FAIL))


def _is_of(study: optuna.Study, http: Http, earlier: int) -> bool:
    """Return whether the server's study belongs to this Optuna study. The number alone is not
    enough, because another server may use the same number.
    """
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
