"""Tests the sampler service and its command, with the fake console."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any
from unittest.mock import patch

import asked_objectives as given
import hyperflock
import hyperflock.optuna
import optuna
import pytest
from fake_asked import Devices
from fake_console import FakeConsole
from hyperflock import Client
from hyperflock._cli import command as _cli
from hyperflock._transport.http import Http
from hyperflock.optuna.owner import run as _run
from hyperflock.optuna.owner.owner import Owner
from hyperflock.optuna.owner.reconcile import Agreed, reconcile
from hyperflock.optuna.owner.service import Description, serve
from objectives import objective as plain
from optuna.trial import FrozenTrial, TrialState
from patience import LIMIT_S, until

optuna.logging.set_verbosity(optuna.logging.ERROR)
DONE = (TrialState.COMPLETE, TrialState.PRUNED)


def leave_after(count: int) -> Any:
    """Return a callback that ends the notebook when it has seen ``count`` trials."""
    seen: list[int] = []

    def callback(study: optuna.Study, trial: FrozenTrial) -> None:
        seen.append(trial.number)
        if len(seen) == count:
            raise KeyboardInterrupt

    return callback


class Service:
    """Runs `serve` in a thread."""

    def __init__(self, client: Client, description: Description) -> None:
        self.told: list[str] = []
        self.failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(client, description), daemon=True)
        self._thread.start()

    def _run(self, client: Client, description: Description) -> None:
        try:
            serve(client, 1, description, self.told.append)
        except BaseException as error:
            self.failure = error

    def until(self, told: str) -> None:
        def is_told() -> bool:
            assert self.failure is None
            return told in self.told

        until(f"'{told}'", is_told)

    def join(self) -> None:
        self._thread.join(LIMIT_S)
        assert not self._thread.is_alive()
        if self.failure is not None:
            raise self.failure


@pytest.mark.parametrize("storage", [None, "sqlite:///{}/study.db"])
def test_service_ends_what_a_closed_notebook_began(
    server: FakeConsole, client: Client, tmp_path: Path, storage: str | None
) -> None:
    storage = storage and storage.format(tmp_path)
    study = optuna.create_study(study_name="mine", storage=storage)
    with Devices(server, given.curved, 2):
        with pytest.raises(KeyboardInterrupt):
            hyperflock.optuna.optimize(
                study, given.curved, 10, callbacks=[leave_after(2)], client=client
            )
        service = Service(client, Description(storage, sampler="sampler_factories:make_sampler"))
        service.join()
    assert service.told == ["sampling", "finished"]
    assert server.asked[1].state == "finished"
    trials = study.trials if storage else client.study(1).to_optuna().trials
    assert [t.number for t in trials] == list(range(10))
    assert all(t.state in DONE for t in trials)


def test_service_counts_once_what_ends_while_it_takes_over(
    server: FakeConsole, client: Client
) -> None:
    go = threading.Event()

    def held(trial: Any) -> float:
        x = float(trial.suggest_float("x", 0, 1))
        if trial.number == 0:
            assert go.wait(LIMIT_S)
        return x

    def agreed(owner: Owner, http: Http) -> Agreed:
        found = reconcile(owner, http)
        go.set()
        asked = server.asked[1]
        until("the first trial", lambda: 0 in {row["trial"] for row in asked.finished()})
        return found

    study = optuna.create_study(study_name="mine")
    with Devices(server, held, 2):
        with pytest.raises(KeyboardInterrupt):
            hyperflock.optuna.optimize(
                study, given.square, 6, callbacks=[leave_after(2)], client=client
            )
        with patch.object(_run, "reconcile", agreed):
            Service(client, Description()).join()
    assert [t.number for t in client.study(1).to_optuna().trials] == list(range(6))


def test_service_steps_back_for_a_notebook_and_comes_again(
    server: FakeConsole, client: Client, tmp_path: Path
) -> None:
    storage = f"sqlite:///{tmp_path}/study.db"
    study = optuna.create_study(study_name="mine", storage=storage)
    with Devices(server, given.square):
        with pytest.raises(KeyboardInterrupt):
            hyperflock.optuna.optimize(
                study, given.square, callbacks=[leave_after(2)], client=client
            )
        service = Service(client, Description(storage))
        service.until("sampling")
        before = len(server.asked[1].finished())
        again = optuna.load_study(study_name="mine", storage=storage)
        with pytest.raises(KeyboardInterrupt):
            hyperflock.optuna.optimize(
                again, given.square, before + 8, callbacks=[leave_after(3)], client=client
            )
        service.join()
    assert service.told == ["sampling", "standing by", "sampling", "finished"]
    assert all(t.state.is_finished() for t in study.trials)
    complete = [t for t in study.trials if t.state is TrialState.COMPLETE]
    assert len(complete) == len(server.asked[1].finished()) == server.asked[1].target


def test_service_and_notebook_end_when_their_study_was_deleted(
    server: FakeConsole, client: Client
) -> None:
    go = threading.Event()

    def held(trial: Any) -> float:
        assert go.wait(LIMIT_S)
        return given.square(trial)

    study = optuna.create_study(study_name="mine")
    left: list[hyperflock.HyperflockError] = []

    def notebook() -> None:
        try:
            hyperflock.optuna.optimize(study, given.square, 6, client=client)
        except hyperflock.HyperflockError as error:
            left.append(error)

    with Devices(server, held, 2):
        thread = threading.Thread(target=notebook)
        thread.start()
        until("a trial", lambda: study.trials)
        service = Service(client, Description())
        service.until("standing by")
        with server.lock:
            del server.specs[1]  # as if it was deleted while neither process was connected
        server.kick()
        with pytest.raises(hyperflock.NotFoundError):
            service.join()
        thread.join(LIMIT_S)
        go.set()
    assert [error.code for error in left] == ["unknown_study"]
    assert all(t.state.is_finished() for t in study.trials)


def test_service_stops_where_an_objective_raises(server: FakeConsole, client: Client) -> None:
    study = optuna.create_study(study_name="bad")
    hyperflock.optuna.optimize(study, given.raising, 0, client=client)
    server.asked[1].target = 3
    with Devices(server, given.raising), pytest.raises(hyperflock.ObjectiveError):
        Service(client, Description()).join()
    server.asked[1].target = 3
    with Devices(server, given.raising):
        Service(client, Description(catch=True)).join()
    assert [row["state"] for row in server.asked[1].finished()] == ["failed"] * 3


def test_service_whose_sampler_cannot_be_asked_leaves_no_trial_running(
    server: FakeConsole, client: Client, tmp_path: Path
) -> None:
    storage = f"sqlite:///{tmp_path}/study.db"
    study = optuna.create_study(study_name="mine", storage=storage)
    hyperflock.optuna.optimize(study, given.square, 0, client=client)
    server.asked[1].target = 3
    service = Service(client, Description(storage, sampler="sampler_factories:Unable"))
    with Devices(server, given.square), pytest.raises(ZeroDivisionError):
        service.join()
    assert [t.state for t in study.trials] == [TrialState.FAIL]


def test_command_prints_what_becomes_of_each_study(
    server: FakeConsole,
    client: Client,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HYPERFLOCK_URL", server.url)
    monkeypatch.setenv("HYPERFLOCK_TOKEN", server.token)
    client.grid(plain, {"x": [1.0]})
    study = optuna.create_study(study_name="mine", directions=["minimize", "maximize"])
    hyperflock.optuna.optimize(study, given.two_ways, 0, client=client)
    server.asked[2].target = 4
    with Devices(server, given.two_ways, study=2):
        assert _cli.run(["sampler", "2", "--json"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert told == [{"study": 2, "state": "sampling"}, {"study": 2, "state": "finished"}]
    assert _cli.run(["sampler", "1"]) == 1
    assert "error [not_asked]: study 1:" in capsys.readouterr().err
    assert _cli.run(["watch", "2"]) == 0
    shown = capsys.readouterr().out
    last = shown.splitlines()[-1]
    assert last.startswith("4 complete trials of 2 objectives: no other trial beats ")
    assert _cli.run(["show", "2"]) == 0
    shown = capsys.readouterr().out
    assert "4 of 4 done" in shown
    assert "minimize, maximize" in shown
    assert "none now, was sampler@" in shown
    assert "waits for one" not in shown
    assert "params_y" in client.study(2).export("csv")
    assert "waits for one" not in client.study(2)._repr_html_()
    with pytest.raises(hyperflock.NoCompleteTrialError, match="2 objectives"):
        _ = client.study(2).best_trial
