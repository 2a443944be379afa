"""The distributions of a space from which `Client.random` and `Client.sobol` draw.

    {"rate": uniform(1e-4, 0.1, log=True), "layers": integer(1, 8), "act": choice(["relu", "tanh"])}

A device has this module too, because a script may build its space when it is imported. A space is
checked when it is submitted. The module has plain data only; any thread may use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Range:
    """The numbers from ``low`` to ``high`` that `uniform` or `integer` describes."""

    low: float
    high: float
    log: bool = False
    step: float | None = None
    whole: bool = False


@dataclass(frozen=True)
class Choice:
    """One of several values; see `choice`."""

    values: Sequence[Any]


def uniform(low: float, high: float, log: bool = False, step: float | None = None) -> Range:
    """Return the distribution of a float from ``low`` to ``high``, both included.

    Parameters
    ----------
    low, high
        Finite numbers; ``low`` is not greater than ``high``.
    log
        Whether the logarithm is uniformly distributed. ``low`` must then be greater than 0.
    step
        The distance between the possible values ``low``, ``low + step``, ..., ``high``, which are
        equally probable. It must divide ``high - low``, and cannot be used with ``log``.
    """
    return Range(low, high, log, step)


def integer(low: int, high: int, log: bool = False, step: int | None = None) -> Range:
    """Return the distribution of a whole number from ``low`` to ``high``, both included.

    Parameters
    ----------
    low, high
        Whole numbers below 2^53; ``low`` is not greater than ``high``.
    log
        Whether the logarithm is uniformly distributed. The number is then rounded, and ``low`` must
        be at least 1.
    step
        The distance between the possible values ``low``, ``low + step``, ..., ``high``. It must
        divide ``high - low``, and cannot be used with ``log``.
    """
    return Range(low, high, log, step, whole=True)


def choice(values: Sequence[Any]) -> Choice:
    """Return the distribution of one of ``values``, each with the same probability.

    A plain list in a space means the same.
    """
    return Choice(values)
