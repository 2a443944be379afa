"""Runs Debian's PostgreSQL on a new folder in /var/tmp, for benchmarks and drills.

    with LocalPostgres() as place:
        connection = place.database("one")
        place.restart("immediate")

It listens on a Unix socket only, and makes each commit durable, as it does by default.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Literal

_USER = "bench"


class LocalPostgres:
    """A PostgreSQL server that lives as long as the context.

    Parameters
    ----------
    settings
        Such as ``track_wal_io_timing=on``, in addition to those that it has by default.
    """

    def __init__(self, *settings: str) -> None:
        self._settings = "".join(f" -c {one}" for one in settings)
        found = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda one: one.parent.name)
        if not found:
            raise RuntimeError("PostgreSQL is not installed: apt-get install postgresql")
        self._programs = found[-1]
        # /var/tmp is on a disk, which /tmp may not be, and other users may reach what is in it.
        self._folder = Path(tempfile.mkdtemp(prefix="hyperflock-", dir="/var/tmp"))

    def __enter__(self) -> LocalPostgres:
        try:
            if os.geteuid() == 0:  # PostgreSQL refuses to run as root
                owner = pwd.getpwnam("postgres")
                os.chown(self._folder, owner.pw_uid, owner.pw_gid)
            words = ["-U", _USER, "-A", "trust", "--no-locale", "-E", "UTF8"]
            self._run("initdb", "-D", self._data, *words)
            self._start()
        except BaseException:
            shutil.rmtree(self._folder)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop("immediate")
        shutil.rmtree(self._folder)

    def database(self, name: str) -> str:
        """Make a new database and return its connection string."""
        place: list[str | Path] = ["-h", self._folder, "-U", _USER]
        self._run("dropdb", *place, "--if-exists", name)
        self._run("createdb", *place, name)
        return f"postgres://{_USER}@/{name}?host={self._folder}"

    def drop(self, name: str) -> None:
        """Drop a database that nobody uses any more."""
        self._run("dropdb", "-h", self._folder, "-U", _USER, "--force", name)

    def ask(self, name: str, sql: str) -> list[list[str]]:
        """Run SQL in a database, and return its rows as texts."""
        command = [self._programs / "psql", "-h", self._folder, "-U", _USER, "-d", name]
        words = [*map(str, command), "-X", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-c", sql]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"psql failed: {done.stderr.strip()}")
        return [line.split("|") for line in done.stdout.splitlines()]

    def restart(self, how: Literal["fast", "immediate"]) -> None:
        """Restart it; ``immediate`` is like a crash."""
        self._stop(how)
        self._start()

    @contextlib.contextmanager
    def away(self) -> Iterator[None]:
        """Stop it, as in a crash, and start it again at the end of the block."""
        self._stop("immediate")
        try:
            yield
        finally:
            self._start()

    def pid(self) -> int:
        """Return the id of its first process, whose children are all others."""
        return int((self._data / "postmaster.pid").read_text().split("\n", 1)[0])

    def version(self) -> str:
        """Return the version, such as ``15.14``."""
        return self._run("postgres", "--version").split()[2]

    @property
    def _data(self) -> Path:
        return self._folder / "data"

    def _start(self) -> None:
        options = f"-c listen_addresses='' -k {self._folder} -c max_connections=200"
        words: list[str | Path] = ["-D", self._data, "-w", "-t", "300", "-l", self._folder / "log"]
        self._run("pg_ctl", *words, "-o", options + self._settings, "start")

    def _stop(self, how: str) -> None:
        self._run("pg_ctl", "-D", self._data, "-w", "-t", "300", "-m", how, "stop")

    def _run(self, program: str, *words: str | Path) -> str:
        command = [str(self._programs / program), *map(str, words)]
        if os.geteuid() == 0:
            command = ["runuser", "-u", "postgres", "--", *command]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
        if done.returncode:
            raise RuntimeError(f"{program} failed: {done.stderr.strip()}")
        return done.stdout
