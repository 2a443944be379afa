"""Tries several ways out of the sandbox at once. Each attack's bundle contains this module."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


class EscapedError(Exception):
    """At least one way out of the sandbox was open. The text names the open ones."""


def each_refused(ways: dict[str, Callable[[], Any]]) -> float:
    """Try each way. Return 0 if all were refused.

    A way is refused if it raises an error or returns nothing. Some ways start something and get no
    answer, such as a request or a message. The test looks for their effects outside.

    Raises
    ------
    EscapedError
        A way returned something.
    """
    open_ways = []
    for name, way in ways.items():
        try:
            found = way()
        except Exception:
            continue
        if found:
            open_ways.append(f"{name} gave {str(found)[:80]}")
    if open_ways:
        raise EscapedError("; ".join(open_ways))
    return 0.0


def started(thing: Any) -> None:
    """Return None for a way that starts something and gets no answer."""


def inner(name: str) -> Any:
    """Import a module that a study may not name, such as `pyodide_js`, Pyodide's own interface."""
    return importlib.import_module(name)
