"""Tests that the comparison with Optuna's storages runs, and that it detects wrong studies.

The last test needs ``HYPERFLOCK_TEST_SERVER_BIN``, as test_against_server.py does.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import optuna
import optuna_vs
import pytest
import vs_objective
import vs_owner
import vs_peers
from optuna.samplers import RandomSampler
from optuna.trial import TrialState
from vs_objective import DiffersError, tally

optuna.logging.set_verbosity(optuna.logging.ERROR)


def ran(objective: Callable[[optuna.Trial], float], trials: int = 60) -> optuna.Study:
    study = optuna.create_study(sampler=RandomSampler(seed=1), pruner=optuna.pruners.MedianPruner())
    study.optimize(objective, n_trials=trials)
    return study


def side(rate: float, reports: int) -> optuna_vs.Side:
    return optuna_vs.Side([{"trials": 100, "seconds": 100 / rate, "reports": reports}])


def test_only_stalled_trials_are_pruned_and_nearly_all_of_them() -> None:
    study = ran(vs_objective.objective)
    found = tally(study)
    assert found.trials == 60
    assert found.reports == 10 * found.complete + 5 * found.pruned
    assert 5 <= found.pruned <= found.stalled <= found.pruned + 3


@pytest.mark.parametrize(
    ("name", "wrong"),
    [("curve", lambda x, step: 2.0 / step), ("loss", lambda point: 1.0)],
)
def test_a_study_with_other_numbers_is_refused(
    name: str, wrong: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(vs_objective, name, wrong)
        study = ran(vs_objective.objective, trials=3)
    with pytest.raises(DiffersError, match="trial 0"):
        tally(study)


def test_a_trial_that_was_pruned_for_no_reason_is_refused() -> None:
    study = ran(vs_objective.objective, trials=2)
    point = {"x": 0.0, "y": 0.0, "z": 0.0}
    pruned = optuna.trial.create_trial(
        state=TrialState.PRUNED,
        params=point,
        distributions={name: optuna.distributions.FloatDistribution(-5, 5) for name in point},
        intermediate_values={step: vs_objective.curve(0.0, step) for step in range(1, 6)},
    )
    study.add_trial(pruned)
    with pytest.raises(DiffersError, match="trial 2"):
        tally(study)


def test_a_trial_without_an_outcome_is_refused() -> None:
    study = ran(vs_objective.objective, trials=2)
    study.ask()
    with pytest.raises(DiffersError, match="1 trials"):
        tally(study)


def test_a_ratio_is_of_medians_and_only_of_like_studies() -> None:
    rows = optuna_vs.rows_of(
        {"ours": side(400, 880), "memory": side(1000, 870), "journal": side(100, 500)},
        {"memory": 1, "journal": 2},
    )
    by_name = {row["name"]: row for row in rows}
    assert by_name["optuna_vs_memory"]["value"] == pytest.approx(0.4)
    assert by_name["optuna_vs_journal"]["value"] is None
    assert "not the same studies" in by_name["optuna_vs_journal"]["error"]
    assert "2 processes" in by_name["optuna_journal_trials_per_s"]["note"]


def test_the_stopwatch_counts_nested_calls_once() -> None:
    class Sampler:
        def outer(self) -> None:
            self.inner()

        def inner(self) -> None:
            time.sleep(0.01)

    sampler = Sampler()
    watch = vs_owner.Stopwatch(sampler, ("outer", "inner"))
    begun = time.perf_counter()
    sampler.outer()
    assert 0.01 <= watch.seconds <= time.perf_counter() - begun


def test_a_peer_runs_in_processes_of_its_own(tmp_path: Path) -> None:
    study, seconds = vs_peers.run_shared("journal", tmp_path, 1, 3, 300.0, 1)
    assert tally(study).trials == 3
    assert seconds > 0


@pytest.mark.server
def test_phones_run_the_objective_and_both_sides_agree(tmp_path: Path) -> None:
    given = argparse.Namespace(state=tmp_path, phones=10, trials=40)
    told = optuna_vs.run_ours(given, 1, "random")
    assert told["trials"] == 40
    assert told["pruned"] > 0
