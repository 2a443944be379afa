"""Measures the time to issue ``a + b`` and ``x * 2.0``, whose results are freed at once.

    ./run python --backend webgpu array-core/python/bench/issue_cost.py [--elements N]

Each operation is called 20,000 times. Meanwhile the GPU thread empties the ring buffer of 4 MiB
that receives the commands. The last read is not counted. Fusion is off, so that each operation is
launched. Prints one JSON object with medians, 99th percentiles and means in microseconds. A
browser's clock has steps of 5 microseconds, so medians and percentiles are multiples of 5;
``_grouped`` is the median of the means of 100 calls each. Fails if an operation was not exactly one
call into array-core and one dispatch.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import arraycore as ac
import numpy as np
from arraycore._runtime import session

CALLS = 20_000
WARM_UP = 1_000
GROUP = 100


def measure(name: str, operation: Callable[[], object], last: ac.ndarray) -> dict[str, float]:
    """Return the median time of a call under ``name``, and other figures under longer names."""
    for _ in range(WARM_UP):
        operation()
    last.get()
    before = ac.counters()
    clock = time.perf_counter
    times = [0.0] * CALLS
    for i in range(CALLS):
        began = clock()
        operation()
        times[i] = clock() - began
    after = ac.counters()
    last.get()
    for counter in ("crossings", "dispatches"):
        done = after[counter] - before[counter]
        if done != CALLS:
            raise SystemExit(f"{CALLS} operations made {done} {counter}.")
    means = sorted(sum(times[i : i + GROUP]) / GROUP for i in range(0, CALLS, GROUP))
    times.sort()
    return {
        name: round(times[CALLS // 2] * 1e6, 2),
        f"{name}_p99": round(times[CALLS * 99 // 100] * 1e6, 2),
        f"{name}_grouped": round(means[len(means) // 2] * 1e6, 2),
        f"{name}_mean": round(sum(times) / CALLS * 1e6, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="What it costs to issue one operation.")
    parser.add_argument("--elements", type=int, default=1_000)
    elements = parser.parse_args().elements
    session.set_fusing(False)
    a = ac.array(np.ones(elements, np.float32))
    b = ac.array(np.ones(elements, np.float32))
    figures = {
        "elements": elements,
        **measure("issue_add_us", lambda: a + b, a),
        **measure("issue_scalar_us", lambda: a * 2.0, a),
    }
    print(json.dumps(figures))


main()
