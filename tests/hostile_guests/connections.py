"""Attacks by connections: too many, too slow, or with malformed requests."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from typing import Any

from ground import Ground, Origin
from patience import LIMIT_S, until
from wire import hello_of

# Many more connections than the server's option allows, but fewer than this process may open.
_MANY = 200
FLOOD = 400
_FLOOD_BYTES = 8 * 1024


def more_than_one_address_may_have(ground: Ground) -> Iterator[str]:
    """Open many connections and keep them. The neighbour has opened its connections before."""
    for _ in range(_MANY):
        opened = ground.connect("compute")
        opened.setblocking(False)
        ground.neighbour.check()
    refused = ground.connect("compute")
    yield code_of(answer_of(refused))


def half_a_request_head(ground: Ground) -> Iterator[str]:
    """Begin requests and never end them."""
    begun = [ground.connect("compute") for _ in range(_MANY)]
    for one in begun:
        one.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: ")
    for one in begun:
        yield code_of(answer_of(one))


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
    yield code_of(answer_of(opened))


def silent_websockets(ground: Ground) -> Iterator[str]:
    """Open WebSockets and never send `hello`."""
    for _ in range(20):
        opened = ground.connect("compute")
        opened.sendall(_upgrade("/ws/worker"))
        answer = answer_of(opened)
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
        yield code_of(answer_of(one))


def strangers_fill_the_console(ground: Ground) -> Iterator[str]:
    """Open more connections to the console than it may have, while the administrator works."""
    begun = []
    for _ in range(_MANY):
        begun.append(ground.connect("console"))
        ground.neighbour.check()
        if len(begun) % 20 == 0:
            yield ground.http("GET", "/api/researchers", token=ground.admin).code
    yield code_of(answer_of(begun[0]))


def devices_fill_the_compute_origin(ground: Ground) -> Iterator[str]:
    """Take all places of the compute origin. The console has places of its own."""
    for _ in range(_MANY):
        ground.connect("compute").setblocking(False)
        ground.neighbour.check()
    yield ground.http("GET", "/api/researchers", token=ground.admin).code
    yield ground.http("GET", "/api/me", token=ground.attacker.token).code


def large_message_before_hello(ground: Ground) -> Iterator[str]:
    """Send more than 2 KiB on a WebSocket without a credential, in one frame and in fragments."""
    for parts in (
        (b"\x81\xff" + (1 << 20).to_bytes(8, "big"),),
        (b"\x01\xfe\x07\xff", b"\x00\xfe\x07\xff"),
    ):
        opened, _ = upgraded(ground)
        opened.sendall(b"".join(part + bytes(4) + b" " * 2047 for part in parts))
        opened.sendall(b" " * 10)
        yield code_of(answer_of(opened))


def half_open_websockets(ground: Ground) -> Iterator[str]:
    """Open 400 WebSockets, announce 1 MiB on each, and see what they cost the server."""
    for _ in range(8):  # what the first connections cost is not counted
        upgraded(ground)[0].close()
    quiet = ground.resident_bytes()
    open_halves(ground)
    each = (ground.resident_bytes() - quiet) / FLOOD
    print(f"{each / 1024:.1f} KiB for each half-open WebSocket")
    yield "ok" if each <= _FLOOD_BYTES else "too much memory"


def open_halves(ground: Ground) -> list[socket.socket]:
    """Open WebSockets and send the first 2,040 bytes of a message of 1 MiB on each. Return when the
    server has read them all, because only then they are in its memory.
    """
    begun = [upgraded(ground)[0] for _ in range(FLOOD)]
    for one in begun:
        one.sendall(b"\x81\xff" + (1 << 20).to_bytes(8, "big") + bytes(4) + b" " * 2_040)
    until("the server to read the flood", lambda: ground.unread_bytes() == 0)
    return begun


def body_by_drops(ground: Ground) -> Iterator[str]:
    """Upload a megabyte byte by byte. The server waits 30 s for it, as for a slow line."""
    head = (
        f"PUT /api/blobs/{'0' * 64} HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n"
        f"Authorization: Bearer {ground.attacker.token}\r\n\r\n"
    )
    opened = ground.connect("console")
    opened.sendall(head.encode())
    opened.settimeout(0.2)
    answer = b""
    while True:
        try:
            opened.sendall(b"x")
            answer = opened.recv(1)
            break
        except TimeoutError:
            continue
        except OSError:
            break
    yield code_of(answer)


def code_of(answer: bytes) -> str:
    """Return the error code of an answer's bytes; ``closed`` if there are none."""
    for line in answer.split(b'"code":"')[1:]:
        return line.split(b'"')[0].decode()
    return answer.split(b"\r\n")[0].decode() if answer else "closed"


def sent(ground: Ground, text: bytes, at: Origin = "compute") -> bytes:
    """Send bytes on a connection of their own, and return all that the server answers."""
    opened = ground.connect(at)
    opened.sendall(text)
    return answer_of(opened)


def upgraded(ground: Ground, *, client: str = "", source: str = "") -> tuple[socket.socket, bytes]:
    """Open a WebSocket for devices and return it with the answer. A proxy with the address
    ``source`` may name the client.
    """
    opened = ground.connect("compute", source)
    forwarded = f"X-Forwarded-For: {client}\r\n" if client else ""
    opened.sendall(_upgrade("/ws/worker").replace(b"\r\n\r\n", f"\r\n{forwarded}\r\n".encode()))
    return opened, opened.recv(65_536)


def greeted(
    ground: Ground, who: dict[str, Any], *, client: str = "", source: str = ""
) -> socket.socket:
    """Open a device's session on a bare connection, and return it after the server's welcome."""
    opened, _ = upgraded(ground, client=client, source=source)
    opened.sendall(_frame(hello_of(who)))
    welcome = opened.recv(65_536)
    assert b'"welcome"' in welcome, welcome
    return opened


def answer_of(opened: socket.socket) -> bytes:
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


def _frame(message: dict[str, Any]) -> bytes:
    """Return a client's text frame. Its mask is 0, so the text stays readable."""
    text = json.dumps(message).encode()
    return b"\x81\xfe" + len(text).to_bytes(2, "big") + bytes(4) + text
