"""Extracts the fields of an Optuna study that must not depend on where its trials ran."""

from __future__ import annotations

from typing import Any

import optuna


def told(study: optuna.Study) -> list[tuple[Any, ...]]:
    """Return the compared fields of each trial."""
    return [
        (
            t.number,
            t.state,
            t.values,
            t.params,
            t.distributions,
            t.intermediate_values,
            t.user_attrs,
        )
        for t in study.trials
    ]
