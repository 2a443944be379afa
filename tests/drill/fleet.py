"""Emulated devices that compute while servers die, and remember what was acknowledged.

    fleet = Fleet(devices, ports, seed=1)
    fleet.start()
    fleet.is_paused = True                # the devices send nothing but heartbeats
    fleet.end()
    fleet.acknowledged

Each device holds one attempt, computes it for a while, sends a value that no other attempt has, and
sends it again on the next connection until it is acknowledged. Other tests let devices answer
otherwise: they override `computes_s` and `answer`. All run in one thread of their own,
on one event loop. A grid's trial is only computed; a trial of an ask-and-tell study asks its owner
for a parameter and whether to go on.
"""

from __future__ import annotations

import asyncio
import enum
import math
import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from wire import Wire

_LOOK_S = 0.02
_OPEN_S = 5.0
# A device connects again after a jittered back-off that doubles, as the protocol says (R25), but
# not up to 30 s, so that a seed does not take long.
_FIRST_BACK_OFF_S, _MOST_BACK_OFF_S = 0.5, 4.0
_ASK_AGAIN_S = 5.0
_SILENT_HEARTBEATS = 3
# How long a trial takes.
_COMPUTES_S = (0.5, 3.5)
# The part of the devices that stay with a server that does not answer.
_LOYAL = 0.2
PARAMETER = "x"
_DISTRIBUTION = (
    '{"name": "FloatDistribution", "attributes": '
    '{"step": null, "low": 0.0, "high": 1.0, "log": false}}'
)
_CAPABILITIES = {
    "backends": ["cpu"], "memory_mb": 1024, "cores": 2, "engine": "drill 1", "class": "node"
}  # fmt: skip


class Step(enum.Enum):
    """What a device does now."""

    AWAY = 0  # it has no connection
    OPENING = 1
    WAITING = 2  # for a lease
    CALLING = 3  # its owner
    COMPUTING = 4
    REPORTING = 5  # it waits for the acknowledgement of its result


@dataclass(frozen=True)
class Acknowledged:
    """A result that the server has acknowledged."""

    study: int
    trial: int
    attempt: int
    value: float  # NaN: the attempt has failed
    verdict: str


