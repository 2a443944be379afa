"""Lets a child process end with this one, also if this one is killed.

    subprocess.Popen(command, preexec_fn=end_with_parent())

The server has a pipe for that (server.py), and so have volunteers. This module is for programs
without such a pipe: a tunnel, and the script of ``hyperflock demo``. It works on Linux. Elsewhere
such a program ends only when this process ends by itself.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from collections.abc import Callable

_PR_SET_PDEATHSIG = 1


def end_with_parent() -> Callable[[], None] | None:
    """Return a function that the child calls before it runs its program; None on other systems than
    Linux.

    The kernel sends SIGTERM to the child when the thread that started the child ends. So only a
    thread that lives as long as this process may start it.
    """
    if sys.platform != "linux":
        return None
    prctl = ctypes.CDLL(None).prctl
    parent = os.getpid()

    def prepare() -> None:
        prctl(_PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
        if os.getppid() != parent:  # it was killed before this call
            os._exit(128 + signal.SIGTERM)

    return prepare
