"""Checks metrics. A metric is one finite real number, in any type that a framework returns."""

from __future__ import annotations

import json
import math
import numbers
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hyperflock._base.errors import MetricError

# The protocol's limits for the values of a result and the step of a point.
MAX_VALUES = 8
MAX_STEP = 2**53 - 1
MAX_SUMMARY = 64
MAX_SUMMARY_NAME = 128
MAX_SUMMARY_BYTES = 6 * 1024


def metric(value: object, what: str) -> float:
    """Return ``value`` as a finite float.

    Parameters
    ----------
    value : object
        A Python or NumPy number, an array of one element, or an object with such an ``array``
        (Chainer's variables).
    what : str
        The name of the value in a message.

    Raises
    ------
    MetricError
        ``metric_not_number``: it is not a single real number. ``metric_not_finite``.
    """
    number = reported_metric(value, what)
    if not math.isfinite(number):
        raise MetricError(f"{what} is {number}, but must be finite", code="metric_not_finite")
    return number


def reported_metric(value: object, what: str) -> float:
    """Return ``value`` as a float, which may be infinite or NaN; see `metric`."""
    inner = unwrapped(value)
    if not isinstance(inner, numbers.Real | np.bool_):
        kind = type(value).__name__
        raise MetricError(f"{what} must be a number, but is of type {kind}")
    return as_float(inner)


def split_result(returned: object) -> tuple[object, dict[str, float]]:
    """Return the value in an objective's result, and the summary: the named numbers in the result.

    Parameters
    ----------
    returned : object
        What the objective returned. A dict has the value, or the tuple of values, as ``value``.
        Its other entries are the summary.

    Raises
    ------
    MetricError
        ``metric_not_number``: a dict has no ``value``, or its other entries are not named numbers.
        ``summary_too_large``: there are more than 64 of them, or they take more than 6 KiB as JSON.
    """
    if not isinstance(returned, Mapping):
        return returned, {}
    if "value" not in returned:
        raise MetricError("the objective returned a dict without 'value'")
    summary = {}
    for name, value in returned.items():
        if name == "value":
            continue
        if not isinstance(name, str) or not 1 <= len(name) <= MAX_SUMMARY_NAME:
            raise MetricError(
                f"a name in the objective's dict is a string of 1 to {MAX_SUMMARY_NAME} "
                f"characters, not {name!r:.200}"
            )
        try:
            summary[name] = real_number(value)
        except (TypeError, ValueError):
            kind = type(value).__name__
            raise MetricError(
                f"'{name}' in the objective's dict must be a number, but is of type {kind}"
            ) from None
    size = len(json.dumps(summary))
    if len(summary) > MAX_SUMMARY or size > MAX_SUMMARY_BYTES:
        raise MetricError(
            f"the objective's dict has at most {MAX_SUMMARY} numbers next to its value, and "
            f"{MAX_SUMMARY_BYTES} bytes as JSON, but has {len(summary)} and {size}",
            code="summary_too_large",
        )
    return returned["value"], summary


def objective_values(returned: object) -> list[float]:
    """Return the values that a grid's objective returned.

    Raises
    ------
    MetricError
        The errors of `metric`; ``metric_not_number`` also if there are not 1 to 8 values.
    """
    values = list(returned) if isinstance(returned, tuple | list) else [returned]
    if not 1 <= len(values) <= MAX_VALUES:
        raise MetricError(
            f"the objective returned {len(values)} values, but must return 1 to {MAX_VALUES}"
        )
    return [metric(value, "the objective's value") for value in values]


def optuna_values(returned: object, directions: int) -> list[float]:
    """Return the values that an Optuna objective returned; they may be infinite.

    Raises
    ------
    MetricError
        ``metric_not_number``: a value is not a number, or there is not one for each direction of
        the study. ``metric_not_finite``: a value is NaN.
    """
    listed = list(returned) if isinstance(returned, Sequence) else [returned]
    values = []
    for value in listed:
        try:
            values.append(real_number(value))
        except (TypeError, ValueError):
            raise MetricError(f"The value {value!r:.200} could not be cast to float.") from None
    for number in values:
        if math.isnan(number):
            raise MetricError(f"The value {number} is not acceptable.", code="metric_not_finite")
    if len(values) != directions:
        raise MetricError(
            f"The number of the values {len(values)} did not match the number of the objectives "
            f"{directions}."
        )
    return values


def real_number(value: object) -> float:
    """Return ``float(value)``. As in Optuna, infinity is allowed.

    Raises
    ------
    TypeError, ValueError
        ``float`` does not accept the value.
    """
    return as_float(unwrapped(value))


def finite(number: float) -> float:
    """Return the number. Replace infinity, which no message can contain, by the largest float."""
    return min(max(number, -sys.float_info.max), sys.float_info.max)


def checked_step(step: object) -> int:
    """Return the step of a point as an int.

    Raises
    ------
    ValueError
        It is not a whole number of 0 to 2^53 - 1.
    """
    if not isinstance(step, numbers.Integral) or not 0 <= int(step) <= MAX_STEP:
        raise ValueError(f"step must be a whole number of 0 to 2^53 - 1, but is {step!r:.100}")
    return int(step)


def unwrapped(value: object) -> Any:
    """Return a variable of Chainer as its array, and an array of one element as its element."""
    inner = getattr(value, "array", value)
    return inner.reshape(())[()] if isinstance(inner, np.ndarray) and inner.size == 1 else inner


def as_float(number: Any) -> float:
    """Return ``float(number)``; infinity for a whole number beyond the largest float."""
    try:
        return float(number)
    except OverflowError:  # a whole number, or a fraction, beyond the largest float
        return math.inf if number > 0 else -math.inf