class Device:
    """One device. Only the fleet's thread touches it."""

    def __init__(self, fleet: Fleet, number: int, name: str, secret: str) -> None:
        self._fleet = fleet
        self.name = name
        self._secret = secret
        self.chance = random.Random(fleet.seed * 1_000_003 + number)
        self._at = self.chance.randrange(len(fleet.ports))
        self._is_loyal = self.chance.random() < _LOYAL
        self.step = Step.AWAY
        self.due = 0.0
        self._wire: Wire | None = None
        self._lease: dict[str, Any] | None = None
        self._questions: list[dict[str, Any]] = []
        self._result: dict[str, Any] | None = None
        # `_deadline` is when the trial has been computed, also while the device has no connection.
        self._sent = self._heard = self._reported = self._deadline = self._open_until = 0.0
        self._heartbeat_s = 2.0
        self._ids = self._tries = 0

    @property
    def holds(self) -> bool:
        """Whether a result of the device is not acknowledged yet, or its trial goes on."""
        return self._lease is not None

    def act(self, now: float) -> None:
        """Do what is due."""
        fleet = self._fleet
        self.due = now + self._heartbeat_s / 4
        if self.step is Step.AWAY:
            if fleet.is_paused:
                return
            self.step, self._open_until = Step.OPENING, now + _OPEN_S
            fleet.connect(self, fleet.ports[self._at])
            return
        silent = now - self._heard > _SILENT_HEARTBEATS * self._heartbeat_s
        if now > self._open_until if self.step is Step.OPENING else silent:
            if not self._is_loyal or not fleet.has_frozen:
                self.drop(now)
            return
        if self.step is Step.COMPUTING and now >= self._deadline:
            self.finish(now)
        elif self.step is Step.WAITING and now >= self._deadline and not fleet.is_paused:
            self._ask(now)
        elif now - self._sent >= self._heartbeat_s and self.step is not Step.OPENING:
            self._send({"type": "heartbeat", "attempts": self._pulse()}, now)
        if self.step is Step.COMPUTING:
            self.due = min(self.due, self._deadline)

    def computes_s(self, lease: dict[str, Any]) -> float:
        """Return how long the trial takes."""
        return self.chance.uniform(*_COMPUTES_S) * self._fleet.pace

    def answer(self, lease: dict[str, Any]) -> dict[str, Any]:
        """Return the outcome of the trial, as the fields of a result."""
        return {"outcome": "complete", "values": [lease["attempt"] + self.chance.random()]}

    def finish(self, now: float) -> None:
        """Send the result of the trial, the same one each time."""
        if self._fleet.is_paused:
            return
        if self._questions:  # it was paused before it called
            self._call_or_compute(now)
            return
        assert self._lease is not None
        if self._result is None:
            self._ids += 1
            self._result = {
                "type": "result",
                "attempt": self._lease["attempt"],
                "seq": self._ids,
                **self.answer(self._lease),
                "metrics": {"load_ms": 12, "run_ms": 345},
                "backend": "cpu",
                "next": not self._fleet.is_ending,
            }
        self.step = Step.REPORTING
        self._reported = now
        self._send(self._result, now)

    def drop(self, now: float) -> None:
        """Leave the connection, and go to the next address after a while."""
        wire, self._wire = self._wire, None
        if wire is not None:
            wire.end()
        self.step = Step.AWAY
        longest = min(_MOST_BACK_OFF_S, _FIRST_BACK_OFF_S * 2**self._tries)
        self.due = now + longest * self.chance.uniform(0.5, 1.0)
        self._tries += 1
        if self._fleet.roams:
            self._at = (self._at + 1) % len(self._fleet.ports)

    # ---- what the connection tells

    def opened(self, wire: Wire) -> None:
        """Introduce the device."""
        if self.step is not Step.OPENING or self._wire is not None:
            wire.end()
            return
        self._wire = wire
        held = [] if self._lease is None else [self._lease["attempt"]]
        self._send(
            {
                "type": "hello", "protocol": 1, "role": "device", "device": self.name,
                "secret": self._secret, "agent": "drill/1", "capabilities": _CAPABILITIES,
                "attempts": held,
            },
            time.monotonic(),
        )  # fmt: skip

    def lost(self, wire: Wire) -> None:
        """Come again later."""
        if self._wire in (wire, None) and self.step is not Step.AWAY:
            self._wire = None
            self.drop(time.monotonic())

    def received(self, wire: Wire, message: dict[str, Any]) -> None:
        """Take a message of the server."""
        if wire is not self._wire:
            return
        now = self._heard = time.monotonic()
        match message["type"]:
            case "welcome":
                self._tries = 0
                self._heartbeat_s = message["heartbeat_ms"] / 1000
                self._go_on(now, message["attempts"])
            case "lease":
                self._begin(message["lease"], now)
            case "wait":
                self.step, self._deadline = Step.WAITING, now + message["delay_ms"] / 1000
            case "result_ack":
                self._acknowledged(message, now)
            case "reply":
                if self.step is Step.CALLING and message["id"] == self._questions[0]["id"]:
                    self._questions.pop(0)
                    self._call_or_compute(now)
            case "revoke":
                if self._result is None and self._is_mine(message):
                    self._forget(now)
            case "error":
                self._refused(message, now)
            case "refused":
                self._fleet.refusals[message["code"]] += 1
                self.drop(now)

    # ---- the trial

    def _go_on(self, now: float, kept: list[int]) -> None:
        if self._lease is None:
            self._ask(now)
        elif self._result is not None:
            self.finish(now)
            if self._fleet.is_paused:
                self.step, self._deadline = Step.COMPUTING, now
        elif self._lease["attempt"] not in kept:
            self._forget(now)
        elif self._questions:
            self._call_or_compute(now)
        else:
            self.step = Step.COMPUTING

    def _begin(self, lease: dict[str, Any], now: float) -> None:
        self._lease, self._result = lease, None
        self._questions = []
        if lease.get("asked"):
            suggest = {"name": PARAMETER, "distribution": _DISTRIBUTION}
            for method, args in (("suggest", suggest), ("should_prune", {"step": 1})):
                self._ids += 1
                points = [[1, 0.5]] if method == "should_prune" else []
                self._questions.append(
                    {
                        "type": "call", "id": self._ids, "attempt": lease["attempt"],
                        "method": method, "args": args, "points": points,
                    }
                )  # fmt: skip
        self._deadline = now + self.computes_s(lease)
        self._call_or_compute(now)

    def _call_or_compute(self, now: float) -> None:
        if self._questions and not self._fleet.is_paused:
            self.step = Step.CALLING
            self._send(self._questions[0], now)
        else:
            self.step = Step.COMPUTING
            self.due = self._deadline

    def _acknowledged(self, ack: dict[str, Any], now: float) -> None:
        result, lease = self._result, self._lease
        if result is None or lease is None or ack["attempt"] != result["attempt"]:
            return
        (value,) = result.get("values", [math.nan])
        self._fleet.note(
            Acknowledged(lease["study"], lease["trial"], ack["attempt"], value, ack["verdict"]),
            self._reported,
            now,
        )
        self._lease = self._result = None
        if "lease" in ack:
            self._begin(ack["lease"], now)
        else:
            self.step, self._deadline = Step.WAITING, now + _ASK_AGAIN_S

    def _refused(self, error: dict[str, Any], now: float) -> None:
        self._fleet.refusals[error["code"]] += 1
        if error["code"] == "no_owner" and self._fleet.is_paused:
            self.step = Step.COMPUTING  # it calls again when it goes on
        elif error["code"] == "no_owner" and self._lease is not None:
            self._ids += 1
            attempt = self._lease["attempt"]
            self._send(
                {"type": "release", "attempt": attempt, "seq": self._ids, "reason": "no_owner"}, now
            )
            self._forget(now)
        elif error["code"] == "unknown_attempt" and self._lease is not None:
            self._forget(now)

    def _forget(self, now: float) -> None:
        self._lease = self._result = None
        self._questions = []
        self._ask(now)

    def _ask(self, now: float) -> None:
        self.step, self._deadline = Step.WAITING, now + _ASK_AGAIN_S
        if self._fleet.is_paused:
            self._deadline = now
        elif not self._fleet.is_ending:
            self._send({"type": "ready"}, now)

    def _is_mine(self, message: dict[str, Any]) -> bool:
        return self._lease is not None and self._lease["attempt"] == message["attempt"]

    def _pulse(self) -> list[dict[str, Any]]:
        if self._lease is None or self._result is not None:
            return []
        state = "waiting_call" if self._questions else "running"
        return [{"attempt": self._lease["attempt"], "progress": 1, "state": state}]

    def _send(self, message: dict[str, Any], now: float) -> None:
        if self._wire is None:
            return
        self._sent = now
        self._wire.send(message)


