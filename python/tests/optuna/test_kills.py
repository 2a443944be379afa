"""Kills notebooks and phones at random moments, and checks that no trial is lost, counted twice or
left running.

Uses the real server, real processes on both sides, and SIGKILL. ``HYPERFLOCK_TEST_KILLS`` is the
number of kills and ``HYPERFLOCK_TEST_SEED`` the seed: ``./run chaos --optuna``.
"""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from asked_objectives import curve_end, walked
from hyperflock import Study
from hyperflock._transport.messages import Failure
from hyperflock.optuna.rejection import REJECTED
from hyperflock.optuna.study_import import trial_row
from kill_stage import PHONES, Stage
from optuna.trial import TrialState
from patience import until

pytestmark = pytest.mark.server

KILLS = int(os.environ.get("HYPERFLOCK_TEST_KILLS", "2"))
# The limits are for an idle machine, so only `./run chaos --optuna`, which sets the number of
# kills, checks them.
IS_JUDGED = "HYPERFLOCK_TEST_KILLS" in os.environ
SEED = int(os.environ.get("HYPERFLOCK_TEST_SEED", "1"))
KINDS = ["sqlite", "memory"] if KILLS < 10 else ["journal", "sqlite", "memory"]
# The longest allowed time in seconds, from the moment at which a new notebook takes over the study
# until each trial that a killed notebook left running is open at the server again.
SETTLED_S = 10.0
# If this many devices disappear during a trial, it is not leased again (rule R18 of the protocol).
POISON = 3


@pytest.mark.parametrize("kind", KINDS)
def test_killed_notebooks_lose_and_double_nothing(tmp_path: Path, kind: str) -> None:
    left: set[int] = set()
    longest_s, most_waiting = 0.0, 0
    with Stage(tmp_path, kind, SEED) as stage:
        for kill in range(KILLS):
            notebook = stage.begin("curved", "--goal", "1000000")
            # Every second notebook may be killed before it has taken over the study.
            if kill % 2 == 0:
                longest_s = max(longest_s, stage.settled_s(notebook, left))
                stage.until_done(notebook, stage.done + 2)
                time.sleep(stage.moments.random() / 4)
            else:
                time.sleep(stage.moments.random())
            left = stage.kill(notebook)
            most_waiting = max(most_waiting, len(stage.unfinished()))
        study = stage.study
        assert study is not None
        goal = study.row.complete + study.row.pruned + 5
        last = stage.begin("curved", "--goal", str(goal))
        longest_s = max(longest_s, stage.settled_s(last, left))
        trials = last.result()
        assert stage.running() == set()
        told = [trial for notebook in stage.notebooks for trial in notebook.told]
        study = stage.client.study(1)
        rows = {trial.number: trial for trial in study.trials}
        again = study.to_optuna()
        assert len(stage.client.studies()) == 1
        # No trial is lost: the server's counted trials are in the study unchanged, and so are all
        # trials that callbacks got.
        good = {number: row for number, *row in trials if row[0] in ("COMPLETE", "PRUNED")}
        assert sorted(good) == sorted(rows)
        for number, (state, params, values) in good.items():
            assert (state, params) == (rows[number].state.upper(), rows[number].params)
            if state == "COMPLETE":
                assert values == list(rows[number].values) == [curve_end(**params)]
        assert [trial for trial in told if trial not in trials] == []
        # No trial is counted twice: callbacks got each trial once, and exactly one attempt of it is
        # accepted.
        assert [n for n, times in Counter(trial[0] for trial in told).items() if times > 1] == []
        for number in rows:
            attempts = study.trial(number).attempt_list or ()
            assert [a.state for a in attempts].count("accepted") == 1
        # No trial is left running.
        assert {state for _, state, *_ in trials} <= {"COMPLETE", "PRUNED", "FAIL"}
        made = {t.number: [t.state.name, t.params, t.values] for t in again.trials}
        assert {n: made[n] for n in good} == good
        assert all(t.state is not TrialState.RUNNING for t in again.trials)
    print(
        f"\n{kind}: {KILLS} notebooks killed, {len(good)} trials finished once, "
        f"{len(trials) - len(good)} ended unheard of; settled within {longest_s:.2f} s of a claim, "
        f"{most_waiting} trials without an outcome at most"
    )
    if IS_JUDGED:
        judge(longest_s, most_waiting)


