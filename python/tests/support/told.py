"""What two studies of the same calls agree on, wherever their trials ran."""

from __future__ import annotations

from typing import Any

import optuna


def told(study: optuna.Study) -> list[tuple[Any, ...]]:
    """What the bars compare of each trial."""
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
