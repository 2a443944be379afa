"""Attacks that flood the agent, the server or the console."""

from __future__ import annotations

from typing import Any


def calls(trial: Any) -> float:
    """Call without waiting, with a fake Atomics.load that says that each answer has arrived."""
    import _hyperflock_bridge
    import js
    from pyodide.ffi import create_proxy

    sequence = 0
    js.Atomics.load = create_proxy(lambda array, index: sequence)
    while True:
        sequence += 1
        _hyperflock_bridge.call("should_prune", "{}")


def large_calls(trial: Any) -> float:
    """Send 100 MB of arguments in one call."""
    import _hyperflock_bridge

    _hyperflock_bridge.call("should_prune", "x" * 100_000_000)
    return 0.0


def prunes(trial: Any) -> float:
    """Ask the server again and again whether to stop."""
    trial.report(0.5, 0)
    for _ in range(300):
        trial.should_prune()
    return 0.0


def reports(trial: Any) -> float:
    """Report more points than may be unacknowledged."""
    for step in range(20_000):
        trial.report(0.5, step)
    return 0.0


def lines(trial: Any) -> float:
    """Print and log for two seconds."""
    import time

    import js

    end = time.monotonic() + 2
    count = 0
    while time.monotonic() < end:
        print("hostile line " + "x" * 5_000)
        js.console.error("hostile line " + "x" * 5_000)
        count += 1
    assert count > 500, count
    return 0.0


def endless_line(trial: Any) -> float:
    """Print 200 MB without a line break."""
    import sys

    for _ in range(200):
        sys.stdout.write("x" * 1_000_000)
    sys.stdout.flush()
    return 0.0
