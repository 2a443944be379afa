"""Writes why a study paused itself and how to go on. The module is pure; any thread may use it.

stopped_text(row)       # "", unless the study is paused because of its failures
"""

from __future__ import annotations

from hyperflock._model.results import TrialError, trial_error
from hyperflock._transport.messages import StopRow, StudyRow


def stopped_by(row: StudyRow) -> TrialError | None:
    """Return the failure for which a study has paused itself; None if it has not."""
    return trial_error(row.stopped_by.error) if isinstance(row.stopped_by, StopRow) else None


def stopped_text(row: StudyRow) -> str:
    """Return why a study has paused itself, with the traceback, and how to go on.

    The text is empty if the study has not paused itself.
    """
    stop = row.stopped_by
    if not isinstance(stop, StopRow):
        return ""
    error = trial_error(stop.error)
    last = f", the last of {stop.failures} that failed alike" if stop.failures > 1 else ""
    traceback = f"\n{error.traceback.rstrip()}" if error.traceback else ""
    return (
        f"it has paused itself because of trial {stop.trial}{last} ({error.cause}, "
        f"{error.code}): {error.message}{traceback}\n"
        f"If the objective is wrong, mend it, submit it again, and end this study by: hyperflock "
        f"cancel {row.study}\n"
        f"This study goes on by study.resume() or: hyperflock resume {row.study}"
    )
