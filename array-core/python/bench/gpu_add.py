"""Measures how fast the device adds 10,000,000 float32 elements: ``a + b`` into an existing array.

    ./run python --backend webgpu array-core/python/bench/gpu_add.py [--elements N]

The device's own clock measures 200 launches in one batch. For each element 12 bytes are read or
written. Prints one JSON object with gigabytes per second, or null with a reason on a software
device or without a clock.
"""

from __future__ import annotations

from collections.abc import Callable

import arraycore as ac
import device_clock
import numpy as np

BYTES_PER_ELEMENT = 12  # two are read, one is written


def bench(elements: int) -> tuple[Callable[[], object], Callable[[], None]]:
    """Return a function that adds once, and a function that checks the sums."""
    values = np.arange(elements, dtype=np.float32) % 1000
    a, b = ac.array(values), ac.array(np.ones(elements, np.float32))
    out = ac.empty(elements, np.float32)

    def check() -> None:
        if not np.array_equal(out.get(), values + 1):
            raise SystemExit("The sums are wrong.")

    return lambda: ac.add(a, b, out=out), check


def figures(elements: int, nanoseconds: float) -> dict[str, float]:
    return {"gpu_add_gbs": round(BYTES_PER_ELEMENT * elements / nanoseconds, 1)}


device_clock.main("How fast the device adds.", bench, "gpu_add_gbs", figures)
