"""Computes a grid's points in the server's order and each trial's seed, and checks search spaces.

Pure; any thread.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from hyperflock._base.errors import EmptySpaceError, InvalidSpaceError, SpaceTooLargeError
from hyperflock._transport.messages import MAX_DIMENSIONS, MAX_INTEGER, MAX_TEXT, Dimension

Scalar: TypeAlias = bool | int | float | str | None
MAX_POINT_BYTES = 64 * 1024

_MASK64 = 2**64 - 1


def suggest_grid(space: Mapping[str, Sequence[Scalar]]) -> Iterator[dict[str, Scalar]]:
    """Yield every point of ``space`` exactly once, the last name varying fastest.

    Raises
    ------
    EmptySpaceError
        The space has no names, or a name has no values.
    InvalidSpaceError
        A name or a value cannot be sent to a server.
    """
    dimensions = dimensions_of(space)
    for number in range(_size(dimensions)):
        yield _point(dimensions, number)


def grid_size(space: Mapping[str, Sequence[Scalar]]) -> int:
    """Return the number of points of ``space``.

    It raises `SpaceTooLargeError` and the errors of `suggest_grid`.
    """
    return _size(dimensions_of(space))


def grid_point(space: Mapping[str, Sequence[Scalar]], number: int) -> dict[str, Scalar]:
    """Return point ``number`` of ``space``: the parameters of the trial with this number.

    Raises
    ------
    IndexError
        The space has no such point.
    """
    dimensions = dimensions_of(space)
    if not 0 <= number < _size(dimensions):
        raise IndexError(f"the grid has {_size(dimensions)} points, none with number {number}")
    return _point(dimensions, number)


def trial_seed(study_seed: int, number: int) -> int:
    """Return a trial's seed, 0 to 2^32-1: the upper half of splitmix64(study_seed + number).

    splitmix64 is from Steele, Lea and Flood, "Fast splittable pseudorandom number generators"
    (2014).
    """
    z = (study_seed + number + 0x9E3779B97F4A7C15) & _MASK64
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK64
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK64
    return (z ^ (z >> 31)) >> 32


def params_text(params: Mapping[str, Scalar]) -> str:
    """Return parameters as the JSON text that the server gets."""
    return json.dumps(dict(params), ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def dimensions_of(space: Mapping[str, Sequence[Scalar]]) -> list[Dimension]:
    """Check a space and return it as the server gets it; NumPy's scalars become Python's."""
    if not isinstance(space, Mapping):
        raise InvalidSpaceError("a space is a dict of names and lists of values", field="space")
    dimensions = []
    for name, values in space.items():
        if not isinstance(name, str):
            raise InvalidSpaceError(f"the name {name!r} is not a string", field="space")
        # A set has no fixed order, so trials would change their numbers. An iterator can be read
        # once only.
        wrong = isinstance(values, str | bytes | Mapping | set | frozenset | Iterator)
        if wrong or not hasattr(values, "__iter__"):
            raise InvalidSpaceError(f"'{name}' needs a list of values", field=name)
        dimensions.append(Dimension(name, [plain_scalar(value) for value in values]))
    check_dimensions(dimensions)
    return dimensions


def plain_scalar(value: Any) -> Any:
    """Return a NumPy scalar as a Python scalar, and any other value unchanged."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value.item()
    # JSON has no subclasses such as IntEnum and numpy.str_, so the value of the base type is sent.
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value


def check_dimensions(dimensions: Sequence[Dimension]) -> None:
    """Check a space; errors have the same codes and fields as the server's.

    Raises
    ------
    EmptySpaceError, InvalidSpaceError, SpaceTooLargeError
    """
    if not dimensions:
        raise EmptySpaceError("the space has no names", field="space")
    if len(dimensions) > MAX_DIMENSIONS:
        raise InvalidSpaceError(
            f"the space has more than {MAX_DIMENSIONS} names", code="too_many", field="space"
        )
    seen: set[str] = set()
    for index, dimension in enumerate(dimensions):
        field = f"space[{index}]"
        name = dimension.name
        if not name or name in seen:
            what = "is used twice" if name else "is empty"
            raise InvalidSpaceError(f"the name '{name}' {what}", field=f"{field}.name")
        _check_text(name, f"{field}.name")
        seen.add(name)
        if not dimension.values:
            raise EmptySpaceError(f"'{name}' has no values", field=f"{field}.values")
        for position, value in enumerate(dimension.values):
            _check_scalar(value, name, f"{field}.values[{position}]")
    _size(dimensions)
    longest = 1
    for dimension in dimensions:
        name_bytes = len(json.dumps(dimension.name, ensure_ascii=False).encode())
        value_bytes = max(len(params_text({"": v}).encode()) for v in dimension.values)
        longest += name_bytes + value_bytes - len('{"":}') + 2
    if longest > MAX_POINT_BYTES:
        raise InvalidSpaceError(
            f"one point's parameters are longer than {MAX_POINT_BYTES} bytes",
            code="too_long",
            field="space",
        )


def _size(dimensions: Sequence[Dimension]) -> int:
    size = math.prod(len(d.values) for d in dimensions)
    if size > MAX_INTEGER:
        raise SpaceTooLargeError("the space has more than 2^53 - 1 points", field="space")
    return size


def _point(dimensions: Sequence[Dimension], number: int) -> dict[str, Scalar]:
    picked = []
    for dimension in reversed(dimensions):
        number, index = divmod(number, len(dimension.values))
        picked.append((dimension.name, dimension.values[index]))
    return dict(reversed(picked))


def _check_text(text: str, field: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidSpaceError("a text is not valid Unicode", field=field) from None
    if len(text) > MAX_TEXT:
        raise InvalidSpaceError(
            f"a text is longer than {MAX_TEXT} characters", code="too_long", field=field
        )


def _check_scalar(value: Any, name: str, field: str) -> None:
    if value is None or isinstance(value, bool):
        return
    if isinstance(value, str):
        _check_text(value, field)
    elif isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise InvalidSpaceError(
                f"{value} of '{name}' does not fit in 64 bits", code="bad_number", field=field
            )
    elif isinstance(value, float):
        if not math.isfinite(value):
            raise InvalidSpaceError(
                f"{value} of '{name}' is not finite", code="bad_number", field=field
            )
    else:
        raise InvalidSpaceError(
            f"a value of '{name}' is a {type(value).__name__}; "
            "None, bool, int, float and str can travel",
            field=field,
        )
