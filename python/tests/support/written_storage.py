"""Lets Optuna's own storage tests write to the storage of a server's studies, which is read-only
otherwise.

    storage = WrittenStorage(real, attributes=InMemoryStorage())
    trial = storage.create_new_trial(storage.create_new_study([StudyDirection.MINIMIZE]))
    storage.set_trial_intermediate_value(trial, 0, 0.5)      # by a device, over its socket

All reads use `hyperflock.optuna.Storage`. Each write of Optuna's tests is made by the party that
makes it in a real study: a researcher submits the study, the owner's own Optuna study creates
trials and answers, and a device leases, asks for values, reports and sends the result. Only one
thread may use it. Every wait has a time limit.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import math
import uuid
from collections.abc import Container, Sequence
from typing import Any

from device import Device
from hyperflock import Client
from hyperflock._transport import background_loop as _loop
from hyperflock._transport import frames
from hyperflock._transport import messages as _protocol
from hyperflock._transport.http import Origin
from hyperflock._transport.messages import AskedTrial, Failure, OwnerAnswer, OwnerReply, SuggestCall
from hyperflock.optuna import Storage
from optuna.distributions import BaseDistribution, distribution_to_json
from optuna.storages import BaseStorage, InMemoryStorage
from optuna.storages._base import DEFAULT_STUDY_NAME_PREFIX
from optuna.study import StudyDirection
from optuna.trial import FrozenTrial, TrialState
from patience import LIMIT_S, until
from real_server import Server
from websockets.sync.client import ClientConnection, connect

BUNDLE = b"nobody unpacks it"
BUNDLE_SHA256 = hashlib.sha256(BUNDLE).hexdigest()
_LARGEST = 1.7976931348623157e308


class NotCarried(Exception):
    """The test needs something that studies of a server do not have."""


class Running:
    """One attempt, on a device of its own."""

    def __init__(self, device: Device, attempt: int) -> None:
        self.device = device
        self.attempt = attempt
        self.attrs: dict[str, dict[str, Any]] = {"user": {}, "system": {}}
        self._seq = 0

    def send(self, kind: type[Any], *given: Any, **told: Any) -> Any:
        """Send a message that carries the attempt and the next sequence number."""
        self._seq += 1
        self.device.send(kind(self.attempt, self._seq, *given, **told))

    def answer(self) -> Any:
        """Wait for the next message that is not `wait`."""
        while isinstance(message := self.device.receive(), _protocol.Wait):
            pass
        return message


class OwnedStudy:
    """The owner of one study: its connection, and its own Optuna study."""

    def __init__(self, client: Client, study: int, directions: Sequence[StudyDirection]) -> None:
        self.study = study
        self.own = InMemoryStorage()
        self._own_study = self.own.create_new_study(directions)
        self._sessions = contextlib.ExitStack()
        address = Origin.parse(client.url).websocket_url
        self._socket: ClientConnection = self._sessions.enter_context(
            connect(address, compression=None, proxy=None)
        )
        self._send(_protocol.HelloResearcher(1, "researcher", client._core._http.token, "test/1"))
        self._send(_protocol.Watch(study, 0, own=_protocol.OwnerClaim("test")))
        while not isinstance(self._receive(), _protocol.OwnerCall):
            pass
        self._taken = 0

    def close(self) -> None:
        """Close the connection. The study then has no owner."""
        self._sessions.close()

    def begin(self) -> int:
        """Create a trial in the owner's own study. Return its number."""
        return self.own.get_trial_number_from_id(self.own.create_new_trial(self._own_study))

    def ask(self, number: int) -> None:
        """Send a trial, and announce no room for others, so that the server asks for no more."""
        self._reply(asked=[AskedTrial(number)])

    def answer(self, number: int, name: str, internal: float, kind: BaseDistribution) -> None:
        """Answer the next question of a device.

        If the owner's own study refuses the value, send an error.
        """
        while (call := self._next_question()) is None or call.trial != number:
            pass
        trial = self.own.get_trial_id_from_study_id_trial_number(self._own_study, number)
        try:
            self.own.set_trial_param(trial, name, internal, kind)
            value = json.dumps(kind.to_external_repr(internal))
            answer = OwnerAnswer(call.id, value=value)
        except ValueError as error:
            answer = OwnerAnswer(call.id, code="sampler_raised", message=str(error))
        self._reply(replies=[answer])

    def _next_question(self) -> SuggestCall | None:
        message = self._receive()
        if not isinstance(message, _protocol.OwnerCall):
            return None
        self._taken = message.batch
        questions = [call for call in message.calls if isinstance(call, SuggestCall)]
        if not questions:
            self._reply()
            return None
        (question,) = questions
        return question

    def _reply(self, **told: Any) -> None:
        self._send(OwnerReply(self.study, self._taken, 0, **told))

    def _send(self, message: _protocol.ClientMessage) -> None:
        self._socket.send(frames.encode(message))

    def _receive(self) -> _protocol.ServerMessage:
        frame = self._socket.recv(LIMIT_S)
        assert isinstance(frame, str)
        return frames.parse_server(frame)


