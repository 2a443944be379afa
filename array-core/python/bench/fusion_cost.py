"""Measures what fusion costs and saves: the issue of one operation, and a chain of twenty.

    ./run python --backend webgpu array-core/python/bench/fusion_cost.py [--elements N]

``fused_issue_us`` is the time to issue one ``y = y * 2.0`` of a chain of twenty, without the read
that computes the chain. ``chain_ms`` and ``unfused_chain_ms`` are the times of a whole chain with
its read. All are medians. Prints one JSON object. Fails if a chain was not one launch with fusion,
or not twenty without it.
"""

from __future__ import annotations

import argparse
import json
import time

import arraycore as ac
import numpy as np
from arraycore._runtime import session

CHAIN = 20
TIMES = 100


def chain(x: ac.ndarray) -> ac.ndarray:
    y = x
    for _ in range(CHAIN):
        y = y * 2.0
    return y


def measure(x: ac.ndarray, launches: int) -> tuple[float, float]:
    """Return median times: of one operation in us, and of a chain with its read in ms."""
    issued, whole = [], []
    for turn in range(TIMES + 10):
        before = ac.counters()["dispatches"]
        began = time.perf_counter()
        y = chain(x)
        called = time.perf_counter()
        float(y[0])
        ended = time.perf_counter()
        made = ac.counters()["dispatches"] - before
        if made != launches:
            raise SystemExit(f"A chain was {made} launches, not {launches}.")
        if turn >= 10:
            issued.append((called - began) / CHAIN * 1e6)
            whole.append((ended - began) * 1e3)
    return sorted(issued)[TIMES // 2], sorted(whole)[TIMES // 2]


def main() -> None:
    parser = argparse.ArgumentParser(description="What fusion costs and saves.")
    parser.add_argument("--elements", type=int, default=100_000)
    elements = parser.parse_args().elements
    x = ac.array(np.ones(elements, np.float32))
    session.set_fusing(False)
    unfused_issue, unfused_chain = measure(x, CHAIN)
    session.set_fusing(True)
    fused_issue, fused_chain = measure(x, 1)
    figures = {
        "elements": elements,
        "fused_issue_us": round(fused_issue, 2),
        "unfused_issue_us": round(unfused_issue, 2),
        "chain_ms": round(fused_chain, 3),
        "unfused_chain_ms": round(unfused_chain, 3),
        "chain_speedup": round(unfused_chain / fused_chain, 2),
    }
    print(json.dumps(figures))


main()
