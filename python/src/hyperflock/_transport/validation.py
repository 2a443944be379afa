"""Validates decoded JSON against a msgspec type; errors have the protocol's codes and field paths.

    message = convert(value, Report)   # ProtocolError(code="bad_number", field="points[1][0]")

The errors of msgspec contain neither the code nor the index, so this module checks the declared
types itself. A limit on a string counts characters, or bytes of UTF-8 if the limit is
declared with ``extra={"unit": "bytes"}``. ``extra={"wanted": ...}`` says in words what a pattern
matches. The module is pure; any thread may use it.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Hashable
from functools import cache
from typing import Any, TypeVar, cast

import msgspec
from msgspec import inspect as mi

from hyperflock._base.errors import ProtocolError
from hyperflock._transport.cases import When
from hyperflock._transport.messages import MAX_DEPTH, MAX_FRAME_BYTES

_T = TypeVar("_T")
_LITERAL_OR_BRACKET = re.compile(r'"(?:[^"\\]|\\.)*"?|[\[{\]}]', re.DOTALL)


def read_json(text: str, max_bytes: int = MAX_FRAME_BYTES) -> Any:
    """Decode one JSON text strictly.

    Raises
    ------
    ProtocolError
        ``frame_too_large`` beyond ``max_bytes``; ``malformed`` for anything that is not JSON,
        nested deeper than 16 levels, or not valid Unicode.
    """
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise ProtocolError("the text is not valid Unicode", code="malformed") from None
    if size > max_bytes:
        raise ProtocolError(f"the text is longer than {max_bytes} bytes", code="frame_too_large")
    _check_depth(text)
    try:
        return json.loads(text, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"the text is not JSON: {error}", code="malformed") from None


def convert(value: Any, kind: type[_T]) -> _T:
    """Return ``value`` as an object of the declared type ``kind``.

    Raises
    ------
    ProtocolError
        The code and field of the first violation.
    """
    described = _described(cast(Hashable, kind))
    return msgspec.convert(_checked(value, described, ""), kind)


def _check_depth(text: str) -> None:
    depth = 0
    for match in _LITERAL_OR_BRACKET.finditer(text):
        token = match.group()
        if token in "[{":
            depth += 1
            if depth > MAX_DEPTH:
                raise ProtocolError(f"the text is nested deeper than {MAX_DEPTH}", code="malformed")
        elif token in "]}":
            depth -= 1


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is no JSON number")


@cache
def _described(kind: Hashable) -> mi.Type:
    return mi.type_info(kind)


def _fail(code: str, path: str, message: str) -> ProtocolError:
    return ProtocolError(f"{path or 'the message'} {message}", code=code, field=path or None)


def _checked(value: Any, kind: mi.Type, path: str) -> Any:
    """Return a valid value, with integral floats as integers where integers are declared."""
    match kind:
        case mi.StructType():
            return _checked_struct(value, kind, path)
        case mi.ListType():
            return _checked_list(value, kind, path)
        case mi.TupleType():
            if not isinstance(value, list) or len(value) != len(kind.item_types):
                raise _fail("bad_field", path, f"is not a list of {len(kind.item_types)}")
            items = zip(value, kind.item_types, strict=True)
            return [_checked(v, k, f"{path}[{i}]") for i, (v, k) in enumerate(items)]
        case mi.StrType():
            return _checked_text(value, kind, path)
        case mi.IntType() | mi.FloatType():
            return _checked_number(value, kind, path)
        case mi.BoolType():
            if not isinstance(value, bool):
                raise _fail("bad_field", path, "is neither true nor false")
        case mi.LiteralType():
            if not isinstance(value, str) or value not in kind.values:
                names = ", ".join(str(v) for v in kind.values)
                raise _fail("bad_field", path, f"is none of {names}")
        case mi.DictType():
            if not isinstance(value, dict):
                raise _fail("bad_field", path, "is not an object")
        case mi.Metadata(type=mi.StrType() as text, extra=dict(extra)):
            return _checked_text(value, text, path, **extra)
        case mi.UnionType(types=types) if any(isinstance(t, mi.FloatType) for t in types):
            return _checked_logged(value, path)
        case mi.UnionType():
            return _checked_struct(value, _member(value, kind, path), path)
        case mi.AnyType():
            pass
        case _:
            raise TypeError(f"{kind} is not a type that a message may have")
    return value


def _checked_logged(value: Any, path: str) -> float | str | None:
    """Check a value of a series and return it."""
    if value is None or (isinstance(value, str) and value in ("NaN", "Infinity", "-Infinity")):
        return value
    if isinstance(value, str):
        raise _fail("bad_field", path, "is neither a number nor the name of one")
    return cast(float, _checked_number(value, mi.FloatType(), path))


def _checked_struct(value: Any, kind: mi.StructType, path: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _fail("bad_field", path, "is not an object")
    result = dict(value)
    conditions: dict[str, When] = getattr(kind.cls, "CONDITIONS", {})
    for field in kind.fields:
        name = field.encode_name
        inner = f"{path}.{name}" if path else name
        when = conditions.get(name)
        if when and not when(result):
            result.pop(name, None)
            continue
        if name not in value:
            if field.required or when:
                raise _fail("missing_field", inner, "is missing")
            continue
        result[name] = _checked(value[name], _without_unset(field.type), inner)
    return result


def _member(value: Any, kind: mi.UnionType, path: str) -> mi.StructType:
    """Return the struct of a tagged union whose tag is in the value's tag field."""
    if not isinstance(value, dict):
        raise _fail("bad_field", path, "is not an object")
    members = [t for t in kind.types if isinstance(t, mi.StructType)]
    tag_field = cast(str, members[0].tag_field)
    inner = f"{path}.{tag_field}" if path else tag_field
    if tag_field not in value:
        raise _fail("missing_field", inner, "is missing")
    for member in members:
        if member.tag == value[tag_field]:
            return member
    names = ", ".join(str(m.tag) for m in members)
    raise _fail("bad_field", inner, f"is none of {names}")


