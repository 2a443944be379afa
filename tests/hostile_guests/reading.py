"""Attacks by a researcher who reads far more than anybody needs."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from ground import EMPTY_ZIP, Ground

_MANY = 20_000
_THREADS = 8


def twenty_thousand_studies_in_a_loop(ground: Ground) -> Iterator[str]:
    """Submit 20,000 studies, as far as the server takes them, and list them again and again in
    large pages on several connections.
    """
    ground.blob(EMPTY_ZIP)
    codes = _as_many_as_possible(lambda: _posted(ground, "/api/studies", ground.spec(EMPTY_ZIP)))

    def read() -> None:
        with ThreadPoolExecutor(_THREADS) as pool:
            found = pool.map(lambda _: _list(ground), range(_THREADS))
        codes.update(found)

    ground.keep_up(read)
    yield from codes


def more_requests_than_may_wait(ground: Ground) -> Iterator[str]:
    """Send many requests at once whose answers are long, and read the answers later."""
    ground.blob(EMPTY_ZIP)
    for _ in range(200):
        assert _posted(ground, "/api/studies", ground.spec(EMPTY_ZIP)) == "ok"
    host = urlsplit(ground.origin("console")).netloc
    asked = f"GET /api/studies?limit=5000 HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n"
    asked += f"Authorization: Bearer {ground.attacker.token}\r\n\r\n"
    sockets = [ground.connect("console") for _ in range(200)]
    for one in sockets:
        one.sendall(asked.encode())
    for one in sockets:
        with one, one.makefile("rb") as stream:
            answer = stream.read()
        if b'"too_many_requests"' in answer:
            assert b"\r\nRetry-After: " in answer
            yield "too_many_requests"
        else:
            assert answer.startswith(b"HTTP/1.1 200 "), answer[:200]
            yield "ok"


def wrong_codes_with_twenty_thousand_links(ground: Ground) -> Iterator[str]:
    """Make 20,000 join links, as far as the server makes them, and guess codes while it looks among
    them.
    """
    codes = _as_many_as_possible(lambda: _posted(ground, "/api/enrolment", {}))

    def guess() -> None:
        body = {"code": f"hfe_{secrets.token_urlsafe(16)}"}
        codes.add(ground.http("POST", "/api/project", body, at="compute").code)

    ground.keep_up(guess)
    yield from codes


def hashes_of_large_uploads(ground: Ground) -> Iterator[str]:
    """Upload large blobs under wrong names on several connections, so that the server hashes."""
    content = bytes(8 << 20)
    wrong = hashlib.sha256(b"another").hexdigest()
    codes: set[str] = set()

    def upload() -> None:
        path = f"/api/blobs/{wrong}"
        with ThreadPoolExecutor(4) as pool:
            codes.update(
                pool.map(
                    lambda _: ground.http("PUT", path, content, token=ground.attacker.token).code,
                    range(4),
                )
            )

    ground.keep_up(upload)
    yield from codes


def _list(ground: Ground) -> str:
    answer = ground.http("GET", "/api/studies?limit=1000", token=ground.attacker.token)
    if answer.code == "ok":
        assert len(answer.body["studies"]) <= 1_000
        assert answer.body["more"]
    return answer.code


def _posted(ground: Ground, path: str, body: object) -> str:
    return ground.http("POST", path, body, token=ground.attacker.token).code


def _as_many_as_possible(make: Callable[[], str]) -> set[str]:
    """Make something ``_MANY`` times, or until the server refuses; return the answered codes."""
    codes: set[str] = set()
    with ThreadPoolExecutor(_THREADS) as pool:
        for _ in range(_MANY // 1_000):
            codes.update(pool.map(lambda _: make(), range(1_000)))
            if codes != {"ok"}:
                break
    return codes
