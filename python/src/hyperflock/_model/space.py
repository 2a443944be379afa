"""Checks search spaces, and turns them into what the server gets.

    dimensions_of({"rate": [0.1, 0.01], "layers": [(32, 64), (64,)]}, "grid")
    dimensions_of([{"rate": 0.1, "net": "a"}, {"rate": 0.2, "net": "b"}], "points")
    dimensions_of({"rate": uniform(1e-4, 0.1, log=True), "net": ["a", "b"]}, "random")

The module is pure; any thread may use it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np
from msgspec import UNSET

from hyperflock._base.distributions import Choice, Range
from hyperflock._base.errors import EmptySpaceError, InvalidSpaceError, SpaceTooLargeError
from hyperflock._base.param_values import from_wire, to_wire
from hyperflock._transport.messages import (
    MAX_DIMENSIONS,
    MAX_INTEGER,
    MAX_TEXT,
    Dimension,
    StudyKind,
    ValueRange,
)

Scalar: TypeAlias = bool | int | float | str | None
# A value of a parameter: a scalar, or a tuple, list or dict of values.
Value: TypeAlias = Scalar | Sequence["Value"] | Mapping[str, "Value"]
Space: TypeAlias = Mapping[str, Sequence[Value]] | Sequence[Mapping[str, Value]]
SearchSpace: TypeAlias = Mapping[str, Sequence[Value] | Range | Choice]

MAX_POINT_BYTES = 64 * 1024
# How deep a value may be nested in JSON: the protocol's 16 levels less those of the spec around it.
MAX_NESTING = 12

# The greatest length of a number in a range, in characters of JSON.
_NUMBER_LENGTH = 25
# A range's length may differ from a whole number of steps by this fraction of a step, because
# decimal fractions are not exact.
_STEP_TOLERANCE = 1e-8


def kind_of(space: Any) -> StudyKind:
    """Return the kind of a study that tries every point of ``space``."""
    return "points" if isinstance(space, Sequence) and not isinstance(space, str) else "grid"


def is_drawn(kind: StudyKind) -> bool:
    """Return whether the study draws its points from the space."""
    return kind in ("random", "sobol")


def dimensions_of(space: Any, kind: StudyKind) -> list[Dimension]:
    """Check a space and return it as the server gets it; NumPy's scalars become Python's.

    Raises
    ------
    EmptySpaceError, InvalidSpaceError, SpaceTooLargeError
    """
    if kind == "points":
        space = _columns(space)
    elif not isinstance(space, Mapping):
        raise InvalidSpaceError("a space is a dict of names and lists of values", field="space")
    dimensions = []
    for name, values in space.items():
        if not isinstance(name, str):
            raise InvalidSpaceError(f"the name {name!r} is not a string", field="space")
        dimensions.append(_dimension(name, values, kind))
    check_dimensions(dimensions, kind)
    return dimensions


def values_of(dimension: Dimension) -> list[Any]:
    """Return the values of a dimension as the original Python objects."""
    return [from_wire(value) for value in dimension.values]


def range_count(numbers: ValueRange) -> int:
    """Return how many numbers a checked range has; 0 for a range without steps."""
    if numbers.log or not (numbers.integer or isinstance(numbers.step, float)):
        return 0
    step = numbers.step if isinstance(numbers.step, float) else 1.0
    return int((numbers.high - numbers.low) / step + 0.5) + 1


def plain_scalar(value: Any) -> Any:
    """Return a NumPy scalar as a Python scalar, and any other value unchanged."""
    if isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.ndim == 0):
        return value.item()
    # JSON has no subclasses such as IntEnum and numpy.str_, so the value of the base type is sent.
    for kind in (bool, int, float, str):
        if isinstance(value, kind):
            return kind(value)
    return value


def check_dimensions(dimensions: Sequence[Dimension], kind: StudyKind) -> None:
    """Check a space in the form in which it is sent; codes and fields of errors are the server's.

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
    longest = 1
    for index, dimension in enumerate(dimensions):
        field = f"space[{index}]"
        name = dimension.name
        if not name or name in seen:
            what = "is used twice" if name else "is empty"
            raise InvalidSpaceError(f"the name '{name}' {what}", field=f"{field}.name")
        _check_text(name, f"{field}.name")
        seen.add(name)
        value_bytes = _check_values(dimension, kind, field)
        longest += len(json.dumps(name, ensure_ascii=False).encode()) + value_bytes + 2
        if kind == "points" and len(dimension.values) != len(dimensions[0].values):
            raise InvalidSpaceError(
                f"'{name}' has not one value for each point", field=f"{field}.values"
            )
    if longest > MAX_POINT_BYTES:
        raise InvalidSpaceError(
            f"one point's parameters are longer than {MAX_POINT_BYTES} bytes",
            code="too_long",
            field="space",
        )
    if kind == "grid":
        size_of(dimensions)


