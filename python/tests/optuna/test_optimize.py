"""Tests that `hyperflock.optuna.optimize`, with the fake console, behaves in each call as Optuna
does.
"""

from __future__ import annotations

import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import patch

import asked_objectives as given
import hyperflock
import hyperflock.optuna
import numpy as np
import optuna
import pytest
from fake_asked import AskedStudy, AskedTrial, Devices
from fake_console import FakeConsole
from hyperflock import Client
from hyperflock._transport import messages as _protocol
from hyperflock._transport.messages import Direction, ErrorMessage, OwnerReply, TrialRow
from hyperflock._transport.owner_link import OwnerLink
from hyperflock._transport.validation import convert
from hyperflock.optuna.owner import owner as _owner
from hyperflock.optuna.owner import reconcile as _reconcile
from hyperflock.optuna.owner import run as _run
from hyperflock.optuna.owner.owner import Owner
from hyperflock.optuna.owner.reconcile import reconcile
from hyperflock.optuna.study_import import TAG
from objectives import objective as plain
from optuna.distributions import FloatDistribution, distribution_to_json
from optuna.samplers import RandomSampler, TPESampler
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState
from patience import LIMIT_S, until
from told import told

optuna.logging.set_verbosity(optuna.logging.ERROR)


def optimize(
    study: optuna.Study, objective: Any, n_trials: int | None = None, **options: Any
) -> None:
    hyperflock.optuna.optimize(study, objective, n_trials, **options)


def storage_of(kind: str, folder: Path) -> optuna.storages.BaseStorage:
    if kind == "memory":
        return optuna.storages.InMemoryStorage()
    if kind == "sqlite":
        return optuna.storages.RDBStorage(f"sqlite:///{folder}/study.db")
    backend = JournalFileBackend(str(folder / "journal.log"))
    return optuna.storages.JournalStorage(backend)


@pytest.fixture(params=["memory", "sqlite"])
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> optuna.storages.BaseStorage:
    return storage_of(request.param, tmp_path)


@pytest.mark.parametrize(
    "pruner", [optuna.pruners.MedianPruner(2), optuna.pruners.HyperbandPruner(1, 4)]
)
def test_one_device_and_a_seeded_tpe_give_what_plain_optuna_gives(
    server: FakeConsole, client: Client, pruner: optuna.pruners.BasePruner
) -> None:
    plain = optuna.create_study(study_name="same", sampler=TPESampler(seed=3), pruner=pruner)
    plain.optimize(given.curved, n_trials=25)
    study = optuna.create_study(study_name="same", sampler=TPESampler(seed=3), pruner=pruner)
    with Devices(server, given.curved):
        optimize(study, given.curved, 25, client=client)
    assert told(study) == told(plain)
    assert {t.state for t in study.trials} == {TrialState.COMPLETE, TrialState.PRUNED}
    assert all(t.system_attrs[TAG] == {"study": 1, "trial": t.number} for t in study.trials)
    assert (server.asked[1].state, server.asked[1].target) == ("finished", 25)
    assert told(client.study(1).to_optuna()) == told(plain)


@pytest.mark.parametrize("storage", ["memory", "sqlite", "journal"], indirect=True)
def test_n_trials_is_exact_with_many_devices(
    server: FakeConsole, client: Client, storage: optuna.storages.BaseStorage
) -> None:
    study = optuna.create_study(storage=storage, sampler=TPESampler(seed=1))
    with Devices(server, given.square, 4):
        optimize(study, given.square, 12, client=client)
        assert [t.number for t in study.trials] == list(range(12))
        optimize(study, given.square, 3, client=client)
    assert len(study.trials) == 15
    assert all(t.state.is_finished() for t in study.trials)
    assert server.asked[1].generation == 2
    assert server.asked[1].asked == list(range(15))
    assert server.asked[1].target == 15


def test_a_webhook_travels_and_is_not_what_a_study_is_known_by(
    server: FakeConsole, client: Client
) -> None:
    study = optuna.create_study(study_name="told")
    hook = "https://hooks.example.org/a"
    with Devices(server, given.square, 1):
        optimize(study, given.square, 2, webhook=hook, webhook_events=["finished"], client=client)
        optimize(study, given.square, 2, webhook=f"{hook}/b", client=client)
    assert list(server.specs) == [1], "the second call continues the study"
    sent = server.specs[1].webhook
    assert isinstance(sent, _protocol.Webhook)
    assert (sent.url, sent.events) == (hook, ["finished"])


