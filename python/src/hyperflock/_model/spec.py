"""Builds and checks a study spec, the body of ``POST /api/studies``.

The module is pure; any thread may use it.
"""

from __future__ import annotations

import json
import math
from itertools import pairwise
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from hyperflock._base.errors import ProtocolError
from hyperflock._model.space import check_dimensions, is_drawn
from hyperflock._transport.messages import MAX_PROVENANCE_BYTES, StudyKind, StudySpec
from hyperflock._transport.validation import convert, read_json

MAX_SPEC_BYTES = 8 << 20


def parse_spec(text: str) -> StudySpec:
    """Parse and check a spec.

    Raises
    ------
    ProtocolError
        A field is wrong.
    InvalidSpaceError
        The space is wrong.
    """
    value = read_json(text, MAX_SPEC_BYTES)
    if not isinstance(value, dict):
        raise ProtocolError("a study spec is an object", code="malformed")
    spec = convert(_with_defaults(value), StudySpec)
    check_spec(spec)
    return spec


def _with_defaults(value: dict[str, Any]) -> dict[str, Any]:
    """Return the spec without fields that its kind does not have. The optional fields of an
    ask-and-tell study are filled in: an empty space, the direction and the list of directions.
    """
    value = dict(value)
    if value.get("kind") == "grid":
        del value["kind"]
    if value.get("kind") not in ("random", "sobol"):
        value.pop("trials", None)
    if isinstance(value.get("space"), list):
        value["space"] = [_with_values(one) for one in value["space"]]
    if value.get("kind") == "asked":
        value.setdefault("space", [])
        if "directions" not in value and "direction" in value:
            value["directions"] = [value["direction"]]
        elif isinstance(several := value.get("directions"), list) and several:
            value.setdefault("direction", several[0])
    return value


def kind_of(spec: StudySpec) -> StudyKind:
    """Return the kind of study: how its trials get their parameters."""
    return spec.kind if isinstance(spec.kind, str) else "grid"


def _with_values(dimension: Any) -> Any:
    """Return a dimension of the space. If it has a range and no ``values``, add an empty list."""
    if isinstance(dimension, dict) and "range" in dimension:
        return {"values": [], **dimension}
    return dimension


def check_spec(spec: StudySpec) -> None:
    """Check what the types of fields do not show: the space, duplicate names, the provenance's
    size.
    """
    if spec.kind == "asked":
        _check_asked(spec)
    else:
        if spec.directions is not UNSET:
            raise _bad("directions", "belongs to a study of kind 'asked'")
        check_dimensions(spec.space, kind_of(spec))
        if is_drawn(kind_of(spec)):
            _check_trials(spec)
    _check_value_range(spec)
    _check_grown(spec)
    seen = set()
    for index, ref in enumerate(spec.data):
        if ref.name in seen:
            field = f"data[{index}].name"
            raise ProtocolError(
                f"the data name '{ref.name}' is used twice", code="bad_field", field=field
            )
        seen.add(ref.name)
    if len(json.dumps(spec.provenance, separators=(",", ":")).encode()) > MAX_PROVENANCE_BYTES:
        raise ProtocolError("the provenance is too long", code="too_long", field="provenance")


def _check_value_range(spec: StudySpec) -> None:
    if not isinstance(spec.value_range, list):
        return
    directions = spec.directions if isinstance(spec.directions, list) else [spec.direction]
    if len(spec.value_range) != len(directions):
        raise _bad("value_range", "does not have one range for each direction")
    for index, one in enumerate(spec.value_range):
        low = -math.inf if isinstance(one.low, UnsetType) else one.low
        high = math.inf if isinstance(one.high, UnsetType) else one.high
        if low > high:
            raise _bad(f"value_range[{index}]", "has a low above its high")


def _check_grown(spec: StudySpec) -> None:
    """Check that each earlier space of a grid is a part of the next one."""
    if not isinstance(spec.grown, list) or not spec.grown:
        return
    spaces = [one.values for one in spec.grown]
    spaces.append([len(dimension.values) for dimension in spec.space])
    fits = kind_of(spec) == "grid" and all(
        len(one) == len(following) and all(map(int.__le__, one, following))
        for one, following in pairwise(spaces)
    )
    if not fits:
        raise _bad("grown", "does not lead from one space to the next")


def _check_trials(spec: StudySpec) -> None:
    if not isinstance(spec.trials, int):
        raise ProtocolError("trials is missing", code="missing_field", field="trials")
    if spec.trials < 1:
        raise ProtocolError("trials is less than 1", code="bad_number", field="trials")


def _check_asked(spec: StudySpec) -> None:
    if spec.space:
        raise _bad("space", "of an asked study is left out or empty")
    if spec.directions is not UNSET and spec.directions[0] != spec.direction:
        raise _bad("direction", "is not the first one of directions")


def _bad(field: str, what: str) -> ProtocolError:
    return ProtocolError(f"{field} {what}", code="bad_field", field=field)


def encode_spec(spec: StudySpec, *, names_time_limit: bool = True) -> bytes:
    """Return the request's body; scalars keep their types, so ``1.0`` stays a float.

    Without ``names_time_limit`` the body leaves the limit of a trial's time to the server, which
    then takes its own limit if that is below the default.

    Raises
    ------
    ProtocolError, InvalidSpaceError
        The server would refuse the spec; see `parse_spec`.
    """
    body = msgspec.to_builtins(spec)
    if not names_time_limit:
        del body["limits"]["time_limit_ms"]
    text = json.dumps(body, allow_nan=False, separators=(",", ":"))
    parse_spec(text)
    return text.encode()
