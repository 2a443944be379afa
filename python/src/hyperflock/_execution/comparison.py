"""Compares the state, values and curves of two runs of a trial. The module is pure; any thread may
use it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

Curve = Sequence[tuple[int, float]]


@dataclass(frozen=True)
class Compared:
    """One compared item of two runs of a trial.

    Attributes
    ----------
    what : str
        The item: ``state``, ``error``, ``value``, ``value 1``, ..., ``step 10``.
    recorded, here : str, float or None
        The recorded value and the value of the run here; None if there is none.
    difference : float or None
        The difference of two numbers, relative to the larger one, or absolute if the larger one is
        below 1; None for other values.
    same : bool
        Whether two numbers differ by no more than the tolerance, or two texts are equal.
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
    """Compare the recorded run of a trial with its run on this machine.

    If a step was reported twice, the first point counts, as at the server.
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
    """Return the difference of two numbers, divided by the larger magnitude if that is above 1."""
    if one == other:
        return 0.0
    # The division comes first, because the difference of two very large numbers may be infinite.
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