def test_n_jobs_is_the_most_that_runs(server: FakeConsole, client: Client) -> None:
    study = optuna.create_study(sampler=RandomSampler(seed=1))
    with Devices(server, given.square, 4):
        optimize(study, given.square, 8, n_jobs=2, client=client)
    assert len(study.trials) == 8
    assert server.asked[1].most_running <= 2


def test_enqueued_trials_come_first_and_callbacks_see_each_trial(
    server: FakeConsole, client: Client, storage: optuna.storages.BaseStorage
) -> None:
    seen: list[tuple[int, TrialState, str]] = []

    def callback(study: optuna.Study, trial: FrozenTrial) -> None:
        seen.append((trial.number, trial.state, threading.current_thread().name))

    study = optuna.create_study(storage=storage)
    study.enqueue_trial({"x": 2.5}, user_attrs={"mine": 1})
    with Devices(server, given.square):
        optimize(study, given.square, 3, callbacks=[callback], client=client)
    assert (study.trials[0].value, study.trials[0].user_attrs) == (6.25, {"mine": 1})
    here = threading.current_thread().name
    assert seen == [(number, TrialState.COMPLETE, here) for number in range(3)]


def test_an_enqueued_trials_attributes_are_there_in_the_objective(
    server: FakeConsole, client: Client, storage: optuna.storages.BaseStorage
) -> None:
    def objective(trial: Any) -> float:
        return given.square(trial) + float(trial.user_attrs.get("more", 0))

    study = optuna.create_study(storage=storage)
    for more in range(3):
        study.enqueue_trial({"x": 2.0}, user_attrs={"more": more, "notes": "é" * 4_000})
    with Devices(server, objective, 3), patch.object(_run, "MAX_REPLY_BYTES", 60_000):
        optimize(study, given.square, 4, client=client)
    assert [t.value for t in study.trials[:3]] == [4.0, 5.0, 6.0]
    assert server.asked[1].trials[3].attrs is None
    again = client.study(1).to_optuna()
    assert told(again) == told(study)
    assert again.trials[2].system_attrs == study.trials[2].system_attrs


def test_numpys_numbers_may_be_enqueued(server: FakeConsole, client: Client) -> None:
    def objective(trial: Any) -> float:
        n, kind = trial.suggest_int("n", 1, 5), trial.suggest_categorical("kind", [1, 2])
        x = trial.suggest_float("x", 0.0, 1.0)
        return float(n * kind + x + sum(trial.user_attrs["row"]) + trial.user_attrs["epochs"])

    study = optuna.create_study()
    study.enqueue_trial(
        {"n": np.int64(3), "kind": np.int64(2), "x": np.float32(0.5)},
        user_attrs={"epochs": np.int64(7), "row": np.ones(2)},
    )
    with Devices(server, objective):
        optimize(study, given.square, 1, client=client)
    assert study.trials[0].value == 15.5


def test_a_trial_whose_attributes_cannot_travel_fails_alone(
    server: FakeConsole, client: Client
) -> None:
    study = optuna.create_study()
    seen: list[tuple[int, TrialState]] = []
    study.enqueue_trial({"x": 1.0}, user_attrs={"model": object()})
    study.enqueue_trial({"x": 2.0})
    study.enqueue_trial({"x": 3.0}, user_attrs={"notes": "n" * 40_000})
    with Devices(server, given.square), patch.object(_owner._logger, "warning") as warned:
        optimize(
            study,
            given.square,
            5,
            callbacks=[lambda study, trial: seen.append((trial.number, trial.state))],
            client=client,
        )
    fails, good = TrialState.FAIL, TrialState.COMPLETE
    assert [trial.state for trial in study.trials] == [fails, good, fails, good, good]
    assert study.trials[1].value == 4.0
    assert sorted(seen) == [(trial.number, trial.state) for trial in study.trials]
    texts = [str(call.args[0]) for call in warned.call_args_list]
    assert ["[attribute_not_json]" in texts[0], "[attributes_too_large]" in texts[1]] == [True] * 2
    # The owner never sent the two failed trials to the server, and does not count them in the
    # number of trials that it wants (`target`).
    assert (server.asked[1].asked, server.asked[1].target) == ([1, 3, 4], 3)


