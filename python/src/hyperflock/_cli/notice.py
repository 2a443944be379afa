"""Notifies a person: on the desktop if that is possible, otherwise by the terminal's bell.

    notify("study 3 digits", "finished: 24 of 24 trials, best 0.98")

A desktop's program runs in a thread of its own, so a caller never waits. A line on standard error
says what was used, or that nobody was notified. Any thread may use this module.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from html import escape
from pathlib import Path

from hyperflock._base.text import clean
from hyperflock._reports.progress import beside

_LIMIT_S = 10.0
_MAX_CHARACTERS = 200
# AppleScript that gets its texts as arguments, so that no text can be a part of the program.
_SCRIPT = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)


def notify(title: str, text: str) -> threading.Thread:
    """Show a notification, or ring the terminal's bell. Return the thread that does it."""
    title, text = (clean(one, limit=_MAX_CHARACTERS) for one in (title, text))
    thread = threading.Thread(target=_show, args=(desktop_command(title, text),))
    thread.start()
    return thread


def desktop_command(title: str, text: str) -> list[str] | None:
    """Return the command that shows a notification on this desktop; None if there is none."""
    if sys.platform == "darwin" and (program := shutil.which("osascript")):
        lines = [part for line in _SCRIPT for part in ("-e", line)]
        return [program, *lines, title, text]
    has_display = os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if has_display and (program := shutil.which("notify-send")):
        # notify-send reads markup in the text, but not in the title. So only the text is escaped.
        return [program, "--app-name=hyperflock", "--", title, escape(text, quote=False)]
    return None


def _show(command: list[str] | None) -> None:
    why = "this machine has no notifications of a desktop"
    if command is not None:
        program = Path(command[0]).name
        try:
            subprocess.run(
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                timeout=_LIMIT_S,
                check=True,
            )
        except (OSError, subprocess.SubprocessError) as error:
            # The program fails, for example, if the desktop has no notification service.
            status = getattr(error, "returncode", None)
            why = f"{program} " + (f"failed with {status}" if status else "did not answer")
        else:
            beside(f"notified by {program}")
            return
    if sys.stderr.isatty():
        sys.stderr.write("\a")
        sys.stderr.flush()
        beside(f"notified by the terminal's bell: {why}")
    else:
        beside(f"nobody was notified: {why}, and standard error is no terminal for a bell")
