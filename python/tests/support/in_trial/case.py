"""How a case of the in-trial suite is written down.

    gives("trial.number", "4")
    refused("trial.report('x', 0)", "MetricError", "metric_not_number", "must be a number")

A case is a few statements of an objective and what comes of them, the same wherever a trial runs.
The statements have ``trial``, ``hyperflock``, ``np`` and the modules of `player` in reach. Plain
data; nothing is imported but the standard library.
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
    """One call, or a few, and what is expected.

    Attributes
    ----------
    body : str
        What the objective does.
    gives : str
        The last expression's value, as ``repr`` shows it; empty: it is not looked at.
    raises, message : str
        The error's class with its module, and a part of its message; empty: none.
    code : str
        The outcome's, where the trial fails.
    warns : str
        A part of the only warning's text; empty: there is none.
    state : str
        How the trial ends.
    values : sequence of float
        The trial's values, where it completes.
    reports : sequence of (int, float)
        What arrives at the host.
    uploads : sequence of str
        Kinds of what is uploaded, with a checkpoint's step or an artifact's name.
    attributes : mapping
        The trial's own, by their kind, at its end.
    prints : str
        A part of what is written to standard error.
    asked : mapping or None
        Of a trial of an Optuna study: what the runner gets for it.
    saved : str
        The checkpoint that the attempt goes on from: a tree, or ``malformed``; empty: none.
    is_value : bool
        The last expression is the objective's value.
    in_child : bool
        The researcher's own process is another matter: there is no trial's runtime.
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
    uploads: Sequence[str] = ()
    attributes: Mapping[str, Any] = field(default_factory=dict)
    prints: str = ""
    asked: Mapping[str, Any] | None = None
    saved: str = ""
    is_value: bool = False
    in_child: bool = False


def gives(body: str, value: str = "None", **more: Any) -> Case:
    """Build a case that ends well."""
    return Case(body, gives=value, **more)


def raises(
    body: str, error: str, message: str = "", code: str = "objective_raised", **more: Any
) -> Case:
    """Build a case that ends with an error."""
    ends = {"state": "failed", "values": (), **more}
    return Case(body, gives="", raises=error, code=code, message=message, **ends)


def refused(body: str, error: str, code: str, message: str, **more: Any) -> Case:
    """Build a case that ends with an error of the package's own."""
    return raises(body, f"hyperflock.{error}", message, code, **more)


def pruned(body: str, error: str, message: str = "", **more: Any) -> Case:
    """Build a case whose trial is pruned."""
    return raises(body, error, message, "", state="pruned", **more)


def value(body: str, *values: float, **more: Any) -> Case:
    """Build a case of an objective's value."""
    return Case(body, gives="", values=values, is_value=True, **more)


def no_metric(body: str, code: str, message: str) -> Case:
    """Build a case of a value that is none."""
    return Case(
        body, gives="", code=code, message=message, state="failed", values=(), is_value=True
    )


def mismatch(body: str, message: str) -> Case:
    """Build a case of a suggestion that the grid's point does not fit."""
    return refused(body, "SuggestMismatchError", "suggest_mismatch", message)