def test_a_study_of_such_a_trial_alone_ends(server: FakeConsole, client: Client) -> None:
    study = optuna.create_study()
    study.enqueue_trial({}, user_attrs={"notes": "n" * 40_000})
    with Devices(server, given.square):
        optimize(study, given.square, 1, client=client)
    assert [trial.state for trial in study.trials] == [TrialState.FAIL]
    assert (server.asked[1].asked, server.asked[1].state) == ([], "finished")


def test_a_callback_stops_the_study(server: FakeConsole, client: Client) -> None:
    def callback(study: optuna.Study, trial: FrozenTrial) -> None:
        if trial.number == 2:
            study.stop()

    study = optuna.create_study()
    with Devices(server, given.square):
        optimize(study, given.square, callbacks=[callback], client=client)
    assert len(study.trials) == 3
    with pytest.raises(RuntimeError, match="inside an objective"):
        study.stop()


def test_an_objective_stops_the_study(server: FakeConsole, client: Client) -> None:
    study = optuna.create_study()
    with Devices(server, given.stopping):
        optimize(study, given.stopping, 50, client=client)
    assert len(study.trials) == 3


def test_timeout_begins_no_further_trial(server: FakeConsole, client: Client) -> None:
    study = optuna.create_study()
    optimize(study, given.square, timeout=0.0, client=client)
    assert study.trials == []
    assert server.asked[1].state == "finished"


def test_what_the_objective_raises_ends_the_call(server: FakeConsole, client: Client) -> None:
    study = optuna.create_study(sampler=RandomSampler(seed=2))
    with Devices(server, given.failing), pytest.raises(hyperflock.ObjectiveError) as caught:
        optimize(study, given.failing, 50, client=client)
    error = caught.value
    assert error.code == "objective_failed"
    assert 'raise NotToday(f"x is' in error.traceback
    assert error.traceback in str(error)
    assert error.raised[1] == "builtins.ValueError"
    assert [t.state for t in study.trials][error.trial :] == [TrialState.FAIL]


@pytest.mark.parametrize("catch", [given.NotToday, (OSError, ValueError)])
def test_what_catch_names_only_fails_its_trial(
    server: FakeConsole, client: Client, catch: Any
) -> None:
    study = optuna.create_study(sampler=RandomSampler(seed=2))
    with Devices(server, given.failing):
        optimize(study, given.failing, 8, catch=catch, client=client)
    states = [t.state for t in study.trials]
    assert len(states) == 8
    assert set(states) == {TrialState.COMPLETE, TrialState.FAIL}


def test_what_the_sampler_raises_comes_out_as_it_is(server: FakeConsole, client: Client) -> None:
    class Broken(RandomSampler):
        def sample_independent(self, *arguments: Any) -> Any:
            raise ZeroDivisionError("no sample")

    study = optuna.create_study(sampler=Broken())
    with Devices(server, given.square), pytest.raises(ZeroDivisionError, match="no sample"):
        optimize(study, given.square, 5, client=client)
    assert [t.state for t in study.trials] == [TrialState.FAIL]


class RaisesLater(RandomSampler):
    """Raises an error when the trial of number ``first``, or a later one, begins."""

    def __init__(self, error: BaseException, first: int) -> None:
        super().__init__(seed=1)
        self._error, self._first = error, first

    def before_trial(self, study: optuna.Study, trial: FrozenTrial) -> None:
        if trial.number >= self._first:
            raise self._error


