"""Ends what an attempt leaves on the event loop: tasks and calls for later.

    watch(asyncio.get_event_loop())     # before the first attempt; a second call does nothing
    end_all(loop)                       # after each attempt

Attempts of one study share an interpreter. Without this, a task of one attempt would go on during
the next one. A task may ignore that it is cancelled, so its calls are dropped, too.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any

#: The methods by which everything gets its turn on a loop. In Pyodide's loop all others call
#: `call_later`.
_WAYS = ("call_later",) if sys.platform == "emscripten" else ("call_soon", "call_later", "call_at")


def watch(loop: Any) -> None:
    """Let each call that is scheduled on ``loop`` run only until `end_all` is called next."""
    if hasattr(loop, "_hyperflock_turn"):
        return
    loop._hyperflock_turn = 0

    def bound(schedule: Any, callback_at: int) -> Any:
        def way(*arguments: Any, **options: Any) -> Any:
            turn = loop._hyperflock_turn
            callback = arguments[callback_at]

            def in_its_turn(*values: Any) -> None:
                if loop._hyperflock_turn == turn:
                    callback(*values)

            before, after = arguments[:callback_at], arguments[callback_at + 1 :]
            return schedule(*before, in_its_turn, *after, **options)

        return way

    for name in _WAYS:
        setattr(loop, name, bound(getattr(loop, name), 0 if name == "call_soon" else 1))


def end_all(loop: Any) -> None:
    """Cancel all tasks of ``loop`` and drop every call that waits."""
    for task in asyncio.all_tasks(loop):
        # The task gets no turn in which it could end, so asyncio must not warn that it is pending.
        task._log_destroy_pending = False  # type: ignore[attr-defined]
        task.cancel()
    loop._hyperflock_turn += 1
