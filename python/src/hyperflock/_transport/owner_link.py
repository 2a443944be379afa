"""Owns an asked study over the WebSocket: batches of calls come, replies go, reconnects claim anew.

    with OwnerLink(http, study=3, label="notebook") as link:
        batch = link.next(0.5)                  # an OwnerCall, an Error or None
        link.send(OwnerReply(study=3, taken=batch.batch, room=1), batch.generation)

The socket lives on the background loop; `next` and `send` are for one other thread. The
server has one batch on its way at a time, so the queue between the threads is bounded by what that
thread takes in before it has answered.
"""

from __future__ import annotations

import asyncio
import contextlib
import queue
import time
from types import TracebackType

import msgspec
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

from hyperflock._base.errors import (
    HyperflockError,
    OwnerError,
    ProtocolError,
    ServerUnreachableError,
    server_error,
)
from hyperflock._base.text import clean
from hyperflock._transport import background_loop as _loop
from hyperflock._transport.http import Http
from hyperflock._transport.messages import (
    Error,
    OwnerCall,
    OwnerClaim,
    OwnerReply,
    Refused,
    SamplerRow,
    StudyRow,
    Watch,
    encode,
)
from hyperflock._transport.validation import convert
from hyperflock._transport.websocket import (
    PATIENCE_S,
    back_off,
    connection,
    greet,
    is_passing,
    message_of,
)

REPLACED = 4005
_BATCHES = msgspec.json.Decoder(OwnerCall)
# For what waits to leave, and for the closing handshake.
_CLOSE_S = 30.0


class OwnerLink:
    """A claim on a study, renewed whenever the connection breaks.

    Parameters
    ----------
    http
        The client's connection.
    study
        The study's id.
    label
        Who claims it, for people; at most 128 characters.
    standby
        Wait until nobody else owns the study, and step back when somebody does.
    patience_s
        How long the server may be away.
    """

    def __init__(
        self,
        http: Http,
        study: int,
        label: str,
        *,
        standby: bool = False,
        patience_s: float = PATIENCE_S,
    ) -> None:
        self._http = http
        self._study = study
        self._claim = OwnerClaim(label[:128], standby)
        self._patience_s = patience_s
        self._incoming: queue.SimpleQueue[OwnerCall | Error | BaseException] = queue.SimpleQueue()
        self._outgoing: asyncio.Queue[tuple[int, str] | None] = asyncio.Queue()
        self._generation = 0
        self._is_claimed = False
        self._running = _loop.start(self._run())

    def __enter__(self) -> OwnerLink:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def next(self, timeout_s: float) -> OwnerCall | Error | None:
        """Wait for what comes next; None after ``timeout_s`` seconds.

        A batch of another generation than the one before means a new connection: what was asked and
        answered before may be lost.

        Raises
        ------
        OwnerError
            ``owner_replaced``: another process owns the study now.
        ServerUnreachableError, ServerError
            There is no way to claim it.
        """
        try:
            item = self._incoming.get(timeout=timeout_s)
        except queue.Empty:
            return None
        if isinstance(item, BaseException):
            raise item
        return item

    def send(self, reply: OwnerReply, generation: int) -> None:
        """Send a reply, if the connection is still the one of that generation."""
        text = encode(reply)
        _loop.soon(lambda: self._outgoing.put_nowait((generation, text)))

    def close(self) -> None:
        """Send what waits and end the claim; the study waits for an owner then."""
        _loop.soon(lambda: self._outgoing.put_nowait(None))
        with contextlib.suppress(BaseException):
            self._running.result(_CLOSE_S)
        self._running.cancel()

    # ---- the loop's thread

    async def _run(self) -> None:
        try:
            await self._stay_connected()
        except Exception as error:
            self._incoming.put(error)

    async def _stay_connected(self) -> None:
        attempt = 0
        silent_since = time.monotonic()
        while True:
            failure: HyperflockError
            try:
                await self._refuse_if_replaced()
                watch = Watch(study=self._study, after=0, own=self._claim)
                async with connection(self._http.origin) as socket:
                    await greet(socket, self._http.token, watch)
                    attempt, silent_since = 0, time.monotonic()
                    if await self._talk(socket):
                        return
                failure = ServerUnreachableError("the server closed the connection")
            except ConnectionClosed as error:
                if error.rcvd is not None and error.rcvd.code == REPLACED:
                    raise _replaced(self._study) from None
                failure = _unreachable(self._http, error)
            except (OSError, InvalidHandshake, InvalidMessage, asyncio.TimeoutError) as error:
                failure = _unreachable(self._http, error)
            except HyperflockError as error:
                if not is_passing(error):
                    raise
                failure = error
            attempt += 1
            wait_s = back_off(attempt)
            if time.monotonic() - silent_since + wait_s > self._patience_s:
                raise failure
            if await self._is_closed_within(wait_s):
                return

    async def _refuse_if_replaced(self) -> None:
        """Claim nothing back: who claimed it while this connection was broken keeps it."""
        if not self._generation or self._claim.standby:
            return
        row = convert(await self._http.get(f"/api/studies/{self._study}"), StudyRow)
        if isinstance(row.sampler, SamplerRow) and row.sampler.generation > self._generation:
            raise _replaced(self._study)

    async def _talk(self, socket: ClientConnection) -> bool:
        """Carry messages both ways; tells whether `close` ended it."""
        reading = asyncio.ensure_future(self._read(socket))
        writing = asyncio.ensure_future(self._write(socket))
        try:
            done, _ = await asyncio.wait({reading, writing}, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            return writing in done
        finally:
            for task in (reading, writing):
                task.cancel()
            await asyncio.gather(reading, writing, return_exceptions=True)

    async def _read(self, socket: ClientConnection) -> None:
        while True:
            frame = await socket.recv()
            with contextlib.suppress(msgspec.MsgspecError):
                # Nearly all that comes; whatever is wrong with it is found out below.
                self._took(_BATCHES.decode(frame))
                continue
            try:
                message = message_of(frame)
            except ProtocolError as error:
                if error.code == "unknown_type":
                    continue
                raise
            if isinstance(message, OwnerCall):
                self._took(message)
            elif isinstance(message, Error):
                if message.code == "not_owner":
                    continue  # said while another one took over, which is told in its own way
                if not self._is_claimed:
                    raise server_error(message.code, clean(message.message))
                self._incoming.put(message)
            elif isinstance(message, Refused):
                raise server_error(message.code, clean(message.message))

    def _took(self, batch: OwnerCall) -> None:
        self._generation, self._is_claimed = batch.generation, True
        self._incoming.put(batch)

    async def _write(self, socket: ClientConnection) -> None:
        while (item := await self._outgoing.get()) is not None:
            generation, text = item
            if generation == self._generation:
                await socket.send(text)

    async def _is_closed_within(self, wait_s: float) -> bool:
        """Wait; drop what was meant for the broken connection; tell whether `close` was called."""
        deadline = time.monotonic() + wait_s
        while (left_s := deadline - time.monotonic()) > 0:
            with contextlib.suppress(asyncio.TimeoutError):
                if await asyncio.wait_for(self._outgoing.get(), left_s) is None:
                    return True
        return False


def _replaced(study: int) -> OwnerError:
    return OwnerError(
        f"another process became the sampler of study {study}, so this one has stopped; "
        "what it had asked goes on there",
        code="owner_replaced",
    )


def _unreachable(http: Http, error: BaseException) -> ServerUnreachableError:
    reason = clean(str(error), limit=200) or type(error).__name__
    return ServerUnreachableError(f"{http.origin.url} does not answer ({reason})")
