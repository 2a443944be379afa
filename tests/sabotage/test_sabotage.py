"""Tests what the server promises today about dishonest devices, and the laboratory's verdict.

The crowds are small, and a test asserts only what a rule says. `./run sabotage` measures the rest.
Needs ``HYPERFLOCK_TEST_SERVER_BIN``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from crowd import Begun
from play import Setup, play
from saboteurs import Scene
from truth import OBJECTIVES, curve_to
from verdict import Verdict, judge

SCENE = Scene(1, OBJECTIVES["loss"])


def played(folder: Path, kind: str, share: float, objective: str = "loss") -> Verdict:
    return play(
        Setup(kind, share, 1, devices=20, trials=300, pace=0.2, objective=objective), folder
    )


@pytest.mark.parametrize("kind", ["flood", "constant", "copied"])
def test_a_device_that_repeats_one_value_leaves_none_and_is_barred(
    tmp_path: Path, kind: str
) -> None:
    verdict = played(tmp_path, kind, 0.1)
    assert (verdict.wrong, verdict.lost, verdict.is_best_wrong) == (0, 0, False)
    assert verdict.barred == verdict.saboteurs == 2
    assert verdict.honest_barred == 0


def test_a_value_out_of_the_range_never_counts(tmp_path: Path) -> None:
    verdict = played(tmp_path, "out of range", 0.1)
    assert (verdict.wrong, verdict.is_best_wrong) == (0, False)
    assert verdict.barred == verdict.saboteurs


def test_a_device_that_fails_everything_is_barred_and_loses_no_trial(tmp_path: Path) -> None:
    """Several of them may raise each other's limit (R72), if others are slow."""
    verdict = played(tmp_path, "fail later", 0.05)
    assert (verdict.wrong, verdict.lost, verdict.is_best_wrong) == (0, 0, False)
    assert verdict.barred == verdict.saboteurs == 1


@pytest.mark.parametrize("objective", OBJECTIVES)
def test_an_honest_crowd_finishes_whatever_its_objective_gives(
    tmp_path: Path, objective: str
) -> None:
    verdict = played(tmp_path, "flood", 0, objective)
    assert (verdict.wrong, verdict.lost, verdict.is_best_wrong) == (0, 0, False)
    assert verdict.attempts <= 1.2 * verdict.trials


def row(trial: int, value: float | None = None, **more: Any) -> dict[str, Any]:
    true = SCENE.objective.value(SCENE.seed, trial)
    state = {"state": "complete", "values": [true if value is None else value], "attempts": 1}
    return {"trial": trial, **state, **more}


def judged(rows: list[dict[str, Any]], begun: list[Begun] | None = None) -> Verdict:
    ended = {one.attempt: one.at + 0.5 for one in begun or ()}
    return judge(SCENE, rows, begun or [], ended, dishonest={0}, devices=2)


def test_an_honest_study_is_right() -> None:
    verdict = judged([row(trial) for trial in range(9)])
    assert (verdict.wrong, verdict.lost, verdict.is_best_wrong, verdict.work) == (0, 0, False, 1)


def test_a_wrong_value_is_counted_and_the_best_only_if_it_wins() -> None:
    rows = [row(trial) for trial in range(9)]
    beaten = judged([*rows[1:], row(0, 0.99)])
    assert beaten.wrong == 1
    winning = judged([*rows[1:], row(0, 0.001)])
    assert (winning.wrong, winning.is_best_wrong) == (1, True)


def test_rounding_is_not_wrong() -> None:
    assert judged([row(0, SCENE.objective.value(SCENE.seed, 0) * (1 + 1e-7))]).wrong == 0


def test_a_lost_best_trial_makes_the_best_wrong() -> None:
    rows = [row(trial) for trial in range(9)]
    best = min(range(9), key=lambda trial: rows[trial]["values"][0])
    rows[best] = {**rows[best], "state": "failed", "values": []}
    verdict = judged(rows)
    assert (verdict.lost, verdict.is_best_wrong) == (1, True)


def test_a_device_that_others_pass_over_is_barred() -> None:
    one = [Begun(0, 0, 1, 0.0), Begun(1, 1, 2, 0.0)]
    others = [Begun(1, i, i + 2, float(i)) for i in range(2, 6)]
    verdict = judged([row(trial) for trial in range(6)], [*one, *others])
    assert (verdict.barred, verdict.honest_barred, verdict.results) == (1, 0, 1)
    assert verdict.seconds == 0.5
    assert judged([row(0), row(1)], one).barred == 0


def test_a_curve_ends_in_its_value() -> None:
    assert curve_to(0.25)[-1][1] == 0.25
