"""Optuna studies against the real server: devices are played over their WebSocket.

Needs ``HYPERFLOCK_TEST_SERVER_BIN``, as test_against_server.py.
"""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any

import asked_objectives as given
import hyperflock
import hyperflock.optuna
import optuna
import pytest
from device import Device
from fake_asked import CallRefused, StudyGone, run_trial
from hyperflock import Client, _protocol
from hyperflock._protocol import Failure, LeaseBody, SuggestArgs
from optuna.samplers import RandomSampler, TPESampler
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from optuna.trial import FrozenTrial, TrialState
from real_server import Server
from told import told
from websockets.exceptions import ConnectionClosed

pytestmark = pytest.mark.server
optuna.logging.set_verbosity(optuna.logging.ERROR)


class Attempt:
    """One lease as `run_trial` uses a trial."""

    def __init__(self, lease: LeaseBody) -> None:
        self.number = lease.trial
        self.lease = lease
        self.attrs = lease.attrs if isinstance(lease.attrs, str) else ""
        self.points: list[tuple[int, float]] = []


class Wire:
    """What `run_trial` asks of a study, over one device's socket."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._after: LeaseBody | None = None
        self._revoked = False
        self._id = 0
        self._seq = 0

    def suggest(self, attempt: Attempt, name: str, distribution: str) -> Any:
        self._id += 1
        args = SuggestArgs(name, distribution)
        self.device.send(
            _protocol.Suggest(
                self._id, attempt.lease.attempt, "suggest", args, self._flush(attempt)
            )
        )
        answer = self._answer()
        assert isinstance(answer, _protocol.TextReply)
        return json.loads(answer.text)

    def should_prune(self, attempt: Attempt, step: int | None = None) -> bool:
        self._id += 1
        args = _protocol.CallArgs() if step is None else _protocol.CallArgs(step)
        call = _protocol.Call(
            self._id, attempt.lease.attempt, "should_prune", args, self._flush(attempt)
        )
        self.device.send(call)
        answer = self._answer()
        assert isinstance(answer, _protocol.Reply)
        return answer.value

    def report(self, attempt: Attempt, step: int, value: float) -> None:
        attempt.points.append((step, value))

    def result(
        self,
        attempt: Attempt,
        state: str,
        values: list[float] | None = None,
        attrs: dict[str, Any] | None = None,
        error: Failure | None = None,
    ) -> None:
        self._seq += 1
        told: dict[str, Any] = {"outcome": state, "points": self._flush(attempt)}
        if values is not None:
            told["values"] = values
        if attrs:
            told["attrs"] = json.dumps(attrs)
        if error is not None:
            told["error"] = error
        self.device.send(
            _protocol.Result(attempt.lease.attempt, self._seq, next=True, backend="cpu", **told)
        )
        while not isinstance(message := self.device.receive(), _protocol.ResultAck):
            if isinstance(message, _protocol.Error):  # of an attempt that is over
                self._revoked = True
                return
        self._after = message.lease or None

    def next_lease(self) -> LeaseBody:
        """Wait for the next trial; one that was revoked ends without a result."""
        if self._after is not None:
            lease, self._after = self._after, None
            return lease
        if self._revoked:
            self._revoked = False
            self.device.send(_protocol.Ready())
        while not isinstance(message := self.device.receive(), _protocol.Lease):
            pass
        return message.lease

    def _answer(self) -> _protocol.ServerMessage:
        while True:
            message = self.device.receive()
            if isinstance(message, _protocol.Revoke):
                self._revoked = True
                raise StudyGone
            if isinstance(message, _protocol.Error):
                raise CallRefused(f"{message.code}: {message.message}")
            if isinstance(message, _protocol.Reply | _protocol.TextReply):
                return message

    def _flush(self, attempt: Attempt) -> list[tuple[int, float]]:
        points, attempt.points = attempt.points, []
        return points


class Phones:
    """Devices with threads that compute whatever is leased to them."""

    def __init__(self, real: Server, objective: Callable[[Any], Any], count: int = 1) -> None:
        self._real = real
        self._objective = objective
        self._stack = contextlib.ExitStack()
        self._leaving = False
        self._count = count
        self._threads: list[threading.Thread] = []

    def __enter__(self) -> Phones:
        for _ in range(self._count):
            device = self._stack.enter_context(self._real.device())
            self._threads.append(threading.Thread(target=self._run, args=(device,), daemon=True))
            self._threads[-1].start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._leaving = True
        self._stack.close()
        for thread in self._threads:
            thread.join(20)

    def _run(self, device: Device) -> None:
        wire = Wire(device)
        try:
            lease = device.ready()
            while not self._leaving:
                run_trial(wire, Attempt(lease), self._objective)  # type: ignore[arg-type]
                lease = wire.next_lease()
        except (ConnectionClosed, TimeoutError):
            if not self._leaving:
                raise


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
