"""Defines the cases of the in-trial suite, which tests what an objective can call.

    gives("trial.number", "4")
    refused("trial.report('x', 0)", "MetricError", "metric_not_number", "must be a number")

A case is a few statements of an objective and their expected effect, which is the same wherever a
trial runs. The statements can use ``trial``, ``hyperflock``, ``np`` and the modules that `player`
imports. Cases are plain data and need only the standard library.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

PARAMS: dict[str, Any] = {
    "f": 0.3,
    "i": 3,
    "w": 2.0,
    "s": "a",
    "b": True,
    "n": None,
    "neg": -1.5,
}
NUMBER = 4
SEED = 11


@dataclass(frozen=True)
class Case:
    """A few statements of an objective, and what is expected of them.

    Attributes
    ----------
    body : str
        The statements that the objective runs.
    gives : str
        The value of the last expression as ``repr`` shows it. Empty: the value is not checked.
    raises, message : str
        The error's class with its module, and a part of its message. Empty: no error.
    code : str
        The code of the trial's outcome, if it fails.
    warns : str
        A part of the text of the only warning. Empty: there is no warning.
    state : str
        The state in which the trial ends.
    values : sequence of float
        The trial's values, if it completes.
    reports : sequence of (int, float)
        The points that the trial's host receives.
    series : mapping
        The logged series: steps and values, as ``repr`` shows them, by name.
    uploads : sequence of str
        The kind of each upload, with a checkpoint's step or an artifact's name.
    attributes : mapping
        The trial's user and system attributes at its end.
    prints : str
        A part of the text that is written to standard error.
    asked : mapping or None
        In a trial of an Optuna study, what the runner gets about the study. None: a grid's trial.
    saved : str
        The checkpoint from which the attempt resumes: a tree, or ``malformed``. Empty: none.
    is_value : bool
        Whether the last expression is the objective's value.
    in_child : bool
        Whether the case expects the reduced package that a trial's process imports, without the
        client. `run_local` imports the whole package, so it does not run such a case.
    """

    body: str
    gives: str = "None"
    raises: str = ""
    code: str = ""
    message: str = ""
    warns: str = ""
    state: str = "complete"
    values: Sequence[float] = (1.0,)
    reports: Sequence[tuple[int, float]] = ()
    series: Mapping[str, Sequence[tuple[int, str]]] = field(default_factory=dict)
    uploads: Sequence[str] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    prints: str = ""
    asked: Mapping[str, Any] | None = None
    saved: str = ""
    is_value: bool = False
    in_child: bool = False


def gives(body: str, value: str = "None", **more: Any) -> Case:
    """Build a case that completes."""
    return Case(body, gives=value, **more)


def raises(
    body: str, error: str, message: str = "", code: str = "objective_raised", **more: Any
) -> Case:
    """Build a case that fails with an error."""
    ends = {"state": "failed", "values": (), **more}
    return Case(body, gives="", raises=error, code=code, message=message, **ends)


def refused(body: str, error: str, code: str, message: str, **more: Any) -> Case:
    """Build a case that fails with one of the package's own errors."""
    return raises(body, f"hyperflock.{error}", message, code, **more)


def pruned(body: str, error: str, message: str = "", **more: Any) -> Case:
    """Build a case whose trial is pruned."""
    return raises(body, error, message, "", state="pruned", **more)


def value(body: str, *values: float, **more: Any) -> Case:
    """Build a case that checks the value of an objective."""
    return Case(body, gives="", values=values, is_value=True, **more)


def no_metric(body: str, code: str, message: str) -> Case:
    """Build a case in which the objective returns an invalid value."""
    return Case(
        body, gives="", code=code, message=message, state="failed", values=(), is_value=True
    )


def mismatch(body: str, message: str) -> Case:
    """Build a case in which a suggestion does not match the point of the grid."""
    return refused(body, "SuggestMismatchError", "suggest_mismatch", message)
