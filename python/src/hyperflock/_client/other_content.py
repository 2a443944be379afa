"""Handles a submission that is refused with ``study_exists``: another study has the same key.

    row = await extended(http, made, error)

If the submission may extend the study and only has a larger space, the study gets the new points.
Otherwise the error says what differs, and has the points that the study lacks. The coroutines run
on any event loop.
"""

from __future__ import annotations

from itertools import islice
from math import prod
from typing import Any

import msgspec
from msgspec import UnsetType

from hyperflock._base.errors import HyperflockError, ServerError, StudyExistsError
from hyperflock._base.param_values import params_text
from hyperflock._base.text import clean
from hyperflock._client.submission import Submission
from hyperflock._execution.replay import fetch_spec
from hyperflock._model.grid import count_of, point_of
from hyperflock._model.space import SearchSpace, Space, dimensions_of
from hyperflock._model.spec import kind_of, parse_spec
from hyperflock._transport.background_loop import in_thread
from hyperflock._transport.http import Http
from hyperflock._transport.messages import Dimension, StudySpec
from hyperflock._transport.pages import pages

# An error contains at most the first number of missing points. A study with more points than the
# second number is not compared.
MAX_MISSING = 10_000
_MAX_POINTS = 100_000
# At most this many studies of the same name are searched for the key.
_MAX_STUDIES = 20

_WORDS = {
    "direction": "direction",
    "entry": "objective",
    "bundle": "code",
    "data": "data",
    "seed": "seed",
    "runtime": "runtime",
    "requires": "requirements",
    "limits": "limits",
    "kind": "method",
    "trials": "number of trials",
    "space": "space",
}


async def extended(http: Http, made: Submission, error: StudyExistsError) -> Any:
    """Add the points of a submission to the earlier study with the same key, and return its row.

    Raises
    ------
    StudyExistsError
        The submission may not extend a study, or not only its space differs; the error says what
        differs. ``space_changed``: the space lacks something that the study has.
    """
    spec = parse_spec(made.body().decode())
    try:
        found = await _earlier(http, spec)
    except HyperflockError:
        raise error from None
    if found is None:
        raise error
    study, earlier = found
    if made.time_limit_s is None:  # the server chose it for the study
        spec.limits.time_limit_ms = earlier.limits.time_limit_ms
    differ = [word for name, word in _WORDS.items() if _differs(name, spec, earlier)]
    if made.extends and set(differ) <= {"space", "number of trials"}:
        try:
            return await extend(http, study, spec.space, spec.trials)
        except ServerError as refused:
            if refused.code != "space_changed":
                raise
            error = StudyExistsError(refused.message, code=refused.code, field=refused.field)
    raise await _explained(error, spec, study, earlier, differ)


async def extend(http: Http, study: int, space: list[Dimension], trials: int | UnsetType) -> Any:
    """Ask the server to extend a study, and return its row as the server sent it."""
    body: dict[str, Any] = {"space": msgspec.to_builtins(space)}
    if isinstance(trials, int):
        body["trials"] = trials
    return await http.post(f"/api/studies/{study}/extend", body)


async def extend_study(
    http: Http, study: int, space: Space | SearchSpace | None, trials: int | None
) -> Any:
    """Extend a study to a larger space or number of trials; None means that it does not change."""
    spec = await fetch_spec(http, study)
    dimensions = spec.space if space is None else dimensions_of(space, kind_of(spec))
    return await extend(http, study, dimensions, spec.trials if trials is None else trials)


def _differs(name: str, spec: StudySpec, earlier: StudySpec) -> bool:
    if name == "limits":  # how many failures pause a study changes no result
        one, other = spec.limits, earlier.limits
        return (one.time_limit_ms, one.stall_ms) != (other.time_limit_ms, other.stall_ms)
    return bool(getattr(spec, name) != getattr(earlier, name))


async def _explained(
    error: StudyExistsError, spec: StudySpec, study: int, earlier: StudySpec, differ: list[str]
) -> StudyExistsError:
    """Return the error with what differs, and with the points that the study lacks."""
    head = f"study {study} '{clean(earlier.name, limit=100)}' has the same key"
    changed = error.code == "space_changed"
    if set(differ) <= {"method", "space"} and _is_listed(spec) and _is_listed(earlier):
        told = await in_thread(lambda: _of_points(head, study, spec, earlier))
    else:
        what = ", ".join(differ) or "content"
        told = StudyExistsError(f"{head}, but differs in: {what}", study=study)
    if not changed:
        return told
    return StudyExistsError(
        f"{head}; {error.message}", code=error.code, study=study, missing=told.missing
    )


async def _earlier(http: Http, spec: StudySpec) -> tuple[int, StudySpec] | None:
    """Return the id and spec of the earlier study whose submit key is that of ``spec``."""
    looked_at = 0
    async for rows in pages(http, "/api/studies", "studies"):
        for study in [row["study"] for row in rows if row["name"] == spec.name]:
            if looked_at == _MAX_STUDIES:
                return None
            looked_at += 1
            earlier = await fetch_spec(http, study)
            if earlier.submit_key == spec.submit_key:
                return study, earlier
    return None


def _is_listed(spec: StudySpec) -> bool:
    return kind_of(spec) in ("grid", "points")


def _of_points(head: str, study: int, spec: StudySpec, earlier: StudySpec) -> StudyExistsError:
    count = _count(spec)
    if count > _MAX_POINTS or _count(earlier) > _MAX_POINTS:
        return StudyExistsError(f"{head}, but differs in: space", study=study)
    known = {_text(earlier, number) for number in range(_count(earlier))}
    lacking = [number for number in range(count) if _text(spec, number) not in known]
    missing = [
        point_of(kind_of(spec), spec.space, number) for number in islice(lacking, MAX_MISSING)
    ]
    if not missing:
        why = f"and all {count} of these points, and others or another order"
    else:
        why = (
            f"but lacks {len(lacking)} of these {count} points; "
            "client.grid(objective, error.missing, ...) with another name runs them"
        )
    return StudyExistsError(f"{head}, {why}", study=study, missing=missing)


def _count(spec: StudySpec) -> int:
    if kind_of(spec) == "grid":
        return prod(len(dimension.values) for dimension in spec.space)
    return count_of("points", spec.space)


def _text(spec: StudySpec, number: int) -> str:
    """Return a point as a text that does not depend on the order of its names."""
    point: dict[str, Any] = point_of(kind_of(spec), spec.space, number)
    return params_text(dict(sorted(point.items())))
