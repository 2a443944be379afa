"""Tests the drill's judge on databases that are wrong, and plays a short seed with real servers."""

from __future__ import annotations

import dataclasses
import os
import struct
from pathlib import Path

import pytest
from fleet import Acknowledged
from judge import judge
from local_postgres import LocalPostgres
from seed import Play, Size, Stage


@dataclasses.dataclass
class Database:
    """Answers what the judge asks: two trials of a study that has finished."""

    trials: list[list[str]] = dataclasses.field(
        default_factory=lambda: [["7", "0", "1", "3"], ["7", "1", "1", "4"]]
    )
    attempts: list[list[str]] = dataclasses.field(
        default_factory=lambda: [
            ["3", "7", "0", "0", struct.pack("<d", 0.5).hex()],
            ["4", "7", "1", "0", struct.pack("<d", 0.25).hex()],
            ["5", "7", "1", "1", struct.pack("<d", 0.125).hex()],
        ]
    )
    studies: list[list[str]] = dataclasses.field(default_factory=lambda: [["7", "1", "2"]])

    def ask(self, sql: str) -> list[list[str]]:
        if "FROM trials" in sql:
            return self.trials
        return self.attempts if "FROM attempts" in sql else self.studies


ACKNOWLEDGED = [
    Acknowledged(7, 0, 3, 0.5, "accepted"),
    Acknowledged(7, 1, 4, 0.25, "accepted"),
    Acknowledged(7, 1, 5, 0.125, "evidence"),
]
READ = {7: {0: 0.5, 1: 0.25}}


def test_a_database_in_which_each_result_counts_once_is_right() -> None:
    assert judge(Database().ask, ACKNOWLEDGED, READ) == []


def test_a_result_that_was_acknowledged_and_is_not_there() -> None:
    database = Database()
    del database.attempts[1]
    (lost, *_) = judge(database.ask, ACKNOWLEDGED, READ)
    assert "the database has None" in lost


def test_another_value_than_the_one_that_was_sent() -> None:
    database = Database()
    database.attempts[0][4] = struct.pack("<d", 0.75).hex()
    changed, read = judge(database.ask, ACKNOWLEDGED, READ)
    assert "value=0.5" in changed
    assert "value=0.75" in changed
    assert "1 differ" in read


def test_a_trial_with_two_accepted_results() -> None:
    database = Database()
    database.attempts[2][3] = "0"
    found = judge(database.ask, ACKNOWLEDGED, READ)
    assert "trial (7, 1) has 2 accepted results" in found


def test_a_result_that_counts_and_of_which_the_device_never_heard() -> None:
    (found,) = judge(Database().ask, ACKNOWLEDGED[1:], READ)
    assert found == "attempt 3 was accepted, and its device was never told"


def test_a_study_that_does_not_finish_or_counts_wrongly() -> None:
    database = Database(studies=[["7", "0", "3"]])
    unfinished, counts = judge(database.ask, ACKNOWLEDGED, READ)
    assert unfinished == "study 7 has not finished"
    assert counts == "study 7 counts 3 trials and has 2"


def test_a_trial_that_failed() -> None:
    database = Database(studies=[["7", "1", "1"]])
    database.trials[1] = ["7", "1", "3", ""]
    found = judge(database.ask, ACKNOWLEDGED, READ)
    assert "trial 1 of study 7 ended in state 3" in found


def test_a_researcher_who_read_less() -> None:
    (found,) = judge(Database().ask, ACKNOWLEDGED, {7: {0: 0.5}})
    assert "the researcher read 1 results, the database has 2" in found


@pytest.mark.parametrize("relay", [False, True], ids=["balancer", "relay"])
def test_a_short_seed(tmp_path: Path, relay: bool) -> None:
    """A server ends and the database restarts, under researchers with grids and Optuna studies."""
    binary = Path(os.environ["HYPERFLOCK_TEST_SERVER_BIN"])
    size = Size(workers=40, points=40, trials=10, pace=0.1, events=("end", "restart"), relay=relay)
    with LocalPostgres() as postgres:
        outcome = Play(Stage(binary, postgres, tmp_path, print), 1, size).run()
    assert outcome.problems == []
    assert outcome.accepted == outcome.acknowledged > 0
    assert outcome.studies >= 4