def size_of(dimensions: Sequence[Dimension]) -> int:
    """Return the number of points of a grid. Raises `SpaceTooLargeError`."""
    size = math.prod(len(d.values) for d in dimensions)
    if size > MAX_INTEGER:
        raise SpaceTooLargeError("the space has more than 2^53 - 1 points", field="space")
    return size


def _columns(points: Any) -> dict[str, list[Any]]:
    """Convert a list of points to a list of values for each name."""
    if not isinstance(points, Sequence) or isinstance(points, str):
        raise InvalidSpaceError("points are a list of dicts", field="space")
    if not points:
        raise EmptySpaceError("the list of points is empty", field="space")
    for number, point in enumerate(points):
        if not isinstance(point, Mapping):
            raise InvalidSpaceError(
                f"point {number} is a {type(point).__name__}; points are dicts of names and values",
                field=f"space[{number}]",
            )
        missing = [name for name in points[0] if name not in point]
        more = [name for name in point if name not in points[0]]
        if missing or more:
            what = f"has no {missing[0]!r}" if missing else f"has {more[0]!r} too"
            raise InvalidSpaceError(
                f"point {number} {what}: every point needs the names of point 0",
                field=f"space[{number}]",
            )
    return {name: [point[name] for point in points] for name in points[0]}


def _dimension(name: str, values: Any, kind: StudyKind) -> Dimension:
    if isinstance(values, Range):
        if not is_drawn(kind):
            raise InvalidSpaceError(
                f"'{name}' is a range, from which client.random and client.sobol draw; "
                "a grid needs a list of values",
                field=name,
            )
        return Dimension(name, [], _range(name, values))
    if isinstance(values, Choice):
        values = values.values
    # A set is refused because it has no fixed order, so trials would change their numbers. An
    # iterator is refused because it can be read only once.
    wrong = isinstance(values, str | bytes | Mapping | set | frozenset | Iterator)
    if wrong or not hasattr(values, "__iter__"):
        wanted = "a list of values or a distribution" if is_drawn(kind) else "a list of values"
        raise InvalidSpaceError(f"'{name}' needs {wanted}", field=name)
    return Dimension(name, [to_wire(_plain(value, name)) for value in values])


def _range(name: str, given: Range) -> ValueRange:
    numbers = {"low": given.low, "high": given.high}
    if given.step is not None:
        numbers["step"] = given.step
    for what, number in numbers.items():
        number = plain_scalar(number)
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise InvalidSpaceError(f"{what} of '{name}' is {number!r}, not a number", field=name)
        if not isinstance(number, int) and not math.isfinite(number):
            raise InvalidSpaceError(
                f"{what} of '{name}' is not finite", code="bad_number", field=name
            )
        if given.whole and (number != int(number) or abs(number) > MAX_INTEGER):
            raise InvalidSpaceError(
                f"{what} of '{name}' is {number}, not a whole number below 2^53",
                code="bad_range",
                field=name,
            )
        try:
            numbers[what] = float(number)
        except OverflowError:
            raise InvalidSpaceError(
                f"{what} of '{name}' is too large for a float", code="bad_number", field=name
            ) from None
    return ValueRange(
        low=numbers["low"],
        high=numbers["high"],
        integer=given.whole,
        log=bool(given.log),
        step=numbers.get("step", UNSET),
    )


def _plain(value: Any, name: str, depth: int = 0) -> Any:
    """Return a value with Python's own scalars, or refuse a type that cannot be sent."""
    if depth > MAX_NESTING:
        raise InvalidSpaceError(
            f"a value of '{name}' is nested deeper than {MAX_NESTING} levels; a tuple takes two",
            field=name,
        )
    if type(value) is tuple:
        return tuple(_plain(item, name, depth + 2) for item in value)
    if type(value) is list:
        return [_plain(item, name, depth + 1) for item in value]
    if type(value) is dict:
        wrong = next((key for key in value if not isinstance(key, str)), None)
        if wrong is not None:
            raise InvalidSpaceError(
                f"a dict in '{name}' has the key {wrong!r}, which is not a string", field=name
            )
        return {str(key): _plain(item, name, depth + 1) for key, item in value.items()}
    value = plain_scalar(value)
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise InvalidSpaceError(
        f"a value of '{name}' is a {type(value).__name__}; None, bool, int, float and str can "
        "travel, and tuples, lists and dicts of them",
        field=name,
    )


