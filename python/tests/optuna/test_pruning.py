"""Tests pruning with several devices: each answer is used, and plain Optuna gives the same answers.

The order of the reports is random. It is recorded at the owner and repeated in plain Optuna.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import asked_objectives as given
import hyperflock.optuna
import optuna
import pytest
from fake_asked import Devices
from fake_console import FakeConsole
from hyperflock import Client
from optuna.pruners import BasePruner, HyperbandPruner, MedianPruner
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.trial import TrialState
from real_server import Server
from recorded import answers, recording, replayed, turns
from socket_phones import Phones

optuna.logging.set_verbosity(optuna.logging.ERROR)


class Watched:
    """An objective that records each answer of ``should_prune`` on the device."""

    def __init__(self, objective: Callable[[Any], float]) -> None:
        self._objective = objective
        self._lock = threading.Lock()
        self.seen: list[tuple[int, int, bool]] = []

    def __call__(self, trial: Any) -> float:
        ask = trial.should_prune
        step: list[int] = []
        report = trial.report

        def reported(value: float, at: int) -> None:
            step.append(at)
            report(value, at)

        def asked() -> bool:
            answer = bool(ask())
            with self._lock:
                self.seen.append((trial.number, step[-1], answer))
            return answer

        trial.report, trial.should_prune = reported, asked
        return self._objective(trial)


def check(study: optuna.Study, plain: optuna.Study, watched: Watched, events: Any) -> None:
    assert turns(events) > 3 * len(study.trials)
    for ours, theirs in zip(study.trials, plain.trials, strict=True):
        assert (ours.number, ours.state, ours.params) == (
            theirs.number,
            theirs.state,
            theirs.params,
        )
        assert list(ours.intermediate_values.items()) == list(theirs.intermediate_values.items())
    assert {t.state for t in study.trials} == {TrialState.COMPLETE, TrialState.PRUNED}
    # Each call on a device returned the answer that the owner gave.
    assert sorted(watched.seen) == sorted(answers(events))
    last = {number: (step, answer) for number, step, answer in answers(events)}
    for trial in study.trials:
        step, answer = last[trial.number]
        assert answer is (trial.state is TrialState.PRUNED)
        assert step == max(trial.intermediate_values)


def random() -> BaseSampler:
    return RandomSampler(seed=5)


def tpe() -> BaseSampler:
    return TPESampler(seed=5, constant_liar=True, n_startup_trials=4)


def median() -> BasePruner:
    return MedianPruner(n_startup_trials=3, n_warmup_steps=1)


def hyperband() -> BasePruner:
    return HyperbandPruner(min_resource=1, max_resource=9, reduction_factor=3)


@pytest.mark.parametrize(("sampler", "pruner"), [(random, hyperband), (tpe, median)])
def test_several_devices_prune_what_plain_optuna_prunes(
    server: FakeConsole,
    client: Client,
    sampler: Callable[[], BaseSampler],
    pruner: Callable[[], BasePruner],
) -> None:
    study = optuna.create_study(study_name="pruned", sampler=sampler(), pruner=pruner())
    watched = Watched(given.descending)
    with Devices(server, watched, 3), recording() as events:
        hyperflock.optuna.optimize(study, given.descending, 24, client=client)
    check(study, replayed(events, sampler(), pruner(), "pruned"), watched, events)


@pytest.mark.server
@pytest.mark.parametrize("pruner", [median, hyperband])
def test_real_server_prunes_what_plain_optuna_prunes(
    real: Server, pruner: Callable[[], BasePruner]
) -> None:
    name = f"pruned by {pruner.__name__}"  # a separate study at the server
    study = optuna.create_study(study_name=name, sampler=random(), pruner=pruner())
    watched = Watched(given.descending)
    with real.client() as client, Phones(real, watched, 3), recording() as events:
        hyperflock.optuna.optimize(study, given.descending, 20, client=client)
    check(study, replayed(events, random(), pruner(), name), watched, events)
