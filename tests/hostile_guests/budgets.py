"""Attacks by volunteers and researchers who make the server store without end."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from ground import EMPTY_ZIP, Answer, Ground
from wire import Wire, enrol

_MIB = 1 << 20
# More attempts than a device may have without a result, and more uploads than it may send at once.
_MANY = 150
# The most trials that one device may fail among others (R72).
_MOST_FAILURES = 5


def checkpoints_over_many_attempts(ground: Ground) -> Iterator[str]:
    """Save nearly as many checkpoints as one attempt may, release it and take another one, again
    and again.
    """
    ground.study()
    with Wire(ground) as wire:
        for seq in range(1, _MANY):
            attempt = wire.lease()["attempt"]
            for part in range(9):
                answer = save(ground, wire.who, attempt, b"PK\x03\x04" + bytes((seq, part)))
                yield answer.code
                if answer.code != "ok":
                    return
            release(wire, attempt, seq)


def checkpoints_over_quota(ground: Ground) -> Iterator[str]:
    """Save more than a device's share of the owner's quota, and more than all of it."""
    ground.study()
    ground.set_quota(bytes=4 * _MIB)
    with Wire(ground) as wire:
        attempt = wire.lease()["attempt"]
        for size in (3, 5):
            yield save(ground, wire.who, attempt, b"PK\x03\x04" + bytes(size * _MIB)).code


def artifacts_of_one_device(ground: Ground) -> Iterator[str]:
    """Upload artifacts of many trials until the owner's quota is used up; then another device
    uploads one.
    """
    ground.study()
    ground.set_quota(bytes=8 * _MIB)
    with Wire(ground) as wire, Wire(ground) as other:
        for seq in range(1, 20):
            attempt = wire.lease()["attempt"]
            answer = upload(ground, wire.who, attempt, f"file-{seq}", bytes(_MIB))
            yield answer.code
            if answer.code != "ok":
                break
            release(wire, attempt, seq)
        assert upload(ground, other.who, other.lease()["attempt"], "file", bytes(_MIB)).code == "ok"


def artifact_ids_of_other_trials(ground: Ground) -> Iterator[str]:
    """Take the id that another trial will give its artifact."""
    study = ground.study()
    with Wire(ground) as wire, Wire(ground) as other:
        squatter, lease = wire.lease(), other.lease()
        assert upload(ground, wire.who, squatter["attempt"], "weights", b"nothing").code == "ok"
        yield upload(ground, other.who, lease["attempt"], "weights", b"weights").code
        path = f"/api/studies/{study}/artifacts/weights?trial={lease['trial']}"
        answer = ground.http("GET", path, token=ground.attacker.token)
        yield answer.code
        page = ground.http(
            "GET",
            f"/api/studies/{study}/artifacts?trial={lease['trial']}",
            token=ground.attacker.token,
        )
        (row,) = page.body["artifacts"]
        assert row["sha256"] == hashlib.sha256(b"weights").hexdigest()


def attempts_without_end(ground: Ground) -> Iterator[str]:
    """Take trials and release them."""
    ground.study()
    with Wire(ground) as wire:
        for seq in range(1, _MANY):
            wire.send({"type": "ready"})
            message = wire.message()
            yield message["type"]
            if message["type"] != "lease":
                assert message["delay_ms"] > 0
                break
            release(wire, message["lease"]["attempt"], seq)


def failures_without_end(ground: Ground) -> Iterator[str]:
    """Fail one trial after another, next to an honest device of the same project."""
    study = ground.study()
    failure = {"cause": "user_error", "code": "user_error", "message": "no", "traceback": ""}
    with Wire(ground) as honest, Wire(ground) as liar:
        honest.lease()
        for seq in range(1, _MANY):
            liar.send({"type": "ready"})
            message = liar.message()
            yield message["type"]
            if message["type"] != "lease":
                break
            attempt = message["lease"]["attempt"]
            result = {"type": "result", "attempt": attempt, "seq": seq, "outcome": "failed"}
            liar.send({**result, "error": failure})
            assert liar.code() == "result_ack"
    row = ground.http("GET", f"/api/studies/{study}", token=ground.attacker.token).body
    assert row["failed"] <= _MOST_FAILURES, row
    assert not row.get("paused"), row


def points_without_end(ground: Ground) -> Iterator[str]:
    """Report as many values as fit into a message, in one attempt after the other."""
    ground.study()
    columns = [[str(name), [None] * 1000] for name in range(150)]
    series = {"steps": list(range(1000)), "columns": columns}
    with Wire(ground) as wire:
        for seq in range(1, _MANY, 2):
            attempt = wire.lease()["attempt"]
            wire.send(
                {"type": "report", "attempt": attempt, "seq": seq, "points": [], "series": series}
            )
            code = wire.code()
            yield code
            if code != "ack":
                assert wire.code() == "ack"  # the device need not send it again
                break
            release(wire, attempt, seq + 1)


def series_names_without_end(ground: Ground) -> Iterator[str]:
    """Log more names than an attempt may have."""
    ground.study()
    with Wire(ground) as wire:
        attempt = wire.lease()["attempt"]
        for seq in (1, 2):
            columns = [[f"{seq}-{name}", [1.0]] for name in range(200)]
            series = {"steps": [0], "columns": columns}
            wire.send(
                {"type": "report", "attempt": attempt, "seq": seq, "points": [], "series": series}
            )
            yield wire.code()


def attributes_without_end(ground: Ground) -> Iterator[str]:
    """Send results with the largest attributes. They count for the owner, who may then store no
    more points, but each result is accepted.
    """
    ground.study(space=[{"name": name, "values": list(range(100))} for name in "xy"])
    ground.set_quota(bytes=64 * _MIB)
    attrs = '{"user": {"text": "' + "x" * 65_000 + '"}}'
    with Wire(ground) as wire:
        lease = wire.lease()
        for seq in range(1, 3000, 2):
            attempt = lease["attempt"]
            points = [[0, 0.5]]
            wire.send({"type": "report", "attempt": attempt, "seq": seq, "points": points})
            code = wire.code()
            if code != "ack":
                assert wire.code() == "ack"
            wire.send(result(attempt, seq + 1, attrs=attrs, next=True))
            while (message := wire.message())["type"] != "result_ack":
                assert message["type"] != "closed", wire.closed
            assert message["verdict"] == "accepted", message
            if code != "ack":
                yield code
                break
            lease = message.get("lease") or wire.message()["lease"]


def lines_without_end(ground: Ground) -> Iterator[str]:
    """Print so much in one trial after the other that nobody else's lines would be kept."""
    study = ground.study()
    with Wire(ground) as quiet, Wire(ground) as wire:
        kept = quiet.lease()
        quiet.send({"type": "output", "attempt": kept["attempt"], "lines": ["a line"]})
        for seq in range(1, _MANY * 2, 2):
            attempt = wire.lease()["attempt"]
            lines = ["x" * 2000] * 60
            wire.send({"type": "output", "attempt": attempt, "lines": lines})
            wire.send(result(attempt, seq))
            assert wire.code() == "result_ack"
        path = f"/api/studies/{study}/trials/{kept['trial']}/log"
        answer = ground.http("GET", path, token=ground.attacker.token)
        yield answer.code
        assert [line["text"] for line in answer.body["lines"]] == ["a line"]


