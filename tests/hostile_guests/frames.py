"""Attacks by a device's WebSocket: malformed, forged and endless messages."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator

from budgets import result
from connections import answer_of, code_of, greeted
from ground import Ground
from wire import Wire, enrol

_KIB = 1024
_TRY_LATER = 1013
_REPLACED = 4001  # the code with which the server closes an earlier session
_NOT_MESSAGES = ("", "{", "[]", "null", '"ready"', "\x00", '{"type": 7}', '{"type": "ready"', "{}")


def not_json(ground: Ground) -> Iterator[str]:
    """Send texts that are no JSON object, until the server closes the connection."""
    with Wire(ground) as wire:
        for text in _NOT_MESSAGES:
            wire.send(text)
            yield wire.code()


def too_large(ground: Ground) -> Iterator[str]:
    """Send a frame that is larger than 1 MiB."""
    with Wire(ground) as wire:
        wire.send(json.dumps({"type": "ready", "more": "x" * (2048 * _KIB)}))
        yield wire.code()
        yield wire.code()


def deeply_nested(ground: Ground) -> Iterator[str]:
    """Send arrays in arrays, as deep as a frame holds."""
    with Wire(ground) as wire:
        for open_, close in (("[", "]"), ('{"a":', "}")):
            deep = 100 * _KIB
            wire.send(f'{{"type": "ready", "more": {open_ * deep}1{close * deep}}}')
            yield wire.code()


def duplicate_keys(ground: Ground) -> Iterator[str]:
    """Send a key twice, so that two readers could understand the message differently."""
    with Wire(ground) as wire:
        wire.send('{"type": "ready", "type": "heartbeat"}')
        yield wire.code()


def message_without_end(ground: Ground) -> Iterator[str]:
    """Begin a message and send no more of it. The server waits 30 s, as for a slow line."""
    opened = greeted(ground, enrol(ground, ground.attacker.link))
    opened.sendall(b"\x01\x81" + bytes(4) + b"{")
    yield code_of(answer_of(opened))


def binary(ground: Ground) -> Iterator[str]:
    """Send binary frames."""
    with Wire(ground) as wire:
        wire.send(bytes(1000))
        yield wire.code()


def unknown_types(ground: Ground) -> Iterator[str]:
    """Send messages of types that only the server sends, or that do not exist."""
    with Wire(ground) as wire:
        for kind in ("lease", "revoke", "admin", "\u202eready"):
            wire.send({"type": kind})
            yield wire.code()


def results_for_other_attempts(ground: Ground) -> Iterator[str]:
    """Send results and reports for attempts of other devices."""
    with Wire(ground) as wire:
        for attempt in range(1, 9):
            wire.send(result(attempt, 1, values=[0.0]))
            yield wire.code()


def infinite_values(ground: Ground) -> Iterator[str]:
    """Send numbers that are not finite, as the value of a trial that is leased to this device."""
    ground.study()
    with Wire(ground) as wire:
        attempt = wire.lease()["attempt"]
        for number in ("NaN", "Infinity", "-Infinity", "1e999"):
            wire.send(json.dumps(result(attempt, 1, values=[7.5])).replace("7.5", number))
            yield wire.code()


def hello_twice(ground: Ground) -> Iterator[str]:
    """Send a second `hello`, as the same device and as another one."""
    with Wire(ground) as wire:
        wire.send(wire.hello())
        yield wire.code()
        wire.send(wire.hello(device="another"))
        yield wire.code()


def heartbeats_without_end(ground: Ground) -> Iterator[str]:
    """Send heartbeats without waiting, while the neighbour works."""
    with Wire(ground) as wire:

        def flood() -> None:
            for _ in range(200):
                wire.send({"type": "heartbeat", "attempts": []})

        ground.keep_up(flood)
        yield "ok"


def large_frames_without_end(ground: Ground) -> Iterator[str]:
    """Send allowed frames of 0.9 MiB without end, and go on with new connections."""
    text = json.dumps({"type": "heartbeat", "attempts": [], "more": [[[]]] * 150_000})
    who = enrol(ground, ground.attacker.link)
    for _ in range(3):
        with Wire(ground, who=who) as wire:
            code = "ack"
            while code == "ack":
                wire.send(text)
                code = wire.code()
                yield code
            yield wire.code()
            assert wire.closed == _TRY_LATER


def sessions_of_one_device(ground: Ground) -> Iterator[str]:
    """Open a device's session again and again, while the earlier ones are open."""
    with contextlib.ExitStack() as opened:
        last = opened.enter_context(Wire(ground))
        for _ in range(20):
            before, last = last, opened.enter_context(Wire(ground, greet=False, who=last.who))
            last.send(last.hello())
            yield last.code()
            yield before.code()
            assert before.closed == _REPLACED
