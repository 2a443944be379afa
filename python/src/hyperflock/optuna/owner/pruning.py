"""Evaluates Optuna's percentile pruners without reading every finished trial.

    percentiles = Percentiles(study)
    percentiles.should_prune(trial)        # what trial.should_prune() returns
    percentiles.is_fresh = False           # after outcomes were stored

For each report, `optuna.pruners.MedianPruner` and `PercentilePruner` collect a step's values from
all complete trials and sort them. This module keeps them sorted for each step, so a report costs a
binary search even in a study of 10,000 trials. Other pruners, and studies in storages that other
processes may write to, are evaluated by Optuna.
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Mapping
from typing import Any

import optuna
from optuna.pruners import PercentilePruner
from optuna.storages import InMemoryStorage
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState

from hyperflock.optuna.internals import (
    memory_of,
    options_of,
    storage_of,
    stored_trials,
    study_id_of,
)

_PRUNE = PercentilePruner.prune


class _Step:
    """The values that complete trials reported at one step.

    Attributes
    ----------
    reported : int
        How many trials reported a value, including NaN.
    ordered : list of float
        The values without NaN in ascending order.
    """

    def __init__(self) -> None:
        self.reported = 0
        self.ordered: list[float] = []

    def add(self, value: Any) -> None:
        number = float(value)
        self.reported += 1
        if not math.isnan(number):
            insort(self.ordered, number)

    def percentile(self, percent: float) -> float:
        """Return the same number as `numpy.percentile`; NaN if there are no values.

        The formula is the seventh of Hyndman and Fan, "Sample Quantiles in Statistical Packages",
        1996.
        """
        last = len(self.ordered) - 1
        if last < 0:
            return math.nan
        position = last * (percent / 100)
        below = math.floor(position)
        weight = position - below
        a, b = self.ordered[below], self.ordered[min(below + 1, last)]
        # Interpolating from the nearer end makes both ends exact.
        return b - (b - a) * (1 - weight) if weight >= 0.5 else a + (b - a) * weight


class Percentiles:
    """The sorted values of a study, updated as trials finish.

    Parameters
    ----------
    study
        The study. If it is in memory and has a percentile pruner, this class decides; otherwise
        Optuna decides.

    Attributes
    ----------
    is_fresh : bool
        Whether no outcome was stored since the last answer. Callers that store an outcome set it to
        False.
    """

    def __init__(self, study: optuna.Study) -> None:
        self._study = study
        self.is_fresh = False
        self._complete: list[FrozenTrial] = []
        # State of the last refresh: the numbers of the trials without an outcome, and the count of
        # all trials.
        self._open: list[int] = []
        self._seen = 0
        # The values of each step, collected when a trial first asks at this step.
        self._steps: dict[int, _Step] = {}

    def should_prune(self, trial: optuna.Trial) -> bool:
        """Return what the trial's `should_prune` would return."""
        storage = storage_of(self._study)
        if type(storage) is not InMemoryStorage or not self._is_ours():
            return bool(trial.should_prune())
        directions = self._study.directions
        if len(directions) > 1:
            return bool(trial.should_prune())  # it raises the error
        if not self.is_fresh:
            self._refresh(storage)
        maximize = directions[0] is StudyDirection.MAXIMIZE
        return self._decide(memory_of(trial).intermediate_values, maximize=maximize)

    def _is_ours(self) -> bool:
        """Return whether the pruner is Optuna's median or percentile pruner, and not a class that
        overrides `prune`.
        """
        pruner = self._study.pruner
        return (
            isinstance(pruner, PercentilePruner)
            and type(pruner).prune is _PRUNE
            and "prune" not in vars(pruner)
        )

    def _refresh(self, storage: InMemoryStorage) -> None:
        with stored_trials(storage, study_id_of(self._study)) as trials:
            looked = [*self._open, *range(self._seen, len(trials))]
            self._seen, self._open = len(trials), []
            for number in looked:
                trial = trials[number]
                if trial.state is TrialState.COMPLETE:
                    self._take(trial)
                elif not trial.state.is_finished():
                    self._open.append(number)
        self.is_fresh = True

    def _decide(self, reports: Mapping[int, float], *, maximize: bool) -> bool:
        pruner = self._study.pruner
        assert isinstance(pruner, PercentilePruner)
        options = options_of(pruner)
        if not reports or not self._complete or len(self._complete) < options.n_startup_trials:
            return False
        step, first = max(reports), options.n_warmup_steps
        if step < first or not _is_first(step, reports, first, options.interval_steps):
            return False
        numbers = [value for value in reports.values() if not math.isnan(value)]
        if not numbers:
            return True
        values = self._at(step)
        if values.reported < options.n_min_trials:
            return False
        if maximize:
            return max(numbers) < values.percentile(100 - options.percentile)
        return min(numbers) > values.percentile(options.percentile)

    def _at(self, step: int) -> _Step:
        values = self._steps.get(step)
        if values is None:
            values = self._steps[step] = _Step()
            for trial in self._complete:
                if step in trial.intermediate_values:
                    values.add(trial.intermediate_values[step])
        return values

    def _take(self, trial: FrozenTrial) -> None:
        self._complete.append(trial)
        for step, value in trial.intermediate_values.items():
            values = self._steps.get(step)
            if values is not None:
                values.add(value)


def _is_first(step: int, steps: Mapping[int, float], first: int, interval: int) -> bool:
    """Return whether ``step`` is the first one in its interval; intervals are counted from
    ``first``.
    """
    if interval == 1:
        return True
    begin = (step - first) // interval * interval + first
    return all(other < begin for other in steps if other != step)
