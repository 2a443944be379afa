"""The results of trials as objects for researchers, made from the server's rows. Any thread may use
this module.
"""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any

from msgspec import UNSET

from hyperflock._base.errors import ProtocolError
from hyperflock._base.param_values import read_params
from hyperflock._base.text import clean
from hyperflock._model.provenance import Provenance, provenance_of
from hyperflock._model.space import values_of
from hyperflock._transport.messages import (
    AttemptRow,
    DeviceRow,
    Dimension,
    Failure,
    RejectionRow,
    SeriesOfTrial,
    StudyRow,
    StudySpec,
    TrialRow,
)
from hyperflock._trial.series import text_of

_NOT_FINITE = ("NaN", "Infinity", "-Infinity")

# The attributes of Optuna that hold a trial's constraints.
_CONSTRAINTS = "constraints"


@dataclass(frozen=True)
class TrialError:
    """Why a trial failed.

    Attributes
    ----------
    cause : str
        ``user_error``, ``timeout``, ``worker_lost``, ...
    code : str
        A stable code for programs, such as ``objective_raised``.
    message : str
        One sentence.
    traceback : str
        The objective's traceback; empty if there is none.
    """

    cause: str
    code: str
    message: str
    traceback: str


@dataclass(frozen=True)
class Rejection:
    """Says that an attempt was rejected (`Study.reject`), so that its result does not count.

    Attributes
    ----------
    by : str
        Who rejected it; empty: the server itself. ``reason`` is then a code: ``device_fails`` (the
        device failed several trials in a row, so that the trial ran again on another device) or
        ``same_value`` (it gave the same value for several trials in a row).
    at : datetime
        When.
    reason : str
        Why; may be empty.
    inherited : bool
        Whether it was rejected only because it began with a checkpoint of a rejected attempt.
    """

    by: str
    at: datetime
    reason: str = ""
    inherited: bool = False


@dataclass(frozen=True)
class Attempt:
    """One run of a trial on one device.

    Attributes
    ----------
    id : int
        The attempt's number, which is never used again.
    kind : str
        ``primary``, ``duplicate`` or ``replica``.
    state : str
        ``live``, ``accepted``, ``evidence``, ``failed``, ``released``, ...
    device, device_class, engine, backend, adapter : str
        What ran it; see `TrialResult`.
    values : tuple of float
        The values that the objective returned.
    run_s, load_s : float
        Seconds in the objective, and seconds of loading before it.
    started_at, finished_at : datetime or None
        When it began and ended; None if it has not.
    error : TrialError or None
        Why it failed.
    resumed_from, resumed_step : int or None
        The run whose checkpoint this one continued, and the last step reported before that
        checkpoint.
    code_version : int
        The version of the study's code that it ran.
    rejection : Rejection or None
        Who rejected it, when and why.
    """

    id: int
    kind: str
    state: str
    device: str
    device_class: str
    engine: str
    backend: str
    adapter: str
    values: tuple[float, ...]
    run_s: float
    load_s: float
    started_at: datetime | None
    finished_at: datetime | None
    error: TrialError | None
    resumed_from: int | None = None
    resumed_step: int | None = None
    code_version: int = 1
    rejection: Rejection | None = None


