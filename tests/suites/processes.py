"""Runs a command whose descendants all end with it, and processes that keep a machine busy."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Self

#: From <linux/prctl.h>.
PR_SET_CHILD_SUBREAPER = 36
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
END_S = 10.0
#: A busy process ends after this many seconds, or earlier if its parent ends.
BUSY_LIMIT_S = 6 * 3600
BUSY = """
import os, sys, time
parent, end = int(sys.argv[1]), time.monotonic() + float(sys.argv[2])
while os.getppid() == parent and time.monotonic() < end:
    for _ in range(100_000):
        pass
"""


def children(pid: int) -> list[int]:
    """Return a process's direct children, or none if it has ended."""
    found: list[int] = []
    for task in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += map(int, task.read_text().split())
    return found


def descendants(pid: int) -> list[int]:
    """Return every running process that this one has started, directly or not."""
    found = []
    for child in children(pid):
        if start_of(child) is not None:
            found.append(child)
        found += descendants(child)
    return found


def start_of(pid: int) -> int | None:
    """Return when a process started, in clock ticks since boot; None if it has ended."""
    try:
        # The fields after the program's name, which may contain any character. The first one is the
        # state, and the one with index 19 is the start.
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[19])


def adopt_orphans() -> None:
    """Make this process the parent of each descendant whose own parent ends.

    So no descendant can leave this process's tree, even with a session or an environment of its
    own.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_CHILD_SUBREAPER)")


class Family:
    """A command in a session of its own. At the end of its ``with`` block, no descendant of this
    process runs.
    """

    def __init__(self, command: Sequence[str]) -> None:
        adopt_orphans()
        self._process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
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
        self._old = signal.signal(signal.SIGCHLD, lambda *_: self._bury())
        return self

    def __exit__(self, *_: object) -> None:
        # A second Ctrl-C must not interrupt this, because some descendants would then stay behind.
        old = {number: signal.signal(number, signal.SIG_IGN) for number in ENDING}
        try:
            for number in (signal.SIGTERM, signal.SIGKILL):
                self._end(number)
        finally:
            self._process.wait()
            if self._process.stdout is not None:
                self._process.stdout.close()
            signal.signal(signal.SIGCHLD, self._old)
            for number, handler in old.items():
                signal.signal(number, handler)

    def _end(self, number: signal.Signals) -> None:
        """Signal each descendant once, also new ones, until none runs or END_S have passed."""
        end = time.monotonic() + END_S
        signalled: set[int] = set()
        while left := set(descendants(os.getpid())):
            # A descendant may have started another process since the last pass.
            for pid in left - signalled:
                with contextlib.suppress(OSError):
                    os.kill(pid, number)
            signalled |= left
            if time.monotonic() > end:
                return
            time.sleep(0.05)

    def _bury(self) -> None:
        """Reap adopted processes that have ended, because no other process waits for them."""
        for pid in children(os.getpid()):
            if pid != self._process.pid:
                with contextlib.suppress(ChildProcessError):
                    os.waitpid(pid, os.WNOHANG)


@contextlib.contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep ``count`` processes busy with computing while the ``with`` block runs."""
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