class WrittenStorage(Storage):
    """The storage of the studies of a new researcher, who has no studies at first."""

    def __init__(self, real: Server, attributes: BaseStorage) -> None:
        self._real = real
        with Client(real.console, real.credentials["admin_token"]) as admin:
            told = admin._core._http.post("/api/researchers", {"name": f"r-{uuid.uuid4().hex}"})
            token = _loop.run(told)["token"]
        self.token = token
        super().__init__(Client(real.console, token), attributes=attributes)
        self._owned: dict[int, OwnedStudy] = {}
        self._running: dict[int, Running] = {}
        self._idle: list[Device] = []
        # Waiting trials that the server does not know yet. They are sent only when trials are read,
        # so that the device of a trial created meanwhile does not lease one of them instead.
        self._waiting: list[tuple[OwnedStudy, int]] = []

    def __reduce__(self) -> Any:
        """Pickle this object as a plain `Storage`."""
        return Storage.__new__, (Storage,), Storage.__getstate__(self)

    def close(self) -> None:
        """Cancel the studies and close all connections."""
        for study, owner in self._owned.items():
            self._client.study(study).cancel()
            owner.close()
        for device in [*self._idle, *(running.device for running in self._running.values())]:
            device.close()
        self._client.close()

    def get_all_trials(
        self,
        study_id: int,
        deepcopy: bool = True,
        states: Container[TrialState] | None = None,
    ) -> list[FrozenTrial]:
        self._ask_waiting()
        return super().get_all_trials(study_id, deepcopy, states)

    def get_trial(self, trial_id: int) -> FrozenTrial:
        self._ask_waiting()
        return super().get_trial(trial_id)

    def _ask_waiting(self) -> None:
        waiting, self._waiting = self._waiting, []
        for owner, number in waiting:
            owner.ask(number)
            # No reply acknowledges a new trial. The server lists the trial once it is durable.
            self._wait_until(owner.study, number, is_open=True)

    def _wait_until(self, study: int, number: int, *, is_open: bool) -> None:
        where = f"/api/studies/{study}/unfinished"

        def is_so() -> bool:
            rows = _loop.run(self._client._core._http.get(where))["trials"]
            return (number in {row["trial"] for row in rows}) is is_open

        until(f"trial {number} to be {'open' if is_open else 'over'}", is_so)

    # ---- The researcher's side

    def create_new_study(
        self, directions: Sequence[StudyDirection], study_name: str | None = None
    ) -> int:
        http = self._client._core._http
        name = f"{DEFAULT_STUDY_NAME_PREFIX}{uuid.uuid4()}" if study_name is None else study_name
        where = f"/api/blobs/{BUNDLE_SHA256}"
        _loop.run(http.put(where, lambda: io.BytesIO(BUNDLE), len(BUNDLE)))
        spec = {
            "name": name,
            "submit_key": uuid.uuid4().hex,
            "kind": "asked",
            "directions": [d.name.lower() for d in directions],
            "entry": "a:b",
            "bundle": {"sha256": BUNDLE_SHA256, "bytes": len(BUNDLE)},
            # Optuna's tests let trials fail before one succeeds, and the study must not pause then.
            "limits": {"max_failures": 0},
            "runtime": {"chainer": "7.8.1"},
        }
        study = int(_loop.run(http.post("/api/studies", spec))["study"])
        self._owned[study] = OwnedStudy(self._client, study, directions)
        return study

    # ---- The sides of the owner and the device

    def create_new_trial(self, study_id: int, template_trial: FrozenTrial | None = None) -> int:
        self.get_study_name_from_id(study_id)
        owner = self._owned[study_id]
        number = owner.begin()
        trial_id = study_id * 2**32 + number
        template = template_trial
        if template is not None and template.state is TrialState.WAITING:
            self._waiting.append((owner, number))
            return trial_id
        owner.ask(number)
        device = self._idle.pop() if self._idle else self._real.device()
        lease = device.ready()
        assert (lease.study, lease.trial) == (study_id, number)
        self._running[trial_id] = Running(device, lease.attempt)
        if template is not None:
            for name, value in template.params.items():
                kind = template.distributions[name]
                self._suggest(trial_id, name, kind.to_internal_repr(value), kind)
            for step, value in template.intermediate_values.items():
                self._report(trial_id, step, value)
            self._running[trial_id].attrs = {
                "user": dict(template.user_attrs),
                "system": dict(template.system_attrs),
            }
            if template.state.is_finished():
                self._end(trial_id, template.state, template.values)
        return trial_id

    def set_trial_param(
        self,
        trial_id: int,
        param_name: str,
        param_value_internal: float,
        distribution: BaseDistribution,
    ) -> None:
        self._check(trial_id)
        self._suggest(trial_id, param_name, param_value_internal, distribution)

    def set_trial_intermediate_value(
        self, trial_id: int, step: int, intermediate_value: float
    ) -> None:
        self._check(trial_id)
        self._report(trial_id, step, intermediate_value)

    def set_trial_user_attr(self, trial_id: int, key: str, value: Any) -> None:
        self._check(trial_id)
        self._running[trial_id].attrs["user"][key] = value

    def set_trial_system_attr(self, trial_id: int, key: str, value: Any) -> None:
        self._check(trial_id)
        self._running[trial_id].attrs["system"][key] = value

    def set_trial_state_values(
        self, trial_id: int, state: TrialState, values: Sequence[float] | None = None
    ) -> bool:
        self._check(trial_id)
        if state.is_finished():
            self._end(trial_id, state, values)
            return True
        if state is not TrialState.RUNNING:
            raise NotCarried("nobody makes a trial wait again")
        return False

    def _check(self, trial_id: int) -> None:
        state = self.get_trial(trial_id).state
        self.check_trial_is_updatable(trial_id, state)
        if state is TrialState.WAITING:
            raise NotCarried("no device has it")

    def _suggest(self, trial_id: int, name: str, internal: float, kind: BaseDistribution) -> None:
        running = self._running[trial_id]
        study, number = divmod(trial_id, 2**32)
        args = _protocol.SuggestArgs(name, distribution_to_json(kind))
        running.device.send(_protocol.Suggest(1, running.attempt, "suggest", args))
        self._owned[study].answer(number, name, internal, kind)
        answer = running.answer()
        if isinstance(answer, _protocol.ErrorMessage):
            raise ValueError(f"{answer.code}: {answer.message}")
        assert isinstance(answer, _protocol.TextReply)

    def _report(self, trial_id: int, step: int, value: float) -> None:
        """Report as the worker does: skip NaN, and send the largest float for an infinity."""
        if math.isnan(value):
            return
        running = self._running[trial_id]
        running.send(_protocol.Report, [(step, _finite(value))])
        assert isinstance(running.answer(), _protocol.Ack)

    def _end(self, trial_id: int, state: TrialState, values: Sequence[float] | None) -> None:
        running = self._running.pop(trial_id)
        attrs: dict[str, Any] = {kind: told for kind, told in running.attrs.items() if told}
        told: dict[str, Any] = {}
        if state is TrialState.COMPLETE:
            assert values is not None
            told["values"] = [_finite(value) for value in values]
            if any(map(math.isinf, values)):
                attrs["values"] = [str(v) if math.isinf(v) else v for v in values]
        if state is TrialState.FAIL:
            told["error"] = Failure("user_error", "objective_raised", "it raised")
        if attrs:
            told["attrs"] = json.dumps(attrs)
        outcome = {"COMPLETE": "complete", "PRUNED": "pruned", "FAIL": "failed"}[state.name]
        running.send(_protocol.TrialResult, outcome, **told)
        assert isinstance(running.answer(), _protocol.ResultAck)
        if state is TrialState.FAIL:
            # The server bars a device that fails one trial after another (R72).
            running.device.close()
        else:
            self._idle.append(running.device)
        # A failed attempt is acknowledged before its trial has ended: the trial may be tried again.
        self._wait_until(*divmod(trial_id, 2**32), is_open=False)


def _finite(value: float) -> float:
    return math.copysign(_LARGEST, value) if math.isinf(value) else float(value)
