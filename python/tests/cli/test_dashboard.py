"""Tests optuna-dashboard on a server's studies: the real program answers its pages' requests."""

from __future__ import annotations

import json
import logging
import socket
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import optuna
import pytest
from dashboard_app import Dashboard, asked
from fake_console import FakeConsole
from hyperflock import Client
from hyperflock._cli import command as _cli
from hyperflock._cli import dashboard as _cli_dashboard
from hyperflock._cli.dashboard import guarded
from hyperflock.optuna import Storage
from objectives import objective
from optuna.trial import TrialState

optuna.logging.set_verbosity(optuna.logging.ERROR)


def test_dashboard_shows_an_asked_study_and_a_grid(server: FakeConsole, client: Client) -> None:
    own = asked(server, client, 8)
    grid = client.grid(objective, {"x": [1, 2]}, name="grid", direction="maximize")
    server.finish(grid.id, 1, value=0.5)
    server.begin(grid.id, 0)
    dashboard = Dashboard(Storage(client))
    status, told = dashboard.ask("/api/studies")
    assert status.startswith("200")
    assert {(s["study_id"], s["study_name"]) for s in told["study_summaries"]} == {
        (1, "mine"),
        (2, "grid"),
    }
    status, told = dashboard.ask("/api/studies/1?after=0")
    assert status.startswith("200")
    assert [t["state"] for t in told["trials"]] == [
        {TrialState.COMPLETE: "Complete", TrialState.PRUNED: "Pruned"}[t.state] for t in own.trials
    ]
    first = told["trials"][0]
    assert {p["name"]: p["param_external_value"] for p in first["params"]} == {
        name: str(value) for name, value in own.trials[0].params.items()
    }
    assert [(p["step"], p["value"]) for p in first["intermediate_values"]] == list(
        own.trials[0].intermediate_values.items()
    )
    assert told["best_trials"][0]["number"] == own.best_trial.number
    status, told = dashboard.ask("/api/studies/2?after=0")
    assert [t["state"] for t in told["trials"]] == ["Running", "Complete"]
    assert dashboard.ask("/api/studies/3?after=0")[0].startswith("404")
    assert "<html" in dashboard.ask("/dashboard")[1]
    status, told = dashboard.ask("/api/studies/1/param_importances?evaluator=ped_anova")
    assert status.startswith("200")
    assert {item["name"] for item in told["param_importances"][0]} == {"x", "n", "kind"}
    assert len(dashboard.ask("/csv/1")[1].splitlines()) == 9


def test_notes_are_written_where_there_is_a_place_for_them(
    server: FakeConsole, client: Client, tmp_path: Path
) -> None:
    asked(server, client, 1)
    note = {"version": 1, "body": "the third figure"}
    kept = f"sqlite:///{tmp_path}/notes.db"
    dashboard = Dashboard(Storage(client, attributes=kept))
    assert dashboard.ask("/api/studies/1/note", "PUT", note)[0].startswith("204")
    told = Dashboard(Storage(client, attributes=kept)).ask("/api/studies/1?after=0")[1]
    assert told["note"] == note
    without = Dashboard(Storage(client))
    assert without.ask("/api/studies/1?after=0")[1]["note"]["body"] == ""
    status, told = without.ask("/api/studies/1/note", "PUT", note)
    assert status == "403 Forbidden"
    assert told["reason"].endswith(" [read_only_storage]")
    assert "attributes=" in told["reason"]


def test_what_cannot_be_changed_is_told_and_not_logged(
    server: FakeConsole, client: Client, capfd: pytest.CaptureFixture[str]
) -> None:
    study = asked(server, client, 1)
    logged: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: logged.append(record.getMessage())  # type: ignore[method-assign]
    log = logging.getLogger("optuna_dashboard")
    log.addHandler(handler)
    try:
        dashboard = Dashboard(Storage(client))
        for path, method, body in (
            ("/api/studies/1", "DELETE", {}),
            ("/api/studies", "POST", {"study_name": "b", "directions": ["minimize"]}),
            ("/api/studies/1/rename", "POST", {"study_name": "b"}),
        ):
            status, told = dashboard.ask(path, method, body)
            assert (status, list(told)) == ("403 Forbidden", ["reason"])
            assert told["reason"].startswith("the view of a server's studies ")
        assert dashboard.ask("/api/studies/1?after=0")[0].startswith("200")
        server.token = "another"
        status, told = Dashboard(Storage(client)).ask("/api/studies")
        assert status == "502 Bad Gateway"
        assert told["reason"].endswith("[unauthorized]")
        assert logged == []
        # An error that Hyperflock did not raise still shows the dashboard's own error page.
        with patch.object(Storage, "get_all_studies", side_effect=ZeroDivisionError("odd")):
            status, told = dashboard.ask("/api/studies")
        assert (status[:3], told["reason"]) == ("500", "internal server error")
        assert "odd" in logged[0]
    finally:
        log.removeHandler(handler)
    assert study.trials
    assert "Traceback" not in "".join(capfd.readouterr())


def test_command_serves_it(server: FakeConsole, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["dashboard", "--url", server.url, "--token", server.token, "--port", "8099"]
    with patch.object(_cli_dashboard, "make_server") as served:
        assert _cli.run([*arguments, "--json"]) == 0
        assert json.loads(capsys.readouterr().out) == {"url": "http://127.0.0.1:8099"}
        assert _cli.run(arguments) == 0
        assert capsys.readouterr().out == (
            "optuna-dashboard at http://127.0.0.1:8099; Ctrl-C ends it\n"
        )
        host, port, app = served.call_args.args
        assert (host, port) == ("127.0.0.1", 8099)
        assert Dashboard(app=app).ask("/api/studies")[1] == {"study_summaries": []}
        assert served.return_value.serve_forever.called
        assert _cli.run([*arguments[:-3], "wrong"]) == _cli.EXIT_REFUSED
    assert "[unauthorized]" in capsys.readouterr().err
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert _cli.run([*arguments[:-1], str(port)]) == _cli.EXIT_REFUSED
    assert "[cannot_listen]" in capsys.readouterr().err
    with patch.dict(sys.modules, {"optuna_dashboard": None}):
        assert _cli.run(arguments) == _cli.EXIT_REFUSED
    assert "[no_dashboard]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("mimetype", "shown"),
    [
        ("image/png", "image/png"),
        ("text/plain; charset=utf-8", "text/plain; charset=utf-8"),
        ("image/svg+xml", None),
        ("text/html", None),
        ("TEXT/HTML;x=image/png", None),
        ("application/pdf", None),
    ],
)
def test_a_trials_file_runs_nothing_on_the_dashboards_page(
    mimetype: str, shown: str | None
) -> None:
    def app(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Type", mimetype), ("X-Kept", "1")])
        return [b"<script>"]

    asked: dict[str, str] = {}
    environ = {"PATH_INFO": "/artifacts/1/2/3"}
    body = guarded(app)(environ, lambda status, headers: asked.update(headers))
    assert list(body) == [b"<script>"]
    assert asked == {
        "Content-Type": shown or "application/octet-stream",
        "X-Kept": "1",
        "Content-Security-Policy": "default-src 'none'; sandbox; frame-ancestors 'none'",
        "X-Content-Type-Options": "nosniff",
    }
    guarded(app)({"PATH_INFO": "/dashboard"}, lambda status, headers: asked.update(headers))
    assert asked["Content-Type"] == mimetype
