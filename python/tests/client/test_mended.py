"""Tests failed trials that run again with mended code (protocol.md, R64), with the real server.

Needs ``HYPERFLOCK_TEST_SERVER_BIN``.
"""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import hyperflock
import pytest
from device import Device
from hyperflock import Client
from hyperflock._cli import command as _cli
from hyperflock._transport.messages import Failure, Lease
from objectives import objective
from patience import until
from real_server import Server
from typer.testing import CliRunner

pytestmark = pytest.mark.server


def mended(trial: Any) -> float:
    return float(trial.params["x"]) + 1


def fail(device: Device, lease: Lease) -> Lease | None:
    error = Failure("user_error", "objective_raised", "KeyError: 'rate'", "")
    return device.result(lease, outcome="failed", error=error).lease or None


def test_failed_trials_alone_run_again_with_the_mended_code(
    real: Server, real_client: Client
) -> None:
    study = real_client.grid(objective, {"x": [1, 2, 3]}, name="mended")
    with real.device() as device:
        lease = device.complete(device.ready(), 0.5)
        assert lease is not None
        lease = fail(device, lease)
        assert lease is not None
        device.complete(lease, 0.7)
        until("the study to end", lambda: study.refresh().row.state == "finished")
        before = study.trial(0)
        assert before.provenance is not None
        assert study.retry_failed(mended) is study
        assert (study.state, study.code_version, study.row.failed) == ("running", 2, 0)
        again = device.next_lease()
        assert (again.trial, again.entry) != (1, lease.entry)
        assert again.bundle.sha256 != lease.bundle.sha256
        device.complete(again, 3.0)
    study.wait(timeout_s=20)
    assert [trial.code_version for trial in study.trials] == [1, 2, 1]
    assert study.trial(0).provenance == before.provenance  # it has the code that computed it
    trial = study.trial(1)
    assert trial.provenance is not None
    assert trial.provenance.code_sha256 == again.bundle.sha256
    assert [run.code_version for run in trial.attempt_list or ()] == [1, 2]


def test_exports_have_the_column_where_there_are_several_versions(
    real: Server, real_client: Client
) -> None:
    study = real_client.grid(objective, {"x": [1, 2]}, name="exported")
    with real.device() as device:
        lease = fail(device, device.ready())
        assert "code_version" not in study.export("csv").splitlines()[0]
        study.retry_failed(mended)
        assert lease is not None
        following = device.complete(lease, 0.5)  # it ran before the change
        assert following is not None
        device.complete(following, 0.5)
    study.wait(timeout_s=20)
    rows = list(csv.DictReader(io.StringIO(study.export("csv"))))
    assert [row["code_version"] for row in rows] == ["2", "1"]
    assert '"code_version": 2' in study.export("json")
    assert list(study.to_pandas()["code_version"]) == [2, 1]


def test_it_is_refused_where_no_trial_has_failed(real_client: Client) -> None:
    study = real_client.grid(objective, {"x": [1]}, name="fine")
    with pytest.raises(hyperflock.ServerError) as caught:
        study.retry_failed(mended)
    assert caught.value.code == "no_failed_trial"
    assert study.refresh().code_version == 1
    study.retry_failed()  # without other code it changes nothing
    study.cancel()


def test_what_cannot_travel_is_refused_before_anything_is_sent(real_client: Client) -> None:
    study = real_client.grid(objective, {"x": [1]}, name="refused")
    lock = real_client  # a real_client contains a token

    def holds(trial: Any) -> object:
        return lock

    with pytest.raises(hyperflock.BundleError):
        study.retry_failed(holds)


def test_the_command_takes_a_script(
    real: Server, real_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mended.py").write_text("def objective(trial):\n    return trial.params['x'] + 1\n")
    study = real_client.grid(objective, {"x": [1]}, name="by command")
    settings = ["--url", real.console, "--token", real.credentials["researcher_token"]]
    run = CliRunner()
    with real.device() as device:
        fail(device, device.ready())
        until("the failure", lambda: study.refresh().row.failed == 1)
        said = run.invoke(_cli.app, ["retry", str(study.id), "--script", "mended.py", *settings])
        assert said.exit_code == 0, said.output
        lease = device.next_lease()
        assert lease.entry == "mended:objective"
        device.complete(lease, 2.0)
    study.wait(timeout_s=20)
    shown = run.invoke(_cli.app, ["show", str(study.id), "0", *settings]).output
    assert "version 2 of the code" in shown
    assert "version 2" in run.invoke(_cli.app, ["show", str(study.id), *settings]).output
    wrong = run.invoke(_cli.app, ["retry", str(study.id), "--keep-checkpoints", *settings])
    assert wrong.exit_code == 2
