"""Tests how many trials samplers create in advance when several devices compute."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import asked_objectives as given
import optuna
import pytest
from fake_asked import Devices
from fake_console import FakeConsole
from hyperflock import Client
from hyperflock.optuna import optimize
from hyperflock.optuna.owner import ask_ahead as _sense
from hyperflock.optuna.owner import run as _run
from optuna.samplers import GridSampler, QMCSampler, RandomSampler, TPESampler
from optuna.trial import FrozenTrial
from patience import LIMIT_S
from told import told

optuna.logging.set_verbosity(optuna.logging.ERROR)


@pytest.mark.parametrize(
    ("sampler", "ahead"),
    [
        (lambda: RandomSampler(seed=1), True),
        (lambda: QMCSampler(seed=1), True),
        (lambda: GridSampler({"x": [n / 8 for n in range(64)]}), True),
        (lambda: TPESampler(seed=1), False),
    ],
    ids=["random", "qmc", "grid", "tpe"],
)
def test_samplers_that_do_not_learn_are_asked_ahead(
    server: FakeConsole,
    client: Client,
    sampler: Callable[[], optuna.samplers.BaseSampler],
    ahead: bool,
) -> None:
    together = threading.Barrier(3)

    def in_step(trial: Any) -> float:
        # The devices share the first 60 trials equally. Which device computes the others is chance.
        if trial.number < 60:
            together.wait(LIMIT_S)
        return given.square(trial)

    wanted: list[int] = []

    def noted(*arguments: Any) -> int:
        wanted.append(_sense.ahead(*arguments))
        return wanted[-1]

    study = optuna.create_study(sampler=sampler())
    with (
        patch.object(_sense, "_SHORT_S", LIMIT_S),
        patch.object(_run, "ahead", noted),
        Devices(server, in_step, 3),
    ):
        optimize(study, given.square, 64, client=client)
    assert len(study.trials) == 64
    assert max(wanted) == (3 if ahead else 0)
    assert not ahead or server.asked[1].most_waiting >= 3
    if isinstance(study.sampler, GridSampler):
        assert sorted(t.params["x"] for t in study.trials) == [n / 8 for n in range(64)]


def test_one_device_is_never_asked_ahead(server: FakeConsole, client: Client) -> None:
    plain = optuna.create_study(sampler=RandomSampler(seed=1))
    plain.optimize(given.square, n_trials=10)
    study = optuna.create_study(sampler=RandomSampler(seed=1))
    with Devices(server, given.square):
        optimize(study, given.square, 10, client=client)
    assert told(study) == told(plain)
    assert server.asked[1].most_waiting == 1


def test_nothing_is_asked_ahead_beside_long_trials(server: FakeConsole, client: Client) -> None:
    """Long trials are not created in advance: such a trial would be computed even if an earlier
    trial's error ends the call.
    """
    study = optuna.create_study(sampler=RandomSampler(seed=1))
    with patch.object(_sense, "_SHORT_S", 0.0), Devices(server, given.square, 3):
        optimize(study, given.square, 12, client=client)
    assert server.asked[1].most_waiting <= 3


def test_a_grid_is_computed_once_however_many_devices_wait(
    server: FakeConsole, client: Client
) -> None:
    def slow(trial: Any) -> float:
        time.sleep(0.02)
        return given.square(trial)

    study = optuna.create_study(sampler=GridSampler({"x": [-1.0, 0.0, 1.0]}))
    with Devices(server, slow, 5):
        optimize(study, given.square, client=client)
    assert sorted(t.params["x"] for t in study.trials) == [-1.0, 0.0, 1.0]


def test_a_grid_s_points_are_those_that_it_asked(server: FakeConsole, client: Client) -> None:
    study = optuna.create_study(sampler=GridSampler({"x": [-1.0, 0.0, 1.0]}))
    for _ in range(3):
        study.add_trial(optuna.trial.create_trial(value=1.0))  # as another sampler adds them
    with Devices(server, given.square, 4):
        optimize(study, given.square, client=client)
    assert sorted(t.params["x"] for t in study.trials[3:]) == [-1.0, 0.0, 1.0]
    assert not _sense.is_used_up(optuna.create_study(sampler=study.sampler))
    assert _sense.is_used_up(study)


@pytest.mark.parametrize("count", [1, 3])
def test_tpe_gets_its_constant_liar_where_several_compute(
    server: FakeConsole, client: Client, count: int
) -> None:
    sampler = TPESampler(seed=1, constant_liar=False)
    seen: set[bool] = set()

    def callback(study: optuna.Study, trial: FrozenTrial) -> None:
        seen.add(sampler._constant_liar)

    study = optuna.create_study(sampler=sampler)
    with Devices(server, given.square, count):
        optimize(study, given.square, 9, callbacks=[callback], client=client)
    assert (True in seen) is (count > 1)
    assert sampler._constant_liar is False
