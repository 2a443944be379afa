"""Tests that tasks and calls of one attempt do not go on in the next one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import pytest
from hyperflock_worker import tasks


@pytest.fixture
def loop() -> Iterator[asyncio.AbstractEventLoop]:
    made = asyncio.new_event_loop()
    tasks.watch(made)
    tasks.watch(made)
    yield made
    made.close()


def turns(loop: asyncio.AbstractEventLoop, count: int = 20) -> None:
    """Let everything that waits run, several times."""
    for _ in range(count):
        loop.run_until_complete(asyncio.sleep(0))


def test_a_loop_works_as_before(loop: asyncio.AbstractEventLoop) -> None:
    async def work() -> int:
        await asyncio.sleep(0.001)
        return await asyncio.ensure_future(asyncio.sleep(0, 7))

    assert loop.run_until_complete(work()) == 7


def test_tasks_and_calls_end_with_their_attempt(loop: asyncio.AbstractEventLoop) -> None:
    ticks: list[str] = []

    async def stubborn() -> None:
        while True:
            try:
                ticks.append("task")
                await asyncio.sleep(0)
            except asyncio.CancelledError:
                ticks.append("cancelled")

    def again() -> None:
        ticks.append("call")
        loop.call_soon(again)

    left = loop.create_task(stubborn())
    loop.call_soon(again)
    turns(loop)
    assert {"task", "call"} <= set(ticks)

    tasks.end_all(loop)
    before = len(ticks)
    turns(loop)
    assert len(ticks) == before
    assert not left.done()

    loop.call_soon(ticks.append, "the next attempt's")
    turns(loop)
    assert ticks[before:] == ["the next attempt's"]


def test_what_a_task_waited_for_does_not_wake_it(loop: asyncio.AbstractEventLoop) -> None:
    woken: list[bool] = []
    answer: asyncio.Future[None] = loop.create_future()

    async def wait() -> None:
        await answer
        woken.append(True)

    left = loop.create_task(wait())
    turns(loop)
    tasks.end_all(loop)
    if not answer.done():
        answer.set_result(None)
    turns(loop)
    assert not woken
    assert not left.done()
