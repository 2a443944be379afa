"""Simulates a volunteer's device for tests. It joins by a link's code, takes leases and sends
results.

    with Device.join(compute, code) as device:
        lease = device.ready()
        lease = device.complete(lease, 0.5)      # the next lease, or None

All calls block, in one thread. Every wait has a time limit.
"""

from __future__ import annotations

import contextlib
import json
from types import TracebackType
from typing import Any

import urllib3
from hyperflock._transport import frames
from hyperflock._transport import messages as _protocol
from hyperflock._transport.messages import Capabilities, Lease
from patience import LIMIT_S
from websockets.sync.client import ClientConnection, connect

_http = urllib3.PoolManager(timeout=LIMIT_S, retries=False)


class Device:
    """One enrolled device with an open session."""

    def __init__(self, compute: str, device: str, secret: str) -> None:
        self.compute = compute
        self.device = device
        self.secret = secret
        self._socket: ClientConnection | None = None
        self._sessions = contextlib.ExitStack()
        self._seq = 0

    @classmethod
    def join(cls, compute: str, code: str) -> Device:
        """Enrol with the code of a join link and open a session."""
        body = {"code": code, "class": "node", "engine": "test engine 1"}
        answer = _http.request("POST", f"{compute}/api/join", json=body)
        assert answer.status == 201, answer.data
        told = answer.json()
        device = cls(compute, told["device"], told["secret"])
        device.open()
        return device

    def __enter__(self) -> Device:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def open(self, held: tuple[int, ...] = ()) -> _protocol.Welcome:
        """Open the session: connect and send hello."""
        address = f"ws{self.compute.removeprefix('http')}/ws/worker"
        self._socket = self._sessions.enter_context(
            connect(address, compression=None, proxy=None, open_timeout=LIMIT_S)
        )
        capabilities = Capabilities(["cpu"], 1024, 2, "test engine 1", "node")
        hello = _protocol.HelloDevice(
            1, "device", self.device, self.secret, "test/1", capabilities, list(held)
        )
        self.send(hello)
        welcome: _protocol.Welcome = self.expect(_protocol.Welcome)
        return welcome

    def close(self) -> None:
        """Close the session with a close frame."""
        self._sessions.close()

    def ready(self) -> Lease:
        """Ask for work, and wait for a lease."""
        self.send(_protocol.Ready())
        return self.next_lease()

    def next_lease(self) -> Lease:
        """Wait for a lease."""
        while not isinstance(message := self.receive(), _protocol.LeaseOffer):
            assert isinstance(message, _protocol.Wait), message
        return message.lease

    def complete(self, lease: Lease, value: float) -> Lease | None:
        """Report two points and send the result.

        Return the lease that comes with the acknowledgement of the result.
        """
        self._seq += 1
        self.send(_protocol.Report(lease.attempt, self._seq, [(0, value + 1), (1, value)]))
        assert self.expect(_protocol.Ack).seq == self._seq
        return self.result(lease, outcome="complete", values=[value]).lease or None

    def result(self, lease: Lease, *, more: bool = True, **fields: Any) -> _protocol.ResultAck:
        """Send a result and wait until it is committed; ``more`` asks for the next trial too."""
        self._seq += 1
        metrics = _protocol.RunMetrics(load_ms=12, run_ms=345)
        self.send(
            _protocol.TrialResult(
                lease.attempt, self._seq, metrics=metrics, backend="cpu", next=more, **fields
            )
        )
        ack: _protocol.ResultAck = self.expect(_protocol.ResultAck)
        return ack

    def blob(self, sha256: str) -> bytes:
        """Fetch a blob that a lease names."""
        answer = _http.request(
            "GET",
            f"{self.compute}/api/blobs/{sha256}",
            headers={"Authorization": f"Device {self.device}:{self.secret}"},
        )
        assert answer.status == 200, answer.data
        return answer.data

    def send(self, message: _protocol.ClientMessage) -> None:
        """Send one message."""
        assert self._socket is not None
        self._socket.send(frames.encode(message))

    def receive(self) -> _protocol.ServerMessage:
        """Wait for one message."""
        assert self._socket is not None
        frame = self._socket.recv(LIMIT_S)
        assert isinstance(frame, str)
        return frames.parse_server(frame)

    def expect(self, kind: type[Any]) -> Any:
        """Wait for a message of one type. Skip the `wait` messages that come before it."""
        while isinstance(message := self.receive(), _protocol.Wait):
            pass
        assert isinstance(message, kind), message
        return message


def params(lease: Lease) -> dict[str, Any]:
    """Return the parameters of a lease."""
    decoded = json.loads(lease.params)
    assert isinstance(decoded, dict)
    return decoded
