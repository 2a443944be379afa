"""Fills the disk of the backups and that of the standby of a real server. The server must go on and
report it, and nothing that either disk had before may be lost.
"""

from __future__ import annotations

import os
from pathlib import Path

from backups import run_program
from ground import Ground
from patience import until
from small_disk import small_disk

_MIB = 1 << 20


def _warnings(ground: Ground) -> list[str]:
    answer = ground.http("GET", "/readyz")
    assert answer.status == 200, answer
    warnings: list[str] = answer.body.get("warnings", [])
    return warnings


def _studies(ground: Ground) -> int:
    """Submit a study, and return how many the attacked researcher has then."""
    ground.study(content=os.urandom(1024))
    found = ground.http("GET", "/api/studies", token=ground.attacker.token)
    assert found.code == "ok", found
    return len(found.body["studies"])


def _names(folder: Path) -> set[str]:
    return {one.name for one in folder.iterdir() if one.name[0].isdigit()}


def test_a_full_disk_of_backups_loses_no_older_backup(tmp_path: Path) -> None:
    with (
        small_disk(tmp_path / "disk", 64) as disk,
        Ground(tmp_path, working=False) as ground,
    ):
        folder = disk.folder / "backups"
        state = ground.server.folder / "state"
        ground.study(content=os.urandom(_MIB))
        assert run_program("backup", folder, "--state", state) == ""
        kept = _names(folder)
        assert len(kept) == 1
        # More than the disk has room for, so that the backup ends at each of its parts.
        for _ in range(3):
            ground.study(content=os.urandom(3 * _MIB))
        has = _studies(ground)
        for room in (0, 64 << 10, 2 * _MIB, 5 * _MIB):
            disk.fill(leaving=room)
            told = run_program("backup", folder, "--state", state)
            assert "(backup_no_room)" in told, (room, told)
            assert _names(folder) == kept
            assert run_program("verify", folder) == ""
            has += 1
            assert _studies(ground) == has
        disk.free()
        assert run_program("backup", folder, "--state", state) == ""
        assert run_program("verify", folder) == ""
        assert _names(folder) > kept
        assert run_program("restore", folder, "--state", tmp_path / "restored") == ""
        assert run_program("verify", tmp_path / "restored") == ""


def test_a_full_disk_at_a_due_backup_is_reported(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 16) as disk:
        folder = disk.folder / "backups"
        disk.fill()
        with Ground(tmp_path, "--backup-to", str(folder), working=False) as ground:
            until("the report", lambda: "backup_failed" in _warnings(ground))
            assert _studies(ground) == 1
            disk.free()
            ground.server.kill()
            ground.server.start()
            until("a backup", lambda: folder.is_dir() and len(_names(folder)) == 1)
            assert "backup_failed" not in _warnings(ground)
        assert run_program("verify", folder) == ""


def test_a_full_disk_of_the_standby_stops_nobody(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 64) as disk:
        folder = disk.folder / "standby"
        with Ground(tmp_path, "--standby", str(folder), working=False) as ground:
            first = ground.study(content=os.urandom(_MIB))
            until("the standby", lambda: _warnings(ground) == [])
            disk.fill()
            has = 1
            while "standby_behind" not in _warnings(ground):
                has += 1
                assert _studies(ground) == has
            assert _studies(ground) == has + 1
            ground.server.kill()
            # What the standby had is whole.
            old = tmp_path / "old"
            assert run_program("restore", folder, "--standby", "--state", old) == ""
            assert run_program("verify", old) == ""

            disk.free()
            ground.server.start()
            until("the standby again", lambda: _warnings(ground) == [])
            path = f"/api/studies/{first}"
            assert ground.http("GET", path, token=ground.attacker.token).code == "ok"
            ground.server.kill()
            new = tmp_path / "new"
            assert run_program("restore", folder, "--standby", "--state", new) == ""
            assert run_program("verify", new) == ""
