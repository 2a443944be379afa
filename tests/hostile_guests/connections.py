"""Attacks by connections: too many, too slow, or with malformed requests."""

from __future__ import annotations

import socket
from collections.abc import Iterator

from ground import Ground, Origin
from patience import LIMIT_S

# Many more connections than the server's option allows, but fewer than this process may open.
_MANY = 200


def more_than_one_address_may_have(ground: Ground) -> Iterator[str]:
    """Open many connections and keep them. The neighbour has opened its connections before."""
    for _ in range(_MANY):
        opened = ground.connect("compute")
        opened.setblocking(False)
        ground.neighbour.check()
    refused = ground.connect("compute")
    yield code_of(_answer(refused))


def half_a_request_head(ground: Ground) -> Iterator[str]:
    """Begin requests and never end them."""
    begun = [ground.connect("compute") for _ in range(_MANY)]
    for one in begun:
        one.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: ")
    for one in begun:
        yield code_of(_answer(one))


def one_byte_at_a_time(ground: Ground) -> Iterator[str]:
    """Send a head that never ends, byte by byte."""
    opened = ground.connect("console")
    opened.sendall(b"GET / HTTP/1.1\r\nHost: a\r\nX: ")
    opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        while not _has_answer(opened):
            opened.sendall(b"x")
    except OSError:
        pass
    yield code_of(_answer(opened))


def silent_websockets(ground: Ground) -> Iterator[str]:
    """Open WebSockets and never send `hello`."""
    for _ in range(20):
        opened = ground.connect("compute")
        opened.sendall(_upgrade("/ws/worker"))
        answer = _answer(opened)
        assert answer.startswith(b"HTTP/1.1 101"), answer
        yield "hello_timeout" if b"hello_timeout" in answer else "silence"


def two_lengths(ground: Ground) -> Iterator[str]:
    """Send a request with two lengths, whose end two parsers could find at different places."""
    head = (
        "POST /api/join HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\nContent-Length: 40\r\n\r\n{}{}"
    )
    yield code_of(sent(ground, head.encode()))


def chunked_body(ground: Ground) -> Iterator[str]:
    """Send a body in chunks, so that its size is not announced."""
    chunks = "Transfer-Encoding: chunked\r\n\r\n4\r\n{}{}\r\n0\r\n\r\n"
    yield code_of(sent(ground, f"POST /api/join HTTP/1.1\r\nHost: a\r\n{chunks}".encode()))


def not_http(ground: Ground) -> Iterator[str]:
    """Send what is no HTTP: TLS, SSH, and the preface of HTTP/2."""
    for text in (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(64), b"SSH-2.0-x\r\n\r\n"):
        yield code_of(sent(ground, text))
    yield code_of(sent(ground, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))


def body_that_never_comes(ground: Ground) -> Iterator[str]:
    """Announce bodies that are not sent, with and without a credential."""
    head = "PUT /api/blobs/{} HTTP/1.1\r\nHost: a\r\n{}Content-Length: 1000000\r\n\r\n"
    yield code_of(sent(ground, head.format("0" * 64, "").encode(), at="console"))
    proof = f"Authorization: Bearer {ground.attacker.token}\r\n"
    begun = [ground.connect("console") for _ in range(_MANY)]
    for one in begun:
        one.sendall(head.format("0" * 64, proof).encode())
    for one in begun:
        yield code_of(_answer(one))


def code_of(answer: bytes) -> str:
    """Return the error code of an answer's bytes; ``closed`` if there are none."""
    for line in answer.split(b'"code":"')[1:]:
        return line.split(b'"')[0].decode()
    return answer.split(b"\r\n")[0].decode() if answer else "closed"


def sent(ground: Ground, text: bytes, at: Origin = "compute") -> bytes:
    """Send bytes on a connection of their own, and return all that the server answers."""
    opened = ground.connect(at)
    opened.sendall(text)
    return _answer(opened)


def _answer(opened: socket.socket) -> bytes:
    """Read until the server closes the connection."""
    opened.setblocking(True)
    opened.settimeout(LIMIT_S)
    parts = []
    try:
        while part := opened.recv(65_536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


def _has_answer(opened: socket.socket) -> bool:
    opened.setblocking(False)
    try:
        return bool(opened.recv(1, socket.MSG_PEEK))
    except BlockingIOError:
        return False
    finally:
        opened.setblocking(True)


def _upgrade(path: str) -> bytes:
    return (
        f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
        "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
    ).encode()
