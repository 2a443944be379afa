"""Attacks by messages: in the name of another attempt, with false counts, or with results and
errors that are invalid, huge or misleading.
"""

from __future__ import annotations

from typing import Any

from escape import each_refused, started


def points_past_the_window(trial: Any) -> float:
    """Forge the count of acknowledged points, to send points while too many are unacknowledged."""
    import _hyperflock_bridge
    import js

    report = _hyperflock_bridge.report  # faster than the server acknowledges, on a busy machine too
    real = js.Atomics.load
    js.Atomics.load = js.Date.now  # a large number that grows faster than the server accepts points
    try:
        for step in range(1_000_000):
            report(step, 0.5)
    finally:
        js.Atomics.load = real
    return 0.0


def result_of_another(trial: Any) -> float:
    """Make this thread's own listener run another attempt, and answer in its name."""
    import js
    from pyodide.ffi import to_js

    def run(attempt: int) -> Any:
        data = {"kind": "run", "spec": {"attempt": attempt}, "bundle": b"", "data": []}
        options = to_js({"data": data}, dict_converter=js.Object.fromEntries)
        return started(js.self.dispatchEvent(js.MessageEvent.new("message", options)))

    return each_refused({f"attempt {i}": lambda i=i: run(i) for i in range(1, 9)})


def call_for_another(trial: Any) -> float:
    """Name other attempts, devices and methods in calls."""
    import json

    import _hyperflock_bridge

    def ask(method: str, **arguments: Any) -> Any:
        answer = json.loads(_hyperflock_bridge.call(method, json.dumps(arguments)))
        return answer["ok"] and answer["value"]

    return each_refused(
        {
            "result": lambda: ask("result", attempt=1, outcome="complete", values=[0.0]),
            "release": lambda: ask("release", attempt=1),
            "prune": lambda: ask("should_prune", step=0, attempt=1),
            "hello": lambda: ask("hello", device="x", secret="x"),
            "number": lambda: ask("should_prune", step=1e300),
        }
    )


def values_of_another_kind(trial: Any) -> Any:
    """Return a thousand values."""
    return [0.0] * 1_000


def not_a_number(trial: Any) -> float:
    """Return NaN."""
    return float("nan")


def false_outcome(trial: Any) -> float:
    """Make the runner return an invalid outcome."""
    from hyperflock_worker import runner

    class Json:
        loads = staticmethod(runner.json.loads)

        @staticmethod
        def dumps(value: Any, **options: Any) -> str:
            return '{"outcome": "complete", "values": ["hostile"], "attempt": 1}'

    runner.json = Json  # type: ignore[assignment]
    return 0.0


def large_outcome(trial: Any) -> float:
    """Make the runner return 100 MB of text."""
    from hyperflock_worker import runner

    class Json:
        loads = staticmethod(runner.json.loads)

        @staticmethod
        def dumps(value: Any, **options: Any) -> str:
            return '{"outcome": "pruned"}' + " " * 100_000_000

    runner.json = Json  # type: ignore[assignment]
    return 0.0


def large_exception(trial: Any) -> float:
    """Raise an error with 50 MB of text."""
    raise ValueError("x" * 50_000_000)


def odd_characters(trial: Any) -> float:
    """Raise an error with characters that a terminal or a page would interpret."""
    raise ValueError("\x1b[2J\x1b]0;hostile\x07\u202e\x00<script>alert(1)</script>\ud800")


def broken_exception(trial: Any) -> float:
    """Raise an error whose attributes and texts fail whenever they are read."""

    class TrialPruned(Exception):
        __module__ = 7  # type: ignore[assignment]

        def __str__(self) -> str:
            raise RuntimeError("no text")

        __repr__ = __str__

    raise TrialPruned


def false_pruning(trial: Any) -> float:
    """Raise an error whose class has the same name as ``TrialPruned`` but another module."""

    class TrialPruned(BaseException):
        pass

    raise TrialPruned
