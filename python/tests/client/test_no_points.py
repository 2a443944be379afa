"""Tests, on the real server, that a result without points does not count where others have them.

Needs ``HYPERFLOCK_TEST_SERVER_BIN``.
"""

from __future__ import annotations

import pytest
from device import Device
from hyperflock._cli import command as _cli
from objectives import objective
from real_server import Server
from typer.testing import CliRunner

pytestmark = pytest.mark.server

LIE = -1e308


def compute(device: Device, value: float) -> None:
    device.result(
        device.ready(), more=False, outcome="complete", values=[value], points=[(0, value)]
    )


def test_a_result_that_was_never_computed_does_not_count(
    real: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYPERFLOCK_URL", real.console)
    monkeypatch.setenv("HYPERFLOCK_TOKEN", real.credentials["researcher_token"])
    with (
        real.client() as client,
        real.device() as liar,
        real.device() as phone,
        real.device() as tablet,
    ):
        study = client.grid(objective, {"x": [*range(22)]}, name="curves", direction="minimize")
        for i, device in enumerate([liar, *[phone, tablet] * 10]):
            compute(device, 1.0 + i)
        told = liar.result(liar.ready(), more=False, outcome="complete", values=[LIE])
        assert told.verdict == "recorded"
        compute(phone, 1.0)
        assert study.wait().row.state == "finished"
        assert study.best_value == 1.0
        first, second = study.trial(21).attempt_list or ()
    assert (first.state, first.values, second.state) == ("failed", (LIE,), "accepted")
    run = CliRunner().invoke
    assert f"attempt {first.id} suspect" in run(_cli.app, ["logs", str(study.id), "21"]).stdout
