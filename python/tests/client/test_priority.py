"""Tests priorities between a researcher's own studies (protocol.md, R61), with the real server.

Needs ``HYPERFLOCK_TEST_SERVER_BIN``.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import hyperflock
import pytest
from hyperflock import Client
from hyperflock._cli import command as _cli
from objectives import objective
from real_server import Server
from typer.testing import CliRunner

pytestmark = pytest.mark.server


def test_the_highest_priority_goes_first_and_may_change(real: Server, real_client: Client) -> None:
    low = real_client.grid(objective, {"x": [1, 2, 3]}, name="low")
    high = real_client.grid(objective, {"x": [1, 2, 3]}, name="high", priority=10)
    assert (low.priority, high.priority) == (0, 10)
    with real.device() as device:
        first = device.ready()
        assert first.study == high.id
        assert low.set_priority(20).priority == 20
        second = device.complete(first, 0.5)
        assert second is not None
        assert second.study == low.id
        device.complete(second, 0.5)


def test_the_command_sets_and_shows_it(real: Server, real_client: Client) -> None:
    study = real_client.grid(objective, {"x": [1]}, name="by command")
    settings = ["--url", real.console, "--token", real.credentials["researcher_token"]]
    run = CliRunner()
    said = run.invoke(_cli.app, ["priority", str(study.id), "-7", *settings])
    assert said.output == f"study {study.id} has priority -7\n"
    assert "priority   -7" in run.invoke(_cli.app, ["show", str(study.id), *settings]).output
    assert run.invoke(_cli.app, ["priority", str(study.id), "101", *settings]).exit_code == 2


def test_a_sweep_file_and_an_option_set_it(
    real: Server, real_client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("train.py").write_text("def objective(trial):\n    return trial.params['x']\n")
    Path("sweep.json").write_text(
        '{"program": "train.py", "method": "grid", "priority": 4, "parameters":'
        ' {"x": {"values": [1, 2]}}}'
    )
    settings = ["--url", real.console, "--token", real.credentials["researcher_token"]]
    run = CliRunner()
    for options, expected in (([], 4), (["--priority", "-3"], -3)):
        said = run.invoke(_cli.app, ["submit", "sweep.json", *options, *settings])
        assert real_client.study(int(said.output)).priority == expected


def test_the_same_study_with_another_priority_is_the_same_study(real_client: Client) -> None:
    first = real_client.grid(objective, {"x": [1, 2]}, name="once", once=True)
    again = real_client.grid(objective, {"x": [1, 2]}, name="once", once=True, priority=3)
    assert again.id == first.id
    assert again.priority == 0  # submitting again changes nothing


@pytest.mark.parametrize("wrong", [101, -101, 0.5, True, "high", None])
def test_what_is_no_priority_is_refused(real_client: Client, wrong: Any) -> None:
    with pytest.raises(hyperflock.HyperflockError, match="from -100 to 100") as caught:
        real_client.grid(objective, {"x": [1]}, priority=wrong)
    assert (caught.value.code, caught.value.field) == ("bad_number", "priority")
    study = real_client.grid(objective, {"x": [1]})
    with pytest.raises(hyperflock.HyperflockError) as caught:
        study.set_priority(wrong)
    assert caught.value.code == "bad_number"
