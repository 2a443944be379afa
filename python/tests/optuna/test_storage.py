"""Tests a server's studies as an Optuna storage: its content, and that it makes few requests."""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import asked_objectives as given
import hyperflock.optuna
import optuna
import pytest
from dashboard_app import asked
from fake_asked import Devices
from fake_console import NOW, FakeConsole
from hyperflock import Client, HyperflockError
from hyperflock._transport import messages as _protocol
from hyperflock.optuna import Storage
from objectives import objective
from optuna.distributions import CategoricalDistribution
from optuna.storages import InMemoryStorage
from optuna.trial import FrozenTrial, TrialState
from real_server import Server

optuna.logging.set_verbosity(optuna.logging.ERROR)

SPACE: dict[str, list[Any]] = {"rate": [0.5, 0.25], "act": ["relu", None]}


def plain(trial: FrozenTrial) -> tuple[Any, ...]:
    return (
        trial.number,
        trial.state,
        trial.values,
        trial.params,
        trial.distributions,
        trial.intermediate_values,
        trial.user_attrs,
    )


def test_view_of_an_asked_study_is_the_researchers_own(server: FakeConsole, client: Client) -> None:
    own = asked(server, client, 12)
    view = optuna.load_study(study_name="mine", storage=Storage(client))
    assert [plain(t) for t in view.trials] == [plain(t) for t in own.trials]
    assert {t.state for t in view.trials} == {TrialState.COMPLETE, TrialState.PRUNED}
    assert view.best_trial.params == own.best_trial.params
    assert view.direction == own.direction
    columns = ["number", "value", "params_x", "params_n", "params_kind", "user_attrs_kind", "state"]
    there, here = view.trials_dataframe(), own.trials_dataframe()
    assert there[columns].equals(here[columns])
    assert all(t.system_attrs == {} for t in view.trials)
    figure = optuna.visualization.plot_intermediate_values(view)
    assert len(figure.data) == 12


def test_what_a_caller_does_to_its_trials_stays_there(server: FakeConsole, client: Client) -> None:
    def objective(trial: Any) -> float:
        trial.set_user_attr("notes", {"seen": [1, 2]})
        return given.curved(trial)

    own = optuna.create_study(study_name="mine", sampler=optuna.samplers.RandomSampler(seed=7))
    with Devices(server, objective):
        hyperflock.optuna.optimize(own, given.curved, 4, client=client)
    view = optuna.load_study(study_name="mine", storage=Storage(client))
    for trial in view.trials:
        trial.user_attrs["notes"]["seen"].append(3)
        for told in (trial.params, trial.distributions, trial.intermediate_values, trial.values):
            assert told
            told.clear()
        trial.state = TrialState.FAIL
    assert [plain(t) for t in view.trials] == [plain(t) for t in own.trials]


def test_view_of_a_grid_has_what_runs_and_stands_in_for_what_does_not(
    server: FakeConsole, client: Client
) -> None:
    study = client.grid(objective, SPACE, name="grid", direction="maximize")
    storage = Storage(client)
    assert storage.get_all_trials(study.id) == []
    server.finish(study.id, 2, value=0.75)
    server.begin(study.id, 0)
    trials = storage.get_all_trials(study.id)
    assert [t.state for t in trials] == [TrialState.RUNNING, TrialState.FAIL, TrialState.COMPLETE]
    assert trials[0].params == {"rate": 0.5, "act": "relu"}
    assert trials[0].intermediate_values == {0: 0.5}
    assert trials[2].params == {"rate": 0.25, "act": "relu"}
    assert trials[2].distributions["act"] == CategoricalDistribution(["relu", None])
    assert trials[2].datetime_start == datetime.datetime.fromtimestamp(NOW / 1000)
    assert trials[2].duration == datetime.timedelta(seconds=1)
    assert (trials[1].params, trials[1].duration) == ({}, datetime.timedelta())
    assert storage.get_best_trial(study.id).number == 2
    # A failed trial that was issued again is first running and then complete.
    server.finish(study.id, 0, "failed")
    assert storage.get_trial(trials[0]._trial_id).state is TrialState.FAIL
    server.begin(study.id, 0)
    assert storage.get_trial(trials[0]._trial_id).state is TrialState.RUNNING
    server.finish(study.id, 0, value=0.5)
    server.finish(study.id, 1, value=1.5)
    assert [t.value for t in storage.get_all_trials(study.id)] == [0.5, 1.5, 0.75]
    assert [t.value for t in trials] == [None, None, 0.75]


