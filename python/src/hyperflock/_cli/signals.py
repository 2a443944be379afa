"""Handles the signals that end a command: Ctrl-C, SIGTERM, and SIGHUP of a closed terminal.

    with ended_by_signals():
        goes_on("study 3 goes on; ...")
        ...                       # a signal raises KeyboardInterrupt here

Python may deliver a signal inside a destructor or a callback of an import. Python then prints the
KeyboardInterrupt with a traceback and discards it. This module delivers such a signal again a
moment later instead. Only the main thread handles signals.
"""

from __future__ import annotations

import _thread
import contextlib
import os
import signal
import sys
import types
from collections.abc import Callable, Iterator
from typing import Any

_AGAIN_S = 0.01

_received: int | None = None
_note = ""
_Handler = Callable[[int, "types.FrameType | None"], Any]


def numbers() -> list[signal.Signals]:
    """Return the signals that end a command on this system."""
    names = ("SIGINT", "SIGTERM", "SIGHUP")
    return [getattr(signal, name) for name in names if hasattr(signal, name)]


def last_received() -> int | None:
    """Return the number of the last signal that raised KeyboardInterrupt; None if there is none."""
    return _received


def goes_on(note: str) -> None:
    """Set what the command prints if a signal ends it from now on; an empty text is not printed."""
    global _note
    _note = note


def print_note() -> None:
    """Print the note that `goes_on` set, if there is one, and clear it."""
    global _note
    note, _note = _note, ""
    if note:
        with contextlib.suppress(OSError):  # after SIGHUP there may be no terminal
            print(f"\n{note}", file=sys.stderr, flush=True)


def leave_at_once() -> None:
    """From now on let a signal end this process at once and quietly."""
    _set(lambda number, _: os._exit(128 + number))


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Let a signal that ends the command raise KeyboardInterrupt, so that the command cleans up."""
    global _received
    import threading  # here, because `leave_at_once` must not wait for it

    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def interrupt(number: int, frame: types.FrameType | None) -> None:
        global _received
        _received = number
        raise KeyboardInterrupt

    def unraisable(error: sys.UnraisableHookArgs) -> None:
        if issubclass(error.exc_type, KeyboardInterrupt):
            number = signal.SIGINT if _received is None else _received
            # Another thread delivers the signal again a moment later, when this function has ended.
            timer = threading.Timer(_AGAIN_S, _thread.interrupt_main, [number])
            timer.daemon = True
            timer.start()
        else:
            shown(error)

    shown = sys.unraisablehook
    before = {number: signal.getsignal(number) for number in numbers()}
    _received = None
    goes_on("")
    sys.unraisablehook = unraisable
    _set(interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        sys.unraisablehook = shown


def _set(handler: _Handler) -> None:
    for number in numbers():
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup ignores SIGHUP
            signal.signal(number, handler)
