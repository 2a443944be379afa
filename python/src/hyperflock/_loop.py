"""One background thread with one event loop, where the async core lives.

    value = run(coroutine, timeout_s=30)

``run`` may be called from any thread but the loop's own. Ctrl-C in the calling thread cancels the
coroutine and waits for it to clean up. The thread is a daemon: it never keeps a process alive.
"""

from __future__ import annotations

import asyncio
import concurrent.futures
import math
import os
import threading
import time
from collections.abc import Coroutine
from typing import Any, TypeVar

from hyperflock._errors import WaitTimeoutError

_T = TypeVar("_T")
_CLEAN_UP_S = 5.0
_SLICE_S = 0.5

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def run(coroutine: Coroutine[Any, Any, _T], timeout_s: float | None = None) -> _T:
    """Run a coroutine on the background loop and wait for its value.

    Raises
    ------
    WaitTimeoutError
        It took longer than ``timeout_s``.
    """
    loop = _running()
    started: list[asyncio.Task[Any]] = []

    async def held() -> _T:
        task = asyncio.current_task()
        assert task is not None
        started.append(task)
        return await coroutine

    deadline = math.inf if timeout_s is None else time.monotonic() + timeout_s
    try:
        future = asyncio.run_coroutine_threadsafe(held(), loop)
        # In slices: not on every system does Ctrl-C end one long wait.
        while not future.done() and (left_s := deadline - time.monotonic()) > 0:
            concurrent.futures.wait([future], min(left_s, _SLICE_S))
        if not future.done():
            raise WaitTimeoutError(f"nothing came within {timeout_s} s")
        return future.result()
    except BaseException:
        # Ctrl-C may have come while the coroutine was being handed over, before there was a future.
        asyncio.run_coroutine_threadsafe(_settle(started), loop).result(_CLEAN_UP_S + 1)
        raise


async def _settle(started: list[asyncio.Task[Any]]) -> None:
    """Cancel what was handed over and wait until it has cleaned up."""
    for _ in range(2):  # a handed-over coroutine becomes a task in one turn and starts in the next
        await asyncio.sleep(0)
    for task in started:
        task.cancel()
        await asyncio.wait([task], timeout=_CLEAN_UP_S)


def _running() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="hyperflock-loop", daemon=True).start()
        return _loop


def _forget() -> None:
    """A forked child has the loop's object without its thread."""
    global _loop, _lock
    _loop = None
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