class Fleet:
    """All devices. The methods may be called from any thread.

    Parameters
    ----------
    devices
        The name and the secret of each.
    ports
        The ports of the servers, on 127.0.0.1.
    pace
        How long trials take, as a part of the usual time.
    roams
        Whether a device goes to the next address when one does not serve it. Otherwise each stays
        with one address.
    make
        Makes a device of the fleet, its number, its name and its secret.
    """

    def __init__(
        self,
        devices: Sequence[tuple[str, str]],
        ports: Sequence[int],
        seed: int,
        *,
        pace: float = 1.0,
        roams: bool,
        make: Callable[[Fleet, int, str, str], Device] = Device,
    ) -> None:
        self.seed = seed
        self.ports = ports
        self.roams = roams
        self.pace = pace
        self.is_paused = self.is_ending = self.has_frozen = False
        self.refusals: Counter[str] = Counter()
        self.acknowledged: list[Acknowledged] = []
        self.accepted = 0
        self._since = float("inf")
        self._first: float | None = None
        self._devices = [make(self, i, *one) for i, one in enumerate(devices)]
        self._is_over = False
        self._opening: set[asyncio.Task[None]] = set()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> None:
        """Let the devices begin."""
        self._thread.start()

    def watch(self) -> None:
        """Wait from now on for a result that is sent and accepted; see `first_accepted`."""
        self._first, self._since = None, time.monotonic()

    def first_accepted(self) -> float | None:
        """Return when the first result was accepted that was sent after `watch`."""
        self.check()
        return self._first

    def end(self) -> None:
        """Let each device finish what it has, and take nothing new."""
        self.is_ending = True

    def is_idle(self) -> bool:
        """Return whether no device has a trial or a result that is not acknowledged."""
        self.check()
        return not any(device.holds for device in self._devices)

    def leave(self) -> None:
        """End the connections and the thread."""
        self._is_over = True
        if self._thread.is_alive():
            self._thread.join()

    def check(self) -> None:
        """Raise the error that ended the thread, if there is one."""
        if self._failure is not None:
            raise self._failure

    # ---- the fleet's thread

    def note(self, one: Acknowledged, sent: float, now: float) -> None:
        """Remember an acknowledged result."""
        self.acknowledged.append(one)
        if one.verdict == "accepted":
            self.accepted += 1
            if self._first is None and sent > self._since:
                self._first = now

    def connect(self, device: Device, port: int) -> None:
        """Open a connection for a device."""
        task = asyncio.get_running_loop().create_task(_open(device, port))
        self._opening.add(task)
        task.add_done_callback(self._opening.discard)

    def _run(self) -> None:
        try:
            asyncio.run(self._work())
        except BaseException as error:
            self._failure = error

    async def _work(self) -> None:
        while not self._is_over:
            now = time.monotonic()
            for device in self._devices:
                if device.due <= now:
                    device.act(now)
            await asyncio.sleep(_LOOK_S)
        for device in self._devices:
            device.drop(time.monotonic())


async def _open(device: Device, port: int) -> None:
    loop = asyncio.get_running_loop()
    try:
        await asyncio.wait_for(
            loop.create_connection(lambda: Wire(device), "127.0.0.1", port), _OPEN_S
        )
    except (OSError, asyncio.TimeoutError):
        device.drop(time.monotonic())
