"""Attempts to go on after an administrator's stop, to go round a ceiling or an approval, and to get
the blobs of others by their hash.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from ground import Answer, Ground
from wire import Wire

_LARGE = b"\x5a" * 300_000


def _as_admin(ground: Ground, path: str, body: Any = None) -> Any:
    answer = ground.http("POST", path, body or {}, token=ground.admin)
    assert answer.code == "ok", answer
    return answer.body


def _project_path(ground: Ground) -> str:
    listed = ground.http("GET", "/api/projects", token=ground.attacker.token).body["projects"]
    return f"/api/projects/{listed[0]['id']}"


def _submit(ground: Ground, bundle: bytes, **fields: Any) -> Answer:
    ground.blob(bundle)
    return ground.http(
        "POST", "/api/studies", ground.spec(bundle, **fields), token=ground.attacker.token
    )


def _salt(ground: Ground, sha256: str, size: int) -> Answer:
    path = f"/api/blobs/{sha256}/salt"
    return ground.http("POST", path, {"bytes": size}, token=ground.attacker.token)


def _prove(ground: Ground, sha256: str, salt: str, proof: str, token: str = "") -> Answer:
    body = {"salt": salt, "proof": proof}
    path = f"/api/blobs/{sha256}/proof"
    return ground.http("POST", path, body, token=token or ground.attacker.token)


# ---- blobs of others


def name_blobs_of_others(ground: Ground) -> Iterator[str]:
    """Submit studies that name the neighbour's bytes, as code and as data."""
    sha256 = ground.blob(_LARGE, ground.other.token)
    blob = {"sha256": sha256, "bytes": len(_LARGE)}
    data = {"name": "d", "kind": "file", "filename": "d.bin", **blob}
    ground.blob(b"own code")
    for fields in ({"bundle": blob}, {"data": [data]}, {"bundle": {**blob, "bytes": 1}}):
        body = {**ground.spec(b"own code"), **fields}
        yield ground.http("POST", "/api/studies", body, token=ground.attacker.token).code


def probe_for_blobs(ground: Ground) -> Iterator[str]:
    """Compare the answers about the neighbour's bytes with those about bytes that nobody has."""
    known = ground.blob(_LARGE, ground.other.token)
    missing = hashlib.sha256(b"nobody has this").hexdigest()
    token = ground.attacker.token
    answers = []
    for sha256 in (known, missing):
        body = {**ground.spec(), "bundle": {"sha256": sha256, "bytes": len(_LARGE)}}
        salt = _salt(ground, sha256, len(_LARGE))
        found = [
            ground.http("HEAD", f"/api/blobs/{sha256}", token=token),
            ground.http("POST", "/api/studies", body, token=token),
            _prove(ground, sha256, salt.body["salt"], "0" * 64),
        ]
        assert set(salt.body) == {"owned", "salt"}
        assert salt.body["owned"] is False
        answers.append([(one.status, one.body) for one in found])
        yield from (one.code for one in found)
    assert answers[0] == answers[1]


def guess_proofs(ground: Ground) -> Iterator[str]:
    """Send wrong proofs, one twice, and one with somebody else's salt."""
    sha256 = ground.blob(_LARGE, ground.other.token)
    salt = _salt(ground, sha256, len(_LARGE)).body["salt"]
    right = hashlib.sha256(bytes.fromhex(salt) + _LARGE).hexdigest()
    yield _prove(ground, sha256, salt, sha256).code
    yield _prove(ground, sha256, salt, right).code  # the salt was used
    salt = _salt(ground, sha256, len(_LARGE)).body["salt"]
    right = hashlib.sha256(bytes.fromhex(salt) + _LARGE).hexdigest()
    yield _prove(ground, sha256, salt, right, ground.admin).code
    yield _prove(ground, hashlib.sha256(b"other").hexdigest(), salt, right).code


def let_the_server_hash_without_end(ground: Ground) -> Iterator[str]:
    """Ask for proofs over many bytes that the server does not have."""
    sha256 = hashlib.sha256(b"nobody has this").hexdigest()
    told: set[str] = set()

    def ask() -> None:
        salt = _salt(ground, sha256, 64 << 20).body["salt"]
        told.add(_prove(ground, sha256, salt, "0" * 64).code)

    while "rate_limited" not in told:
        ask()
    ground.keep_up(ask)
    yield from told


# ---- stops


def go_on_after_suspension(ground: Ground) -> Iterator[str]:
    """Let a suspended researcher's own device go on with the researcher's study."""
    ground.study(content=b"code of the attacker")
    with Wire(ground) as wire:
        attempt = wire.lease()["attempt"]
        _as_admin(ground, f"/api/researchers/{ground.attacker.person}", {"state": "suspended"})
        revoked = wire.message()
        assert (revoked["type"], revoked["attempt"]) == ("revoke", attempt)
        yield revoked["code"]
        wire.send({"type": "ready"})
        yield wire.code()
    yield ground.http("GET", "/api/me", token=ground.attacker.token).code


