"""Handles the signals that end a command which has started other processes."""

from __future__ import annotations

import contextlib
import signal
import types
from collections.abc import Iterator


@contextlib.contextmanager
def ended_by_signals() -> Iterator[None]:
    """Handle the signals that end this command like Ctrl-C, so that its processes end too."""

    def interrupt(number: int, frame: types.FrameType | None) -> None:
        raise KeyboardInterrupt

    numbers = [signal.SIGTERM, *([signal.SIGHUP] if hasattr(signal, "SIGHUP") else [])]
    before = {number: signal.getsignal(number) for number in numbers}
    for number, handler in before.items():
        if handler is not signal.SIG_IGN:  # nohup ignores it
            signal.signal(number, interrupt)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
