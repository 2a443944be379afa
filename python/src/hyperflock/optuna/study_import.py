"""Trials of an asked study as Optuna's: what the server keeps is enough to make them again.

    study = to_optuna(http, row)          # in memory, with every finished trial

A trial is marked by the system attribute ``hyperflock:trial``, {"study": id, "trial": number}, from
before its first lease on. Blocking; any thread but the background loop's.
"""

from __future__ import annotations

import json
import re
import uuid
from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from math import isfinite
from typing import Any

import optuna
from optuna.distributions import (
    BaseDistribution,
    CategoricalDistribution,
    json_to_distribution,
)
from optuna.storages import InMemoryStorage
from optuna.trial import FrozenTrial, TrialState

from hyperflock._base.errors import NotFoundError
from hyperflock._execution.replay import fetch_spec
from hyperflock._model.results import params_of
from hyperflock._model.spec import StudySpec
from hyperflock._transport import background_loop as _loop
from hyperflock._transport.http import Http
from hyperflock._transport.messages import Failure, StudyRow, TrialRow
from hyperflock._transport.validation import convert
from hyperflock.optuna import pages as _pages
from hyperflock.optuna.internals import (
    ARTIFACTS,
    change_stored,
    storage_of,
    study_id_of,
    trial_id_of,
    with_ids,
)

TAG = "hyperflock:trial"
IDENTITY = "hyperflock:identity"

_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
STATES = {
    "complete": TrialState.COMPLETE,
    "pruned": TrialState.PRUNED,
    "failed": TrialState.FAIL,
    "cancelled": TrialState.FAIL,
    "running": TrialState.RUNNING,
}


@dataclass(frozen=True)
class Outcome:
    """How a trial ended, as the server tells it in a batch and in a row alike.

    Attributes
    ----------
    state : TrialState
        Optuna's.
    values : tuple of float
        What the objective gave, infinite ones too; empty when not complete.
    user_attrs, system_attrs : Mapping
        What the objective set; a constraint is a system attribute.
    raised : tuple of str
        The exception's class and its bases, as ``module.name``.
    stop : bool
        Whether the objective called ``trial.study.stop()``.
    error : Failure or None
        Why it failed.
    """

    state: TrialState
    values: tuple[float, ...] = ()
    user_attrs: Mapping[str, Any] = field(default_factory=dict)
    system_attrs: Mapping[str, Any] = field(default_factory=dict)
    raised: tuple[str, ...] = ()
    stop: bool = False
    error: Failure | None = None

    @classmethod
    def of(cls, state: str, values: Iterable[float], attrs: object, error: object) -> Outcome:
        """Read what a device sent; what is not of the agreed form is left out."""
        told = _object(attrs)
        raised = told.get("raised")
        exact = told.get("values")
        given = [float(value) for value in values]
        if isinstance(exact, list) and len(exact) == len(given):
            given = [_exact(text, value) for text, value in zip(exact, given, strict=True)]
        return cls(
            state=STATES[state],
            values=tuple(given) if state == "complete" else (),
            user_attrs=_object(told.get("user")),
            system_attrs=_object(told.get("system")),
            raised=tuple(map(str, raised)) if isinstance(raised, list) else (),
            stop=told.get("stop") is True,
            error=error if isinstance(error, Failure) else None,
        )


def artifacts_of(system_attrs: Mapping[str, Any]) -> list[str]:
    """Give the ids of the artifacts that a trial's attributes tell of, of Optuna's form alone.

    A device says them, and they become names of files in the researcher's stores.
    """
    ids = [key.removeprefix(ARTIFACTS) for key in system_attrs if key.startswith(ARTIFACTS)]
    return [identity for identity in ids if _UUID.fullmatch(identity)]


def outcome_of(row: TrialRow) -> Outcome:
    """How the trial of a row ended."""
    return Outcome.of(row.state, row.values, row.attrs, row.error)


def suggestions_of(row: TrialRow) -> dict[str, tuple[BaseDistribution, Any]]:
    """Give distribution and value of each name that was suggested, in that order."""
    told = row.suggested if isinstance(row.suggested, list) else []
    return {name: (_distribution(kind), json.loads(value)) for name, kind, value in told}


@lru_cache(1024)
def _distribution(text: str) -> BaseDistribution:
    """Read a distribution; a study's trials have the same ones over and over."""
    return json_to_distribution(text)


def choices_of(study: StudyRow) -> dict[str, CategoricalDistribution]:
    """Give a grid's space as distributions; empty for an asked study."""
    return {d.name: CategoricalDistribution(d.values) for d in study.space}


def frozen_trial(
    study: StudyRow, row: TrialRow, choices: Mapping[str, CategoricalDistribution] | None = None
) -> FrozenTrial:
    """Make Optuna's trial of a row, finished or running, for `create_new_trial`.

    Whoever makes many of a study gives its `choices_of`.
    """
    outcome = outcome_of(row)
    suggested = suggestions_of(row)
    if study.kind != "asked":
        if choices is None:
            choices = choices_of(study)
        suggested = {n: (choices[n], v) for n, v in params_of(row.params).items() if n in choices}
    points = dict(row.points) if isinstance(row.points, list) else {}
    values: list[float] | None = list(outcome.values) or None
    if outcome.state is TrialState.PRUNED and points and len(study.aims) == 1:
        # As Optuna's own `tell` does: the last value that was reported.
        last = points[max(points)]
        values = [last] if isfinite(last) else None
    ended = when(row.finished_at) if outcome.state.is_finished() else None
    return FrozenTrial(
        number=-1,
        trial_id=-1,
        state=outcome.state,
        value=None,
        values=values,
        # One that was cancelled before it began has ended all the same.
        datetime_start=when(row.started_at) or ended,
        datetime_complete=ended,
        params={name: value for name, (_, value) in suggested.items()},
        distributions={name: kind for name, (kind, _) in suggested.items()},
        user_attrs=dict(outcome.user_attrs),
        system_attrs={TAG: tag(row.study, row.trial), **outcome.system_attrs},
        intermediate_values=points,
    )


