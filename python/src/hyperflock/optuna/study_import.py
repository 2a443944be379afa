"""Restores trials at a server as Optuna trials.

    study = to_optuna(http, row)          # in memory, with every finished trial

Each trial of an ask-and-tell study has the system attribute ``hyperflock:trial``, ``{"study": id,
"trial": number}``, before a device gets the trial. Functions block; any thread except the
background loop's may call them.
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
    FloatDistribution,
    IntDistribution,
    json_to_distribution,
)
from optuna.storages import InMemoryStorage
from optuna.trial import FrozenTrial, TrialState

from hyperflock._base.errors import NotFoundError
from hyperflock._execution.replay import fetch_spec
from hyperflock._model.results import params_of
from hyperflock._model.space import values_of
from hyperflock._transport import background_loop as _loop
from hyperflock._transport.http import Http
from hyperflock._transport.messages import (
    Dimension,
    Failure,
    StudyRow,
    StudySpec,
    TrialRow,
    ValueRange,
)
from hyperflock._transport.validation import convert
from hyperflock.optuna import pages as _pages
from hyperflock.optuna.internals import (
    ARTIFACTS,
    CONSTRAINTS,
    change_stored,
    storage_of,
    study_id_of,
    trial_id_of,
    with_ids,
)
from hyperflock.optuna.rejection import REJECTED, Note, note_of, rejection_in

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
    """How a trial ended, from a message to an owner or from a row.

    Attributes
    ----------
    state : TrialState
        The trial's final state in Optuna.
    values : tuple of float
        The objective's values, also infinite ones; empty if the trial is not complete.
    user_attrs, system_attrs : Mapping
        The attributes that the objective set; a constraint is a system attribute.
    raised : tuple of str
        The exception's class and its base classes as ``module.name``.
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
        """Return the outcome that a device sent; invalid parts are left out."""
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
    """Return the ids of a trial's artifacts from its attributes. Ids without the form of Optuna's
    ids are left out.

    The form is checked because devices send these ids and stores use them as file names.
    """
    ids = [key.removeprefix(ARTIFACTS) for key in system_attrs if key.startswith(ARTIFACTS)]
    return [identity for identity in ids if _UUID.fullmatch(identity)]


def outcome_of(row: TrialRow) -> Outcome:
    """Return how the trial in a row ended. A rejected trial has the attribute `REJECTED`."""
    outcome = Outcome.of(row.state, row.values, row.attrs, row.error)
    rejection = rejection_in(row)
    if rejection is None:
        return outcome
    return rejected_outcome(rejection, note_of(rejection, row.finished_at))


def rejected_outcome(error: Failure, note: Note) -> Outcome:
    """Return the outcome of a trial whose result was rejected."""
    return Outcome(TrialState.FAIL, system_attrs={REJECTED: dict(note)}, error=error)


def suggestions_of(row: TrialRow) -> dict[str, tuple[BaseDistribution, Any]]:
    """Return the distribution and value of each suggested name, in the order of suggestion."""
    told = row.suggested if isinstance(row.suggested, list) else []
    return {name: (_distribution(kind), json.loads(value)) for name, kind, value in told}


@lru_cache(1024)
def _distribution(text: str) -> BaseDistribution:
    """Parse a distribution. The result is cached, because a study's trials have the same ones."""
    return json_to_distribution(text)


def distributions_of(http: Http, study: StudyRow) -> dict[str, BaseDistribution]:
    """Return a study's space as distributions; empty for an ask-and-tell study."""
    space = study.space
    if study.kind == "points":  # its row has the names only
        space = _loop.run(fetch_spec(http, study.study)).space
    return {dimension.name: _distribution_of(dimension) for dimension in space}


def _distribution_of(dimension: Dimension) -> BaseDistribution:
    if not isinstance(numbers := dimension.range, ValueRange):
        unique = {repr(value): value for value in map(_stored, values_of(dimension))}
        return CategoricalDistribution(list(unique.values()))
    step = numbers.step if isinstance(numbers.step, float) else None
    if numbers.integer:
        low, high = int(numbers.low), int(numbers.high)
        return IntDistribution(low, high, log=numbers.log, step=int(step or 1))
    return FloatDistribution(numbers.low, numbers.high, log=numbers.log, step=step)


def _stored(value: Any) -> Any:
    """Return a value in a form that Optuna accepts as a choice: tuples, lists and dicts become
    texts.
    """
    return str(value) if isinstance(value, list | tuple | dict) else value


def frozen_trial(
    study: StudyRow, row: TrialRow, space: Mapping[str, BaseDistribution]
) -> FrozenTrial:
    """Return the Optuna trial of a row, finished or running, for `create_new_trial`.

    ``space`` is the study's `distributions_of`.
    """
    outcome = outcome_of(row)
    suggested = suggestions_of(row)
    if study.kind != "asked":
        params = params_of(row.params)
        suggested = {n: (space[n], _stored(v)) for n, v in params.items() if n in space}
    points = dict(row.points) if isinstance(row.points, list) else {}
    values: list[float] | None = list(outcome.values) or None
    if outcome.state is TrialState.PRUNED and points and len(study.aims) == 1:
        # The value of a pruned trial is the last reported one, as in Optuna's `tell`.
        last = points[max(points)]
        values = [last] if isfinite(last) else None
    ended = when(row.finished_at) if outcome.state.is_finished() else None
    return FrozenTrial(
        number=-1,
        trial_id=-1,
        state=outcome.state,
        value=None,
        values=values,
        # A trial that was cancelled before it started has an end time but no start time.
        datetime_start=when(row.started_at) or ended,
        datetime_complete=ended,
        params={name: value for name, (_, value) in suggested.items()},
        distributions={name: kind for name, (kind, _) in suggested.items()},
        user_attrs=dict(outcome.user_attrs),
        system_attrs={
            TAG: tag(row.study, row.trial),
            **({CONSTRAINTS: row.constraints} if isinstance(row.constraints, list) else {}),
            **outcome.system_attrs,
        },
        intermediate_values=points,
    )


