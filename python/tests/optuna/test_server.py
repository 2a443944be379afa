"""Tests Optuna studies on the real server. The tests act as the devices, over WebSockets.

Needs ``HYPERFLOCK_TEST_SERVER_BIN``, as test_against_server.py does.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import asked_objectives as given
import hyperflock
import hyperflock.optuna
import optuna
import pytest
from hyperflock import Client
from optuna.samplers import RandomSampler, TPESampler
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState
from real_server import Server
from socket_phones import Phones
from told import told

pytestmark = pytest.mark.server
optuna.logging.set_verbosity(optuna.logging.ERROR)


@pytest.fixture
def client(real: Server) -> Iterator[Client]:
    with real.client() as made:
        yield made


def test_one_device_and_a_seeded_tpe_give_what_plain_optuna_gives(
    real: Server, client: Client
) -> None:
    pruner = optuna.pruners.MedianPruner(2)
    plain = optuna.create_study(sampler=TPESampler(seed=3), pruner=pruner)
    plain.optimize(given.curved, n_trials=20)
    study = optuna.create_study(sampler=TPESampler(seed=3), pruner=pruner)
    with Phones(real, given.curved):
        hyperflock.optuna.optimize(study, given.curved, 20, client=client)
    assert told(study) == told(plain)
    found = client.studies()[0]
    assert (found.state, found.row.total, found.row.wanted) == ("finished", 20, 20)
    assert told(found.to_optuna()) == told(plain)
    view = optuna.load_study(study_name=found.name, storage=hyperflock.optuna.Storage(client))
    assert told(view) == told(plain)


def test_several_devices_and_objectives(real: Server, client: Client) -> None:
    study = optuna.create_study(directions=["minimize", "maximize"])
    with Phones(real, given.two_ways, 3):
        hyperflock.optuna.optimize(study, given.two_ways, 12, client=client)
        hyperflock.optuna.optimize(study, given.two_ways, 3, client=client)
    assert [t.number for t in study.trials] == list(range(15))
    assert all(t.state is TrialState.COMPLETE for t in study.trials)
    assert told(client.studies()[0].to_optuna()) == told(study)


def test_what_an_objective_raises_ends_the_call(real: Server, client: Client) -> None:
    study = optuna.create_study(sampler=RandomSampler(seed=2))
    with Phones(real, given.failing), pytest.raises(hyperflock.ObjectiveError) as caught:
        hyperflock.optuna.optimize(study, given.failing, 50, client=client)
    assert "NotToday" in caught.value.traceback
    again = optuna.create_study(sampler=RandomSampler(seed=2))
    with Phones(real, given.failing):
        hyperflock.optuna.optimize(again, given.failing, 6, catch=ValueError, client=client)
    assert {t.state for t in again.trials} == {TrialState.COMPLETE, TrialState.FAIL}


def test_trials_that_cannot_travel_are_holes_to_the_server(real: Server, client: Client) -> None:
    study = optuna.create_study()
    for notes in ("n" * 40_000, "short", "n" * 40_000):
        study.enqueue_trial({"x": 2.0}, user_attrs={"notes": notes})
    with Phones(real, given.square):
        hyperflock.optuna.optimize(study, given.square, 4, client=client)
    states = [TrialState.FAIL, TrialState.COMPLETE, TrialState.FAIL, TrialState.COMPLETE]
    assert [t.state for t in study.trials] == states
    held = client.studies()[0]
    assert (held.row.state, held.row.total, held.row.done) == ("finished", 2, 2)
    assert [t.state for t in held.to_optuna().trials] == states


def test_ctrl_c_and_another_owner_of_the_same_storage(
    real: Server, client: Client, tmp_path: Path
) -> None:
    storage = JournalStorage(JournalFileBackend(str(tmp_path / "journal.log")))
    seen: list[int] = []

    def leave(study: optuna.Study, trial: FrozenTrial) -> None:
        seen.append(trial.number)
        if len(seen) == 4:
            raise KeyboardInterrupt

    study = optuna.create_study(study_name="mine", storage=storage, sampler=RandomSampler(seed=1))
    with Phones(real, given.curved, 3):
        with pytest.raises(KeyboardInterrupt):
            hyperflock.optuna.optimize(study, given.curved, callbacks=[leave], client=client)
        again = optuna.load_study(study_name="mine", storage=storage)
        hyperflock.optuna.optimize(again, given.curved, 4, client=client)
    assert all(t.state.is_finished() for t in again.trials)
    good = [t for t in told(again) if t[1] is not TrialState.FAIL]
    assert [
        t for t in told(client.studies()[0].to_optuna()) if t[0] in {g[0] for g in good}
    ] == good
    assert client.studies()[0].row.done == len(good)


def test_cancelled_studies_end_the_call(real: Server, client: Client) -> None:
    def cancel(study: optuna.Study, trial: FrozenTrial) -> None:
        if trial.number == 2:
            client.studies()[0].cancel()

    study = optuna.create_study(study_name="to be cancelled")
    with Phones(real, given.square, 2), pytest.raises(hyperflock.ServerError) as caught:
        hyperflock.optuna.optimize(study, given.square, callbacks=[cancel], client=client)
    assert caught.value.code == "study_cancelled"
    assert all(t.state.is_finished() for t in study.trials)


@pytest.mark.parametrize("sampler", [RandomSampler, TPESampler])
def test_one_device_begins_nothing_after_the_end(
    real: Server, client: Client, sampler: type[optuna.samplers.BaseSampler]
) -> None:
    def stop(study: optuna.Study, trial: FrozenTrial) -> None:
        if trial.number == 2:
            study.stop()

    stopped = optuna.create_study(study_name=f"stopped {sampler.__name__}", sampler=sampler())
    failed = optuna.create_study(study_name=f"failed {sampler.__name__}", sampler=sampler())
    with Phones(real, given.square, 1):
        hyperflock.optuna.optimize(stopped, given.square, 9, callbacks=[stop], client=client)
    with Phones(real, given.raising, 1), pytest.raises(hyperflock.ObjectiveError):
        hyperflock.optuna.optimize(failed, given.raising, 9, client=client)
    assert [t.state for t in stopped.trials] == [TrialState.COMPLETE] * 3
    assert [t.state for t in failed.trials] == [TrialState.FAIL]


def test_a_study_that_is_deleted_leaves_nothing_running(real: Server, client: Client) -> None:
    def delete(study: optuna.Study, trial: FrozenTrial) -> None:
        if trial.number == 2:
            found = client.studies()[0]
            found.cancel()
            found.delete()

    study = optuna.create_study(study_name="to be deleted")
    with Phones(real, given.square, 2), pytest.raises(hyperflock.NotFoundError) as caught:
        hyperflock.optuna.optimize(study, given.square, callbacks=[delete], client=client)
    assert caught.value.code == "unknown_study"
    assert len(study.trials) > 2
    assert all(t.state.is_finished() for t in study.trials)
