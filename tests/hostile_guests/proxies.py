"""Attacks behind a proxy, or by what only a proxy may say: who the client is."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

from connections import code_of, greeted, sent, upgraded
from ground import Ground

#: The option by which the server trusts the proxies of these attacks, which this process plays.
PROXIES = ("--trusted-proxy", "127.0.0.0/8")
_PHONES = 512


def name_a_new_address_each_time(ground: Ground) -> Iterator[str]:
    """Try join codes, each time with another address in the headers of a proxy."""
    yield from _wrong_codes(ground, "203.0.113.{}")


def write_before_the_proxy(ground: Ground) -> Iterator[str]:
    """Try join codes behind a proxy, and begin its list of addresses with other ones."""
    yield from _wrong_codes(ground, "203.0.113.{}, 198.51.100.7")


def use_a_whole_network(ground: Ground) -> Iterator[str]:
    """Try join codes behind a proxy from many IPv6 addresses of one network."""
    yield from _wrong_codes(ground, "2001:db8:1:2::{}")


def malformed_addresses(ground: Ground) -> Iterator[str]:
    """Let a proxy name clients that are no addresses."""
    for client in ("unknown", "", "198.51.100.7,", "1.2.3.4.5", "[::1", "_x", "::1%lo"):
        headers = {"X-Forwarded-For": client}
        yield ground.http("GET", "/api/me", headers=headers, token=ground.attacker.token).code
    yield ground.http("GET", "/readyz", headers={"X-Forwarded-Proto": "gopher"}).code


def begin_with_a_proxys_header(ground: Ground) -> Iterator[str]:
    """Begin connections with headers of the PROXY protocol without being a proxy."""
    request = b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n"
    yield code_of(sent(ground, _proxy_header(b"\xc6\x33\x64\x07") + request))
    yield code_of(sent(ground, b"PROXY TCP4 198.51.100.7 127.0.0.1 1 2\r\n" + request))


def wrong_headers_of_a_proxy(ground: Ground) -> Iterator[str]:
    """Send headers of the PROXY protocol that are cut, too long, or of other protocols."""
    whole = _proxy_header(b"\xc6\x33\x64\x07")
    for wrong in (
        b"PROXY TCP4 198.51.100.7 127.0.0.1 1 2\r\n",
        whole[:12] + b"\x31" + whole[13:],
        whole[:13] + b"\x12" + whole[14:],
        whole[:14] + b"\x00\x04" + whole[16:],
        whole[:14] + b"\xff\xff" + whole[16:],
        whole[:14] + b"\x00\x0f" + whole[16:] + b"\x20\xff\xff",
    ):
        yield code_of(sent(ground, wrong))


def flood_through_one_proxy(ground: Ground) -> Iterator[str]:
    """Open WebSockets behind a proxy until it is too many. Others behind it are served."""
    while (answer := upgraded(ground, client="198.51.100.7"))[1].startswith(b"HTTP/1.1 101"):
        ground.neighbour.check()
    yield code_of(answer[1])
    for number in range(8):
        headers = {"X-Forwarded-For": f"198.51.100.{100 + number}"}
        yield ground.http("GET", "/healthz", at="compute", headers=headers).code
    headers = {"X-Forwarded-For": "198.51.100.7"}
    yield ground.http("GET", "/healthz", at="compute", headers=headers).code


def a_thousand_phones_behind_two_proxies(ground: Ground) -> Iterator[str]:
    """Join with 512 phones behind one proxy and 512 behind another, and keep their sessions."""
    for proxy, number in itertools.product((1, 2), range(_PHONES)):
        client = f"2001:db8:{proxy}:{number:x}::1"
        body = {"code": ground.attacker.link, "class": "phone", "engine": "guest 1"}
        joined = ground.http(
            "POST", "/api/join", body, at="compute", headers={"X-Forwarded-For": client}
        )
        assert joined.code == "ok", joined
        greeted(ground, joined.body, client=client, source=f"127.0.0.{proxy}")
        yield "ok"


def _wrong_codes(ground: Ground, address: str) -> Iterator[str]:
    body = {"code": "hfe_wrong"}
    for number in range(64):
        headers = {"X-Forwarded-For": address.format(number)}
        yield ground.http("POST", "/api/project", body, at="compute", headers=headers).code


def _proxy_header(client: bytes) -> bytes:
    addresses = client + b"\x7f\x00\x00\x01\x30\x39\x00\x50"
    return b"\r\n\r\n\x00\r\nQUIT\n\x21\x11" + len(addresses).to_bytes(2, "big") + addresses