def results_of(study: Study) -> set[int]:
    """Return the numbers of the trials that have a result at the server."""
    return {t.number for t in study.trials if t.state in ("complete", "pruned")}


@pytest.mark.parametrize("kind", KINDS)
def test_rejected_results_leave_the_study_of_killed_notebooks(tmp_path: Path, kind: str) -> None:
    rejected: set[int] = set()
    with Stage(tmp_path, kind, SEED) as stage:
        for kill in range(KILLS):
            notebook = stage.begin("curved", "--goal", "1000000")
            stage.until_done(notebook, stage.done + 2)
            # Every second result is rejected while no notebook runs.
            if kill % 2 == 1:
                stage.kill(notebook)
            study = stage.study
            assert study is not None
            victim = stage.moments.choice(sorted(results_of(study)))
            assert study.reject(trial=victim, reason="chaos").attempts > 0
            rejected.add(victim)
            time.sleep(stage.moments.random() / 4)
            stage.kill(notebook)
        study = stage.study
        assert study is not None
        goal = study.row.complete + study.row.pruned + 5
        last = stage.begin("curved", "--goal", str(goal))
        trials = {number: row for number, *row in last.result()}
        study = stage.client.study(1)
        there = results_of(study)
        again, best = study.to_optuna(), study.best_value
    # Both sides have the same results, and no rejected one is among them.
    good = {number for number, (state, *_) in trials.items() if state in ("COMPLETE", "PRUNED")}
    assert good == there
    assert len(good) >= goal
    assert {trial.number for trial in again.trials if REJECTED in trial.system_attrs} == rejected
    for number in rejected:
        state, _, values = trials[number]
        assert (state, values) == ("FAIL", None)
    complete = [values[0] for state, _, values in trials.values() if state == "COMPLETE"]
    assert again.best_value == best == min(complete)
    print(f"\n{kind}: {KILLS} notebooks killed, {len(rejected)} of {len(trials)} results rejected")


def judge(settled_s: float, unfinished: int) -> None:
    """Check two figures that depend on the machine's load against their limits."""
    assert settled_s < SETTLED_S
    # A new owner does not ask again for the trials that its predecessor has asked for.
    assert unfinished <= 3 * PHONES


@pytest.mark.parametrize("figures", [(SETTLED_S, 0), (0.0, 3 * PHONES + 1)])
def test_bars_refuse_what_is_beyond_them(figures: tuple[float, int]) -> None:
    judge(SETTLED_S / 2, 3 * PHONES)
    with pytest.raises(AssertionError):
        judge(*figures)


def test_killed_phones_leave_exactly_n_trials(tmp_path: Path) -> None:
    n_trials = 4 * KILLS + 6
    with Stage(tmp_path, "memory", SEED) as stage:
        notebook = stage.begin("resumable", "--trials", str(n_trials))
        for kill in range(KILLS):
            stage.until_done(notebook, 4 * kill)
            computing = until("a phone that computes", stage.computing)
            time.sleep(stage.moments.random() / 4)
            stage.phones.pop(stage.moments.choice(computing)).kill()
            stage.add_phone()
        trials = notebook.result()
        assert len(trials) == n_trials
        row = stage.client.study(1).row
        assert (row.state, row.total, row.done) == ("finished", n_trials, n_trials)
        lost, resumed = check_phones(stage, trials)
    print(f"\n{KILLS} phones killed: {n_trials} trials, {lost} attempts lost, {resumed} went on")


def check_phones(stage: Stage, trials: list[Any]) -> tuple[int, int]:
    """Check each trial. Return how many attempts were lost, and how many resumed a checkpoint."""
    lost = resumed = 0
    for number, state, params, values in trials:
        trial = trial_row(stage.client._core._http, 1, number)
        assert isinstance(trial.attempts_list, list)
        gone = [run.device.device for run in trial.attempts_list if run.state == "expired"]
        lost += len(gone)
        resumed += sum(isinstance(run.resumed_from, int) for run in trial.attempts_list)
        if state == "FAIL":
            assert isinstance(trial.error, Failure)
            assert (trial.error.code, len(set(gone))) == ("poison", POISON)
            continue
        # The result does not depend on the number of devices that computed the trial.
        assert (state, values) == ("COMPLETE", [walked(params["x"], trial.seed)])
        assert [run.state for run in trial.attempts_list].count("accepted") == 1
    return lost, resumed
