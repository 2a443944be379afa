"""Watches a study over the WebSocket; after a reconnection it continues at the last cursor.

    async for update in watch(origin, token, study=3, after=0): ...

`watch` ends when its consumer stops it, when the server refuses permanently, or when the server was
unreachable for ``patience_s`` seconds. The WebSocket library's queue is bounded, so a slow consumer
slows the server down and does not fill memory.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator
from typing import Any

from msgspec import UNSET
from msgspec.structs import replace
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidMessage

from hyperflock._base.errors import (
    HyperflockError,
    ProtocolError,
    ServerUnreachableError,
    server_error,
)
from hyperflock._base.text import clean
from hyperflock._transport.frames import encode, parse_server
from hyperflock._transport.http import AGENT, Origin, back_off_s, tls_context
from hyperflock._transport.messages import (
    PROTOCOL_VERSION,
    Dimension,
    ErrorMessage,
    HelloResearcher,
    Refused,
    ServerMessage,
    Update,
    Watch,
    Welcome,
)

OPEN_S = 10.0
# This is larger than the protocol's limit for a frame, because a large row of a study should be
# shown and not refused.
MAX_UPDATE_BYTES = 4 << 20
PATIENCE_S = 600.0

_FIRST_BACK_OFF_S = 0.5
_MAX_BACK_OFF_S = 30.0
# Codes after which a later connection can succeed.
_PASSING = frozenset({"full", "rate_limited", "read_only", "storage_unavailable"})


async def watch(
    origin: Origin, token: str, study: int, after: int, *, patience_s: float = PATIENCE_S
) -> AsyncGenerator[Update, None]:
    """Yield a study's updates after the cursor ``after``.

    The server sends the values of the study's space in the first update of a connection and after
    they have changed; each row that is yielded has them.

    Raises
    ------
    ServerUnreachableError
        There was no connection for ``patience_s`` seconds.
    ServerError
        The server refuses the token, the study or the protocol's version.
    """
    attempt = 0
    space: list[Dimension] = []  # as the server sent it last
    silent_since = time.monotonic()
    while True:
        failure: HyperflockError
        connected = False
        try:
            async with connection(origin) as socket:
                await greet(socket, token, Watch(study=study, after=after, space_once=True))
                connected = True
                async for frame in socket:
                    update = _update(frame)
                    if update is None:
                        continue
                    attempt = 0
                    after = max(after, update.cursor)
                    if _has_values(update.study.space):
                        space = update.study.space
                    elif space:
                        update.study = replace(update.study, space=space)
                    yield update
                failure = ServerUnreachableError("the server closed the connection")
        except (
            OSError,
            ConnectionClosed,
            InvalidHandshake,
            InvalidMessage,
            asyncio.TimeoutError,
        ) as error:
            failure = ServerUnreachableError(
                f"{origin.url} does not answer "
                f"({clean(str(error), limit=200) or type(error).__name__})"
            )
        except HyperflockError as error:
            if not is_passing(error):
                raise
            failure = error
        attempt += 1
        if connected:
            silent_since = time.monotonic()
        wait_s = back_off(attempt)
        if time.monotonic() - silent_since + wait_s > patience_s:
            raise failure
        await asyncio.sleep(wait_s)


def connection(origin: Origin) -> connect:
    """Return a connection to the researchers' WebSocket, for ``async with``; call `greet` next."""
    return connect(
        origin.websocket_url,
        ssl=tls_context(origin.url) if origin.secure else None,
        compression=None,
        user_agent_header=AGENT,
        open_timeout=OPEN_S,
        close_timeout=2.0,
        max_size=MAX_UPDATE_BYTES,
        max_queue=16,
        proxy=None,
    )


async def greet(socket: ClientConnection, token: str, watch: Watch) -> None:
    """Open a researcher's session on a connection and send ``watch``.

    Raises
    ------
    ServerError
        The server refused the session.
    """
    hello = HelloResearcher(protocol=PROTOCOL_VERSION, role="researcher", token=token, agent=AGENT)
    await socket.send(encode(hello))
    answer = message_of(await asyncio.wait_for(socket.recv(), OPEN_S))
    if isinstance(answer, Refused):
        raise server_error(answer.code, clean(answer.message), None, _request_id(socket))
    if not isinstance(answer, Welcome):
        raise ProtocolError("the server did not answer 'hello' by 'welcome'", code="malformed")
    await socket.send(encode(watch))


def _request_id(socket: ClientConnection) -> str | None:
    """Return the id that the server gave to the session."""
    return socket.response.headers.get("X-Request-Id") if socket.response else None


def back_off(attempt: int) -> float:
    """Return the seconds to wait before connection number ``attempt`` + 1."""
    return back_off_s(attempt, _FIRST_BACK_OFF_S, _MAX_BACK_OFF_S)


def is_passing(error: HyperflockError) -> bool:
    """Return whether a later connection can succeed after this error."""
    return error.code in _PASSING


def _has_values(space: list[Dimension]) -> bool:
    """Return whether the space of a row is whole; with ``space_once`` most rows have names only."""
    return any(dimension.values or dimension.range is not UNSET for dimension in space)


def _update(frame: Any) -> Update | None:
    """Return the update in a frame; None for a message of a later version."""
    try:
        message = message_of(frame)
    except ProtocolError as error:
        if error.code == "unknown_type":
            return None
        raise
    if isinstance(message, ErrorMessage | Refused):
        field = (
            message.field
            if isinstance(message, ErrorMessage) and isinstance(message.field, str)
            else None
        )
        raise server_error(message.code, clean(message.message), field)
    return message if isinstance(message, Update) else None


def message_of(frame: Any) -> ServerMessage:
    """Return the message in a frame. Raise ProtocolError if the frame contains no valid message."""
    if not isinstance(frame, str):
        raise ProtocolError("the server sent a binary frame", code="malformed")
    return parse_server(frame, MAX_UPDATE_BYTES)
