"""Runs a volunteer's device in a process that tests kill: the worker's Python code and a WebSocket.

    python phone.py COMPUTE CODE         # joins by a link's code and computes until it is killed

Bundles, suggestions, checkpoints and results are handled by the same code as in a browser. Tests
use `StartedPhone`.
"""

from __future__ import annotations

import hashlib
import itertools
import json
import subprocess
import sys
import threading
import time
import urllib.parse
from pathlib import Path
from typing import Any

import urllib3
from device import Device
from hyperflock._transport import messages as _protocol
from hyperflock._transport.messages import Lease
from patience import LIMIT_S
from tied import tied
from websockets.exceptions import ConnectionClosed

WORKER = Path(__file__).parents[3] / "worker-runtime" / "python"
HEARTBEATS = 4  # in the duration of a lease
_http = urllib3.PoolManager(timeout=LIMIT_S, retries=False)


class Gone(BaseException):
    """The attempt was revoked or released. The class derives from BaseException, so that no
    objective catches it.
    """


class Attempt:
    """One lease, and the bridge that its objective calls."""

    def __init__(self, phone: Phone, lease: Lease) -> None:
        self.lease = lease
        self.is_over = False
        self.steps = 0
        self._phone = phone
        self._points: list[tuple[int, float]] = []
        self._rows: list[tuple[int, dict[str, Any]]] = []
        self._seq = itertools.count(1)
        self._calls = 0

    # ---- The worker's bridge

    def call(self, method: str, payload_json: str) -> str:
        self._calls += 1
        payload, attempt = json.loads(payload_json), self.lease.attempt
        made: _protocol.ClientMessage
        if method == "suggest":
            args = _protocol.SuggestArgs(payload["name"], payload["distribution"])
            made = _protocol.Suggest(self._calls, attempt, "suggest", args, self._flush())
        else:
            step = _protocol.StepArgs(payload["step"])
            made = _protocol.Call(self._calls, attempt, "should_prune", step, self._flush())
        self._phone.device.send(made)
        while (answer := self._answer(self._phone.receive())) is None:
            pass
        return json.dumps(answer)

    def upload(self, head_json: str, content: bytes) -> str:
        device, attempt = self._phone.device, self.lease.attempt
        self.flush()
        head = json.loads(head_json)
        kind = head.pop("of")
        query = urllib.parse.urlencode({k: v for k, v in head.items() if v not in (None, "")})
        name = hashlib.sha256(content).hexdigest()
        answer = _http.request(
            "PUT",
            f"{device.compute}/api/attempts/{attempt}/{kind}s/{name}?{query}",
            headers=self._phone.credentials,
            body=content,
        )
        if answer.status in (200, 201):
            return '{"ok": true, "value": true}'
        return json.dumps({"ok": False, "error": answer.json()["error"]})

    def report(self, step: int, value: float) -> None:
        self._points.append((step, value))

    def log(self, row_json: str) -> None:
        row = json.loads(row_json)
        self._rows.append((row["step"], row["values"]))

    def progress(self) -> None:
        self.steps += 1

    # ---- The device's side

    def flush(self) -> None:
        """Send the points and rows that have not been sent yet, as one report."""
        points, rows = self._flush(), self._rows
        self._rows = []
        if not points and not rows:
            return
        report = _protocol.Report(self.lease.attempt, next(self._seq), points)
        if rows:
            steps = sorted({step for step, _ in rows})
            columns: dict[str, list[Any]] = {}
            for step, values in rows:
                for name, value in values.items():
                    columns.setdefault(name, [None] * len(steps))[steps.index(step)] = value
            report.series = _protocol.Series(steps, list(columns.items()))
        self._phone.device.send(report)

    def result(self, outcome: dict[str, Any]) -> _protocol.TrialResult:
        """Send the unsent points. Return the message for an outcome of `run_attempt`."""
        self.flush()
        names = ("outcome", "values", "attrs", "backend")
        told: dict[str, Any] = {name: outcome[name] for name in names if name in outcome}
        if "error" in outcome:
            told["error"] = _protocol.Failure(**outcome["error"])
        return _protocol.TrialResult(
            self.lease.attempt, next(self._seq), points=[], next=True, **told
        )

    def saved(self) -> list[tuple[str, int, bytes]]:
        """Fetch the checkpoint from which the attempt resumes, as a list; without one the list is
        empty.
        """
        found = self.lease.checkpoint
        if not isinstance(found, _protocol.Checkpoint):
            return []
        address = f"{self._phone.device.compute}/api/attempts/{self.lease.attempt}/checkpoint"
        answer = _http.request("GET", address, headers=self._phone.credentials)
        assert answer.status == 200, answer.data
        return [(found.format, found.step if isinstance(found.step, int) else -1, answer.data)]

    def _answer(self, message: _protocol.ServerMessage) -> dict[str, Any] | None:
        match message:
            case _protocol.TextReply(id=self._calls, text=text):
                return {"ok": True, "value": text}
            case _protocol.Reply(id=self._calls, value=value):
                return {"ok": True, "value": value}
            case _protocol.ErrorMessage(id=self._calls, code="no_owner"):
                given_back = _protocol.Release(self.lease.attempt, next(self._seq), "no_owner")
                self._phone.device.send(given_back)
                self._end()
            case _protocol.ErrorMessage(id=self._calls, code=code, message=text):
                return {"ok": False, "error": {"code": code, "message": text}}
            case _protocol.Revoke(attempt=self.lease.attempt):
                self._end()
        return None

    def _end(self) -> None:
        self.is_over = True
        raise Gone

    def _flush(self) -> list[tuple[int, float]]:
        points, self._points = self._points, []
        return points


