"""Simulates devices that compute an ask-and-tell study of a real server over WebSockets."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

from device import Device
from fake_asked import CallRefused, StudyGone, run_trial
from hyperflock._transport import messages as _protocol
from hyperflock._transport.messages import Failure, Lease, SuggestArgs
from patience import LIMIT_S
from real_server import Server
from websockets.exceptions import ConnectionClosed


class Attempt:
    """One lease in the form in which `run_trial` uses a trial."""

    def __init__(self, lease: Lease) -> None:
        self.number = lease.trial
        self.lease = lease
        self.attrs = lease.attrs if isinstance(lease.attrs, str) else ""
        self.points: list[tuple[int, float]] = []


class Wire:
    """The methods of a study that `run_trial` calls, over the socket of one device."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._after: Lease | None = None
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
        args = _protocol.StepArgs() if step is None else _protocol.StepArgs(step)
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
            _protocol.TrialResult(
                attempt.lease.attempt, self._seq, next=True, backend="cpu", **told
            )
        )
        while not isinstance(message := self.device.receive(), _protocol.ResultAck):
            if isinstance(message, _protocol.ErrorMessage):  # for an attempt that has ended
                self._revoked = True
                return
        self._after = message.lease or None

    def next_lease(self) -> Lease:
        """Wait for the next lease. After a revoked one, ask for work again."""
        if self._after is not None:
            lease, self._after = self._after, None
            return lease
        if self._revoked:
            self._revoked = False
            self.device.send(_protocol.Ready())
        while not isinstance(message := self.device.receive(), _protocol.LeaseOffer):
            pass
        return message.lease

    def _answer(self) -> _protocol.ServerMessage:
        while True:
            message = self.device.receive()
            if isinstance(message, _protocol.Revoke):
                self._revoked = True
                raise StudyGone
            if isinstance(message, _protocol.ErrorMessage):
                raise CallRefused(f"{message.code}: {message.message}")
            if isinstance(message, _protocol.Reply | _protocol.TextReply):
                return message

    def _flush(self, attempt: Attempt) -> list[tuple[int, float]]:
        points, attempt.points = attempt.points, []
        return points


class Phones:
    """Devices that compute in threads each trial that is leased to them."""

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
            thread.join(LIMIT_S)

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
