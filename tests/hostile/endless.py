"""Attacks that keep a device for ever. The study's time limit ends each."""

from __future__ import annotations

from typing import Any


def python_loop(trial: Any) -> float:
    """Count without an end."""
    step = 0
    while True:
        step += 1


def ignores_interrupts(trial: Any) -> float:
    """Catch every interrupt, and go on."""
    while True:
        try:
            while True:
                pass
        except BaseException:
            continue


def pattern(trial: Any) -> float:
    """Let JavaScript's regular expressions try 2**60 alternatives."""
    import js

    return float(js.RegExp.new("^(([a-z])+.)+[A-Z]([a-z])+$").test("a" * 60))


def long_call(trial: Any) -> float:
    """Stay in one call of NumPy, which does not check for interrupts."""
    import numpy as np

    # This product of integer matrices takes minutes, because BLAS computes only products of floats.
    side = np.ones((6_000, 6_000), dtype=np.int64)
    return float((side @ side)[0, 0])


def atomics_wait(trial: Any) -> float:
    """Wait for a memory word that nobody writes."""
    import js

    js.Atomics.wait(js.Int32Array.new(js.SharedArrayBuffer.new(8)), 0, 0)
    return 0.0


def sleeps(trial: Any) -> float:
    """Sleep for days."""
    import time

    time.sleep(1e6)
    return 0.0


def iterates(trial: Any) -> float:
    """Run through an endless iterator inside the interpreter's own C code."""
    import itertools

    return float(sum(1 for _ in itertools.repeat(0)))
