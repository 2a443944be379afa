"""Tests, on the real server, that results are rejected and that their trials run again.

Needs ``HYPERFLOCK_TEST_SERVER_BIN``.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone

import hyperflock
import pytest
from device import Device
from hyperflock import Client
from hyperflock._cli import command as _cli
from objectives import objective
from real_server import Server
from typer.testing import CliRunner

pytestmark = pytest.mark.server

SPACE = {"x": [0, 1, 2]}
LIE = -1e308


@pytest.fixture
def client(real: Server) -> Iterator[Client]:
    with real.client() as made:
        yield made


def compute(device: Device, value: float, trials: int) -> None:
    """Let the device answer this many trials."""
    for _ in range(trials):
        device.result(device.ready(), more=False, outcome="complete", values=[value])


def test_a_finished_study_is_repaired(real: Server, client: Client) -> None:
    study = client.grid(objective, SPACE, name="repaired", direction="minimize")
    with real.device() as liar, real.device() as phone:
        compute(phone, 1.0, 1)
        compute(liar, LIE, 2)
        assert study.wait().row.state == "finished"
        assert study.best_value == LIE
        (liar_id,) = {trial.device for trial in study.trials if trial.value == LIE}
        done = study.reject(device=liar_id, reason="it lies")
        assert done.as_dict() == {"study": study.id, "attempts": 2, "trials": 2}
        assert study.row.state == "running"
        assert [trial.value for trial in study.trials] == [1.0]
        compute(phone, 2.0, 2)
        study.wait()
        assert sorted(str(trial.value) for trial in study.trials) == ["1.0", "2.0", "2.0"]
        assert study.best_value == 1.0
        assert study.reject(device=liar_id).attempts == 0
    rejected = next(trial for trial in study.trials if trial.value == 2.0)
    first, second = study.trial(rejected.number).attempt_list or ()
    assert first.state == "evidence"
    assert first.values == (LIE,)
    assert first.rejection is not None
    assert first.rejection.by == study.owner
    assert first.rejection.reason == "it lies"
    assert abs(first.rejection.at - datetime.now(timezone.utc)) < timedelta(hours=1)
    assert second.rejection is None


def test_conditions_and_wrong_ones(real: Server, client: Client) -> None:
    study = client.grid(objective, SPACE, name="conditions", direction="minimize")
    with real.device() as phone:
        compute(phone, 1.0, 3)
        study.wait()
    trial = study.trials[1]
    for code, wrong in {
        "missing_field": {},
        "unknown_device": {"device": "d_nobody"},
        "not_found": {"trial": 3},
        "bad_number": {"trial": "one"},
        "bad_field": {"since": time.time() + 3600},
    }.items():
        with pytest.raises(hyperflock.HyperflockError) as refused:
            study.reject(**wrong)  # type: ignore[arg-type]
        assert refused.value.code == code
    assert study.reject(device=trial.device, trial=2, since=trial.finished_at).attempts == 1
    assert study.reject(trial=trial).trials == 1
    assert [one.number for one in study.trials] == [0]
    assert study.reject(since=datetime.now(timezone.utc)).attempts == 0
    study.cancel()


def test_the_command(real: Server, client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HYPERFLOCK_URL", real.console)
    monkeypatch.setenv("HYPERFLOCK_TOKEN", real.credentials["researcher_token"])
    study = client.grid(objective, SPACE, name="by command", direction="minimize")
    with real.device() as phone:
        compute(phone, 1.0, 3)
        study.wait()
    run = CliRunner().invoke
    told = run(_cli.app, ["reject", str(study.id), "--trial", "1", "--reason", "odd", "--json"])
    assert json.loads(told.stdout) == {"study": study.id, "attempts": 1, "trials": 1}
    again = run(_cli.app, ["reject", str(study.id), "--trial", "1"])
    assert again.stdout == f"study {study.id}: 0 attempts rejected, 0 trials run again\n"
    assert "rejected by" in run(_cli.app, ["logs", str(study.id), "1"]).stdout
    assert run(_cli.app, ["reject", str(study.id)]).exit_code == 2
    study.cancel()
