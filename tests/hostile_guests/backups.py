"""Attacks on a backup by a researcher whose files come and go while it copies them."""

from __future__ import annotations

import os
import secrets
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from ground import Ground
from patience import LIMIT_S

_BACKUPS = 3


def files_that_come_and_go(ground: Ground) -> Iterator[str]:
    """Upload bundles, submit studies with them and delete these again, in a loop, while backups are
    made. Each backup must be complete, and have all that the database in it names.
    """
    folder = ground.server.folder / "backups"
    state = ground.server.folder / "state"
    codes: set[str] = set()

    def come_and_go() -> None:
        token = ground.attacker.token
        number = ground.study(content=secrets.token_bytes(64 << 10), token=token)
        path = f"/api/studies/{number}"
        codes.add(ground.http("POST", f"{path}/cancel", token=token).code)
        codes.add(ground.http("DELETE", path, token=token).code)

    with ThreadPoolExecutor(1) as pool:
        for _ in range(_BACKUPS):
            backup = pool.submit(run_program, "backup", folder, "--state", state)
            come_and_go()
            while not backup.done():
                come_and_go()
            assert backup.result() == ""
    assert run_program("verify", folder) == ""
    yield from codes


def run_program(*command: str | Path) -> str:
    """Run a command of the server's program, and return what it says is wrong."""
    done = subprocess.run(
        [os.environ["HYPERFLOCK_TEST_SERVER_BIN"], *command],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    return done.stdout + done.stderr if done.returncode else ""
