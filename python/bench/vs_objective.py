"""Defines the objective of the comparison with Optuna's storages, and checks the finished study.

A trial has three suggestions and ten reports, each followed by ``should_prune``. The curve of three
trials in four is ``1 / step``. The others (``x`` above `STALLS_ABOVE`) stop learning after step
`STALLS_AT`, so that a median pruner ends them at the next step. Nearly every trial thus reports ten
times, and both sides make the same calls, in whatever order their trials run. Emulated devices
compute the same function in ``server/bench/asked_emulator.cc``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import optuna
from optuna.trial import FrozenTrial, TrialState

NAMES = ("x", "y", "z")
STEPS = 10
STALLS_ABOVE = 2.5
STALLS_AT = 4


class DiffersError(Exception):
    """A study does not hold what its trials reported."""


@dataclass(frozen=True)
class Tally:
    """The counts of a finished study.

    Attributes
    ----------
    complete, pruned : int
        The number of trials in each state.
    reports : int
        The number of intermediate values of all trials.
    stalled : int
        The number of trials whose curve stalls, in either state.
    """

    complete: int
    pruned: int
    reports: int
    stalled: int

    @property
    def trials(self) -> int:
        """The number of finished trials."""
        return self.complete + self.pruned

    def report(self, seconds: float) -> dict[str, float]:
        """Return the line that a run prints for the benchmark."""
        return {
            "trials": self.trials,
            "pruned": self.pruned,
            "stalled": self.stalled,
            "reports": self.reports,
            "seconds": seconds,
        }


def objective(trial: optuna.Trial) -> float:
    """Suggest a point, report a curve, and return the sum of the squares unless the pruner ends the
    trial.
    """
    point = [trial.suggest_float(name, -5.0, 5.0) for name in NAMES]
    for step in range(1, STEPS + 1):
        trial.report(curve(point[0], step), step)
        if trial.should_prune():
            raise optuna.TrialPruned
    return loss(point)


def curve(x: float, step: int) -> float:
    """Return the value that a trial reports at a step, counted from 1."""
    return 1.0 / (min(step, STALLS_AT) if x > STALLS_ABOVE else step)


def loss(point: list[float]) -> float:
    """Return the value of a trial."""
    return sum(value * value for value in point)


def tally(study: optuna.Study, *, unfinished: int = 0) -> Tally:
    """Count the trials of a study, and check each trial against its parameters.

    Parameters
    ----------
    study
        A study of `objective`, pruned by a ``MedianPruner()``.
    unfinished
        How many trials may have no outcome, in a run that ended at its time limit.

    Raises
    ------
    DiffersError
        A trial failed, has another curve or value, or was pruned without a reason.
    """
    trials = study.get_trials(deepcopy=False)
    done = [trial for trial in trials if trial.state.is_finished()]
    if len(trials) - len(done) > unfinished:
        raise DiffersError(f"{len(trials) - len(done)} trials have no outcome")
    for trial in done:
        _check(trial)
    pruned = sum(trial.state is TrialState.PRUNED for trial in done)
    return Tally(
        complete=len(done) - pruned,
        pruned=pruned,
        reports=sum(len(trial.intermediate_values) for trial in done),
        stalled=sum(trial.params["x"] > STALLS_ABOVE for trial in done),
    )


def _check(trial: FrozenTrial) -> None:
    if set(trial.params) != set(NAMES):
        raise DiffersError(f"trial {trial.number} has the parameters {sorted(trial.params)}")
    x, steps = trial.params["x"], len(trial.intermediate_values)
    if trial.state is TrialState.COMPLETE:
        wanted = steps == STEPS and trial.value is not None
        wanted = wanted and math.isclose(trial.value or 0.0, loss([trial.params[n] for n in NAMES]))
    else:
        wanted = trial.state is TrialState.PRUNED and x > STALLS_ABOVE and steps > STALLS_AT
    curves = {step: curve(x, step) for step in range(1, steps + 1)}
    if not wanted or trial.intermediate_values != curves:
        raise DiffersError(f"trial {trial.number} is not what its parameters make of it: {trial}")
