"""Attacks by names: text that hides, reorders, or passes for an administrator."""

from __future__ import annotations

import json
import stat
from collections.abc import Iterator

from ground import Ground

#: Characters that are invisible, control a terminal, or change the order of others.
_HIDDEN = ("\u202e", "\u2066", "\u200b", "\u200d", "\ufeff", "\x1b[2J", "\r", "\u3164", "\u00ad")
#: Spellings of the first administrator's name, and of what the audit log calls the server.
_LOOK_ALIKES = (
    "Admin",
    "\u0430dmin",
    "\u03b1dmin",
    "\uff41\uff44\uff4d\uff49\uff4e",
    "a dmin",
    "\u24d0\u24d3\u24dc\u24d8\u24dd",
    "Server",
    "\u0455erver",
)


def hidden_characters(ground: Ground) -> Iterator[str]:
    """Give a person, a note, a join link and a study names that are not what they look like."""
    token = ground.attacker.token
    for hidden in _HIDDEN:
        name = f"gra{hidden}ce"
        yield ground.http("POST", "/api/register", {"name": name}).code
        yield ground.http("POST", "/api/enrolment", {"label": name}, token=token).code
        yield ground.http("POST", "/api/studies", ground.spec(name=name), token=token).code
    note = {"name": "grace", "note": "of the \u202eboard"}
    yield ground.http("POST", "/api/register", note).code


def names_of_administrators(ground: Ground) -> Iterator[str]:
    """Ask to become a researcher under a name that people take for an administrator's."""
    for name in _LOOK_ALIKES:
        yield ground.http("POST", "/api/register", {"name": name}).code


def one_name_in_two_forms(ground: Ground) -> Iterator[str]:
    """Take somebody's name in another normal form."""
    assert ground.http("POST", "/api/register", {"name": "\u304c\u3089"}).code == "ok"
    yield ground.http("POST", "/api/register", {"name": "\u304b\u3099\u3089"}).code


def hidden_engine(ground: Ground) -> Iterator[str]:
    """Join with an engine whose hidden character reorders text. An escape is stored instead."""
    code = ground.attacker.link
    body = {"code": code, "class": "node", "engine": "browser \u202e1"}
    yield ground.http("POST", "/api/join", body, at="compute").code
    report = {"class": "node", "engine": "b \u202e1", "checks": []}
    sent = {"code": code, "report": report}
    yield ground.http("POST", "/api/device-reports", sent, at="compute").code
    kept = ground.http("GET", "/api/device-reports", token=ground.admin).body
    assert "\u202e" not in json.dumps(kept, ensure_ascii=False)
    assert kept["reports"][0]["engine"] == "b \\u{202E}1"


def read_the_first_token(ground: Ground) -> Iterator[str]:
    """Look for the administrator's token where other users of the machine can read."""
    found = [
        path
        for path in ground.server.folder.rglob("*")
        if path.is_file()
        and path.stat().st_mode & (stat.S_IRGRP | stat.S_IROTH)
        and ground.admin.encode() in path.read_bytes()
    ]
    yield "found" if found else "ok"
