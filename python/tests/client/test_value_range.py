"""Tests, on the real server, that values outside of a study's range do not count.

Needs ``HYPERFLOCK_TEST_SERVER_BIN``.
"""

from __future__ import annotations

import hyperflock
import pytest
from hyperflock._cli import command as _cli
from objectives import objective
from real_server import Server
from typer.testing import CliRunner

pytestmark = pytest.mark.server

LIE = -1e308


def test_a_value_that_cannot_be_never_becomes_the_best(
    real: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HYPERFLOCK_URL", real.console)
    monkeypatch.setenv("HYPERFLOCK_TOKEN", real.credentials["researcher_token"])
    with real.client() as client, real.device() as liar, real.device() as phone:
        study = client.grid(objective, {"x": [0, 1, 2]}, name="ranged", value_range=(0, None))
        for device, value in ((liar, LIE), (phone, 1.0)):
            for _ in range(3):
                device.result(device.ready(), more=False, outcome="complete", values=[value])
        assert study.wait().row.state == "finished"
        assert [trial.value for trial in study.trials] == [1.0, 1.0, 1.0]
        first, second = study.trial(0).attempt_list or ()
        assert (first.state, first.values, second.state) == ("failed", (LIE,), "accepted")
        assert first.error is not None
        assert first.error.code == "value_out_of_range"
    run = CliRunner().invoke
    assert "0 to inf" in run(_cli.app, ["show", str(study.id)]).stdout
    assert f"attempt {first.id} suspect" in run(_cli.app, ["logs", str(study.id), "0"]).stdout


def test_a_range_that_does_not_fit_is_refused_before_anything_is_sent(real: Server) -> None:
    with real.client() as client:
        with pytest.raises(hyperflock.HyperflockError, match="above high") as caught:
            client.grid(objective, {"x": [0]}, name="wrong range", value_range=(1, 0))
        assert caught.value.code == "bad_field"
        assert "wrong range" not in [study.name for study in client.studies()]