@dataclass(frozen=True)
class TrialResult:
    """A finished trial.

    Attributes
    ----------
    number : int
        The trial's number, from 0. In a grid it is the index of the trial's point.
    state : str
        ``complete``, ``pruned``, ``failed`` or ``cancelled``.
    params : dict
        Its parameters. Each value has the type that was submitted; a tuple inside another value is
        a tuple too.
    values : tuple of float
        The values that the objective returned.
    seed : int
        The seed of its random generators. `Study.replay` repeats the trial with it.
    device, device_class, engine, backend, adapter : str or None
        What computed it: the device's id; ``phone``, ``tablet``, ``desktop`` or ``node``; the
        browser; ``webgpu`` or ``cpu`` (array-core's back ends) or ``numpy``; the graphics adapter's
        vendor and architecture for WebGPU, otherwise empty.
    run_s, load_s : float
        Seconds in the objective, and seconds of loading before it.
    attempts : int
        The number of its runs, including lost ones.
    code_version : int
        The version of the study's code that computed it, from 1; see `Study.retry_failed`.
    error : TrialError or None
        Why it failed.
    constraints : dict of str to float
        The constraints of its result by name; the trial is feasible if each is at most 0.
    user_attrs : dict
        What the objective attached by `Trial.set_user_attr`.
    summary : dict
        The newest value of each series that it logged, and the named numbers that the objective
        returned with its value. Of a name in both, the returned number counts.
    points : tuple of (int, float) or None
        The reported curve as (step, value). Only `Study.trial` fetches it.
    series : dict or None
        The logged series: (step, value) pairs by name; a value may be NaN or infinite. Only
        `Study.trial` and `Study.series` fetch them.
    attempt_list : tuple of Attempt or None
        All runs of the trial, the first one first. Only `Study.trial` fetches them.
    provenance : Provenance or None
        Code, data, versions and device of the result. Only `Study.trial` fetches it.
    """

    number: int
    state: str
    params: dict[str, Any]
    values: tuple[float, ...]
    seed: int
    device: str | None
    device_class: str | None
    engine: str | None
    backend: str | None
    adapter: str | None
    run_s: float
    load_s: float
    attempts: int
    started_at: datetime | None
    finished_at: datetime | None
    error: TrialError | None
    code_version: int = 1
    constraints: dict[str, float] = field(default_factory=dict)
    user_attrs: dict[str, Any] = field(default_factory=dict)
    summary: dict[str, float] = field(default_factory=dict)
    points: tuple[tuple[int, float], ...] | None = None
    series: dict[str, tuple[tuple[int, float], ...]] | None = None
    attempt_list: tuple[Attempt, ...] | None = None
    provenance: Provenance | None = None

    @property
    def is_feasible(self) -> bool:
        """Whether the trial meets its constraints; a trial without constraints does."""
        return all(value <= 0 for value in self.constraints.values())

    @property
    def value(self) -> float | None:
        """The first value; None if the objective returned none."""
        return self.values[0] if self.values else None

    def as_dict(self) -> dict[str, Any]:
        """Return the result as plain values for JSON. NaN and infinity become their names."""
        plain = dataclasses.asdict(self)
        plain["value"] = self.value
        for times in (plain, *(plain["attempt_list"] or ())):
            for name in ("started_at", "finished_at"):
                when = times[name]
                times[name] = when.isoformat() if when else None
        plain["summary"] = {name: text_of(value) for name, value in self.summary.items()}
        if self.series is not None:
            plain["series"] = {
                name: [[step, text_of(value)] for step, value in pairs]
                for name, pairs in self.series.items()
            }
        for name in ("points", "series", "attempt_list", "provenance"):
            if plain[name] is None:
                del plain[name]
        return plain


def space_of(row: StudyRow, trials: Sequence[TrialResult]) -> list[Dimension]:
    """Return the dimensions of a study's space: each name with its values as Python objects.

    If the server has no list of values for a name, the values are those in the trials: sorted if
    all are numbers, otherwise in the order of first use. None is one of them if a trial lacks the
    name.
    """
    if row.kind != "asked" and all(dimension.values for dimension in row.space):
        return [Dimension(d.name, values_of(d)) for d in row.space]
    found: dict[str, dict[str, Any]] = {dimension.name: {} for dimension in row.space}
    for trial in trials:
        for name, value in trial.params.items():
            found.setdefault(name, {})[repr(value)] = value
    listed = {d.name: values_of(d) for d in row.space}
    ranges = {d.name: d.range for d in row.space}
    space = []
    for name, values in found.items():
        kinds: list[Any] = listed.get(name) or list(values.values())
        if not listed.get(name) and all(isinstance(v, int | float) for v in kinds):
            kinds.sort()
        if any(name not in trial.params for trial in trials) and None not in kinds:
            kinds.append(None)
        space.append(Dimension(name, kinds, ranges.get(name, UNSET)))
    return space


def trial_result(row: TrialRow, spec: StudySpec | None = None) -> TrialResult:
    """Return the result in a row, with texts cleaned of control characters.

    Parameters
    ----------
    row
        The server's row of the trial.
    spec
        The study's spec, for the provenance.

    Raises
    ------
    ProtocolError
        The parameters are not a JSON object.
    """
    device = row.device if isinstance(row.device, DeviceRow) else None
    points = row.points if isinstance(row.points, list) else None
    runs = row.attempts_list if isinstance(row.attempts_list, list) else None
    attached = attributes_of(row.attrs if isinstance(row.attrs, str) else "")
    return TrialResult(
        number=row.trial,
        state=row.state,
        params=params_of(row.params),
        values=tuple(row.values),
        seed=row.seed,
        device=clean(device.device) if device else None,
        device_class=clean(device.device_class) if device else None,
        engine=clean(device.engine) if device else None,
        backend=clean(device.backend) if device else None,
        adapter=_adapter(device) if device else None,
        run_s=row.run_ms / 1000,
        load_s=row.load_ms / 1000,
        attempts=row.attempts,
        started_at=_when(row.started_at),
        finished_at=_when(row.finished_at),
        error=trial_error(row.error) if isinstance(row.error, Failure) else None,
        code_version=row.code_version if isinstance(row.code_version, int) else 1,
        constraints=constraints_of(row),
        user_attrs=attached.user,
        summary={**last_of(row), **attached.summary},
        points=None if points is None else tuple(points),
        attempt_list=None if runs is None else tuple(map(_attempt, runs)),
        provenance=None if spec is None else provenance_of(row, spec),
    )


