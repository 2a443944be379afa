"""Defines how long tests wait. Only a program that hangs reaches the limit, even on a busy machine.

until("two finished trials", lambda: len(study.finished()) == 2)
subprocess.run(command, timeout=LIMIT_S)
assert is_once_below(10.0, lambda: dry_run().seconds)
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

LIMIT_S = 900.0
_LOOK_S = 0.01
_TRIES = 5
_Found = TypeVar("_Found")


def until(what: str, probe: Callable[[], _Found]) -> _Found:
    """Call ``probe`` until it returns something true, and return that.

    Raises
    ------
    AssertionError
        ``probe`` returned nothing true within ``LIMIT_S``. The message names ``what``.
    """
    deadline = time.monotonic() + LIMIT_S
    while not (found := probe()):
        assert time.monotonic() < deadline, f"waited {LIMIT_S:.0f} s for {what}"
        time.sleep(_LOOK_S)
    return found


def is_once_below(limit_s: float, measure: Callable[[], float]) -> bool:
    """Return whether at least one of five measurements is below a limit. A busy machine may slow
    down the others.
    """
    return any(measure() < limit_s for _ in range(_TRIES))
