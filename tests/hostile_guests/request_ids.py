"""Attacks by ids of requests, and by texts that the log shows to its reader."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator

from connections import code_of, sent
from ground import Ground

_CHOSEN = "4bf92f3577b34da6a3ce929d0e0e4736"
_HEAD = b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
_ID = re.compile(rb"X-Request-Id: ([^\r]*)\r\n")
#: What would end a line of the log, begin another, or speak to a terminal.
_TEXTS = (
    '\r\n{"event":"forged"}',
    "\n2026-01-01 00:00:00.000 error forged",
    "\x1b[2J\x1b]0;forged\x07",
    "\x9b31mforged",
    "\u202eforged",
    "\u2028forged",
    '","event":"forged',
)


def ids_of_others(ground: Ground) -> Iterator[str]:
    """Choose ids by every header that might be believed: one id always, and then 400 others."""
    device = ground.device()
    credential = f"Device {device.device}:{device.secret}"
    for number in range(500):
        chosen = _CHOSEN if number < 100 else f"{number + 1:032x}"
        headers = {
            "traceparent": f"00-{chosen}-00f067aa0ba902b7-01",
            "tracestate": "vendor=1",
            "X-Request-Id": chosen,
            "X-B3-TraceId": chosen,
        }
        at = "compute" if number % 2 else "console"
        token = credential if number % 4 == 1 else ""
        answer = ground.http("GET", "/healthz", headers=headers, at=at, token=token)
        assert answer.headers["X-Request-Id"] != chosen
        yield answer.code
    refused = ground.http("GET", "/api/me", headers={"traceparent": f"00-{_CHOSEN}-{1:016x}-01"})
    assert refused.body["error"]["request_id"] != _CHOSEN
    yield refused.code
    assert _CHOSEN not in _log(ground)


def headers_in_an_id(ground: Ground) -> Iterator[str]:
    """Write line breaks and further headers into the headers of an id."""
    fold, newline = b"a\r\n Set-Cookie: x=1", b"a\nSet-Cookie: x=1"
    for value in (fold, newline, b"a\x00b", b"\xff\x9b31m", b"a" * 9000):
        for name in (b"X-Request-Id", b"traceparent"):
            answer = sent(ground, b"GET /healthz" + _HEAD + b"%s: %s\r\n\r\n" % (name, value))
            assert b"set-cookie" not in answer.lower()
            for found in _ID.findall(answer):
                assert re.fullmatch(rb"[0-9a-f]{32}", found)
            yield code_of(answer) if b'"error"' in answer else "ok"


def lines_of_ones_own(ground: Ground) -> Iterator[str]:
    """Send texts that would write lines of their own into the log: as class of a device, as path,
    as header and as name.
    """
    for text in _TEXTS:
        join = {"code": ground.attacker.link, "class": f"phone{text}", "engine": f"e{text}"}
        yield ground.http("POST", "/api/join", join, at="compute").code
        yield ground.http("POST", "/api/register", {"name": f"grace{text}"}).code
        raw = text.encode().replace(b"\r", b"%0d").replace(b"\n", b"%0a").replace(b" ", b"+")
        yield code_of(sent(ground, b"GET /" + raw + _HEAD + b"\r\n"))
    for line in _log(ground).split("\n"):
        assert not line.startswith("{") or json.loads(line)["event"] != "forged"
        assert "error forged" not in line[:40]
        assert not re.search("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]", line), ascii(line)


def _log(ground: Ground) -> str:
    return (ground.server.folder / "server.log").read_text()
