"""Describes trials whose results were rejected at the server (R71), as Optuna trials.

    note = note_of(row.error, row.finished_at)     # who rejected the result, why and when
    failed = without_result(trial, note)           # a copy of the trial, which has failed

A rejected trial is failed and has the system attribute ``hyperflock:rejected``. The module is pure;
any thread may use it.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Any

from msgspec import UNSET
from optuna.trial import FrozenTrial, TrialState

from hyperflock._base.text import clean
from hyperflock._transport.messages import Failure, FinishedCall, TrialRow
from hyperflock.optuna.internals import is_of_result

REJECTED = "hyperflock:rejected"
CODE = "result_rejected"
RESULTS = (TrialState.COMPLETE, TrialState.PRUNED)

# ``at``: the time in UTC, in ISO format. ``message``: who rejected the result, and the reason.
Note = Mapping[str, Any]


def rejection_in(told: FinishedCall | TrialRow) -> Failure | None:
    """Return the failure of a trial whose result was rejected; None for any other trial.

    Devices choose the codes of their failures. So the code alone does not say that a result was
    rejected: such a message names no attempt, and such a row counts rejected attempts.
    """
    if isinstance(told, FinishedCall):
        error, is_known = told.args.error, told.attempt is UNSET
    else:
        error, is_known = told.error, isinstance(told.rejected, int) and told.rejected > 0
    return error if is_known and isinstance(error, Failure) and error.code == CODE else None


def note_of(error: Failure, at_ms: int) -> Note:
    """Return the note about a rejection.

    Parameters
    ----------
    error
        The failure that the server gave the trial.
    at_ms
        When the result was rejected, in milliseconds since 1970.
    """
    at = datetime.fromtimestamp(at_ms / 1000, timezone.utc)
    return {"at": at.isoformat(timespec="seconds"), "message": clean(error.message)}


def attribute(trial: FrozenTrial, note: Note) -> dict[str, Any]:
    """Return the value of the attribute `REJECTED`: the note, and the result that was rejected."""
    return {**note, "state": trial.state.name, "values": trial.values}


def without_result(trial: FrozenTrial, note: Note) -> FrozenTrial:
    """Return a copy of a trial that has failed, without its values.

    Attributes in which samplers and pruners keep what they know from the result are left out.
    """
    failed = copy.copy(trial)
    failed.state = TrialState.FAIL
    failed.values = None
    kept = {key: value for key, value in trial.system_attrs.items() if not is_of_result(key)}
    failed.system_attrs = {**kept, REJECTED: attribute(trial, note)}
    return failed