def _check_values(dimension: Dimension, kind: StudyKind, field: str) -> int:
    """Check a name's values or range. Return the length in bytes of the longest value as JSON."""
    name = dimension.name
    if isinstance(dimension.range, ValueRange):
        if not is_drawn(kind):
            raise InvalidSpaceError(
                f"'{name}' has a range, which only random and sobol studies have",
                field=f"{field}.range",
            )
        _check_range(dimension.range, name, f"{field}.range")
        if dimension.values:
            raise InvalidSpaceError(f"'{name}' has a range and values too", field=f"{field}.values")
        return _NUMBER_LENGTH
    if not dimension.values:
        raise EmptySpaceError(f"'{name}' has no values", field=f"{field}.values")
    for position, value in enumerate(dimension.values):
        _check_value(value, name, f"{field}.values[{position}]")
    texts = (json.dumps(v, ensure_ascii=False, separators=(",", ":")) for v in dimension.values)
    return max(len(text.encode()) for text in texts)


def _check_range(numbers: ValueRange, name: str, field: str) -> None:
    def refuse(member: str, why: str) -> InvalidSpaceError:
        return InvalidSpaceError(f"'{name}' {why}", code="bad_range", field=f"{field}.{member}")

    low, high, step = numbers.low, numbers.high, numbers.step
    width = high - low
    if low > high:
        raise refuse("low", f"goes from {low:g} to {high:g}: low is greater than high")
    if not math.isfinite(width):
        raise refuse("high", "is wider than the largest float")
    if numbers.integer:
        for member, number in (("low", low), ("high", high)):
            if not _is_whole(number):
                raise refuse(member, f"has a {member} that is not a whole number below 2^53")
        if not _is_whole(width):
            raise refuse("high", "has more than 2^53 numbers")
    if numbers.log and (low < 1 if numbers.integer else low <= 0):
        least = "at least 1" if numbers.integer else "greater than 0"
        raise refuse("low", f"has log, so low must be {least}, not {low:g}")
    if not isinstance(step, float):
        return
    if numbers.log:
        raise refuse("step", "has both log and step; choose one")
    if not step > 0:
        raise refuse("step", f"has the step {step:g}, which must be greater than 0")
    if numbers.integer and not _is_whole(step):
        raise refuse("step", "has a step that is not a whole number below 2^53")
    steps = width / step
    if not steps < MAX_INTEGER:
        raise refuse("step", "has more than 2^53 numbers")
    if abs(steps - math.floor(steps + 0.5)) > (0 if numbers.integer else _STEP_TOLERANCE):
        raise refuse("step", f"has the step {step:g}, which does not divide {high:g} - {low:g}")


def _is_whole(number: float) -> bool:
    return math.trunc(number) == number and abs(number) <= MAX_INTEGER


def _check_value(value: Any, name: str, field: str) -> None:
    """Check a value, or an element inside a value, in the form in which it is sent.

    ``field`` is the field of the whole value.
    """
    match value:
        case None | bool():
            pass
        case str():
            _check_text(value, field)
        case int():
            if not -(2**63) <= value < 2**63:
                raise InvalidSpaceError(
                    f"{value} of '{name}' does not fit in 64 bits", code="bad_number", field=field
                )
        case float():
            if not math.isfinite(value):
                raise InvalidSpaceError(
                    f"{value} of '{name}' is not finite", code="bad_number", field=field
                )
        case list():
            for item in value:
                _check_value(item, name, field)
        case dict():
            inner = value["()"] if value.keys() == {"()"} else value
            if not isinstance(inner, list | dict):
                raise InvalidSpaceError(
                    f"a value of '{name}' has neither a tuple nor a dict under '()'", field=field
                )
            for key in inner if isinstance(inner, dict) else ():
                _check_text(key, field)
            for item in inner.values() if isinstance(inner, dict) else inner:
                _check_value(item, name, field)


def _check_text(text: str, field: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InvalidSpaceError("a text is not valid Unicode", field=field) from None
    if len(text) > MAX_TEXT:
        raise InvalidSpaceError(
            f"a text is longer than {MAX_TEXT} characters", code="too_long", field=field
        )
