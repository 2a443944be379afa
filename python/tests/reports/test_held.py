"""Tests what people read about a study of which an administrator lets nothing run."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from fake_console import FakeConsole
from hyperflock import Client
from hyperflock._cli import tables
from hyperflock._client.idle_notice import Waiting
from hyperflock._reports import html
from hyperflock._reports.export import study_dict
from hyperflock._reports.held import held_text
from hyperflock._transport.http import Http, Origin
from objectives import objective

FROZEN = {"code": "project_frozen", "reason": "too much \x1b[31mtraffic"}


@pytest.fixture
def study(client: Client) -> Any:
    """Return a study of two trials."""
    return client.grid(objective, {"x": [1.0, 2.0]})


def _held(server: FakeConsole, held: dict[str, str]) -> None:
    with server.lock:
        server.held[1] = held


def test_a_study_says_why_nothing_of_it_runs(study: Any, server: FakeConsole) -> None:
    assert study.held == ""
    _held(server, FROZEN)
    study.refresh()
    assert study.held.startswith("an administrator froze the project of this study: too much ")
    assert "\x1b" not in study.held
    assert html.state_text(study.row) == "stopped by an administrator"
    assert study_dict(study.row)["held"]["code"] == "project_frozen"
    assert ("held", study.held) in tables.study_lines(study)
    assert "froze the project" in study._repr_html_()


@pytest.mark.parametrize(
    ("code", "state"),
    [
        ("owner_suspended", "stopped by an administrator"),
        ("bundle_barred", "stopped by an administrator"),
        ("approval_pending", "waiting for approval"),
        ("approval_refused", "refused"),
        ("of_a_later_server", "stopped by an administrator"),
    ],
)
def test_each_reason_has_a_text(study: Any, server: FakeConsole, code: str, state: str) -> None:
    _held(server, {"code": code})
    row = study.refresh().row
    assert html.state_text(row) == state
    assert "administrator" in held_text(row)


def test_somebody_who_waits_is_told(study: Any, server: FakeConsole) -> None:
    _held(server, {"code": "approval_pending"})
    waiting = Waiting(Http(Origin.parse(server.url), server.token), study.id)
    assert asyncio.run(waiting._reason()) == "it waits for approval by an administrator"
