"""Tests studies that get more points (protocol.md, R65), with the real server.

Needs ``HYPERFLOCK_TEST_SERVER_BIN``.
"""

from __future__ import annotations

from typing import Any

import hyperflock
import pytest
from hyperflock import Client, Study, integer
from hyperflock._cli import command as _cli
from hyperflock._transport.messages import Lease
from objectives import objective
from real_server import Server
from typer.testing import CliRunner

pytestmark = pytest.mark.server


def computed(real: Server, study: Study) -> list[dict[str, Any]]:
    """Let a device compute every trial, and return the parameters by number."""
    with real.device() as device:
        lease: Lease | None = device.ready()
        while lease:
            lease = device.complete(lease, float(lease.trial))
        study.wait(timeout_s=20)
    return [trial.params for trial in study.trials]


def test_a_finished_grid_gets_the_points_that_it_lacks(real: Server, real_client: Client) -> None:
    study = real_client.grid(objective, {"x": [1, 2], "y": ["a", "b"]}, name="grows")
    before = computed(real, study)
    values = [trial.value for trial in study.trials]
    assert study.extend({"y": ["c", "a", "b"], "x": [2, 1, 3]}) is study
    assert (study.state, len(study), study.done) == ("running", 9, 4)
    after = computed(real, study)
    assert after[:4] == before
    assert [trial.value for trial in study.trials][:4] == values
    assert {(p["x"], p["y"]) for p in after} == {(x, y) for x in (1, 2, 3) for y in "abc"}
    assert study.extend({"x": [1, 2, 3], "y": ["a", "b", "c"]}).state == "finished"
    study.extend({"x": [1, 2, 3, 4], "y": ["a", "b", "c"]})  # and once more
    assert computed(real, study)[:9] == after
    assert len(study) == 12


def test_a_grid_is_extended_while_it_runs(real: Server, real_client: Client) -> None:
    study = real_client.grid(objective, {"x": [1]}, name="runs")
    with real.device() as device:
        lease = device.ready()
        study.extend({"x": [1, 2]})
        following = device.complete(lease, 0.5)
        assert following is not None
        assert following.total == 2
        device.complete(following, 0.5)
    study.wait(timeout_s=20)
    assert [trial.params["x"] for trial in study.trials] == [1, 2]


def test_a_list_of_points_and_drawn_points_grow(real: Server, real_client: Client) -> None:
    listed = real_client.grid(objective, [{"x": 1}, {"x": 5}], name="listed")
    listed.extend([{"x": 5}, {"x": 7}, {"x": 1}])
    assert [p["x"] for p in computed(real, listed)] == [1, 5, 7]
    drawn = real_client.random(objective, {"x": integer(1, 1000)}, trials=2, name="drawn", seed=4)
    first = computed(real, drawn)
    drawn.extend(trials=5)
    points = computed(real, drawn)
    assert points[:2] == first
    assert points == [hyperflock.random_point({"x": integer(1, 1000)}, n, seed=4) for n in range(5)]


@pytest.mark.parametrize(
    ("space", "said"),
    [
        ({"x": [1, 3], "y": ["a"]}, '"x" has lost the value 2'),
        ({"x": [1, 2.0], "y": ["a"]}, '"x" has lost the value 2;'),
        ({"x": [1, 2, 3]}, 'The name "y" is missing'),
        ({"x": [1, 2], "y": ["a"], "z": [1]}, "There is a further name"),
    ],
)
def test_a_space_that_lost_something_is_refused(
    real_client: Client, space: dict[str, Any], said: str
) -> None:
    study = real_client.grid(objective, {"x": [1, 2], "y": ["a"]}, name="kept")
    with pytest.raises(hyperflock.ServerError) as caught:
        study.extend(space)
    assert caught.value.code == "space_changed"
    assert said in caught.value.message
    assert len(study.refresh()) == 2


def test_a_cancelled_study_stays_so_and_fewer_trials_are_refused(real_client: Client) -> None:
    drawn = real_client.sobol(objective, {"x": integer(1, 9)}, trials=4, name="sobol")
    with pytest.raises(hyperflock.ServerError, match="has 4 trials already"):
        drawn.extend(trials=3)
    drawn.cancel()
    with pytest.raises(hyperflock.ServerError) as caught:
        drawn.extend(trials=8)
    assert caught.value.code == "study_cancelled"


def test_a_script_that_submits_once_extends_its_study(real_client: Client) -> None:
    first = real_client.grid(objective, {"x": [1, 2]}, name="script", once=True)
    again = real_client.grid(objective, {"x": [2, 1, 3]}, name="script", once=True)
    assert (again.id, len(again)) == (first.id, 3)
    same = real_client.grid(objective, {"x": [2, 1, 3]}, name="script", once=True)
    assert (same.id, len(same)) == (first.id, 3)
    with pytest.raises(hyperflock.StudyExistsError) as caught:
        real_client.grid(objective, {"x": [1, 4]}, name="script", once=True)
    assert caught.value.code == "space_changed"
    assert caught.value.missing == [{"x": 4}]
    drawn = real_client.random(
        objective, {"x": integer(1, 9)}, trials=2, name="drawn once", once=True
    )
    more = real_client.random(
        objective, {"x": integer(1, 9)}, trials=6, name="drawn once", once=True
    )
    assert (more.id, len(more)) == (drawn.id, 6)


def test_the_command_extends(real: Server, real_client: Client) -> None:
    study = real_client.grid(objective, {"x": [1]}, name="by command")
    settings = ["--url", real.console, "--token", real.credentials["researcher_token"]]
    run = CliRunner()
    said = run.invoke(_cli.app, ["extend", str(study.id), "--space", '{"x": [1, 2]}', *settings])
    assert said.output == f"study {study.id} is running, 0 of 2 trials done\n"
    assert run.invoke(_cli.app, ["extend", str(study.id), *settings]).exit_code == 2
    lost = run.invoke(_cli.app, ["extend", str(study.id), "--space", '{"x": [2]}', *settings])
    assert lost.exit_code == 1
