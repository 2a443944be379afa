"""Runs coroutines on one background event loop for callers without a loop of their own.

    value = run(coroutine, timeout_s=30)     # blocks; not from the loop's own thread
    for item in iterate(generator): ...      # the same for an asynchronous generator
    found = await in_thread(work)            # blocking work, on a thread of its own
    tell(lambda: bar.update(1))              # runs in the thread that waits for the coroutine

Ctrl-C in a blocked thread cancels the coroutine and waits until it has cleaned up. All threads of
this module are daemons, so they never keep a process alive. `in_thread` and `tell` work on any
event loop, also on the caller's own (`AsyncClient`).
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import contextvars
import math
import os
import queue
import sys
import threading
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterator
from concurrent.futures import Future
from typing import Any, TypeVar

from hyperflock._base.errors import WaitTimeoutError

_T = TypeVar("_T")
_Work = Callable[[], None]
_CLEAN_UP_S = 5.0
_SLICE_S = 0.5

_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None
_thread: threading.Thread | None = None
# The function that passes work to the thread that waits for the current coroutine; None if that is
# the current thread.
_to_waiting_thread: contextvars.ContextVar[Callable[[_Work], object] | None]
_to_waiting_thread = contextvars.ContextVar("hyperflock_to_waiting_thread", default=None)


def run(awaitable: Awaitable[_T], timeout_s: float | None = None) -> _T:
    """Run an awaitable on the background loop and wait for its value.

    Raises
    ------
    WaitTimeoutError
        It took longer than ``timeout_s``.
    """
    loop = _running()
    started: list[asyncio.Task[Any]] = []
    told: queue.SimpleQueue[_Work | None] = queue.SimpleQueue()

    async def held() -> _T:
        task = asyncio.current_task()
        assert task is not None
        started.append(task)
        _to_waiting_thread.set(told.put)
        return await awaitable

    deadline = math.inf if timeout_s is None else time.monotonic() + timeout_s
    try:
        future = asyncio.run_coroutine_threadsafe(held(), loop)
        future.add_done_callback(lambda _: told.put(None))
        # On some systems Ctrl-C does not interrupt one long wait, so it is split into short ones.
        while not future.done() and (left_s := deadline - time.monotonic()) > 0:
            _do_told(told, min(left_s, _SLICE_S))
        if not future.done():
            raise WaitTimeoutError(f"nothing came within {timeout_s} s")
        return future.result()
    except BaseException:
        # Ctrl-C may have come before ``future`` was assigned.
        asyncio.run_coroutine_threadsafe(_settle(started), loop).result(_CLEAN_UP_S + 1)
        raise
    finally:
        while not told.empty():
            _do_told(told, 0.0)


def start(coroutine: Coroutine[Any, Any, _T]) -> Future[_T]:
    """Start a coroutine on the background loop without waiting for it. Any thread except the loop's
    may call this function.
    """
    return asyncio.run_coroutine_threadsafe(coroutine, _running())


def soon(work: _Work) -> None:
    """Schedule a call in the background loop's thread."""
    _running().call_soon_threadsafe(work)


def iterate(items: AsyncGenerator[_T, None]) -> Iterator[_T]:
    """Iterate an asynchronous generator that runs on the background loop."""
    try:
        while True:
            try:
                item = run(anext(items))
            except StopAsyncIteration:
                return
            yield item
    finally:
        # At interpreter exit the loop's thread is gone, and `_at_exit` has closed the generator.
        # Garbage collection may run this in any thread, also in the loop's own.
        if threading.current_thread() is _thread:
            asyncio.run_coroutine_threadsafe(_closed(items), _running())
        elif not sys.is_finalizing():
            run(items.aclose())


async def in_thread(work: Callable[[], _T]) -> _T:
    """Run blocking work on a new thread and return its value. Cancelling only stops the waiting."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[_T] = loop.create_future()
    context = contextvars.copy_context()
    if _to_waiting_thread.get() is None:
        context.run(_to_waiting_thread.set, loop.call_soon_threadsafe)

    def settle(value: _T | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is None:
            done.set_result(value)  # type: ignore[arg-type]
        else:
            done.set_exception(error)

    def body() -> None:
        value, failure = None, None
        try:
            value = context.run(work)
        except BaseException as error:
            failure = error
        with contextlib.suppress(RuntimeError):  # the loop is closed, so nobody waits
            loop.call_soon_threadsafe(settle, value, failure)

    threading.Thread(target=body, name="hyperflock-work", daemon=True).start()
    return await done


def tell(work: _Work) -> None:
    """Call ``work`` in the thread that waits for the caller's coroutine. If the caller already runs
    in that thread, call it at once.

    A progress bar in a notebook needs this: only the cell's own thread writes below the cell.
    """
    hand_over = _to_waiting_thread.get()
    if hand_over is None:
        work()
    else:
        hand_over(work)


def _do_told(told: queue.SimpleQueue[_Work | None], wait_s: float) -> None:
    try:
        work = told.get(timeout=wait_s) if wait_s else told.get_nowait()
    except queue.Empty:
        return
    if work is not None:
        work()


async def _closed(items: AsyncGenerator[Any, None]) -> None:
    await items.aclose()


async def _settle(started: list[asyncio.Task[Any]]) -> None:
    """Cancel the started tasks and wait until they have cleaned up."""
    for _ in range(2):  # a handed-over coroutine becomes a task in one turn and starts in the next
        await asyncio.sleep(0)
    for task in started:
        task.cancel()
        await asyncio.wait([task], timeout=_CLEAN_UP_S)


def _running() -> asyncio.AbstractEventLoop:
    global _loop, _thread
    with _lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            _thread = threading.Thread(
                target=_loop.run_forever, name="hyperflock-loop", daemon=True
            )
            _thread.start()
        return _loop


def _at_exit() -> None:
    """Close open asynchronous generators while the loop's thread still runs."""
    if _loop is not None:
        with contextlib.suppress(Exception):
            ending = asyncio.run_coroutine_threadsafe(_loop.shutdown_asyncgens(), _loop)
            ending.result(_CLEAN_UP_S)


atexit.register(_at_exit)


def _forget() -> None:
    """Forget the loop in a forked child, which does not have the loop's thread."""
    global _loop, _lock, _thread
    _loop = _thread = None
    _lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
