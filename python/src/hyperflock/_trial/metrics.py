"""What counts as a metric: one finite real number, in whatever wrapping a framework returns it."""

from __future__ import annotations

import math
import numbers
import sys
from collections.abc import Sequence
from typing import Any

import numpy as np


class MetricNotNumberError(ValueError):
    """A metric is not one real number."""

    code = "metric_not_number"


class MetricNotFiniteError(ValueError):
    """A metric is NaN or infinite."""

    code = "metric_not_finite"


def metric(value: object, what: str) -> float:
    """Return ``value`` as a finite float.

    Parameters
    ----------
    value : object
        A Python or NumPy number, an array of one element, or an object with such an ``array``
        (Chainer's variables).
    what : str
        How to call it in a message.

    Raises
    ------
    MetricNotNumberError, MetricNotFiniteError
        It is no single real number, or not finite.
    """
    inner = _unwrapped(value)
    if not isinstance(inner, numbers.Real | np.bool_):
        kind = type(value).__name__
        raise MetricNotNumberError(f"{what} must be a number, but is of type {kind}")
    number = float(inner)
    if not math.isfinite(number):
        raise MetricNotFiniteError(f"{what} is {number}, but must be finite")
    return number


def real_number(value: object) -> float:
    """Return what ``float`` makes of ``value``, as Optuna judges a metric: infinity is one, too.

    Raises
    ------
    TypeError, ValueError
        ``float`` makes nothing of it.
    """
    inner: Any = _unwrapped(value)
    return float(inner)


def finite(number: float) -> float:
    """The number, or the largest there is where it is infinite: the wire has no infinity."""
    return min(max(number, -sys.float_info.max), sys.float_info.max)


def objective_values(returned: object, directions: int) -> list[float]:
    """Return the objectives' values of what an Optuna objective returned.

    Raises
    ------
    MetricNotNumberError
        One is no number, or they are not as many as the study has directions.
    MetricNotFiniteError
        One is NaN.
    """
    listed = list(returned) if isinstance(returned, Sequence) else [returned]
    values = []
    for value in listed:
        try:
            values.append(real_number(value))
        except (TypeError, ValueError):
            raise MetricNotNumberError(
                f"The value {value!r:.200} could not be cast to float."
            ) from None
    for number in values:
        if math.isnan(number):
            raise MetricNotFiniteError(f"The value {number} is not acceptable.")
    if len(values) != directions:
        raise MetricNotNumberError(
            f"The number of the values {len(values)} did not match the number of the objectives "
            f"{directions}."
        )
    return values


def _unwrapped(value: object) -> object:
    """Chainer's variables hold an array; an array of one element is its element."""
    inner = getattr(value, "array", value)
    return inner.reshape(())[()] if isinstance(inner, np.ndarray) and inner.size == 1 else inner