class Phone:
    """One device that computes each trial that is leased to it."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.credentials = {"Authorization": f"Device {device.device}:{device.secret}"}
        self._running: Attempt | None = None

    def receive(self) -> _protocol.ServerMessage:
        """Wait for a message, without a time limit."""
        while True:
            try:
                return self.device.receive()
            except TimeoutError:
                continue

    def run(self) -> None:
        """Compute until the connection ends."""
        self.device.send(_protocol.Ready())
        while True:
            message = self.receive()
            lease = message.lease if isinstance(message, _protocol.LeaseOffer) else None
            while lease is not None:
                lease = self._compute(Attempt(self, lease))

    def _compute(self, attempt: Attempt) -> Lease | None:
        """Run one attempt. Return the lease that comes with the acknowledgement of its result."""
        self._running = attempt
        threading.Thread(target=self._beat, args=(attempt,), daemon=True).start()
        try:
            outcome = self._outcome(attempt)
        finally:
            self._running = None
        if attempt.is_over:
            self.device.send(_protocol.Ready())
            return None
        self.device.send(attempt.result(outcome))
        while True:
            match self.receive():
                case _protocol.ResultAck(lease=Lease() as lease):
                    return lease
                case _protocol.ResultAck():
                    return None
                case _protocol.ErrorMessage(code="unknown_attempt"):
                    self.device.send(_protocol.Ready())
                    return None
                case _protocol.ErrorMessage(code=code, message=message):
                    raise AssertionError(f"{code}: {message}")

    def _outcome(self, attempt: Attempt) -> dict[str, Any]:
        from hyperflock_worker.bridge import WorkerHost
        from hyperflock_worker.runner import run_attempt

        lease = attempt.lease
        asked = {
            "directions": lease.directions,
            "suggested": lease.suggested if isinstance(lease.suggested, str) else None,
            "attrs": lease.attrs if isinstance(lease.attrs, str) else None,
        }
        spec = {
            "attempt": lease.attempt,
            "study": lease.study,
            "trial": lease.trial,
            "entry": lease.entry,
            "params": lease.params,
            "seed": lease.seed,
            "chainer": lease.runtime.chainer,
            "asked": asked if lease.asked is True else None,
        }
        data = {d.name: (d.kind, self.device.blob(d.sha256), d.filename) for d in lease.data}
        bundle = self.device.blob(lease.bundle.sha256)
        host = WorkerHost(attempt)
        told: dict[str, Any] = json.loads(
            run_attempt(json.dumps(spec), bundle, data, attempt.saved(), host)
        )
        return told

    def _beat(self, attempt: Attempt) -> None:
        """Send heartbeats that keep the lease, in a separate thread."""
        while self._running is attempt:
            pulse = _protocol.Pulse(attempt.lease.attempt, attempt.steps, "running")
            try:
                self.device.send(_protocol.Heartbeat([pulse]))
            except ConnectionClosed:
                return
            time.sleep(attempt.lease.lease_ms / 1000 / HEARTBEATS)


class StartedPhone:
    """The process of a phone that has joined.

    Attributes
    ----------
    device : str
        The name that the server gave it.
    """

    def __init__(self, compute: str, code: str) -> None:
        command = [sys.executable, __file__, compute, code]
        self._process = subprocess.Popen(tied(command), stdout=subprocess.PIPE, text=True)
        assert self._process.stdout is not None
        self.device = self._process.stdout.readline().strip()
        assert self.device, "the phone did not join"

    def kill(self) -> None:
        """Kill the process with SIGKILL."""
        with self._process:
            self._process.kill()


def main(compute: str, code: str) -> None:
    """Join by a link's code, and compute until the connection ends."""
    # The worker's folder is last on the path, because it also has a module `hyperflock`.
    sys.path.append(str(WORKER))
    with Device.join(compute, code) as device:
        print(device.device, flush=True)
        Phone(device).run()


if __name__ == "__main__":
    main(*sys.argv[1:])
