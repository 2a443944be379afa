"""Attacks by a researcher who reads far more than anybody needs."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

from ground import Ground

_MANY = 20_000
_THREADS = 8


def twenty_thousand_studies_in_a_loop(ground: Ground) -> Iterator[str]:
    """List 20,000 own studies again and again, in the largest pages, on several connections."""
    bundle = b"PK\x05\x06" + bytes(18)
    ground.blob(bundle)
    _each_of(_MANY, lambda: _posted(ground, "/api/studies", ground.spec(bundle)))
    codes: set[str] = set()

    def read() -> None:
        with ThreadPoolExecutor(_THREADS) as pool:
            found = pool.map(lambda _: _list(ground), range(_THREADS))
        codes.update(found)

    ground.keep_up(read)
    yield from codes


def more_requests_than_may_wait(ground: Ground) -> Iterator[str]:
    """Send many requests at once whose answers are long, and read the answers later."""
    bundle = b"PK\x05\x06" + bytes(18)
    ground.blob(bundle)
    _each_of(200, lambda: _posted(ground, "/api/studies", ground.spec(bundle)))
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
    """Make 20,000 join links, and guess codes while the server looks among them."""
    _each_of(_MANY, lambda: _posted(ground, "/api/enrolment", {}))
    codes: set[str] = set()

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
    answer = ground.http("GET", "/api/studies?limit=5000", token=ground.attacker.token)
    if answer.code == "ok":
        assert len(answer.body["studies"]) <= 5_000
        assert answer.body["more"]
    return answer.code


def _posted(ground: Ground, path: str, body: object) -> None:
    answer = ground.http("POST", path, body, token=ground.attacker.token)
    assert answer.status == 201, answer


def _each_of(count: int, make: Callable[[], None]) -> None:
    with ThreadPoolExecutor(_THREADS) as pool:
        for _ in pool.map(lambda _: make(), range(count)):
            pass
