"""Keeps the ownership of an ask-and-tell study over the WebSocket, also after a reconnection.

    with OwnerLink(http, study=3, label="notebook") as link:
        batch = link.next(0.5)                  # an OwnerCall, an ErrorMessage or None
        link.send(OwnerReply(study=3, taken=batch.batch, room=1), batch.generation)

The socket belongs to the background loop; one other thread calls `next` and `send`. The server
sends the next batch of calls only after a reply, so the queue between the threads stays short.
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
from hyperflock._transport.frames import encode
from hyperflock._transport.http import Http
from hyperflock._transport.messages import (
    ErrorMessage,
    OwnerCall,
    OwnerClaim,
    OwnerReply,
    Refused,
    SamplerRow,
    StudyRow,
    Watch,
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
# The time limit in seconds for sending the remaining messages and for the closing handshake.
_CLOSE_S = 30.0


class OwnerLink:
    """The ownership of a study, claimed again after each broken connection.

    Parameters
    ----------
    http
        The client's connection.
    study
        The study's id.
    label
        A name of this owner for people, at most 128 characters long.
    standby
        Wait until nobody else owns the study, and give it up when somebody else claims it.
    patience_s
        For how many seconds the server may be unreachable.
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
        self._incoming: queue.SimpleQueue[OwnerCall | ErrorMessage | BaseException] = (
            queue.SimpleQueue()
        )
        self._outgoing: asyncio.Queue[tuple[int, str] | None] = asyncio.Queue()
        self._generation = 0
        self._is_claimed = False
        self._is_up = False
        self._is_closing = False
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

    def next(self, timeout_s: float) -> OwnerCall | ErrorMessage | None:
        """Return the next batch of calls, or an error; None after ``timeout_s`` seconds.

        The batch's ``generation`` is the number of the claim; each connection claims the study
        anew. Questions and answers of an earlier connection may be lost.

        Raises
        ------
        OwnerError
            ``owner_replaced``: another process owns the study now.
        ServerUnreachableError, ServerError
            The study cannot be claimed.
        """
        try:
            item = self._incoming.get(timeout=timeout_s)
        except queue.Empty:
            return None
        if isinstance(item, BaseException):
            raise item
        return item

    def send(self, reply: OwnerReply, generation: int) -> None:
        """Send a reply if ``generation`` is still the connection's claim; drop it otherwise."""
        text = encode(reply)
        _loop.soon(lambda: self._outgoing.put_nowait((generation, text)))

    @property
    def is_up(self) -> bool:
        """Whether there is a connection, as far as is known."""
        return self._is_up

    def close(self) -> None:
        """Send the remaining replies and give up the ownership, so that another owner may claim it.

        Without a connection it returns at once, and the replies are lost.
        """
        _loop.soon(self._end)
        with contextlib.suppress(BaseException):
            self._running.result(_CLOSE_S)
        self._running.cancel()

    # ---- the loop's thread

    def _end(self) -> None:
        self._is_closing = True
        if self._is_up:
            self._outgoing.put_nowait(None)
        else:
            self._running.cancel()

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
                    self._is_up = True
                    try:
                        await self._talk(socket)
                    finally:
                        self._is_up = False
                    if self._is_closing:
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
            if self._is_closing:
                return
            attempt += 1
            wait_s = back_off(attempt)
            if time.monotonic() - silent_since + wait_s > self._patience_s:
                raise failure
            await asyncio.sleep(wait_s)
            while not self._outgoing.empty():  # replies for the broken connection
                self._outgoing.get_nowait()

    async def _refuse_if_replaced(self) -> None:
        """Raise an error if another process claimed the study while the connection was broken."""
        if not self._generation or self._claim.standby:
            return
        row = convert(await self._http.get(f"/api/studies/{self._study}"), StudyRow)
        if isinstance(row.sampler, SamplerRow) and row.sampler.generation > self._generation:
            raise _replaced(self._study)

    async def _talk(self, socket: ClientConnection) -> None:
        """Carry messages in both directions until `close` ends it or the connection breaks."""
        reading = asyncio.ensure_future(self._read(socket))
        writing = asyncio.ensure_future(self._write(socket))
        try:
            done, _ = await asyncio.wait({reading, writing}, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        finally:
            for task in (reading, writing):
                task.cancel()
            await asyncio.gather(reading, writing, return_exceptions=True)

    async def _read(self, socket: ClientConnection) -> None:
        while True:
            frame = await socket.recv()
            with contextlib.suppress(msgspec.MsgspecError):
                # Nearly every frame is a batch. Any other frame is examined below.
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
            elif isinstance(message, ErrorMessage):
                if message.code == "not_owner":
                    continue  # a later message says that another owner took over
                # What the database did not take while it was away is said again after a new claim.
                if not self._is_claimed or message.code == "storage_unavailable":
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


def _replaced(study: int) -> OwnerError:
    return OwnerError(
        f"another process became the sampler of study {study}, so this one has stopped; "
        "what it had asked goes on there",
        code="owner_replaced",
    )


def _unreachable(http: Http, error: BaseException) -> ServerUnreachableError:
    reason = clean(str(error), limit=200) or type(error).__name__
    return ServerUnreachableError(f"{http.origin.url} does not answer ({reason})")