def test_trials_that_wait_for_a_device_wait(server: FakeConsole, client: Client) -> None:
    asked(server, client, 2)
    trials = server.asked[1].trials
    server.asked[1].trials[3] = type(trials[0])(3)
    server.asked[1].trials[2] = type(trials[0])(2, attempt=1, state="running", points=[(0, 4.5)])
    found = Storage(client).get_all_trials(1)
    assert [t.state.name for t in found][2:] == ["RUNNING", "WAITING"]
    assert found[2].intermediate_values == {0: 4.5}
    for trial in found[:3]:
        trial._validate()


def test_finished_trials_are_fetched_once(server: FakeConsole, client: Client) -> None:
    study = client.grid(objective, {"x": list(range(10_000))})
    server.finish(study.id, 0, value=0.0)
    (row,) = server.finished[study.id]
    server.finished[study.id] = [
        {**row, "trial": n, "seq": n + 1, "params": f'{{"x": {n}}}', "values": [float(n)]}
        for n in range(9_999)
    ]
    server._seq = 9_999
    storage = Storage(client)
    assert storage.get_n_trials(study.id) == 9_999
    server.requests.clear()
    server.finish(study.id, 9_999, value=-1.0)
    assert storage.get_best_trial(study.id).number == 9_999
    base = f"GET /api/studies/{study.id}"
    assert server.requests == [
        f"{base}/unfinished?points=1",
        f"{base}/trials?after=9999&limit=500&points=1",
        f"{base}/trials?after=10000&limit=500&points=1",
    ]
    server.requests.clear()
    assert len(storage.get_all_trials(study.id, deepcopy=False)) == 10_000
    assert len(server.requests) == 2


def test_curves_that_a_page_leaves_out_are_fetched(server: FakeConsole, client: Client) -> None:
    own = asked(server, client, 4)
    server.asked[1].points_in_pages = False
    found = Storage(client).get_all_trials(1)
    assert [t.intermediate_values for t in found] == [t.intermediate_values for t in own.trials]


def test_rows_that_break_the_protocol_are_errors_of_a_code(
    server: FakeConsole, client: Client
) -> None:
    study = client.grid(objective, SPACE)
    server.finish(study.id, 0, value=0.5, attempts="many")
    with pytest.raises(HyperflockError) as caught:
        Storage(client).get_all_trials(study.id)
    assert (caught.value.code, caught.value.field) == ("bad_field", "attempts")


def test_studies_of_one_name_and_of_none(server: FakeConsole, client: Client) -> None:
    for direction in ("minimize", "maximize"):
        client.grid(objective, {"x": [1]}, name="twice", direction=direction)
    storage = Storage(client)
    assert storage.get_study_id_from_name("twice") == 2
    assert [(s._study_id, s.direction.name) for s in storage.get_all_studies()] == [
        (1, "MINIMIZE"),
        (2, "MAXIMIZE"),
    ]
    calls: list[Callable[[], object]] = [
        lambda: storage.get_study_id_from_name("none"),
        lambda: storage.get_study_directions(3),
        lambda: storage.get_all_trials(3),
        lambda: storage.get_trial(0),
        lambda: storage.get_trial(2**32),
    ]
    for call in calls:
        with pytest.raises(KeyError):
            call()


def refused(call: Callable[[], object]) -> str:
    with pytest.raises(HyperflockError) as caught:
        call()
    assert caught.value.code == "read_only_storage"
    return caught.value.message


def test_a_study_that_was_deleted_is_unknown(server: FakeConsole, client: Client) -> None:
    grid = client.grid(objective, SPACE)
    view = Storage(client)
    assert view.get_all_trials(grid.id) == []
    grid.cancel().delete()
    for _ in range(2):
        with pytest.raises(KeyError):
            view.get_all_trials(grid.id)
    with pytest.raises(KeyError):
        view.get_study_name_from_id(grid.id)
    assert view.get_all_studies() == []


