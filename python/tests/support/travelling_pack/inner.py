"""A module with relative imports at its top and in a nested function."""

from __future__ import annotations

from typing import Any

from .deeper.numbers import FIVE


def in_package(k: int) -> Any:
    def objective(trial: Any) -> float:
        from . import sibling

        return float(k * FIVE + sibling.ONE + trial.params["x"])

    return objective
