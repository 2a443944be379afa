"""``hyperflock.optuna`` as a module sees it inside a trial: the study is the researcher's."""

from __future__ import annotations

from typing import Any, NoReturn

from hyperflock import _refuse

__all__ = ["optimize"]


def optimize(*args: Any, **kwargs: Any) -> NoReturn:
    """Running a study cannot be done inside of one of its trials."""
    _refuse("optuna.optimize")
