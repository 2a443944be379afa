"""Shows the progress bar of `optimize`: finished and running trials, and the best value.

    with bar(True, plan, owner) as moved:
        moved()                             # after trials have started or finished

Optuna's log lines are printed above the bar.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import optuna
from optuna.trial import FrozenTrial, TrialState

from hyperflock._reports.progress import Bar, beside
from hyperflock.optuna.internals import constraints_of, default_handler, root_logger
from hyperflock.optuna.owner.owner import Owner
from hyperflock.optuna.owner.run import Plan
from hyperflock.optuna.rejection import REJECTED

_LOOK_S = 1.0


@contextmanager
def bar(shown: bool, plan: Plan, owner: Owner) -> Iterator[Callable[[], None]]:
    """Show a bar, or none, and return a function that updates it."""
    if not shown:
        yield lambda: None
        return
    shows = Bar(True, total=plan.n_trials, desc=owner.row.name, unit="trial")
    best = Best(owner.study)
    owner.heard = best.hear

    def moved() -> None:
        planned = owner.planned(plan.n_trials)
        if planned is not None:
            shows.total(planned)
        best.look(now=owner.finished == planned)
        shows.move(owner.finished, running=owner.computing, **best.notes)

    try:
        with _logs_above_bars():
            yield moved
    finally:
        with suppress(Exception):  # an error of a storage must not hide the first error
            best.look(now=True)
            shows.move(owner.finished, running=owner.computing, **best.notes)
        shows.close()
        owner.heard = None


class Best:
    """The best value of a study so far.

    Asking Optuna takes longer the more trials a storage has. So Optuna is asked at intervals, and
    in between each finished trial is compared with the known value.
    """

    def __init__(self, study: optuna.Study) -> None:
        self._study = study
        self._is_single = len(study.directions) == 1
        maximize = optuna.study.StudyDirection.MAXIMIZE
        self._sign = -1.0 if study.directions[0] is maximize else 1.0
        self._value = math.nan
        self._looked_at = -math.inf

    @property
    def notes(self) -> dict[str, object]:
        """Return the best value as text, for display after the bar; empty if it is not known."""
        return {} if math.isnan(self._value) else {"best": f"{self._value:.6g}"}

    def hear(self, trial: FrozenTrial) -> None:
        """Compare a newly finished trial with the best value, and update the value if the trial is
        better. If its result was rejected, the next call of `look` asks Optuna.
        """
        if REJECTED in trial.system_attrs:
            self._value = math.nan
            self._looked_at = -math.inf
        is_complete = self._is_single and trial.state is TrialState.COMPLETE
        # In unclear cases, such as a constraint of NaN, the next call of `look` gets the value from
        # Optuna.
        if not is_complete or not all(x <= 0 for x in constraints_of(trial.system_attrs)):
            return
        assert trial.value is not None
        if math.isnan(self._value) or self._sign * trial.value < self._sign * self._value:
            self._value = trial.value

    def look(self, *, now: bool = False) -> None:
        """Get the best value from Optuna if the interval has passed or ``now`` is True."""
        at = time.monotonic()
        if self._is_single and (now or at - self._looked_at >= _LOOK_S):
            self._looked_at = at
            with suppress(ValueError):  # no trial is complete yet
                self._value = self._study.best_value


class _AboveBars(logging.Handler):
    """A handler that writes log lines on standard error above progress bars."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            beside(self.format(record))
        except Exception:
            self.handleError(record)


@contextmanager
def _logs_above_bars() -> Iterator[None]:
    """Replace Optuna's default handler, if it is in use."""
    logger = root_logger()
    default = default_handler()
    if default is None or default not in logger.handlers:
        yield
        return
    above = _AboveBars(default.level)
    above.setFormatter(default.formatter)
    logger.removeHandler(default)
    logger.addHandler(above)
    try:
        yield
    finally:
        logger.removeHandler(above)
        logger.addHandler(default)
