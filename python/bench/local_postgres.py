"""Runs Debian's PostgreSQL on a new folder in /var/tmp, for benchmarks.

    with LocalPostgres() as place:
        connection = place.database("one")

It listens on a Unix socket only, and makes each commit durable, as it does by default.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType

_USER = "bench"


class LocalPostgres:
    """A PostgreSQL server that lives as long as the context."""

    def __init__(self) -> None:
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda one: one.parent.name)
        if not found:
            raise RuntimeError("PostgreSQL is not installed: apt-get install postgresql")
        self._programs = found[-1]
        # /var/tmp is on a disk, which /tmp may not be, and other users may reach what is in it.
        self._folder = Path(tempfile.mkdtemp(prefix="hyperflock-", dir="/var/tmp"))

    def __enter__(self) -> LocalPostgres:
        data = self._folder / "data"
        if os.geteuid() == 0:  # PostgreSQL refuses to run as root
            owner = pwd.getpwnam("postgres")
            os.chown(self._folder, owner.pw_uid, owner.pw_gid)
        self._run("initdb", "-D", data, "-U", _USER, "-A", "trust", "--no-locale", "-E", "UTF8")
        options = f"-c listen_addresses='' -k {self._folder} -c max_connections=200"
        log = self._folder / "log"
        self._run("pg_ctl", "-D", data, "-w", "-t", "300", "-l", log, "-o", options, "start")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._run("pg_ctl", "-D", self._folder / "data", "-w", "-m", "immediate", "stop")
        shutil.rmtree(self._folder)

    def database(self, name: str) -> str:
        """Make a new database and return its connection string."""
        place: list[str | Path] = ["-h", self._folder, "-U", _USER]
        self._run("dropdb", *place, "--if-exists", name)
        self._run("createdb", *place, name)
        return f"postgres://{_USER}@/{name}?host={self._folder}"

    def version(self) -> str:
        """Return the version, such as ``15.14``."""
        return self._run("postgres", "--version").split()[2]

    def _run(self, program: str, *words: str | Path) -> str:
        command = [str(self._programs / program), *map(str, words)]
        if os.geteuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stderr.strip()}")
        return done.stdout
