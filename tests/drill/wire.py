"""A WebSocket for very many connections in one thread: asyncio's transport and no queue.

    await loop.create_connection(lambda: Wire(owner), "127.0.0.1", port)
    wire.send({"type": "ready"})          # owner.received(wire, message) is called for each answer

It does only what this drill needs: text frames that are not fragmented, pings, and the end.
"""

from __future__ import annotations

import asyncio
import struct
from typing import Any, Protocol

import msgspec

_UPGRADE = (
    b"GET /ws/worker HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
)
_TEXT, _CLOSE, _PING, _PONG = 1, 8, 9, 10
_FINAL, _MASKED = 0x80, 0x80
_NO_MASK = bytes(4)  # masked by zero, a payload stays as it is
_encoder = msgspec.json.Encoder()


class Owner(Protocol):
    """Whose connection it is."""

    def opened(self, wire: Wire) -> None:
        """The server has accepted the WebSocket."""

    def received(self, wire: Wire, message: dict[str, Any]) -> None:
        """A message has arrived."""

    def lost(self, wire: Wire) -> None:
        """The connection has ended, or the server has refused it."""


class Wire(asyncio.Protocol):
    """One connection."""

    def __init__(self, owner: Owner) -> None:
        self._owner = owner
        self._transport: asyncio.Transport | None = None
        self._read = b""
        self._is_open = False

    def send(self, message: dict[str, Any]) -> None:
        """Send one message."""
        self._send(_TEXT, _encoder.encode(message))

    def end(self) -> None:
        """End the connection without a close frame, as a network that breaks does."""
        if self._transport is not None:
            self._transport.abort()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Ask for the WebSocket."""
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(_UPGRADE)

    def data_received(self, data: bytes) -> None:
        """Read what has arrived."""
        self._read += data
        if not self._is_open:
            head, end, rest = self._read.partition(b"\r\n\r\n")
            if not end:
                return
            if b" 101 " not in head.split(b"\r\n", 1)[0]:
                self.end()
                return
            self._is_open, self._read = True, rest
            self._owner.opened(self)
        while self._take_frame():
            pass

    def connection_lost(self, exc: Exception | None) -> None:
        """Tell the owner."""
        self._owner.lost(self)

    def _take_frame(self) -> bool:
        read = self._read
        if len(read) < 2:
            return False
        size, begin = read[1], 2
        if size == 126:
            if len(read) < 4:
                return False
            size, begin = struct.unpack_from(">H", read, 2)[0], 4
        elif size == 127:
            if len(read) < 10:
                return False
            size, begin = struct.unpack_from(">Q", read, 2)[0], 10
        if len(read) < begin + size:
            return False
        payload, self._read = read[begin : begin + size], read[begin + size :]
        kind = read[0] & 0x0F
        if kind == _TEXT:
            self._owner.received(self, msgspec.json.decode(payload))
        elif kind == _PING:
            self._send(_PONG, payload)
        elif kind == _CLOSE:
            self.end()
            return False
        return True

    def _send(self, kind: int, payload: bytes) -> None:
        size = len(payload)
        if self._transport is None or self._transport.is_closing():
            return
        if size < 126:
            head = bytes((_FINAL | kind, _MASKED | size))
        else:
            head = struct.pack(">BBH", _FINAL | kind, _MASKED | 126, size)
        self._transport.write(head + _NO_MASK + payload)
