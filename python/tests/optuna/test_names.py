"""Tests Optuna studies without a name: the server shows the objective's name, but keeps the studies
apart.
"""

from __future__ import annotations

from pathlib import Path

import asked_objectives as given
import optuna
from fake_asked import Devices
from fake_console import FakeConsole
from hyperflock import Client
from hyperflock.optuna import optimize
from hyperflock.optuna.owner import reconcile as _reconcile
from hyperflock.optuna.owner.service import Description, serve
from optuna.samplers import RandomSampler


def _unnamed(storage: str | None = None) -> optuna.Study:
    return optuna.create_study(storage=storage, sampler=RandomSampler(seed=1))


def _run(server: FakeConsole, client: Client, study: optuna.Study, at: int, n_trials: int) -> None:
    with Devices(server, given.square, study=at):
        optimize(study, given.square, n_trials, client=client)


def test_each_is_a_study_of_its_own_and_goes_on(
    server: FakeConsole, client: Client, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/study.db"
    for at, study in enumerate((_unnamed(), _unnamed(), _unnamed(url), _unnamed(url)), 1):
        _run(server, client, study, at, 2)
        _run(server, client, study, at, 1)
        assert [trial.number for trial in study.trials] == [0, 1, 2]
    assert [(row.id, row.name) for row in client.studies()] == [
        (at, "square") for at in (4, 3, 2, 1)
    ]
    _run(server, client, optuna.create_study(study_name="square"), 5, 1)
    _run(server, client, _unnamed(), 6, 0)
    assert len(server.specs) == 6


def test_a_name_that_somebody_gave_is_the_server_s(server: FakeConsole, client: Client) -> None:
    optimize(optuna.create_study(study_name="digits"), given.square, 0, client=client)
    optimize(_unnamed(), given.square, 0, client=client, name="mine")
    assert [row.name for row in client.studies()] == ["mine", "digits"]
    assert all("asked_as" not in spec.provenance for spec in server.specs.values())


def test_one_that_was_shown_by_its_own_name_goes_on(
    server: FakeConsole, client: Client, tmp_path: Path
) -> None:
    for at, study in enumerate((_unnamed(), _unnamed(f"sqlite:///{tmp_path}/study.db")), 1):
        _run(server, client, study, at, 1)
        # This is a study from the time when the server did not yet show the objective's name.
        server.specs[at].name = study.study_name
        del server.specs[at].provenance["asked_as"]
        _run(server, client, study, at, 1)
        assert len(study.trials) == 2
    _run(server, client, client.study(1).to_optuna(), 1, 1)
    assert len(server.specs) == 2


def test_what_is_made_of_the_server_s_goes_on_with_it(server: FakeConsole, client: Client) -> None:
    for at, study in enumerate((_unnamed(), _unnamed()), 1):
        _run(server, client, study, at, 2)
        again = client.study(at).to_optuna()
        assert again.study_name == study.study_name
        _run(server, client, again, at, 1)
        assert len(again.trials) == 3
    assert len(server.specs) == 2


def test_the_sampler_finds_it_in_its_storage(
    server: FakeConsole, client: Client, tmp_path: Path
) -> None:
    url = f"sqlite:///{tmp_path}/study.db"
    study = _unnamed(url)
    optimize(study, given.square, 0, client=client)
    server.asked[1].target, server.asked[1].state = 2, "running"
    with Devices(server, given.square):
        serve(client, 1, Description(storage=url))
    assert len(study.trials) == 2


def test_trials_of_an_earlier_study_are_known_as_its_own(
    server: FakeConsole, client: Client
) -> None:
    one, other = _unnamed(), _unnamed()
    for study in (one, other):
        optimize(study, given.square, 0, client=client)
    http = client._core._http
    assert [_reconcile._is_of(one, http, at) for at in (1, 2)] == [True, False]
    assert [_reconcile._is_of(other, http, at) for at in (1, 2)] == [False, True]
