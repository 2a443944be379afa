"""Stores outcomes of trials as Optuna's `Study.tell` does.

    set_attributes(study, trial_id, outcome)
    tell(study, number, outcome)

The owner's thread calls these functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import optuna
from optuna.exceptions import UpdateFinishedTrialError
from optuna.trial import TrialState

from hyperflock.optuna import internals
from hyperflock.optuna.internals import storage_of
from hyperflock.optuna.study_import import TAG, Outcome


def set_attributes(study: optuna.Study, trial_id: int, outcome: Outcome) -> None:
    """Set the objective's attributes on a trial that has no stored outcome yet."""
    storage = storage_of(study)
    with suppress(UpdateFinishedTrialError):
        for key, value in outcome.user_attrs.items():
            storage.set_trial_user_attr(trial_id, key, value)
        for key, value in outcome.system_attrs.items():
            if key != TAG:
                storage.set_trial_system_attr(trial_id, key, value)


def tell(study: optuna.Study, number: int, outcome: Outcome) -> None:
    """Store an outcome. A trial that has finished does not change."""
    values = list(outcome.values) if outcome.state is TrialState.COMPLETE else None
    with suppress(UpdateFinishedTrialError):  # another process was faster
        internals.tell(study, number, values, outcome.state)


def is_caught(raised: Sequence[str], catch: tuple[type[Exception], ...]) -> bool:
    """Return whether ``catch`` contains an exception of a device, by its class or one of its base
    classes.

    On a device, a class of the objective's file may have another module, so the class's name
    decides.
    """
    return any(_is_of(name, kind) for name in raised for kind in catch)


def _is_of(name: str, kind: type[Exception]) -> bool:
    own = f"{kind.__module__}.{kind.__qualname__}"
    if name == own:
        return True
    local = kind.__module__ == "__main__" or not own.startswith(("builtins.", "optuna."))
    return local and not name.startswith("builtins.") and name.endswith(f".{kind.__qualname__}")
