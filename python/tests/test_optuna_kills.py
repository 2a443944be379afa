"""Notebooks killed at random moments: nothing lost, nothing doubled, nothing left running."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from asked_objectives import curved
from fake_asked import Devices
from fake_console import FakeConsole
from hyperflock import Client
from optuna.trial import TrialState

SCRIPT = Path(__file__).with_name("optuna_notebook.py")
# So many in a test; more are for a long run by hand.
KILLS = int(os.environ.get("HYPERFLOCK_TEST_KILLS", "1"))


def started(server: FakeConsole, storage: str, goal: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(SCRIPT), server.url, server.token, storage, str(goal)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    return process


def killed(server: FakeConsole, storage: str, moments: random.Random) -> None:
    with started(server, storage, 10**6) as process:
        seen = len(server.asked[1].finished()) if server.asked else 0
        deadline = time.monotonic() + 20
        while not server.asked or len(server.asked[1].finished()) < seen + 3:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.005)
        time.sleep(moments.random() / 4)
        process.kill()


def last(server: FakeConsole, storage: str, more: int) -> list[Any]:
    with started(server, storage, len(server.asked[1].trials) + more) as process:
        out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    told: list[Any] = json.loads(out)
    return told


@pytest.mark.parametrize(
    "kind", ["sqlite", "memory"] if KILLS < 10 else ["journal", "sqlite", "memory"]
)
def test_no_trial_is_lost_doubled_or_left_running(
    server: FakeConsole, client: Client, tmp_path: Path, kind: str
) -> None:
    storage = {"sqlite": f"sqlite:///{tmp_path}/study.db", "memory": "-"}.get(kind)
    if storage is None:
        storage = str(tmp_path / "journal.log")
    moments = random.Random(KILLS)
    with Devices(server, curved, 3):
        for _ in range(KILLS):
            killed(server, storage, moments)
        told = last(server, storage, 5)
    assert list(server.asked) == [1]
    rows = {row["trial"]: row for row in server.asked[1].finished()}
    good = {number: row for number, *row in told if row[0] in ("COMPLETE", "PRUNED")}
    assert sorted(good) == sorted(rows)
    for number, (state, params, _) in good.items():
        assert (state, params) == (
            rows[number]["state"].upper(),
            json.loads(rows[number]["params"]),
        )
    assert {state for _, state, *_ in told} <= {"COMPLETE", "PRUNED", "FAIL"}
    again = client.study(1).to_optuna()
    assert [[t.number, t.state.name, t.params, t.values] for t in again.trials][: len(told)] == told
    assert all(t.state is not TrialState.RUNNING for t in again.trials)