@pytest.mark.parametrize("error", [ZeroDivisionError("no trial"), KeyboardInterrupt()])
def test_what_ends_the_call_within_an_ask_leaves_no_trial_that_the_server_does_not_know(
    server: FakeConsole,
    client: Client,
    storage: optuna.storages.BaseStorage,
    error: BaseException,
) -> None:
    study = optuna.create_study(
        study_name="mine", storage=storage, sampler=RaisesLater(error, first=5)
    )
    study.enqueue_trial({"x": 1.0})
    # The sixth trial of the first batch raises an error, so the server gets none of the six trials.
    with (
        patch.object(_owner._logger, "warning") as warned,
        patch.object(_run, "ahead", lambda study, computing, run_s: 10),
        Devices(server, given.square),
        pytest.raises(type(error)),
    ):
        optimize(study, given.square, 20, client=client)
    known = server.asked[1].trials
    assert {t.number for t in study.trials if t.state is TrialState.RUNNING} <= set(known)
    lost = [t.number for t in study.trials if t.state is TrialState.FAIL]
    assert lost
    assert not set(lost) & set(known)
    texts = [str(call.args[0]) for call in warned.call_args_list]
    assert [repr(error) in text for text in texts] == [True] * len(lost)
    # The unfinished trials are resumed and end.
    again = optuna.load_study(study_name="mine", storage=storage, sampler=RandomSampler(seed=2))
    with Devices(server, given.square):
        optimize(again, given.square, 3, client=client)
    assert all(t.state.is_finished() for t in again.trials)
    assert [t.number for t in again.trials if t.state is TrialState.FAIL] == lost


def test_a_callback_that_raises_within_an_ask_leaves_no_trial_running(
    server: FakeConsole, client: Client
) -> None:
    def callback(study: optuna.Study, trial: FrozenTrial) -> None:
        raise OSError("disk full")

    study = optuna.create_study()
    study.enqueue_trial({"x": 1.0})
    study.enqueue_trial({"x": 2.0}, user_attrs={"model": object()})  # fails when it is asked for
    with (
        patch.object(_run, "ahead", lambda study, computing, run_s: 2),
        Devices(server, given.square),
        pytest.raises(OSError, match="disk full"),
    ):
        optimize(study, given.square, 5, callbacks=[callback], client=client)
    assert [t.state for t in study.trials] == [TrialState.FAIL] * 2
    assert not server.asked[1].trials


def test_several_objectives_and_constraints(
    server: FakeConsole, client: Client, storage: optuna.storages.BaseStorage
) -> None:
    directions: list[Direction] = ["minimize", "maximize"]
    study = optuna.create_study(storage=storage, directions=directions, sampler=TPESampler(seed=1))
    plain = optuna.create_study(directions=directions, sampler=TPESampler(seed=1))
    plain.optimize(given.two_ways, n_trials=15)
    with Devices(server, given.two_ways):
        optimize(study, given.two_ways, 15, client=client)
    assert told(study) == told(plain)
    assert server.asked[1].spec.directions == directions
    assert all("constraints:circle" in t.system_attrs for t in study.trials)
    again = client.study(1).to_optuna()
    assert told(again) == told(plain)
    assert [t.system_attrs for t in again.trials] == [t.system_attrs for t in study.trials]


def test_infinite_values_arrive(server: FakeConsole, client: Client) -> None:
    study = optuna.create_study(sampler=RandomSampler(seed=4))
    with Devices(server, given.endless):
        optimize(study, given.endless, 6, client=client)
    assert {t.value for t in study.trials} == {float("inf"), float("-inf")}
    assert all(t.value == float(t.params["x"]) for t in study.trials)


def test_a_broken_connection_loses_and_doubles_nothing(
    server: FakeConsole, client: Client, storage: optuna.storages.BaseStorage
) -> None:
    seen: list[int] = []

    def callback(study: optuna.Study, trial: FrozenTrial) -> None:
        seen.append(trial.number)
        if len(seen) in (3, 7):
            server.kick()

    study = optuna.create_study(storage=storage, sampler=RandomSampler(seed=1))
    with Devices(server, given.curved, 3):
        optimize(study, given.curved, 12, callbacks=[callback], client=client)
    assert sorted(seen) == list(range(12))
    assert server.asked[1].generation == 3
    assert [t.number for t in study.trials] == list(range(12))
    assert told(client.study(1).to_optuna()) == told(study)