def test_view_begins_and_changes_nothing(server: FakeConsole, client: Client) -> None:
    asked(server, client, 1)
    storage = Storage(client)
    study = optuna.load_study(study_name="mine", storage=storage)
    trial = study.trials[0]._trial_id
    before = len(server.requests)
    refused(lambda: optuna.create_study(storage=storage))
    refused(lambda: storage.delete_study(1))
    assert "to_optuna" in refused(study.ask)
    refused(lambda: study.optimize(given.square, 1))
    refused(lambda: study.enqueue_trial({"x": 1}))
    refused(lambda: storage.set_trial_param(trial, "x", 1.0, CategoricalDistribution([1])))
    refused(lambda: storage.set_trial_state_values(trial, TrialState.FAIL))
    refused(lambda: storage.set_trial_intermediate_value(trial, 0, 1.0))
    refused(lambda: storage.set_trial_user_attr(trial, "a", 1))
    refused(lambda: storage.set_trial_system_attr(trial, "a", 1))
    assert "attributes=" in refused(lambda: study.set_user_attr("a", 1))
    refused(lambda: hyperflock.optuna.optimize(study, given.square, 1, client=client))
    assert not [r for r in server.requests[before:] if not r.startswith(("GET", "HEAD"))]


def test_attributes_of_studies_are_kept_where_the_researcher_says(
    server: FakeConsole, client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked(server, client, 2)
    kept = f"sqlite:///{tmp_path}/kept.db"
    study = optuna.load_study(study_name="mine", storage=Storage(client, attributes=kept))
    assert study.user_attrs == {}
    study.set_user_attr("paper", "third figure")
    study.set_metric_names(["loss"])
    assert any("loss" in column for column in study.trials_dataframe().columns)
    again = Storage(client, attributes=kept)
    (found,) = again.get_all_studies()
    assert found.user_attrs == {"paper": "third figure"}
    assert ["loss"] in again.get_study_system_attrs(1).values()
    # Each study has its own attributes.
    assert client.grid(objective, {"x": [1]}).id == 2
    assert again.get_study_user_attrs(2) == {}
    monkeypatch.setenv("HYPERFLOCK_TOKEN", server.token)
    content = pickle.dumps(again)
    assert server.token.encode() not in content
    assert pickle.loads(content).get_study_user_attrs(1) == {"paper": "third figure"}
    assert Storage(client, attributes=InMemoryStorage()).get_study_user_attrs(1) == {}


@pytest.mark.server
def test_view_of_a_real_servers_grid_while_it_runs(real: Server) -> None:
    with real.client() as client, real.device() as first, real.device() as second:
        study = client.grid(objective, SPACE, name="running", direction="maximize")
        storage = Storage(client)
        assert storage.get_all_trials(study.id) == []
        lease, other = first.ready(), second.ready()
        first.send(_protocol.Report(lease.attempt, 1, [(0, 0.25), (2, 0.5)]))
        first.expect(_protocol.Ack)
        trials = storage.get_all_trials(study.id)
        assert [t.state for t in trials] == [TrialState.RUNNING] * 2
        assert [t.intermediate_values for t in trials] == [{0: 0.25, 2: 0.5}, {}]
        second.result(other, outcome="complete", values=[0.75], points=[(1, 2.0)])
        trials = storage.get_all_trials(study.id)
        assert [t.state for t in trials][:2] == [TrialState.RUNNING, TrialState.COMPLETE]
        assert (trials[1].value, trials[1].intermediate_values) == (0.75, {1: 2.0})
        assert trials[1].params == {"rate": 0.5, "act": None}
        # Cancelling makes all unfinished trials fail. More than two trials exist, because a device
        # that asks for work gets another trial.
        study.cancel()
        trials = storage.get_all_trials(study.id)
        assert [t.state for t in trials][:2] == [TrialState.FAIL, TrialState.COMPLETE]
        assert all(t.state.is_finished() and t.duration is not None for t in trials)
