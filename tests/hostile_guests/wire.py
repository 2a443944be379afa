"""A WebSocket on which a guest may send whatever it likes.

with Wire(ground) as wire:
wire.send('{"type": "ready"}')
assert wire.code() == "wait"
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from ground import Ground
from patience import LIMIT_S
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

_CAPABILITIES = {
    "backends": ["cpu"], "memory_mb": 1024, "cores": 2, "engine": "guest 1", "class": "node"
}  # fmt: skip


class Wire:
    """A device's WebSocket. Without ``greet`` nothing is sent when it opens.

    Attributes
    ----------
    who : dict
        The device's name and secret. Without ``who`` a new device joins.
    closed : int or None
        The code with which the server closed it.
    """

    def __init__(
        self, ground: Ground, *, greet: bool = True, who: dict[str, Any] | None = None
    ) -> None:
        self.who = who or enrol(ground, ground.attacker.link)
        self.closed: int | None = None
        self._address = f"ws{ground.server.compute.removeprefix('http')}/ws/worker"
        self._greet = greet
        self._closed_last = contextlib.ExitStack()

    def __enter__(self) -> Wire:
        self._socket = self._closed_last.enter_context(
            connect(self._address, compression=None, proxy=None, open_timeout=LIMIT_S)
        )
        if self._greet:
            self.send(self.hello())
            assert self.code() == "welcome"
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closed_last.close()

    def hello(self, **fields: Any) -> dict[str, Any]:
        """Return this device's first message."""
        return hello_of(self.who, **fields)

    def send(self, message: Any) -> None:
        """Send bytes, a text, or a value as JSON. The server may have closed the connection."""
        frame = message if isinstance(message, str | bytes) else json.dumps(message)
        with contextlib.suppress(ConnectionClosed):
            self._socket.send(frame)

    def message(self) -> dict[str, Any]:
        """Return the next message; ``{"type": "closed"}`` after the last one."""
        try:
            read: dict[str, Any] = json.loads(self._socket.recv(LIMIT_S))
        except ConnectionClosed as closed:
            self.closed = closed.rcvd and closed.rcvd.code
            return {"type": "closed"}
        return read

    def code(self) -> str:
        """Return the code of the next message if it is an error or a refusal, else its type."""
        read = self.message()
        return read["code"] if read["type"] in ("error", "refused") else read["type"]

    def lease(self) -> dict[str, Any]:
        """Ask for work, and return the lease."""
        self.send({"type": "ready"})
        while (read := self.message())["type"] != "lease":
            assert read["type"] == "wait", read
        lease: dict[str, Any] = read["lease"]
        return lease


def hello_of(who: Mapping[str, Any], **fields: Any) -> dict[str, Any]:
    """Return the first message of a device with this name and secret."""
    return {
        "type": "hello",
        "protocol": 1,
        "role": "device",
        "device": who["device"],
        "secret": who["secret"],
        "agent": "guest/1",
        "capabilities": _CAPABILITIES,
        "attempts": [],
        **fields,
    }


def enrol(ground: Ground, link: str) -> dict[str, Any]:
    """Join by a link and return the device's name and secret."""
    body = {"code": link, "class": "node", "engine": "guest 1"}
    answer = ground.http("POST", "/api/join", body, at="compute")
    assert answer.status == 201, answer
    told: dict[str, Any] = answer.body
    return told
