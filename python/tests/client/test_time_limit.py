"""Tests the time limit of a trial under an operator's ceiling (protocol.md, R68), with the real
server.

Needs ``HYPERFLOCK_TEST_SERVER_BIN``.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import hyperflock
import pytest
from hyperflock import Client
from hyperflock._bundle.bundle import bundle_objective
from hyperflock._cli import command as _cli
from hyperflock._client.submission import Submission
from hyperflock._model.spec import parse_spec
from hyperflock._transport import background_loop as _loop
from objectives import objective
from real_server import Server
from typer.testing import CliRunner

SPACE = {"x": [1, 2]}

Allow = Callable[[int | None], None]


@pytest.fixture
def allow(real: Server) -> Iterator[Allow]:
    """Yield a function that sets how many seconds a trial may take; None means any number."""
    with Client(real.console, real.credentials["admin_token"]) as admin:

        def ceiling(seconds: int | None) -> None:
            limit = None if seconds is None else seconds * 1000
            body = {"scope": "server", "time_limit_ms": limit}
            _loop.run(admin._core._http.post("/api/ceilings", body))

        yield ceiling
        ceiling(None)


def _limit_ms(real_client: Client, study: hyperflock.Study) -> Any:
    spec = _loop.run(real_client._core._http.get(f"/api/studies/{study.id}/spec"))
    return spec["limits"]["time_limit_ms"]


@pytest.mark.server
def test_a_study_that_names_no_limit_gets_an_hour_or_what_the_server_allows(
    real: Server, real_client: Client, allow: Allow
) -> None:
    for allowed, expected in [(None, 3600), (7200, 3600), (600, 600)]:
        allow(allowed)
        study = real_client.grid(objective, SPACE, name=f"under {allowed}")
        assert _limit_ms(real_client, study) == expected * 1000, allowed
    real_client.random(objective, {"x": hyperflock.uniform(0, 1)}, trials=2)
    real_client.sobol(objective, {"x": hyperflock.uniform(0, 1)}, trials=2)


@pytest.mark.server
def test_a_number_is_taken_as_it_is_or_refused(
    real: Server, real_client: Client, allow: Allow
) -> None:
    allow(600)
    with pytest.raises(hyperflock.ServerError) as caught:
        real_client.grid(objective, SPACE, time_limit_s=3600)
    assert (caught.value.code, caught.value.field) == ("ceiling_exceeded", "limits.time_limit_ms")
    assert _limit_ms(real_client, real_client.grid(objective, SPACE, time_limit_s=60)) == 60_000
    study = real_client.grid(objective, SPACE, name="as long as allowed", time_limit_s=0)
    for other in real_client.studies():
        if other.id != study.id and other.row.state == "running":
            other.cancel()
    with real.device() as device:
        lease = device.ready()
        assert lease is not None
        assert lease.time_limit_ms == 600_000
        device.complete(lease, 0.5)


@pytest.mark.server
def test_a_script_finds_its_study_again_under_another_ceiling(
    real_client: Client, allow: Allow
) -> None:
    allow(600)
    first = real_client.grid(objective, SPACE, name="script", once=True)
    for allowed in [900, None, 600]:
        allow(allowed)
        again = real_client.grid(objective, SPACE, name="script", once=True)
        assert again.id == first.id, allowed
    allow(None)
    larger = real_client.grid(objective, {"x": [1, 2, 3]}, name="script", once=True)
    assert (larger.id, len(larger)) == (first.id, 3)
    assert _limit_ms(real_client, larger) == 600_000
    with pytest.raises(hyperflock.StudyExistsError, match="limits"):
        real_client.grid(objective, {"x": [1, 2, 3]}, name="script", once=True, time_limit_s=60)


@pytest.mark.server
def test_the_command_line_leaves_the_limit_to_the_server(
    real: Server,
    real_client: Client,
    allow: Allow,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    allow(600)
    monkeypatch.setenv("HYPERFLOCK_URL", real.console)
    monkeypatch.setenv("HYPERFLOCK_TOKEN", real.credentials["researcher_token"])
    script = tmp_path / "train.py"
    script.write_text("def objective(trial):\n    return trial.params['x']\n")
    arguments = ["submit", str(script), "--space", '{"x": [1]}', "--name", "from a terminal"]
    said = CliRunner().invoke(_cli.app, arguments)
    assert said.exit_code == 0, said.output
    study = next(one for one in real_client.studies() if one.row.name == "from a terminal")
    assert _limit_ms(real_client, study) == 600_000
    refused = CliRunner().invoke(_cli.app, [*arguments, "--time-limit", "601"])
    assert isinstance(refused.exception, hyperflock.ServerError)
    assert refused.exception.code == "ceiling_exceeded"


def test_the_content_without_a_limit_is_that_of_an_hour() -> None:
    """An Optuna study is found again by its content, also one of an earlier version. For a server
    of an earlier version, a study without a limit has the limit of an hour.
    """
    bundle = bundle_objective(objective)
    hour, none, other = (
        Submission(bundle, SPACE, [], "name", time_limit_s=limit) for limit in (3600, None, 60)
    )
    assert hour.content_sha256 == none.content_sha256 != other.content_sha256
    assert json.loads(hour.body())["limits"] == {
        "time_limit_ms": 3_600_000,
        **json.loads(none.body())["limits"],
    }
    assert "time_limit_ms" not in json.loads(none.body())["limits"]
    assert parse_spec(none.body().decode()).limits == parse_spec(hour.body().decode()).limits
