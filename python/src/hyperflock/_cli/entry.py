"""Runs the command so that a signal ends it without a traceback, also while modules are imported.

    sys.exit(start(sys.argv[1:]))

While the command runs, command.py turns a signal into KeyboardInterrupt, so that what the command
has started ends too. Before and after that, a signal ends the process at once.
"""

from __future__ import annotations

import contextlib
import sys

from hyperflock._cli import signals as _signals


def start(arguments: list[str]) -> int:
    """Import the commands, run one, and return the exit code."""
    _signals.leave_at_once()
    from hyperflock._cli.command import run
    from hyperflock._cli.shared import EXIT_DETACHED

    code = run(arguments)
    # A signal that comes during this flush ends the process at once.
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    number = _signals.last_received()
    # If a signal ends a process, a shell reports the exit code 128 + the signal's number.
    return 128 + number if code == EXIT_DETACHED and number else code
