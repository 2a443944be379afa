"""What it costs to issue one operation: ``a + b`` and ``x * 2.0``, each result freed at once.

    ./run python --backend webgpu array-core/python/bench/issue_cost.py [--elements N]

20,000 calls each; the closing read is not counted. Prints one JSON object; fails when an operation
was more than one crossing or not one dispatch. Figures are microseconds.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

import arraycore as ac
import numpy as np

CALLS = 20_000
WARM_UP = 1_000


def measure(operation: Callable[[], object], last: ac.ndarray) -> dict[str, float]:
    """Return median, 99th percentile and mean of one call's time."""
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
    for name in ("crossings", "dispatches"):
        done = after[name] - before[name]
        if done != CALLS:
            raise SystemExit(f"{CALLS} operations made {done} {name}.")
    times.sort()
    return {
        "p50": round(times[CALLS // 2] * 1e6, 2),
        "p99": round(times[CALLS * 99 // 100] * 1e6, 2),
        "mean": round(sum(times) / CALLS * 1e6, 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description="What it costs to issue one operation.")
    parser.add_argument("--elements", type=int, default=1_000)
    elements = parser.parse_args().elements
    a = ac.array(np.ones(elements, np.float32))
    b = ac.array(np.ones(elements, np.float32))
    figures = {
        "elements": elements,
        "issue_add_us": measure(lambda: a + b, a),
        "issue_scalar_us": measure(lambda: a * 2.0, a),
    }
    print(json.dumps(figures))


main()
