"""Attacks that find out what device this is, or that go on after their trial."""

from __future__ import annotations

import itertools
from typing import Any

from escape import each_refused, inner

#: The finest step of a clock that a trial may have, in seconds, less what rounding takes.
STEP_S = 0.000_099


def _finest(now: Any) -> float:
    """Return the smallest step of a clock, in its own unit."""
    times = [now() for _ in range(20_000)]
    steps = [after - before for before, after in itertools.pairwise(times) if after > before]
    return min(steps, default=1.0)


def surroundings(trial: Any) -> float:
    """Ask for the time zone, the languages, the cores and the size of memory, in every way."""
    import os
    import time

    import js

    code = inner("pyodide_js")
    zone = js.Date.new(0).getTimezoneOffset
    return each_refused(
        {
            "offset": lambda: zone(),
            "offset in summer": lambda: js.Date.new(2026, 6, 1).getTimezoneOffset(),
            "hour": lambda: js.Date.new(0).getHours(),
            "components": lambda: js.Date.new(1970, 0, 1).getTime(),
            "parsed": lambda: js.Date.parse("1970-01-01T00:00"),
            "zone in words": lambda: "(Coordinated" not in js.Date.new(0).toString(),
            "local words": lambda: "(Coordinated" not in js.Date.new(0).toLocaleString(),
            "other date": lambda: js.Date.new(0).constructor.new(1970, 0, 1).getTime(),
            "python zone": lambda: time.timezone or time.altzone,
            "python hour": lambda: time.localtime(0).tm_hour,
            "python names": lambda: set(time.tzname) - {"UTC", "UTC+0000", "UTC-0000"},
            "Intl": lambda: js.Intl,
            "Temporal": lambda: js.Temporal,
            "languages": lambda: list(js.navigator.languages) != ["en-US"],
            "language": lambda: js.navigator.language != "en-US",
            "number": lambda: js.Number.new(1234.5).toLocaleString() != "1234.5",
            "cores": lambda: js.navigator.hardwareConcurrency != 1,
            "python cores": lambda: (os.cpu_count() or 1) != 1,
            "memory": lambda: js.navigator.deviceMemory,
            "heap": lambda: js.performance.memory,
            "connection": lambda: js.navigator.connection,
            "brands": lambda: js.navigator.userAgentData,
            "battery": lambda: js.navigator.getBattery,
            "screen": lambda: js.screen,
            "cookie": lambda: js.document.cookie,
            "page": lambda: code.globals.get("document"),
        }
    )


def clock(trial: Any) -> float:
    """Look for a clock with steps of less than a tenth of a millisecond."""
    import time

    import js

    def mark(name: str) -> Any:
        return js.performance.mark(name).startTime

    return each_refused(
        {
            "performance": lambda: _finest(js.performance.now) < STEP_S * 1e3,
            "prototype": lambda: (
                _finest(js.Performance.prototype.now.bind(js.performance)) < STEP_S * 1e3
            ),
            "events": lambda: _finest(lambda: js.Event.new("x").timeStamp) < STEP_S * 1e3,
            "marks": lambda: mark("a") or mark("b"),
            "mark interface": lambda: js.PerformanceMark.new("a").startTime,
            "perf_counter": lambda: _finest(time.perf_counter) < STEP_S,
            "monotonic": lambda: _finest(time.monotonic) < STEP_S,
            "process_time": lambda: _finest(time.process_time) < STEP_S,
            "time": lambda: _finest(time.time) < STEP_S,
        }
    )


def goes_on(trial: Any) -> float:
    """Leave timers, intervals and tasks behind, which count in the next trials of the study."""
    import asyncio
    import builtins

    import js
    from pyodide.ffi import create_proxy

    counts = getattr(builtins, "hostile_counts", None)
    if counts is not None:
        if sum(counts.values()):
            raise RuntimeError(f"what an earlier trial left went on: {counts}")
        return 0.0
    counts = dict.fromkeys(("interval", "timeout", "task", "call"), 0)
    builtins.hostile_counts = counts  # type: ignore[attr-defined]

    def count(name: str) -> None:
        counts[name] += 1

    async def work() -> None:
        while True:
            try:
                await asyncio.sleep(0)
                count("task")
            except asyncio.CancelledError:
                pass

    loop = asyncio.get_event_loop()
    js.setInterval(create_proxy(lambda: count("interval")), 0)
    for delay_ms in (0, 5, 50):
        js.setTimeout(create_proxy(lambda: count("timeout")), delay_ms)
    builtins.hostile_task = loop.create_task(work())  # type: ignore[attr-defined]
    loop.call_soon(count, "call")
    loop.call_later(0.01, count, "call")
    return 0.0
