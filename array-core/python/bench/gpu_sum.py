"""How long the device sums: 10,000,000 float32 elements into one that is there.

    ./run python --backend webgpu array-core/python/bench/gpu_sum.py [--elements N]

200 sums in one batch, timed by the device's own clock, nothing read back: 4 bytes an element are
read. Prints one JSON object, milliseconds a sum; null with the reason on a software device or
without a clock.
"""

from __future__ import annotations

from collections.abc import Callable

import arraycore as ac
import device_clock
import numpy as np


def bench(elements: int) -> tuple[Callable[[], object], Callable[[], None]]:
    """Return what sums once, and what checks the sum."""
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