def specs_without_end(ground: Ground) -> Iterator[str]:
    """Submit long studies and cancel them, so that none counts as running."""
    ground.set_quota(bytes=_MIB)
    space = [{"name": "x", "values": [f"{i:0250}" for i in range(1500)]}]
    ground.blob(EMPTY_ZIP)
    token = ground.attacker.token
    for _ in range(400):
        answer = ground.http(
            "POST", "/api/studies", ground.spec(EMPTY_ZIP, space=space), token=token
        )
        yield answer.code
        if answer.code != "ok":
            break
        ground.http("POST", f"/api/studies/{answer.body['study']}/cancel", {}, token=token)


def devices_without_end(ground: Ground) -> Iterator[str]:
    """Join again and again by one link."""
    for _ in range(100):
        body = {"code": ground.attacker.link, "class": "node", "engine": "guest 1"}
        answer = ground.http("POST", "/api/join", body, at="compute")
        yield answer.code
        if answer.code != "ok":
            break


def devices_for_every_place(ground: Ground) -> Iterator[str]:
    """Join until the project has all the devices that it may have; others can still join."""
    for _ in range(400):
        body = {"code": ground.attacker.link, "class": "node", "engine": "guest 1"}
        answer = ground.http("POST", "/api/join", body, at="compute")
        yield answer.code
        if answer.code != "ok":
            break
    enrol(ground, ground.other.link)