def constraints_of(row: TrialRow) -> dict[str, float]:
    """Return a trial's constraints by name, as Optuna 5 does: those that the objective set, and
    those that the study's owner computed, which are named by their index.
    """
    found: dict[str, Any] = {}
    if isinstance(row.constraints, list):
        found.update((str(index), value) for index, value in enumerate(row.constraints))
    try:
        system = json.loads(row.attrs)["system"] if isinstance(row.attrs, str) else {}
        listed = system.get(_CONSTRAINTS) or ()
        found.update((str(index), value) for index, value in enumerate(listed))
        prefix = f"{_CONSTRAINTS}:"
        for key, value in system.items():
            if key.startswith(prefix):
                found[key.removeprefix(prefix)] = value
    except (ValueError, LookupError, TypeError, AttributeError):
        pass  # a device sent these texts
    # A constraint whose value is not a number is not met.
    return {
        clean(key): float(value) if isinstance(value, int | float) else math.inf
        for key, value in found.items()
    }


@dataclass(frozen=True)
class Attached:
    """What a trial attached to its result: user attributes, and named numbers."""

    user: dict[str, Any]
    summary: dict[str, float]


def attributes_of(text: str) -> Attached:
    """Read the attributes of a result. Malformed parts are left out, because a device sent them."""
    try:
        told = json.loads(text or "{}")
    except ValueError:
        told = None
    told = told if isinstance(told, dict) else {}
    user = told.get("user")
    summary = told.get("summary")
    return Attached(
        user=user if isinstance(user, dict) else {},
        summary={
            name: float(value)
            for name, value in (summary.items() if isinstance(summary, dict) else ())
            if _is_number(value)
        },
    )


def _is_number(value: object) -> bool:
    return value in _NOT_FINITE or (isinstance(value, int | float) and not isinstance(value, bool))


def last_of(row: TrialRow) -> dict[str, float]:
    """Return the newest value of each series of a row."""
    last = row.last if isinstance(row.last, list) else []
    return {clean(name): float(value) for name, value in last if value is not None}


def series_of(told: SeriesOfTrial) -> dict[str, tuple[tuple[int, float], ...]]:
    """Return the series in an answer of the server."""
    return {
        clean(name): tuple(
            (step, float(value))
            for step, value in zip(steps, values, strict=False)
            if value is not None
        )
        for name, steps, values in told.series
    }


def _adapter(device: DeviceRow) -> str:
    return clean(device.adapter) if isinstance(device.adapter, str) else ""


def params_of(text: str) -> dict[str, Any]:
    """Decode parameters; ``1.0`` stays a float, and a large integer stays exact."""
    try:
        return read_params(text)
    except ValueError:
        raise ProtocolError("a trial's parameters are not a JSON object", field="params") from None


def _attempt(row: AttemptRow) -> Attempt:
    return Attempt(
        id=row.attempt,
        kind=clean(row.kind),
        state=clean(row.state),
        device=clean(row.device.device),
        device_class=clean(row.device.device_class),
        engine=clean(row.device.engine),
        backend=clean(row.device.backend),
        adapter=_adapter(row.device),
        values=tuple(row.values),
        run_s=row.run_ms / 1000,
        load_s=row.load_ms / 1000,
        started_at=_when(row.started_at),
        finished_at=_when(row.finished_at),
        error=trial_error(row.error) if isinstance(row.error, Failure) else None,
        resumed_from=row.resumed_from if isinstance(row.resumed_from, int) else None,
        resumed_step=row.resumed_step if isinstance(row.resumed_step, int) else None,
        code_version=row.code_version if isinstance(row.code_version, int) else 1,
        rejection=_rejection(row.rejected) if isinstance(row.rejected, RejectionRow) else None,
    )


def _rejection(row: RejectionRow) -> Rejection:
    return Rejection(
        by=clean(row.by),
        at=datetime.fromtimestamp(row.at / 1000, tz=timezone.utc),
        reason=clean(row.reason) if isinstance(row.reason, str) else "",
        inherited=row.inherited is True,
    )


def trial_error(failure: Failure) -> TrialError:
    """Return a failure with texts cleaned of control characters."""
    return TrialError(
        cause=failure.cause,
        code=clean(failure.code),
        message=clean(failure.message),
        traceback=clean(failure.traceback, keep_lines=True),
    )


def _when(milliseconds: int) -> datetime | None:
    return datetime.fromtimestamp(milliseconds / 1000, timezone.utc) if milliseconds else None
