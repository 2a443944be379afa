"""What counts as a metric: one finite real number, in whatever wrapping a framework returns it."""

from __future__ import annotations

import math
import numbers

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
    inner = getattr(value, "array", value)
    if isinstance(inner, np.ndarray) and inner.size == 1:
        inner = inner.reshape(())[()]
    if not isinstance(inner, numbers.Real | np.bool_):
        kind = type(value).__name__
        raise MetricNotNumberError(f"{what} must be a number, but is of type {kind}")
    number = float(inner)
    if not math.isfinite(number):
        raise MetricNotFiniteError(f"{what} is {number}, but must be finite")
    return number
