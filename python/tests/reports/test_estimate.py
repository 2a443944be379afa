"""Tests the texts and numbers that say how long a study will still take (protocol.md, R63). The
server's formula has its own tests in server/src/dispatch/tests/estimate_test.cc.
"""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

import pytest
from fake_console import FakeConsole
from hyperflock import Client, Study
from hyperflock._cli import command as _cli
from hyperflock._reports.estimate import duration_text, progress_of
from objectives import objective
from typer.testing import CliRunner

NOW = datetime(2026, 11, 26, 12, 0, tzinfo=timezone.utc)
KNOWN = {"runs": 4, "devices": 2, "left_ms": 90_000, "device_ms": 180_000}


@pytest.fixture
def study(client: Client) -> Study:
    return client.grid(objective, {"x": [1, 2, 3]}, name="digits")


def told(server: FakeConsole, study: Study, **estimate: Any) -> str:
    server.estimates[study.id] = estimate
    return str(study.progress())


def test_progress_has_the_finish_and_the_time_of_devices(server: FakeConsole, study: Study) -> None:
    server.finish(study.id, 0, value=0.5)
    server.estimates[study.id] = KNOWN
    progress = progress_of(study.refresh().row, NOW)
    assert (progress.done, progress.total, progress.devices) == (1, 3, 2)
    assert (progress.left_s, progress.device_s, progress.why) == (90, 180, None)
    assert progress.finish == NOW + timedelta(seconds=90)
    assert str(progress) == "1 of 3 trials, about 2 min left on 2 devices, 3 min of device time"


def test_it_says_why_nothing_is_known(server: FakeConsole, study: Study) -> None:
    head = "0 of 3 trials, unknown when it ends: "
    assert told(server, study, runs=0, devices=1, why="no_run") == (
        f"{head}no trial has finished since the server started"
    )
    assert told(server, study, runs=4, devices=0, device_ms=7_300_000, why="no_device") == (
        f"{head}no device computes it now; it needs about 2 h 2 min of device time"
    )
    assert told(server, study, runs=4, devices=0, why="paused") == f"{head}the study is paused"
    assert "how many trials it wants" in told(server, study, runs=4, devices=1, why="no_total")
    assert told(server, study, runs=4, devices=1, why="of_tomorrow") == f"{head}of_tomorrow"
    progress = study.progress()
    assert (progress.left_s, progress.finish, progress.why) == (None, None, "of_tomorrow")


def test_a_study_that_has_ended_has_no_estimate(server: FakeConsole, study: Study) -> None:
    study.cancel()
    progress = study.progress()
    assert (str(progress), progress.why) == ("0 of 3 trials, ended", "ended")


def test_the_command_and_the_notebook_show_it(server: FakeConsole, study: Study) -> None:
    server.estimates[study.id] = KNOWN
    text = "about 2 min left on 2 devices, 3 min of device time"
    settings = ["--url", server.url, "--token", server.token]
    run = CliRunner()
    shown = run.invoke(_cli.app, ["show", str(study.id), *settings]).output
    assert text in shown
    as_json = run.invoke(_cli.app, ["show", str(study.id), "--json", *settings]).output
    assert '"left_s": 90.0' in as_json
    assert text in study.refresh()._repr_html_()
    study.cancel()
    assert "estimate" not in study._repr_html_()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (59.4, "59 s"),
        (60, "1 min"),
        (3_570, "1 h"),
        (7_500, "2 h 5 min"),
        (86_400, "1 d"),
        (100_000, "1 d 3 h"),
    ],
)
def test_durations_have_two_units(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
