"""Converts frames of a WebSocket to messages and back (rules R1 to R3 of the protocol).

    message = parse_server(text)      # Welcome, Update, ...; raises ProtocolError(code, field)
    text = encode(Watch(study=3, after=0))

The module is pure; any thread may use it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import msgspec

from hyperflock._base.errors import ProtocolError
from hyperflock._transport.cases import Cases
from hyperflock._transport.messages import (
    CLIENT_MESSAGES,
    MAX_FRAME_BYTES,
    SERVER_MESSAGES,
    ClientMessage,
    ServerMessage,
)
from hyperflock._transport.validation import convert, read_json


def encode(message: ClientMessage | ServerMessage) -> str:
    """Write a message as one frame's text."""
    return msgspec.json.encode(message).decode()


def parse_server(text: str, max_bytes: int = MAX_FRAME_BYTES) -> ServerMessage:
    """Read one frame from the server.

    Raises
    ------
    ProtocolError
        With the code and the field of the first thing that is wrong.
    """
    return cast(ServerMessage, _parse(text, SERVER_MESSAGES, "the server", max_bytes))


def parse_client(text: str) -> ClientMessage:
    """Read one frame from a device or a researcher; errors as in :func:`parse_server`."""
    return cast(ClientMessage, _parse(text, CLIENT_MESSAGES, "a client", MAX_FRAME_BYTES))


def _parse(text: str, messages: Mapping[str, Cases], sender: str, max_bytes: int) -> msgspec.Struct:
    value = read_json(text, max_bytes)
    if not isinstance(value, dict) or not isinstance(value.get("type"), str):
        raise ProtocolError("a message is an object with a type", code="malformed")
    cases = messages.get(value["type"])
    if cases is None:
        raise ProtocolError(
            f"{sender} sent a type that this version does not know", code="unknown_type"
        )
    return convert(value, _struct_of(cases, value))


def _struct_of(cases: Cases, value: dict[str, Any]) -> type[msgspec.Struct]:
    """Return the struct of the case to which a decoded message belongs."""
    subject = cases.subject
    if cases.by_presence:
        struct = cases.by[subject] if subject in value else cases.otherwise
    else:
        case = value.get(subject)
        struct = cases.by.get(case, cases.otherwise) if isinstance(case, str) else cases.otherwise
    if struct is not None:
        return struct
    if subject not in value:
        raise ProtocolError(f"{subject} is missing", code="missing_field", field=subject)
    names = ", ".join(cases.by)
    raise ProtocolError(f"{subject} is none of {names}", code="bad_field", field=subject)
