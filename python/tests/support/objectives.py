"""Contains an objective for tests at the top of a module, as in a researcher's file."""

from __future__ import annotations

from typing import Any


def objective(trial: Any) -> float:
    """Report one point, and return a parameter as the value."""
    value = float(trial.params["x"])
    trial.report(value, 0)
    return value
