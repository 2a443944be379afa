"""A command whose children all end with it, and processes that keep a machine busy."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Self

#: In the environment of everything that a Family starts. It finds children in other sessions.
MARK = "HYPERFLOCK_RUN"
END_S = 10.0
#: A busy process ends by itself after this, or when its parent is gone.
BUSY_LIMIT_S = 6 * 3600
BUSY = """
import os, sys, time
parent, end = int(sys.argv[1]), time.monotonic() + float(sys.argv[2])
while os.getppid() == parent and time.monotonic() < end:
    for _ in range(100_000):
        pass
"""


def members(session: int, mark: str) -> list[int]:
    """Return the processes of a session, and those whose environment has the mark, that still run.

    A child may have a session of its own, another an environment of its own.
    """
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            # After the name, which may hold anything: state, parent, group, session.
            state, _, _, its_session = (entry / "stat").read_text().rpartition(")")[2].split()[:4]
            if state == "Z":
                continue
            if int(its_session) == session or has_mark(entry, mark):
                found.append(int(entry.name))
    return found


def has_mark(entry: Path, mark: str) -> bool:
    """Whether a process's environment has the mark; False for another user's process."""
    try:
        return mark.encode() in (entry / "environ").read_bytes().split(b"\0")
    except OSError:
        return False


class Family:
    """A command in a session of its own. When the block ends, no child of it runs."""

    def __init__(self, command: Sequence[str]) -> None:
        value = f"{os.getpid()}-{time.time_ns()}"
        self._mark = f"{MARK}={value}"
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            env={**os.environ, MARK: value},
        )

    def lines(self) -> Iterator[str]:
        """Yield what the command prints."""
        out: IO[str] | None = self._process.stdout
        assert out is not None
        yield from out

    def wait(self) -> int:
        """Return the command's status once it has ended."""
        return self._process.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        # A second Ctrl-C must not leave half of them behind.
        old = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            for number in (signal.SIGTERM, signal.SIGKILL):
                end = time.monotonic() + END_S
                signalled: set[int] = set()
                while (left := set(self._members())) and time.monotonic() < end:
                    # One may have started another meanwhile.
                    for pid in left - signalled:
                        with contextlib.suppress(OSError):
                            os.kill(pid, number)
                    signalled |= left
                    time.sleep(0.05)
        finally:
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()
            signal.signal(signal.SIGINT, old)

    def _members(self) -> list[int]:
        return members(self._process.pid, self._mark)


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep as many processes computing while the block runs."""
    command = [sys.executable, "-c", BUSY, str(os.getpid()), str(BUSY_LIMIT_S)]
    started = []
    try:
        for _ in range(count):
            started.append(subprocess.Popen(command, stdin=subprocess.DEVNULL))
        yield
    finally:
        for process in started:
            process.kill()
        for process in started:
            process.wait()