def key_prefix(identity: str, name: str) -> str:
    """Return the beginning of the ``submit_key`` of all studies for one Optuna study.

    Parameters
    ----------
    identity
        The Optuna study's system attribute `IDENTITY`.
    name
        The study's name, as `asked_as` returns it.
    """
    named = f"{identity}\n{name}"
    return f"optuna:{uuid.uuid5(uuid.NAMESPACE_OID, named).hex}:"


def asked_as(spec: StudySpec) -> str:
    """Return the name of the Optuna study for a study at the server.

    For a study that Optuna named, the server shows the objective's name, and the spec keeps
    Optuna's random name, which identifies the study.
    """
    known = spec.provenance.get("asked_as")
    return known if isinstance(known, str) and known else spec.name


def name_there(http: Http, row: StudyRow) -> str:
    """Fetch the name of the Optuna study for a study at the server."""
    if row.kind != "asked":
        return row.name
    try:
        return asked_as(_loop.run(fetch_spec(http, row.study)))
    except NotFoundError:  # an older server does not have this page
        return row.name


def tag(study: int, number: int) -> dict[str, int]:
    """Return the value of the system attribute `TAG` for a trial of a study at the server."""
    return {"study": study, "trial": number}


def hole(study: int) -> FrozenTrial:
    """Return a failed trial for a number that the server does not know, so that Optuna's numbers
    agree with the server's.
    """
    return optuna.trial.create_trial(state=TrialState.FAIL, system_attrs={TAG: {"study": study}})


def is_hole(study: int, trial: FrozenTrial) -> bool:
    """Return whether a trial was made by `hole`."""
    return trial.state is TrialState.FAIL and trial.system_attrs == {TAG: {"study": study}}


def fill_hole(study: optuna.Study, trial: FrozenTrial, row: TrialRow) -> None:
    """Replace a trial made by `hole` by a running one, because the server now knows its number.

    This is only for studies in memory, which `to_optuna` can make while trials run. Other storages
    do not let a finished trial run again.
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
        The numbers of trials whose curves are needed; None means all.
    """

    async def found() -> list[TrialRow]:
        rows, _ = await _pages.newer(http, study.study, 0, points=wanted is None)
        newest = {row.trial: row for row in rows}
        return await _pages.with_points(http, study.study, newest.values(), wanted)

    return sorted(_loop.run(found()), key=lambda row: row.trial)


def unfinished_rows(http: Http, study: StudyRow) -> list[TrialRow]:
    """Fetch the trials that the owner has created and that have no outcome, by number."""
    return _loop.run(_pages.unfinished(http, study.study, points=False))


def trial_row(http: Http, study: int, number: int) -> TrialRow:
    """Fetch one trial with its curve."""
    return convert(_loop.run(http.get(f"/api/studies/{study}/trials/{number}")), TrialRow)


def to_optuna(http: Http, row: StudyRow) -> optuna.Study:
    """Return a study at the server as an Optuna study in memory; see `Study.to_optuna`."""
    name = name_there(http, row)
    made = optuna.create_study(study_name=name, directions=row.aims)
    storage_of(made).set_study_system_attr(study_id_of(made), IDENTITY, f"name:{name}")
    space = distributions_of(http, row)
    for finished in finished_rows(http, row):
        add_row(made, row, finished, space)
    return made


def add_row(
    study: optuna.Study,
    row: StudyRow,
    trial: TrialRow,
    space: Mapping[str, BaseDistribution] | None = None,
) -> int:
    """Add a trial at the end of the study, with its number at the server, and return its id in the
    storage. Each missing number before it gets a failed trial (`hole`).
    """
    storage = storage_of(study)
    for _ in range(len(study.get_trials(deepcopy=False)), trial.trial):
        storage.create_new_trial(study_id_of(study), template_trial=hole(row.study))
    template = frozen_trial(row, trial, space or {})
    return storage.create_new_trial(study_id_of(study), template_trial=template)


def _object(value: object) -> dict[str, Any]:
    """Return a JSON object, which may be given as text; an empty one for any other value."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return {}
    return value if isinstance(value, dict) else {}


def _exact(text: object, value: float) -> float:
    """Return the infinite value that ``text`` names, otherwise ``value``. Messages contain infinity
    as text, because no JSON number is infinite.
    """
    return float(text) if isinstance(text, str) and text in {"inf", "-inf"} else value


def when(milliseconds: int) -> datetime | None:
    """Convert a server's time in milliseconds since 1970 to a datetime for Optuna; 0 to None."""
    # Optuna's times are local times without a time zone.
    return datetime.fromtimestamp(milliseconds / 1000) if milliseconds else None