def _without_unset(kind: mi.Type) -> mi.Type:
    """Return ``X`` of ``X | UnsetType``, which declares an optional field of type ``X``."""
    if isinstance(kind, mi.UnionType):
        (kind,) = (t for t in kind.types if not isinstance(t, mi.CustomType))
    return kind


def _checked_list(value: Any, kind: mi.ListType, path: str) -> list[Any]:
    if not isinstance(value, list):
        raise _fail("bad_field", path, "is not a list")
    if kind.max_length is not None and len(value) > kind.max_length:
        raise _fail("too_many", path, f"has more than {kind.max_length} items")
    if kind.min_length is not None and len(value) < kind.min_length:
        raise _fail("bad_field", path, f"has fewer than {kind.min_length} items")
    return [_checked(v, kind.item_type, f"{path}[{i}]") for i, v in enumerate(value)]


def _checked_text(
    value: Any, kind: mi.StrType, path: str, *, unit: str = "characters", wanted: str = ""
) -> str:
    """Check a text and return it. ``wanted`` says in words which texts match the pattern."""
    if not isinstance(value, str):
        raise _fail("bad_field", path, "is not a string")
    try:
        encoded = value.encode()
    except UnicodeEncodeError:
        raise _fail("bad_field", path, "is not valid Unicode") from None
    size = len(encoded) if unit == "bytes" else len(value)
    if kind.max_length is not None and size > kind.max_length:
        raise _fail("too_long", path, f"is longer than {kind.max_length} {unit}")
    if kind.min_length is not None and size < kind.min_length:
        raise _fail("bad_field", path, "is empty")
    if kind.pattern is not None and not re.search(kind.pattern, value):
        raise _fail(
            "bad_field", path, f"is not {wanted}" if wanted else "has a form that is not allowed"
        )
    return value


def _checked_number(value: Any, kind: mi.IntType | mi.FloatType, path: str) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _fail("bad_field", path, "is not a number")
    if isinstance(value, float) and not math.isfinite(value):
        raise _fail("bad_number", path, "is not a finite number")
    if isinstance(kind, mi.IntType):
        if isinstance(value, float):
            if not value.is_integer():
                raise _fail("bad_field", path, "is not an integer")
            value = int(value)
    else:
        try:
            value = float(value)
        except OverflowError:  # an integer of more than 308 digits
            raise _fail("bad_number", path, "is not a finite number") from None
    if (kind.ge is not None and value < kind.ge) or (kind.le is not None and value > kind.le):
        raise _fail("bad_number", path, f"is not between {kind.ge} and {kind.le}")
    return value