def go_on_in_a_frozen_project(ground: Ground) -> Iterator[str]:
    """Submit, extend and replay in a frozen project, and lift the freeze."""
    study = ground.study(content=b"code of the attacker")
    path = f"/api/studies/{study}"
    token = ground.attacker.token
    project = _project_path(ground)
    _as_admin(ground, f"{project}/freeze", {"reason": "too much traffic"})
    yield _submit(ground, b"other code").code
    space = {"space": [{"name": "x", "values": list(range(2000))}]}
    yield ground.http("POST", f"{path}/extend", space, token=token).code
    yield ground.http("POST", f"{path}/replay", {}, token=token).code
    yield ground.http("POST", f"{project}/unfreeze", {}, token=token).code
    yield ground.http("POST", f"{path}/resume", {}, token=token).code
    assert ground.http("GET", path, token=token).body["held"]["code"] == "project_frozen"
    with Wire(ground) as wire:
        wire.send({"type": "ready"})
        yield wire.code()


def rename_a_barred_bundle(ground: Ground) -> Iterator[str]:
    """Submit a barred bundle under another name, with other data, and as data."""
    bundle = b"code of the attacker"
    ground.study(content=bundle)
    sha256 = hashlib.sha256(bundle).hexdigest()
    with Wire(ground) as wire:
        wire.lease()
        _as_admin(ground, f"/api/barred/{sha256}", {"reason": "mines coins"})
        yield wire.message()["code"]
    yield _submit(ground, bundle, name="another name").code
    data = {"name": "d", "kind": "file", "filename": "d.bin"}
    data |= {"sha256": sha256, "bytes": len(bundle)}
    yield _submit(ground, b"other code", data=[data]).code
    yield ground.http("POST", f"/api/barred/{sha256}/lift", {}, token=ground.attacker.token).code


# ---- ceilings and approval


def exceed_ceilings(ground: Ground) -> Iterator[str]:
    """Submit a study of too long trials and of too many bytes, and lend it two devices."""
    _as_admin(
        ground,
        "/api/ceilings",
        {
            "scope": "researcher",
            "name": "attacker",
            "time_limit_ms": 60_000,
            "data_bytes": 1_000,
            "devices": 1,
        },
    )
    yield _submit(ground, b"code", limits={"time_limit_ms": 60_001}).code
    yield _submit(ground, b"c" * 1_001, limits={"time_limit_ms": 0}).code
    study = _submit(ground, b"code", limits={"time_limit_ms": 0})
    assert study.status == 201
    with Wire(ground) as one, Wire(ground) as other:
        assert one.lease()["time_limit_ms"] == 60_000
        other.send({"type": "ready"})
        yield other.code()


def go_round_an_approval(ground: Ground) -> Iterator[str]:
    """Submit twice, resume, extend and approve a study that waits for an administrator."""
    _as_admin(ground, "/api/ceilings", {"scope": "project", "name": ground.attacker.project,
                                        "approval": True})  # fmt: skip
    bundle = b"code of the attacker"
    ground.blob(bundle)
    token = ground.attacker.token
    spec = ground.spec(bundle)
    rows = [ground.http("POST", "/api/studies", spec, token=token) for _ in range(2)]
    assert [row.status for row in rows] == [201, 200]
    path = f"/api/studies/{rows[0].body['study']}"
    space = {"space": [{"name": "x", "values": list(range(2000))}]}
    for part, body in (("resume", {}), ("extend", space), ("replay", {}), ("priority",
                       {"priority": 100}), ("approve", {})):  # fmt: skip
        yield ground.http("POST", f"{path}/{part}", body, token=token).code
    held = ground.http("GET", path, token=token).body["held"]
    assert held["code"] == "approval_pending"
    with Wire(ground) as wire:
        wire.send({"type": "ready"})
        yield wire.code()


def lift_own_limits(ground: Ground) -> Iterator[str]:
    """Change ceilings, list barred blobs and waiting studies, and refuse the neighbour's study."""
    token = ground.attacker.token
    for method, path, body in (
        ("GET", "/api/ceilings", None),
        ("POST", "/api/ceilings", {"scope": "server", "devices": 0}),
        ("GET", "/api/barred", None),
        ("POST", f"/api/barred/{'a' * 64}", {}),
        ("GET", "/api/approvals", None),
        ("POST", f"/api/studies/{ground.neighbour.study}/refuse", {}),
        ("POST", "/api/projects/1/freeze", {}),
    ):
        yield ground.http(method, path, body, token=token).code
