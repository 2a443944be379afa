"""Tests that the owner prunes by percentiles as Optuna does, and lets Optuna evaluate all other
pruners.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from unittest.mock import patch

import optuna
import pytest
from hyperflock.optuna.owner.pruning import Percentiles
from optuna.pruners import BasePruner, MedianPruner, PercentilePruner
from optuna.storages import InMemoryStorage
from optuna.trial import FrozenTrial, TrialState, create_trial

optuna.logging.set_verbosity(optuna.logging.ERROR)

# The values include equal values, both zeros, neighbouring floats, and values that make averages
# infinite or NaN.
VALUES = [0.0, -0.0, 1.0, 1.0, 2.0, 0.1, 0.3, math.nextafter(0.3, 1), math.inf, -math.inf, math.nan]


class Asked:
    """Replaces a pruner's `prune`, and counts its calls."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, study: optuna.Study, trial: FrozenTrial) -> bool:
        self.count += 1
        return self.count % 2 == 0


def drawn(chance: random.Random) -> float:
    return chance.choice(VALUES) if chance.random() < 0.5 else chance.gauss(0, 1)


def pruner_of(chance: random.Random) -> PercentilePruner:
    rules = {
        "n_startup_trials": chance.choice([0, 1, 5]),
        "n_warmup_steps": chance.choice([0, 1, 3]),
        "interval_steps": chance.choice([1, 1, 2, 3]),
        "n_min_trials": chance.choice([1, 1, 4]),
    }
    if chance.random() < 0.3:
        return MedianPruner(**rules)
    return PercentilePruner(chance.choice([0.0, 10.0, 25.0, 33.3, 50.0, 99.9, 100.0]), **rules)


def end(study: optuna.Study, number: int, chance: random.Random) -> None:
    state = chance.choice([TrialState.COMPLETE] * 3 + [TrialState.PRUNED, TrialState.FAIL])
    study.tell(number, chance.random() if state is TrialState.COMPLETE else None, state)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # NumPy warns of NaN and infinities
@pytest.mark.parametrize("seed", range(150))
def test_answers_are_those_of_optunas_pruner(seed: int) -> None:
    chance = random.Random(seed)
    study = optuna.create_study(
        direction=chance.choice(["minimize", "maximize"]), pruner=pruner_of(chance)
    )
    for _ in range(chance.choice([0, 3])):  # trials of an earlier call
        curve = {step: drawn(chance) for step in range(chance.randrange(6))}
        study.add_trial(create_trial(value=0.0, intermediate_values=curve))
    percentiles = Percentiles(study)
    live: list[optuna.Trial] = []
    answers: list[bool] = []
    for _ in range(200):
        if chance.random() < 0.2 or not live:
            live.append(study.ask())
        trial = chance.choice(live)
        steps = trial._cached_frozen_trial.intermediate_values
        step = chance.choice([len(steps), len(steps), chance.randrange(12)])
        if step not in steps:  # Optuna keeps the first value of a step
            trial.report(drawn(chance), step)
        answers.append(percentiles.should_prune(trial))
        assert answers[-1] is bool(trial.should_prune())
        if chance.random() < 0.15:
            end(study, live.pop(live.index(trial)).number, chance)
            percentiles.is_fresh = False
    assert len(answers) == 200


def test_both_answers_are_given() -> None:
    study = optuna.create_study(pruner=MedianPruner(n_startup_trials=1))
    study.add_trial(create_trial(value=0.0, intermediate_values={0: 1.0, 1: 0.5}))
    percentiles = Percentiles(study)
    good, bad = study.ask(), study.ask()
    good.report(0.5, 0)
    bad.report(1.5, 0)
    with patch.object(study, "get_trials", side_effect=AssertionError):  # not all trials are read
        assert not percentiles.should_prune(good)
        assert percentiles.should_prune(bad)


def test_a_trial_without_reports_goes_on() -> None:
    study = optuna.create_study(pruner=MedianPruner(n_startup_trials=0))
    study.add_trial(create_trial(value=0.0, intermediate_values={0: 1.0}))
    assert not Percentiles(study).should_prune(study.ask())


class Own(MedianPruner):
    def prune(self, study: optuna.Study, trial: FrozenTrial) -> bool:
        return True


class Renamed(MedianPruner):
    """A derived class that changes nothing about pruning."""


class Stored(InMemoryStorage):
    """A user's own subclass of a storage."""


def patched() -> BasePruner:
    pruner = MedianPruner()
    pruner.prune = lambda study, trial: True  # type: ignore[method-assign]
    return pruner


@pytest.mark.parametrize("pruner", [Own, patched, lambda: optuna.pruners.ThresholdPruner(upper=0)])
def test_other_pruners_are_asked(pruner: Callable[[], BasePruner]) -> None:
    study = optuna.create_study(pruner=pruner())
    trial = study.ask()
    trial.report(1.0, 0)
    assert Percentiles(study).should_prune(trial)


@pytest.mark.parametrize("storage", [Stored, lambda: "sqlite://"])
def test_studies_elsewhere_are_left_to_their_pruner(storage: Callable[[], InMemoryStorage]) -> None:
    study = optuna.create_study(pruner=MedianPruner(), storage=storage())
    trial, asked = study.ask(), Asked()
    trial.report(1.0, 0)
    with patch.object(MedianPruner, "prune", lambda _, study, trial: asked(study, trial)):
        assert [Percentiles(study).should_prune(trial) for _ in range(2)] == [False, True]


def test_a_pruner_that_is_set_later_is_asked() -> None:
    study = optuna.create_study(pruner=Renamed())
    trial, percentiles = study.ask(), Percentiles(study)
    trial.report(1.0, 0)
    assert not percentiles.should_prune(trial)
    study.pruner = Own()
    assert percentiles.should_prune(trial)


def test_several_objectives_cannot_be_pruned() -> None:
    study = optuna.create_study(directions=["minimize", "minimize"], pruner=MedianPruner())
    with pytest.raises(NotImplementedError, match="multi-objective"):
        Percentiles(study).should_prune(study.ask())
