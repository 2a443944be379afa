"""Writes which trials of a study are its best, or why there are none. The module is pure; any
thread may use it.
"""

from __future__ import annotations

from hyperflock._base.errors import NoCompleteTrialError
from hyperflock._transport.messages import BestRow, StudyRow

# The codes for a study without a best trial.
NO_BEST = ("no_complete_trial", "no_feasible_trial")

# A text names at most this many trials.
_SHOWN = 20


def no_best(row: StudyRow) -> NoCompleteTrialError:
    """Return the error of a study that has no best trial."""
    if row.best_pending is True:
        return NoCompleteTrialError(
            f"the best trial of study {row.study} was taken back, and the server still looks for "
            "the next one; ask again in a moment",
            code="no_feasible_trial",
        )
    if row.complete:
        return NoCompleteTrialError(
            f"no trial of study {row.study} that is complete meets its constraints; "
            f"{row.complete} are complete",
            code="no_feasible_trial",
        )
    if row.state == "running":
        return NoCompleteTrialError(f"study {row.study} has no complete trial yet")
    return NoCompleteTrialError(
        f"study {row.study} has ended ({row.state}) without a complete trial: {row.failed} of its "
        f"trials failed, {row.pruned} were pruned; hyperflock logs {row.study} shows the errors"
    )


def number_text(value: float, *, short: bool = True) -> str:
    """Return a number for people, with six digits if ``short``, otherwise with all of them."""
    return f"{value:.6g}" if short else repr(value).removesuffix(".0")


def best_text(row: StudyRow, *, short: bool = True) -> str:
    """Return the best value, or the number of best trials; ``-`` if there is none."""
    if isinstance(row.best, BestRow):
        return number_text(row.best.value, short=short)
    front = row.best_trials
    return f"{len(front)} trials" if isinstance(front, list) and front else "-"


def best_line(row: StudyRow, *, short: bool = True) -> str:
    """Return the best value and its trial, or the best trials, or why there are none. If ``short``
    is true and there are many best trials, the text names only the first ones.
    """
    if isinstance(row.best, BestRow):
        return f"{number_text(row.best.value, short=short)}, trial {row.best.trial}"
    front = row.best_trials
    if isinstance(front, list) and front:
        shown = front[:_SHOWN] if short else front
        more = f", ... ({len(front)})" if len(front) > len(shown) else ""
        return f"no other trial beats {', '.join(map(str, shown))}{more}"
    error = no_best(row)
    return f"none: {error.message} [{error.code}]"


def tells_best(row: StudyRow) -> bool:
    """Return whether a study has a best trial, or the reason why it has none is known."""
    return bool(row.best_trials or row.complete or row.state != "running")


def best_numbers(row: StudyRow) -> frozenset[int]:
    """Return the number of the best trial, or the numbers of the best ones."""
    best = {row.best.trial} if isinstance(row.best, BestRow) else set()
    front = row.best_trials if isinstance(row.best_trials, list) else ()
    return frozenset(best.union(front))
