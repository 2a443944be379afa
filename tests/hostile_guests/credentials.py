"""Attacks on credentials: guessed, stolen, or no longer valid."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator

from ground import Answer, Ground
from wire import Wire, enrol

# More wrong credentials than an address may send at once.
_MANY = 60


def wrong_join_codes(ground: Ground) -> Iterator[str]:
    """Guess join codes."""
    yield from _each(
        lambda: ground.http(
            "POST", "/api/project", {"code": f"hfe_{secrets.token_urlsafe(16)}"}, at="compute"
        )
    )


def wrong_tokens(ground: Ground) -> Iterator[str]:
    """Guess tokens, also some that look like an administrator's."""
    yield from _each(
        lambda: ground.http("GET", "/api/researchers", token=f"hfa_{secrets.token_urlsafe(32)}")
    )


def wrong_device_secrets(ground: Ground) -> Iterator[str]:
    """Guess the secret of a device whose name is known."""
    name = enrol(ground, ground.other.link)["device"]
    yield from _each(
        lambda: ground.http(
            "POST",
            "/api/device/erase",
            at="compute",
            token=f"Device {name}:{secrets.token_urlsafe(32)}",
        )
    )


def hello_of_another_device(ground: Ground) -> Iterator[str]:
    """Open WebSockets as a device whose secret is not known."""
    name = enrol(ground, ground.other.link)["device"]
    for _ in range(_MANY):
        with Wire(ground, greet=False) as wire:
            wire.send(wire.hello(device=name))
            yield wire.code()


def register_without_end(ground: Ground) -> Iterator[str]:
    """Request to become a researcher under one name after the other."""
    yield from _each(
        lambda: ground.http("POST", "/api/register", {"name": f"guest {secrets.token_hex(8)}"})
    )


def register_from_another_page(ground: Ground) -> Iterator[str]:
    """Let a visitor's browser send requests to register, as a page of another site could."""
    for headers in (
        {"Sec-Fetch-Site": "cross-site"},
        {"Sec-Fetch-Site": "same-site"},
        {"Origin": "https://evil.example"},
        {"Origin": "null"},
        {"Content-Type": "text/plain"},
    ):
        yield ground.http("POST", "/api/register", {"name": "mallory"}, headers=headers).code


def metrics_through_a_name(ground: Ground) -> Iterator[str]:
    """Read the metrics without a token: under a name that somebody else's DNS points here, and
    through a proxy.
    """
    for headers in ({"Host": "rebound.example:8790"}, {"X-Forwarded-For": "127.0.0.1"}):
        yield ground.http("GET", "/metrics", headers=headers).code


def revoked_join_link(ground: Ground) -> Iterator[str]:
    """Join by a link that was revoked a moment ago."""
    made = ground.http("POST", "/api/enrolment", {}, token=ground.attacker.token).body
    path = f"/api/enrolment/{made['enrolment']}/revoke"
    assert ground.http("POST", path, token=ground.attacker.token).code == "ok"
    body = {"code": made["code"], "class": "node", "engine": "guest 1"}
    yield ground.http("POST", "/api/join", body, at="compute").code
    yield ground.http("POST", "/api/project", {"code": made["code"]}, at="compute").code


def join_and_erase_in_a_loop(ground: Ground) -> Iterator[str]:
    """Join, take a trial and erase the device, again and again, and go on with its secret."""
    ground.study()
    for _ in range(_MANY):
        body = {"code": ground.attacker.link, "class": "node", "engine": "guest 1"}
        joined = ground.http("POST", "/api/join", body, at="compute")
        yield joined.code
        if joined.code != "ok":
            break
        who = joined.body
        own = f"Device {who['device']}:{who['secret']}"
        with Wire(ground, who=who) as wire:
            wire.lease()
            assert ground.http("POST", "/api/device/erase", at="compute", token=own).code == "ok"
            while wire.code() != "closed":
                pass  # the trial is revoked before
        yield ground.http("POST", "/api/device/erase", at="compute", token=own).code


def own_token_after_suspension(ground: Ground) -> Iterator[str]:
    """Go on after an administrator has suspended this researcher."""
    path = f"/api/researchers/{ground.attacker.person}"
    body = {"state": "suspended"}
    assert ground.http("POST", path, body, token=ground.admin).code == "ok"
    for method, asked in (
        ("GET", "/api/me"),
        ("GET", "/api/studies"),
        ("POST", "/api/enrolment"),
        ("POST", "/api/tokens/rotate"),
    ):
        yield ground.http(method, asked, {}, token=ground.attacker.token).code


def _each(ask: Callable[[], Answer]) -> Iterator[str]:
    for _ in range(_MANY):
        yield ask().code