def key_prefix(identity: str, name: str) -> str:
    """What the ``submit_key`` of each of the server's studies for an Optuna study begins with.

    Parameters
    ----------
    identity
        The Optuna study's system attribute `IDENTITY`.
    name
        The study's name, as `asked_as` gives it.
    """
    named = f"{identity}\n{name}"
    return f"optuna:{uuid.uuid5(uuid.NAMESPACE_OID, named).hex}:"


def asked_as(spec: StudySpec) -> str:
    """What a study of the server's goes by at the side of its sampler.

    Nobody wants to read the name that Optuna gives a study by chance, and it alone tells two such
    studies apart. So the server shows the objective's name, and what was submitted keeps that one.
    """
    known = spec.provenance.get("asked_as")
    return known if isinstance(known, str) and known else spec.name


def name_there(http: Http, row: StudyRow) -> str:
    """Find out what a study goes by at the side of its sampler."""
    if row.kind != "asked":
        return row.name
    try:
        return asked_as(_loop.run(fetch_spec(http, row.study)))
    except NotFoundError:  # a server of before has no such page
        return row.name


def tag(study: int, number: int) -> dict[str, int]:
    """What marks a trial as one of the server's."""
    return {"study": study, "trial": number}


def hole(study: int) -> FrozenTrial:
    """Make a failed trial in place of one that the server never knew, so that numbers agree."""
    return optuna.trial.create_trial(state=TrialState.FAIL, system_attrs={TAG: {"study": study}})


def is_hole(study: int, trial: FrozenTrial) -> bool:
    """Whether a trial stands in place of one of the server's study."""
    return trial.state is TrialState.FAIL and trial.system_attrs == {TAG: {"study": study}}


def fill_hole(study: optuna.Study, trial: FrozenTrial, row: TrialRow) -> None:
    """Let what stood in place of a trial run: the server knows that trial.

    Of a study in memory, which `to_optuna` makes while trials run; no other storage lets a trial
    that has ended run again.
    """
    storage = storage_of(study)
    assert isinstance(storage, InMemoryStorage)
    made = optuna.trial.create_trial(
        state=TrialState.RUNNING, system_attrs={TAG: tag(row.study, row.trial)}
    )
    made.datetime_start = when(row.started_at) or made.datetime_start
    trial_id = trial_id_of(trial)
    change_stored(storage, trial_id, lambda _: with_ids(made, trial.number, trial_id))


def finished_rows(
    http: Http, study: StudyRow, wanted: Container[int] | None = None
) -> list[TrialRow]:
    """Fetch the finished trials with their curves, by number.

    Parameters
    ----------
    http
        The client's connection.
    study
        The study.
    wanted
        The numbers whose curves matter; None: of all trials.
    """

    async def found() -> list[TrialRow]:
        rows, _ = await _pages.newer(http, study.study, 0, points=wanted is None)
        newest = {row.trial: row for row in rows}
        return await _pages.with_points(http, study.study, newest.values(), wanted)

    return sorted(_loop.run(found()), key=lambda row: row.trial)


def unfinished_rows(http: Http, study: StudyRow) -> list[TrialRow]:
    """Fetch the trials that were asked and have no outcome, by number."""
    return _loop.run(_pages.unfinished(http, study.study, points=False))


def trial_row(http: Http, study: int, number: int) -> TrialRow:
    """Fetch one trial with its curve."""
    return convert(_loop.run(http.get(f"/api/studies/{study}/trials/{number}")), TrialRow)


def to_optuna(http: Http, row: StudyRow) -> optuna.Study:
    """Make an Optuna study in memory of a study at the server; see `Study.to_optuna`."""
    name = name_there(http, row)
    made = optuna.create_study(study_name=name, directions=row.aims)
    storage_of(made).set_study_system_attr(study_id_of(made), IDENTITY, f"name:{name}")
    choices = choices_of(row)
    for finished in finished_rows(http, row):
        add_row(made, row, finished, choices)
    return made


def add_row(
    study: optuna.Study,
    row: StudyRow,
    trial: TrialRow,
    choices: Mapping[str, CategoricalDistribution] | None = None,
) -> int:
    """Add a trial under its own number, behind those that the study has; its id in the storage."""
    storage = storage_of(study)
    for _ in range(len(study.get_trials(deepcopy=False)), trial.trial):
        storage.create_new_trial(study_id_of(study), template_trial=hole(row.study))
    template = frozen_trial(row, trial, choices)
    return storage.create_new_trial(study_id_of(study), template_trial=template)


def _object(value: object) -> dict[str, Any]:
    """Give a JSON object, of its text too; empty for anything else."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    return value if isinstance(value, dict) else {}


def _exact(text: object, value: float) -> float:
    """Give an infinite value, which no message can carry as a number."""
    return float(text) if isinstance(text, str) and text in {"inf", "-inf"} else value


def when(milliseconds: int) -> datetime | None:
    """Read a time of the server's."""
    # Optuna's times are local and know no zone.
    return datetime.fromtimestamp(milliseconds / 1000) if milliseconds else None
