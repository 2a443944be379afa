"""Converts parameter values to JSON and back. JSON has no tuples: a tuple is sent as
``{"()": [...]}``.

    to_wire((32, 64))  ->  {"()": [32, 64]}
    from_wire({"()": [32, 64]})  ->  (32, 64)

A dict whose only key is ``"()"`` is sent as ``{"()": {"()": ...}}``, so `from_wire` restores every
value exactly. All other values are sent as they are. The researcher's machine and a trial use this
module. The module is pure; any thread may use it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

_TUPLE = "()"


def to_wire(value: Any) -> Any:
    """Convert a value of plain Python types to a value that JSON can represent."""
    match value:
        case tuple():
            return {_TUPLE: [to_wire(item) for item in value]}
        case list():
            return [to_wire(item) for item in value]
        case dict():
            members = {name: to_wire(item) for name, item in value.items()}
            return {_TUPLE: members} if members.keys() == {_TUPLE} else members
        case _:
            return value


def from_wire(value: Any) -> Any:
    """Convert a value from `to_wire` back to the original value."""
    match value:
        case list():
            return [from_wire(item) for item in value]
        case dict():
            inner = value[_TUPLE] if value.keys() == {_TUPLE} else value
            if isinstance(inner, list):
                return tuple(from_wire(item) for item in inner)
            members = inner if isinstance(inner, dict) else value
            return {name: from_wire(item) for name, item in members.items()}
        case _:
            return value


def params_text(params: Mapping[str, Any]) -> str:
    """Return parameters as the JSON text that the server sends."""
    plain = {name: to_wire(value) for name, value in params.items()}
    return json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def read_params(text: str) -> dict[str, Any]:
    """Parse a text from `params_text` and return the parameters.

    Raises
    ------
    ValueError
        The text is not a JSON object.
    """
    params = json.loads(text)
    if not isinstance(params, dict):
        raise ValueError("parameters are a JSON object")
    return {name: from_wire(value) for name, value in params.items()}
