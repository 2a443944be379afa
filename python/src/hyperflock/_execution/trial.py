"""What an objective gets in a local run; names and meanings as in a browser.

A trial belongs to the thread that runs its objective.
"""

from __future__ import annotations

import copy
import datetime
import math
import numbers
import os
import uuid
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from hyperflock._base.errors import MetricError, SuggestMismatchError
from hyperflock._model.grid import Scalar

# A decimal fraction may differ from low + k * step by rounding: this much of a step is forgiven.
_STEP_TOLERANCE = 1e-8


class TrialPruned(Exception):
    """An objective raises this to end its trial early; that is an outcome, not an error."""


class Trial:
    """One point of a study while its objective runs.

    Attributes
    ----------
    params : Mapping[str, Scalar]
        The grid's point; read-only.
    number : int
        Number of the point in the grid's order.
    seed : int
        By which ``random`` and ``numpy.random`` were seeded.
    data : Mapping[str, Any]
        The study's data sets by name: an array, a dict of arrays, or the path of a file.
    datetime_start : datetime
        When the run began.
    """

    def __init__(
        self, params: Mapping[str, Scalar], *, number: int, seed: int, data: Mapping[str, Any]
    ) -> None:
        self.params: Mapping[str, Scalar] = MappingProxyType(dict(params))
        self.number = number
        self.seed = seed
        self.data: Mapping[str, Any] = MappingProxyType(dict(data))
        self.datetime_start = datetime.datetime.now()
        self._points: list[tuple[int, float]] = []
        self._user_attrs: dict[str, Any] = {}
        self._system_attrs: dict[str, Any] = {}
        self._constraints: dict[str, float] = {}

    def report(self, value: object, step: int) -> None:
        """Add one point to the metric's curve.

        Raises
        ------
        ValueError
            The step is not a whole number from 0 on.
        MetricError
            The value is not one finite number.
        """
        if not isinstance(step, int | np.integer) or step < 0:
            raise ValueError(f"step must be a whole number of 0 or more, but is {step!r}")
        self._points.append((int(step), as_metric(value, f"the value reported at step {step}")))

    def should_prune(self) -> bool:
        """Tell whether the study's pruner wants this trial to end; a grid has none."""
        return False

    def set_user_attr(self, key: str, value: Any) -> None:
        """Say something of the trial; in a study it travels with the result, as JSON."""
        self._user_attrs[key] = value

    def set_system_attr(self, key: str, value: Any) -> None:
        """Optuna 4's, for libraries that keep something of their own there."""
        self._system_attrs[key] = value

    def set_constraint(self, key: str, value: float) -> None:
        """Say how far a constraint is from being met: 0 or less is met.

        Raises
        ------
        TypeError, ValueError
            It is no number, or NaN.
        """
        number = float(value)
        if math.isnan(number):
            raise ValueError(f"the constraint '{key}' is NaN, which says nothing")
        self._constraints.setdefault(key, number)

    @property
    def user_attrs(self) -> dict[str, Any]:
        """What was set, by name; a copy."""
        return copy.deepcopy(self._user_attrs)

    @property
    def system_attrs(self) -> dict[str, Any]:
        """What was set, by name; a copy."""
        return copy.deepcopy(self._system_attrs)

    @property
    def constraints(self) -> dict[str, float]:
        """What was set, by name; a copy."""
        return dict(self._constraints)

    def checkpoint(self, state: object) -> bool:
        """Keep nothing: a local run goes on by itself. On a device the trial's state is saved."""
        return False

    def upload_artifact(
        self,
        file_path: str | os.PathLike[str],
        *,
        mimetype: str | None = None,
        encoding: str | None = None,
    ) -> str:
        """Leave the file where it is; on a device it goes to the server. Gives an artifact's id.

        Raises
        ------
        OSError
            The file cannot be read.
        """
        with open(file_path, "rb"):
            return str(uuid.uuid4())

    def resume(self, target: object = None) -> Any:
        """Begin at the beginning, as a local run does: None, or False where there is a target.

        On a device it gives the newest checkpoint, or loads it into an object of Chainer's.

        Raises
        ------
        TypeError
            The target is no object of Chainer's, which a device would refuse too.
        """
        if target is None:
            return None
        if not callable(getattr(target, "serialize", None)):
            raise TypeError(
                "resume takes an object of Chainer's, such as a link or an optimizer, "
                f"not a {type(target).__name__}; resume() alone gives the tree that was saved"
            )
        return False

    def suggest_float(
        self,
        name: str,
        low: float,
        high: float,
        *,
        step: float | None = None,
        log: bool = False,
    ) -> float:
        """Give the grid's value of ``name``, which must lie in [low, high].

        Raises
        ------
        SuggestMismatchError
            The grid has no such name, or its value is no such number.
        """
        value = self._number(name)
        self._check_range(name, value, low, high, step)
        if log and low <= 0:
            raise SuggestMismatchError(f"'{name}' asks for a logarithmic range from {low}")
        return float(value)

    def suggest_int(
        self, name: str, low: int, high: int, *, step: int = 1, log: bool = False
    ) -> int:
        """Give the grid's whole number ``name`` in [low, high]; errors as `suggest_float`."""
        value = self._number(name)
        if value != int(value):
            raise SuggestMismatchError(f"'{name}' is {value!r}, which is no whole number")
        self._check_range(name, value, low, high, None if log else step)
        return int(value)

    def suggest_categorical(self, name: str, choices: Sequence[Scalar]) -> Scalar:
        """Give the grid's value of ``name``, one of ``choices``; errors as `suggest_float`."""
        value = self._value(name)
        for choice in choices:
            # True is not 1 here: a point that says 1 was not drawn from [True, False].
            if choice == value and isinstance(choice, bool) == isinstance(value, bool):
                return choice
        raise SuggestMismatchError(f"'{name}' is {value!r}, which is none of {list(choices)!r}")

    def _value(self, name: str) -> Scalar:
        if name not in self.params:
            known = ", ".join(sorted(self.params)) or "none"
            raise SuggestMismatchError(f"'{name}' is not in the study's space (names: {known})")
        return self.params[name]

    def _number(self, name: str) -> int | float:
        value = self._value(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise SuggestMismatchError(f"'{name}' is {value!r}, which is not a number")
        return value

    def _check_range(
        self, name: str, value: float, low: float, high: float, step: float | None
    ) -> None:
        if not low <= value <= high:
            raise SuggestMismatchError(f"'{name}' is {value!r}, which is outside [{low}, {high}]")
        if step is not None:
            steps = (value - low) / step
            if not math.isclose(steps, round(steps), abs_tol=_STEP_TOLERANCE):
                raise SuggestMismatchError(
                    f"'{name}' is {value!r}, which is no multiple of {step} above {low}"
                )


def as_metric(value: object, what: str) -> float:
    """Make a metric of a number, an array of one element, or a Chainer variable of that.

    Raises
    ------
    MetricError
        ``metric_not_number``, ``metric_not_finite``.
    """
    inner = getattr(value, "array", value)
    if isinstance(inner, np.ndarray) and inner.size == 1:
        inner = inner.reshape(())[()]
    if not isinstance(inner, numbers.Real | np.bool_):
        kind = type(value).__name__
        raise MetricError(
            f"{what} must be a number, but is of type {kind}", code="metric_not_number"
        )
    number = float(inner)
    if not math.isfinite(number):
        raise MetricError(f"{what} is {number}, but must be finite", code="metric_not_finite")
    return number
