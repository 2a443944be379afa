"""What the attempts share: trying several ways out at once. Travels with each attempt's bundle."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any


class EscapedError(Exception):
    """A way out was open; the names say which."""


def each_refused(ways: dict[str, Callable[[], Any]]) -> float:
    """Try each way; give 0 when all were refused.

    A way is refused when it raises or gives nothing. What a way starts without an answer (a
    request, a message) is looked for outside, by the test.

    Raises
    ------
    EscapedError
        Something came back.
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
    """Say that a way gives no answer of its own."""


def inner(name: str) -> Any:
    """Import what a study may not name: `pyodide_js`, Pyodide's own interface, and the like."""
    return importlib.import_module(name)
