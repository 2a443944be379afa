"""Fills the disk of a real server, as any guest or program could, and checks that its operator can
go on, and that writing resumes by itself.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from budgets import result
from ground import Answer, Ground
from patience import until
from small_disk import SmallDisk, small_disk
from wire import Wire, enrol

_MIB = 1 << 20
_OPTIONS = ("--reserve-bytes", str(16 * _MIB), "--min-free-bytes", str(4 * _MIB))


class FullDisk(Ground):
    """A server on a small disk, without another tenant's work."""

    def ready(self) -> str:
        """Return the code of /readyz, or ``changing`` while the two origins answer differently."""
        found = {self.http("GET", "/readyz", at=at).code for at in ("compute", "console")}
        return found.pop() if len(found) == 1 else "changing"

    def change(self, path: str, method: str = "POST") -> Answer:
        """Send a change as the attacked researcher."""
        body = None if method == "DELETE" else {}
        return self.http(method, path, body, token=self.attacker.token)


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    with small_disk(tmp_path / "state", 64) as made:
        yield made


@pytest.fixture
def ground(disk: SmallDisk, tmp_path: Path) -> Iterator[FullDisk]:
    with FullDisk(tmp_path, *_OPTIONS, working=False) as made:
        yield made


def test_guests_leave_some_bytes_free(ground: FullDisk, disk: SmallDisk) -> None:
    token = ground.attacker.token
    codes = set()
    for count in range(200):
        content = count.to_bytes(4) + os.urandom(_MIB)
        answer = ground.http("PUT", f"/api/blobs/{_sha256(content)}", content, token=token)
        codes.add(answer.code)
        if answer.code != "ok":
            break
    assert codes == {"ok", "no_room"}
    assert disk.free_bytes() >= 3 * _MIB
    assert ground.http("POST", "/api/studies", ground.spec(), token=token).code != "no_room"


def test_the_operator_can_go_on(ground: FullDisk, disk: SmallDisk) -> None:
    studies = [ground.study() for _ in range(4)]
    device = enrol(ground, ground.attacker.link)
    with Wire(ground) as wire:
        lease = wire.lease()
        disk.fill()
        # The result finds no room on the disk. The device keeps it, and is turned away.
        attempt = lease["attempt"]
        wire.send(result(attempt, 1, attrs='{"user": {"text": "' + "x" * 60_000 + '"}}'))
        told = wire.message()["type"]
        assert told in ("result_ack", "closed")
        _grow(ground)
        until("a full disk", lambda: ground.ready() == "disk_full")

        first, second, third, last = (f"/api/studies/{study}" for study in studies)
        assert ground.change(f"{first}/cancel").code == "ok"
        assert ground.change(f"{second}/pause").code == "ok"
        assert ground.change(f"{third}/cancel").code == "ok"
        assert ground.change(third, "DELETE").code == "ok"
        assert ground.change(third, "DELETE").code == "unknown_study"
        for path in (f"/api/devices/{device['device']}/revoke", "/api/enrolment/1/revoke"):
            assert ground.http("POST", path, {}, token=ground.admin).code == "ok"
        made = ground.http("POST", "/api/tokens", {"researcher": 1}, token=ground.admin)
        assert made.code == "ok"
        assert ground.http("GET", "/api/me", token=made.body["token"]).code == "ok"
        path = f"/api/tokens/{made.body['id']}/revoke"
        assert ground.http("POST", path, {}, token=ground.admin).code == "ok"
        suspend = {"state": "suspended"}
        path = f"/api/researchers/{ground.other.person}"
        assert ground.http("POST", path, suspend, token=ground.admin).code == "ok"
        assert ground.http("GET", "/api/me", token=ground.other.token).code == "suspended"
        assert ground.http("GET", "/api/audit", token=ground.admin).code == "ok"
        assert ground.change(f"{last}/extend").code == "no_room"
        assert ground.ready() == "disk_full"

        # A new server starts on the full disk, has all data, and reports that the disk is full.
        ground.server.kill()
        ground.server.start()
        assert ground.ready() == "disk_full"
        for study, state in ((first, "cancelled"), (second, "running")):
            row = ground.http("GET", study, token=ground.attacker.token).body
            assert row["state"] == state, row
        assert ground.change(f"{last}/cancel").code == "ok"
        assert ground.change(last, "DELETE").code == "ok"

        # Writing resumes without a restart.
        disk.free()
        until("room on the disk", lambda: ground.ready() == "ok")
        again = f"/api/studies/{ground.study()}"
        assert ground.http("GET", again, token=ground.attacker.token).code == "ok"
    if told == "closed":
        with Wire(ground, who=wire.who) as back:
            back.send(result(attempt, 1))
            until("the result", lambda: back.message()["type"] == "result_ack")


def test_the_operator_stops_misuse(ground: FullDisk, disk: SmallDisk) -> None:
    def administer(path: str, **body: object) -> str:
        return ground.http("POST", path, body, token=ground.admin).code

    assert administer("/api/ceilings", scope="server", approval=True) == "ok"
    waiting, refused = (f"/api/studies/{ground.study()}" for _ in range(2))
    disk.fill()
    _grow(ground)
    until("a full disk", lambda: ground.ready() == "disk_full")
    assert administer(f"{refused}/refuse", reason="not on this server") == "ok"
    assert administer(f"{refused}/refuse") == "not_waiting"
    assert administer(f"{waiting}/approve") == "ok"
    assert administer("/api/ceilings", scope="server", approval=None, devices=3) == "ok"
    for path in (f"/api/barred/{'a' * 64}", "/api/projects/1/freeze"):
        assert administer(path, reason="for now") == "ok"
    for path in (f"/api/barred/{'a' * 64}/lift", "/api/projects/1/unfreeze"):
        assert administer(path) == "ok"
    for study, state in ((refused, "cancelled"), (waiting, "running")):
        assert ground.http("GET", study, token=ground.attacker.token).body["state"] == state
    disk.free()
    until("room on the disk", lambda: ground.ready() == "ok")
    row = ground.http("GET", refused, token=ground.attacker.token).body
    assert row["state"] == "cancelled", row


def test_deleting_studies_makes_room(ground: FullDisk, disk: SmallDisk) -> None:
    # Data of a study fills the disk to the reserve.
    content = os.urandom(30 * _MIB)
    study = f"/api/studies/{ground.study(content=content)}"
    disk.fill()
    _grow(ground)
    until("a full disk", lambda: ground.ready() == "disk_full")
    assert ground.change(f"{study}/cancel").code == "ok"
    assert ground.change(study, "DELETE").code == "ok"
    until("room on the disk", lambda: ground.ready() == "ok")
    ground.study()


def _grow(ground: FullDisk) -> None:
    """Add rows until the server finds its disk full: the database's log may have some room left.
    The rows are tokens, because the server refuses all other new rows below ``--min-free-bytes``.
    """
    for _ in range(5000):
        made = ground.http("POST", "/api/tokens", {"researcher": 1}, token=ground.admin)
        assert made.code == "ok", made
        if ground.ready() == "disk_full":
            return


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