def test_trials_that_the_database_did_not_take_are_asked_again(
    server: FakeConsole, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply, refused = AskedStudy.reply, ErrorMessage("storage_unavailable", "It is away.")
    lost: list[OwnerReply] = []

    def away(asked: AskedStudy, message: OwnerReply) -> list[ErrorMessage]:
        if message.asked and not lost:
            lost.append(message)
            return [refused]
        return reply(asked, message)

    monkeypatch.setattr(AskedStudy, "reply", away)
    study = optuna.create_study(sampler=RandomSampler(seed=1))
    with Devices(server, given.square):
        optimize(study, given.square, 3, client=client)
    assert len(lost) == 1
    assert [t.state for t in study.trials] == 3 * [TrialState.COMPLETE]
    assert server.asked[1].generation == 2


def test_the_end_is_sent_again_if_it_was_lost_with_the_connection(
    server: FakeConsole, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = OwnerLink.send
    lost: list[OwnerReply] = []

    def lossy(link: OwnerLink, reply: OwnerReply, generation: int) -> None:
        if reply.finish and not lost:
            lost.append(reply)
            server.kick()
        else:
            send(link, reply, generation)

    monkeypatch.setattr(OwnerLink, "send", lossy)
    study = optuna.create_study(sampler=RandomSampler(seed=1))
    with Devices(server, given.square):
        optimize(study, given.square, 3, client=client)
    assert len(lost) == 1
    assert server.asked[1].state == "finished"


def test_ctrl_c_leaves_what_runs_and_the_next_call_goes_on(
    server: FakeConsole,
    client: Client,
    storage: optuna.storages.BaseStorage,
    capsys: pytest.CaptureFixture[str],
) -> None:
    def callback(study: optuna.Study, trial: FrozenTrial) -> None:
        if trial.number == 2:
            raise KeyboardInterrupt

    study = optuna.create_study(study_name="mine", storage=storage)
    with Devices(server, given.curved, 3):
        with pytest.raises(KeyboardInterrupt):
            optimize(study, given.curved, 20, callbacks=[callback], client=client)
        assert "study 1 waits for its sampler" in capsys.readouterr().err
        running = [t for t in study.trials if not t.state.is_finished()]
        # Read the study again, as the next process does.
        again = optuna.load_study(study_name="mine", storage=storage)
        optimize(again, given.curved, 10, client=client)
    assert list(server.asked) == [1]
    assert len(again.trials) <= 13 + len(running)
    assert all(t.state in (TrialState.COMPLETE, TrialState.PRUNED) for t in again.trials)
    assert told(client.study(1).to_optuna()) == told(again)


@pytest.mark.parametrize("in_pages", [True, False])
def test_study_in_memory_comes_back_by_its_name(
    server: FakeConsole, client: Client, in_pages: bool
) -> None:
    first = optuna.create_study(study_name="mine", sampler=RandomSampler(seed=1))
    with Devices(server, given.curved, 2):
        optimize(first, given.curved, 6, client=client)
        server.asked[1].points_in_pages = in_pages
        second = optuna.create_study(study_name="mine", sampler=RandomSampler(seed=2))
        optimize(second, given.curved, 2, client=client)
    assert list(server.asked) == [1]
    assert told(second)[:6] == told(first)
    assert len(second.trials) == 8
    # Optuna studies without a name are separate, and so is a study with another objective.
    unnamed = optuna.create_study()
    with Devices(server, given.square, study=2):
        optimize(unnamed, given.square, 1, client=client)
    with Devices(server, given.square, study=3):
        optimize(second, given.square, 1, client=client)
    assert [t.number for t in second.trials] == list(range(9))


def test_reconciling_leaves_nothing_running(
    server: FakeConsole, client: Client, storage: optuna.storages.BaseStorage
) -> None:
    study = optuna.create_study(storage=storage)
    with Devices(server, given.curved):
        optimize(study, given.curved, 1, client=client)
    lost = study.ask()  # marked, but the server never got it
    study._storage.set_trial_system_attr(lost._trial_id, TAG, {"study": 1, "trial": lost.number})
    half = study.ask()  # its process died after it created the trial and before it marked it
    study._storage.set_trial_system_attr(half._trial_id, TAG, {"study": 1})
    elsewhere = study.ask()
    mark = {"study": 99, "trial": elsewhere.number}
    study._storage.set_trial_system_attr(elsewhere._trial_id, TAG, mark)
    others = study.ask()  # from a process that does not use the server
    taken = study.ask()  # from such a process, which took it before an owner did
    study._storage.set_trial_system_attr(taken._trial_id, TAG, None)
    with Devices(server, given.curved):
        optimize(study, given.curved, 1, client=client)
    states = [t.state for t in study.trials]
    assert states[1:4] == [TrialState.FAIL] * 3
    assert states[others.number] is states[taken.number] is TrialState.RUNNING
    assert states[6].is_finished()


def test_what_an_earlier_study_of_its_own_had_finished_is_told(
    server: FakeConsole, client: Client, storage: optuna.storages.BaseStorage
) -> None:
    study = optuna.create_study(study_name="mine", storage=storage)
    with Devices(server, given.curved):
        optimize(study, given.curved, 2, client=client)
    left = study.ask()  # its notebook died, devices finished it, and then the objective changed
    study._storage.set_trial_system_attr(left._trial_id, TAG, {"study": 1, "trial": left.number})
    row = {**server.asked[1].finished()[1], "trial": left.number}
    with (
        patch.object(_reconcile, "trial_row", lambda *_: convert(row, TrialRow)),
        Devices(server, given.square, study=2),
    ):
        optimize(study, given.square, 1, client=client)
    assert study.trials[2].value == study.trials[1].value
    assert study.trials[2].state is TrialState.COMPLETE


def test_another_server_s_study_of_the_same_number_is_not_its_own(
    server: FakeConsole, client: Client, storage: optuna.storages.BaseStorage
) -> None:
    """A new server counts from 1 again, so its study 1 is another study."""
    grid = client.grid(plain, {"x": [1.0]})
    server.finish(grid.id, 0, value=0.125)
    study = optuna.create_study(study_name="digits", storage=storage)
    left = study.ask()
    study._storage.set_trial_system_attr(left._trial_id, TAG, {"study": grid.id, "trial": 0})
    with Devices(server, given.square, study=2):
        optimize(study, given.square, 1, client=client)
    assert [t.state for t in study.trials] == [TrialState.FAIL, TrialState.COMPLETE]


@pytest.mark.parametrize("in_pages", [True, False])
def test_what_finished_while_nobody_listened_is_told(
    server: FakeConsole, client: Client, storage: optuna.storages.BaseStorage, in_pages: bool
) -> None:
    """The owner leaves while devices compute two trials.

    These trials finish, and the next call of `optimize` gets their results.
    """
    held = threading.Event()

    def slow(trial: Any) -> float:
        value = given.curved(trial)
        if trial.number < 2:
            held.wait(LIMIT_S)
        trial.set_user_attr("slow", trial.number)
        return value

    def callback(study: optuna.Study, trial: FrozenTrial) -> None:
        if trial.number == 3:
            raise KeyboardInterrupt

    study = optuna.create_study(study_name="x", storage=storage, pruner=optuna.pruners.NopPruner())
    with Devices(server, slow, 3):
        with pytest.raises(KeyboardInterrupt):
            optimize(study, given.curved, callbacks=[callback], client=client)
        server.asked[1].points_in_pages = in_pages
        held.set()
        until("four finished trials", lambda: len(server.asked[1].finished()) >= 4)
        optimize(study, given.curved, 2, client=client)
    trials = study.trials
    assert all(t.state is TrialState.COMPLETE for t in trials)
    assert [t.user_attrs["slow"] for t in trials] == [t.number for t in trials]
    assert all(len(t.intermediate_values) == 4 for t in trials)
    assert told(client.study(1).to_optuna()) == told(study)


def test_the_newest_owner_wins(server: FakeConsole, client: Client, tmp_path: Path) -> None:
    storage = storage_of("sqlite", tmp_path)
    study = optuna.create_study(study_name="s", storage=storage)
    first: list[BaseException] = []

    def run() -> None:
        mine = optuna.load_study(study_name="s", storage=storage)
        try:
            optimize(mine, given.square, client=client)
        except BaseException as error:
            first.append(error)

    thread = threading.Thread(target=run)
    with Devices(server, given.square):
        thread.start()
        until("the study", lambda: 1 in server.asked)
        until("two finished trials", lambda: len(server.asked[1].finished()) >= 2)
        optimize(study, given.square, 2, client=client)
        thread.join(LIMIT_S)
    assert isinstance(first[0], hyperflock.OwnerError)
    assert first[0].code == "owner_replaced"
    assert all(t.state.is_finished() for t in study.trials)


def test_a_cancelled_study_ends_the_call_and_leaves_nothing_running(
    server: FakeConsole, client: Client
) -> None:
    held = threading.Event()

    def slow(trial: Any) -> float:
        if trial.number == 1:
            client.study(1).cancel()
            held.wait(1)
        return given.square(trial)

    study = optuna.create_study(study_name="c")
    with Devices(server, slow, 2), pytest.raises(hyperflock.ServerError) as caught:
        optimize(study, given.square, client=client)
    held.set()
    assert caught.value.code == "study_cancelled"
    assert all(t.state.is_finished() for t in study.trials)
    with pytest.raises(hyperflock.ServerError) as caught:
        optimize(study, given.square, client=client)
    assert caught.value.code == "study_cancelled"


def test_another_device_goes_on_and_the_pruner_forgets_what_is_superseded(
    server: FakeConsole, client: Client
) -> None:
    curves: list[dict[int, float]] = []

    class Looking(optuna.pruners.BasePruner):
        def prune(self, study: optuna.Study, trial: FrozenTrial) -> bool:
            stored = study.get_trials(deepcopy=False)[trial.number]
            assert stored.intermediate_values == trial.intermediate_values
            curves.append(dict(trial.intermediate_values))
            return False

    study = optuna.create_study(pruner=Looking())

    def play() -> None:
        with server.asked_more:
            server.asked_more.wait_for(lambda: 1 in server.asked, LIMIT_S)
        asked = server.asked[1]
        trial = asked.lease("first")
        assert trial is not None
        for step in range(4):
            asked.report(trial, step, 10.0 + step)
        asked.should_prune(trial)
        asked.give_back(trial, 1)
        again = asked.lease("second")
        assert again is trial
        asked.report(trial, 2, 1.0)
        asked.should_prune(trial)
        asked.give_back(trial, None)
        assert asked.lease("third") is trial
        asked.report(trial, 0, 5.0)
        asked.tell_points(trial)
        asked.result(trial, "complete", [1.0])

    thread = threading.Thread(target=play)
    thread.start()
    optimize(study, given.square, 1, client=client)
    thread.join(LIMIT_S)
    assert curves == [{0: 10.0, 1: 11.0, 2: 12.0, 3: 13.0}, {0: 10.0, 1: 11.0, 2: 1.0}]
    assert study.trials[0].intermediate_values == {0: 5.0}


def test_the_next_batch_travels_while_one_is_answered(server: FakeConsole, client: Client) -> None:
    study = optuna.create_study(sampler=RandomSampler(seed=1))
    with Devices(server, given.square, 3):
        optimize(study, given.square, 16, client=client)
    assert server.asked[1].taken_early > 0
    assert [t.number for t in study.trials if t.state is TrialState.COMPLETE] == list(range(16))


def test_a_batch_that_wants_trials_is_taken_in_with_them(monkeypatch: pytest.MonkeyPatch) -> None:
    # Each answer is sent in a reply of its own. Only the last reply, which has the new trials, may
    # acknowledge the batch.
    monkeypatch.setattr(_run, "HOLD_S", -1.0)
    study = optuna.create_study(sampler=TPESampler(seed=1))
    owner = Owner(study, SimpleNamespace(study=1))  # type: ignore[arg-type]
    sent: list[_protocol.OwnerReply] = []
    link: Any = SimpleNamespace(send=lambda reply, generation: sent.append(reply))
    run = _run.Run(owner, link, None, _run.Plan())  # type: ignore[arg-type]
    run._generation = 1
    kind = distribution_to_json(FloatDistribution(0, 1))
    calls: list[Any] = [
        _protocol.SuggestCall(7 + i, owner.ask(), 1, _protocol.SuggestArgs("x", kind))
        for i in range(2)
    ]
    run._take(_protocol.OwnerCall(study=1, generation=1, batch=5, demand=2, calls=calls))
    told = [(reply.taken, len(reply.replies), len(reply.asked)) for reply in sent]
    assert told == [(0, 1, 0), (0, 1, 0), (5, 0, 2)]


def test_large_replies_leave_in_parts(
    server: FakeConsole, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_run, "MAX_ITEMS", 1)
    study = optuna.create_study(sampler=RandomSampler(seed=1))
    with Devices(server, given.curved, 4):
        optimize(study, given.curved, 8, client=client)
    assert len(study.trials) == 8


def test_progress_bar(
    server: FakeConsole, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    study = optuna.create_study(study_name="shown")
    with Devices(server, given.square):
        optimize(study, given.square, 3, show_progress_bar=True, client=client)
    shown = capsys.readouterr().err
    assert "shown: 100%" in shown
    assert f"best={study.best_value:.6g}" in shown


def test_what_was_asked_ahead_is_not_asked_again_by_the_next_owner(
    server: FakeConsole, client: Client
) -> None:
    def callback(study: optuna.Study, trial: FrozenTrial) -> None:
        raise KeyboardInterrupt

    study = optuna.create_study(study_name="mine", sampler=RandomSampler(seed=1))
    with Devices(server, given.square, 3):
        for _ in range(6):
            with pytest.raises(KeyboardInterrupt):
                optimize(study, given.square, callbacks=[callback], client=client)
    assert server.asked[1].most_waiting <= 8


@pytest.mark.filterwarnings("ignore:All-NaN:RuntimeWarning")
def test_a_reported_nan_reaches_the_pruner(server: FakeConsole, client: Client) -> None:
    def run() -> optuna.Study:
        pruner = optuna.pruners.MedianPruner(n_startup_trials=1)
        return optuna.create_study(sampler=TPESampler(seed=3), pruner=pruner)

    plain, study = run(), run()
    plain.optimize(given.sometimes_nan, n_trials=12)
    with Devices(server, given.sometimes_nan):
        optimize(study, given.sometimes_nan, 12, client=client)
    assert repr(told(study)) == repr(told(plain))
    assert "nan" in repr(told(study))


@pytest.mark.filterwarnings("ignore:.*constraints_func:FutureWarning")
def test_a_sampler_sees_attributes_in_its_constraints_func(
    server: FakeConsole, client: Client
) -> None:
    def run() -> optuna.Study:
        sampler = TPESampler(seed=1, constraints_func=lambda t: (t.user_attrs["kind"] == "a",))
        return optuna.create_study(sampler=sampler, pruner=optuna.pruners.NopPruner())

    plain, study = run(), run()
    plain.optimize(given.curved, n_trials=15)
    with Devices(server, given.curved):
        optimize(study, given.curved, 15, client=client)
    assert told(study) == told(plain)
    assert all("constraints" in t.system_attrs for t in study.trials)


def test_a_quota_that_is_used_up_leaves_nothing_running(
    server: FakeConsole, client: Client
) -> None:
    def callback(study: optuna.Study, trial: FrozenTrial) -> None:
        server.asked[1].quota = 3

    study = optuna.create_study()
    with Devices(server, given.square), pytest.raises(hyperflock.ServerError) as caught:
        optimize(study, given.square, callbacks=[callback], client=client)
    assert caught.value.code == "quota_exceeded"
    assert [t.state for t in study.trials] == [TrialState.COMPLETE] * 3 + [TrialState.FAIL]


def test_a_number_of_another_study_is_told(server: FakeConsole, client: Client) -> None:
    def callback(study: optuna.Study, trial: FrozenTrial) -> None:
        if trial.number == 0:
            server.asked[1].trials[1] = AskedTrial(1)

    study = optuna.create_study()
    with Devices(server, given.square), pytest.raises(hyperflock.OwnerError) as caught:
        optimize(study, given.square, callbacks=[callback], client=client)
    assert caught.value.code == "study_differs"


def test_what_the_owner_before_ends_meanwhile_is_no_error(
    server: FakeConsole, client: Client, tmp_path: Path
) -> None:
    storage = storage_of("sqlite", tmp_path)
    study = optuna.create_study(study_name="s", storage=storage)
    with Devices(server, given.square):
        optimize(study, given.square, 1, client=client)
    mark = {TAG: {"study": 1, "trial": 1}}
    template = optuna.trial.create_trial(state=TrialState.RUNNING, system_attrs=mark)
    late = study._storage.create_new_trial(study._study_id, template_trial=template)
    elsewhere = storage_of("sqlite", tmp_path)
    change = study._storage.set_trial_state_values

    def changed(trial_id: int, *args: Any, **options: Any) -> bool:
        elsewhere.set_trial_state_values(late, TrialState.FAIL)
        return change(trial_id, *args, **options)

    with patch.object(study._storage, "set_trial_state_values", changed):
        agreed = reconcile(Owner(study, client.study(1).row), client._core._http)
    assert agreed == ([], 1)
    assert study.trials[1].state is TrialState.FAIL
