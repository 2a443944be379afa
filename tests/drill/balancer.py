"""Passes researchers' connections on to the server that has the database, as load balancers do.

    with Balancer(ports) as balancer:
        client = hyperflock.Client(balancer.console, token)

It asks each server `GET /readyz`. When another one becomes ready, it cuts what it had passed on to
the one before. While it is held, it cuts everything and takes no new connection. It runs on a
thread of its own.

With `blind`, it asks nothing, as a plain TCP balancer or DNS with several addresses: each
connection goes to the next server in turn that listens.
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import threading
from collections.abc import Sequence
from types import TracebackType

_LOOK_S = 0.25
_ANSWER_S = 1.0
_PIECE_BYTES = 1 << 16
_QUESTION = b"GET /readyz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n"


class Balancer:
    """One address in front of several servers of this machine."""

    def __init__(self, ports: Sequence[int], *, blind: bool = False) -> None:
        self._ports = ports
        self._turns = itertools.cycle(range(len(ports)))
        self._is_blind = blind
        self._ready: int | None = None
        self._passed: set[asyncio.StreamWriter] = set()
        self._is_over = False
        self.is_held = False
        self._listens = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._run()), daemon=True)
        self.console = ""

    def __enter__(self) -> Balancer:
        self._thread.start()
        assert self._listens.wait(30)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._is_over = True
        self._thread.join()

    async def _run(self) -> None:
        server = await asyncio.start_server(self._pass_on, "127.0.0.1", 0)
        self.console = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        async with server:
            while not self._is_over:
                if self.is_held:
                    self._cut()
                elif not self._is_blind:
                    await self._look()
                self._listens.set()
                await asyncio.sleep(_LOOK_S)
            self._cut()

    async def _look(self) -> None:
        answers = await asyncio.gather(*map(_is_ready, self._ports))
        ready = [port for port, is_ready in zip(self._ports, answers, strict=True) if is_ready]
        if self._ready in ready:
            return
        self._ready = ready[0] if ready else None
        self._cut()

    def _cut(self) -> None:
        for writer in self._passed:
            writer.transport.abort()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.ExitStack() as stack:
            try:
                if self.is_held:
                    return
                far = await self._open()
                for one in (writer, far[1]):
                    self._passed.add(one)
                    stack.callback(self._passed.discard, one)
                await asyncio.gather(_carry(reader, far[1]), _carry(far[0], writer))
            except OSError:
                return
            finally:
                for one in (writer, *((far[1],) if "far" in locals() else ())):
                    one.transport.abort()

    async def _open(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """Connect to the server that is ready, or to the next one in turn. Raises OSError."""
        if not self._is_blind:
            if self._ready is None:
                raise ConnectionRefusedError
            return await asyncio.open_connection("127.0.0.1", self._ready)
        for _ in self._ports[1:]:
            with contextlib.suppress(OSError):
                return await asyncio.open_connection("127.0.0.1", self._ports[next(self._turns)])
        return await asyncio.open_connection("127.0.0.1", self._ports[next(self._turns)])


async def _is_ready(port: int) -> bool:
    with contextlib.suppress(OSError, asyncio.TimeoutError):
        return await asyncio.wait_for(_ask(port), _ANSWER_S)
    return False


async def _ask(port: int) -> bool:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        writer.write(_QUESTION)
        return b" 200 " in await reader.readline()
    finally:
        writer.transport.abort()


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while piece := await reader.read(_PIECE_BYTES):
        writer.write(piece)
        await writer.drain()
    # One side has ended, so the other one ends too.
    writer.transport.abort()
