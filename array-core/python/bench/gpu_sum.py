"""Measures how long the device takes to sum 10,000,000 float32 elements into an existing array.

    ./run python --backend webgpu array-core/python/bench/gpu_sum.py [--elements N]

The device's own clock measures 200 sums in one batch, between which nothing is read back. A sum
loads 4 bytes for each element. Prints one JSON object with milliseconds per sum, or null with a
reason on a software device or without a clock.
"""

from __future__ import annotations

from collections.abc import Callable

import arraycore as ac
import device_clock
import numpy as np


def bench(elements: int) -> tuple[Callable[[], object], Callable[[], None]]:
    """Return a function that sums once, and a function that checks the sum."""
    values = np.arange(elements, dtype=np.float32) % 7
    exact = float(values.sum(dtype=np.float64))
    a = ac.array(values)
    out = ac.empty((), np.float32)

    def check() -> None:
        if abs(float(out) - exact) > 1e-5 * exact:
            raise SystemExit("The sum is wrong.")

    return lambda: ac.sum(a, out=out), check


def figures(elements: int, nanoseconds: float) -> dict[str, float]:
    return {
        "gpu_sum_1e7_ms": round(nanoseconds / 1e6, 4),
        "gpu_sum_gbs": round(4 * elements / nanoseconds, 1),
    }


device_clock.main("How long the device sums.", bench, "gpu_sum_1e7_ms", figures)
