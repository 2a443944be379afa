"""Compares two runs of a trial: state, values, curve. Pure; any thread."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Curve = Sequence[tuple[int, float]]


@dataclass(frozen=True)
class Compared:
    """One thing that two runs of a trial tell.

    Attributes
    ----------
    what : str
        ``state``, ``error``, ``value``, ``value 1``, ..., ``step 10``.
    recorded, here : str, float or None
        What was recorded, and what came out here; None: nothing.
    difference : float or None
        Between two numbers, relative to the larger one, below 1 absolute; else None.
    same : bool
        Whether the numbers differ by no more than the tolerance; words are the same or not.
    """

    what: str
    recorded: str | float | None
    here: str | float | None
    difference: float | None
    same: bool


def compared(
    recorded_state: str,
    recorded_values: Sequence[float],
    recorded_points: Curve,
    recorded_error: str | None,
    *,
    state: str,
    values: Sequence[float],
    points: Curve,
    error: str | None,
    tolerance: float,
) -> tuple[Compared, ...]:
    """Compare what was recorded with what came out.

    Of a step that was reported twice the first point counts, as at the server.
    """
    found = [_words("state", recorded_state, state)]
    if recorded_error is not None or error is not None:
        found.append(_words("error", recorded_error, error))
    for index in range(max(len(recorded_values), len(values))):
        name = f"value {index}" if index else "value"
        pair = (_at(recorded_values, index), _at(values, index))
        found.append(_numbers(name, *pair, tolerance))
    then, now = _by_step(recorded_points), _by_step(points)
    for step in sorted({*then, *now}):
        found.append(_numbers(f"step {step}", then.get(step), now.get(step), tolerance))
    return tuple(found)


def difference_of(one: float, other: float) -> float:
    """Give the difference, relative to the larger number where that is beyond 1."""
    if one == other:
        return 0.0
    # Divided first: two of the largest numbers have no finite difference.
    size = max(1.0, abs(one), abs(other))
    return abs(one / size - other / size)


def _by_step(points: Curve) -> dict[int, float]:
    found: dict[int, float] = {}
    for step, value in points:
        found.setdefault(step, value)
    return found


def _at(values: Sequence[float], index: int) -> float | None:
    return values[index] if index < len(values) else None


def _words(what: str, recorded: str | None, here: str | None) -> Compared:
    return Compared(what, recorded, here, None, recorded == here)


def _numbers(what: str, recorded: float | None, here: float | None, tolerance: float) -> Compared:
    if recorded is None or here is None:
        return Compared(what, recorded, here, None, False)
    difference = difference_of(recorded, here)
    if not math.isfinite(difference):
        return Compared(what, recorded, here, None, False)
    return Compared(what, recorded, here, difference, difference <= tolerance)
