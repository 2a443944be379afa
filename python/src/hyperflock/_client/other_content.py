"""Explains why a submission is refused with ``study_exists``: what differs from the earlier study.

    raise await explained(http, made, error)

If only the space differs, the error has the points that the earlier study lacks. The coroutines run
on any event loop.
"""

from __future__ import annotations

from itertools import islice
from math import prod
from typing import Any

from hyperflock._base.errors import HyperflockError, StudyExistsError
from hyperflock._base.param_values import params_text
from hyperflock._base.text import clean
from hyperflock._client.submission import Submission
from hyperflock._execution.replay import fetch_spec
from hyperflock._model.grid import count_of, point_of
from hyperflock._model.spec import kind_of, parse_spec
from hyperflock._transport.background_loop import in_thread
from hyperflock._transport.http import Http
from hyperflock._transport.messages import StudySpec

# The most missing points in an error, and the most points of a study that are compared.
MAX_MISSING = 10_000
_MAX_POINTS = 100_000
# The most studies of the same name whose keys are compared.
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


async def explained(http: Http, made: Submission, error: StudyExistsError) -> StudyExistsError:
    """Return an error that also says what differs. If the server does not answer, return ``error``
    unchanged.
    """
    spec = parse_spec(made.body().decode())
    try:
        found = await _earlier(http, spec)
    except HyperflockError:
        return error
    if found is None:
        return error
    study, earlier = found
    differ = [
        word for name, word in _WORDS.items() if getattr(spec, name) != getattr(earlier, name)
    ]
    head = f"study {study} '{clean(earlier.name, limit=100)}' has the same key"
    if set(differ) <= {"method", "space"} and _is_listed(spec) and _is_listed(earlier):
        return await in_thread(lambda: _of_points(head, study, spec, earlier))
    what = ", ".join(differ) or "content"
    return StudyExistsError(f"{head}, but differs in: {what}", study=study)


async def _earlier(http: Http, spec: StudySpec) -> tuple[int, StudySpec] | None:
    """Return the id and spec of the earlier study whose submit key is that of ``spec``."""
    rows = (await http.get("/api/studies"))["studies"]
    named = [row["study"] for row in rows if row["name"] == spec.name]
    for study in named[:_MAX_STUDIES]:
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