def changes_without_end(ground: Ground) -> Iterator[str]:
    """Pause and resume a study, each time with an entry in the audit log."""
    path = f"/api/studies/{ground.study()}"
    token = ground.attacker.token
    for count in range(20_000):
        answer = ground.http(
            "POST", f"{path}/{'resume' if count % 2 else 'pause'}", {}, token=token
        )
        if answer.code != "ok":
            yield answer.code
            break
    yield ground.http("POST", f"{path}/cancel", {}, token=token).code


def reports_without_end(ground: Ground) -> Iterator[str]:
    """Send reports of self-tests."""
    checks = [{"name": "memory", "state": "ok", "detail": "x" * 200}] * 40
    body = {
        "code": ground.attacker.link,
        "report": {"class": "phone", "engine": "guest 1", "checks": checks},
    }
    for _ in range(40):
        answer = ground.http("POST", "/api/device-reports", body, at="compute")
        yield answer.code
        if answer.code != "ok":
            break


def files_for_another_device(ground: Ground) -> Iterator[str]:
    """Upload for the attempt of another device."""
    ground.study()
    with Wire(ground) as wire:
        attempt = wire.lease()["attempt"]
        stranger = enrol(ground, ground.attacker.link)
        yield upload(ground, stranger, attempt, "file", b"bytes").code
        yield save(ground, stranger, attempt, b"PK\x03\x04").code


# ---- messages and uploads of a device


def save(ground: Ground, who: dict[str, Any], attempt: int, content: bytes) -> Answer:
    """Upload a checkpoint."""
    return _put(ground, who, attempt, "checkpoints", content, "format=tree")


def upload(ground: Ground, who: dict[str, Any], attempt: int, name: str, content: bytes) -> Answer:
    """Upload an artifact whose id is ``name``."""
    return _put(ground, who, attempt, "artifacts", content, f"id={name}&name={name}&type=a/b")


def release(wire: Wire, attempt: int, seq: int) -> None:
    """Release an attempt, and wait for the acknowledgement."""
    wire.send({"type": "release", "attempt": attempt, "seq": seq, "reason": "stopped"})
    while (message := wire.message())["type"] != "ack":
        assert message["type"] in ("wait", "ack"), message


def result(attempt: int, seq: int, **fields: Any) -> dict[str, Any]:
    """Return the message of a complete result."""
    return {
        "type": "result",
        "attempt": attempt,
        "seq": seq,
        "outcome": "complete",
        "values": [0.5],
        "points": [],
        "metrics": {"load_ms": 1, "run_ms": 1},
        "backend": "cpu",
        "next": False,
        **fields,
    }


def _put(
    ground: Ground, who: dict[str, Any], attempt: int, what: str, content: bytes, query: str
) -> Answer:
    sha256 = hashlib.sha256(content).hexdigest()
    return ground.http(
        "PUT",
        f"/api/attempts/{attempt}/{what}/{sha256}?{query}",
        content,
        at="compute",
        token=f"Device {who['device']}:{who['secret']}",
    )
