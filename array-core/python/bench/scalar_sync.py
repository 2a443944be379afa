r"""Compares the time to read one element with that of a copy and readback written by hand.

    ./run python --host HOST --backend webgpu --hooks \
        array-core/python/bench/scalar_sync.py --host HOST

Both sides read 4 bytes from the same device, and take turns. Python reads with ``float(a[3])``. The
code by hand is JavaScript on the device's own thread: it copies to a staging buffer that is used
again, submits, waits for ``mapAsync`` and copies out. Figures are medians in microseconds. Prints
one flat JSON object.
"""

from __future__ import annotations

import argparse
import importlib
import json
import statistics
import sys
import time

import arraycore as ac
import numpy as np

ROUNDS = 10
READS = 200
WARM_UP_ROUNDS = 3


def main() -> None:
    parser = argparse.ArgumentParser(description="What it costs to read one element.")
    parser.add_argument("--host", required=True, choices=["node", "chromium"])
    host = parser.parse_args().host
    try:
        hooks = importlib.import_module("_arraycore_hooks")
    except ImportError:
        sys.exit("Reads by hand need ./run python --hooks.")
    a = ac.array(np.arange(10, dtype=np.float32)) + 1.0
    clock = time.perf_counter
    indexed: list[float] = []
    whole: list[float] = []
    by_hand: list[float] = []
    loss = ac.array(np.float32(3)) + 1.0
    waits = ac.counters()["sync_waits"]
    for round_ in range(WARM_UP_ROUNDS + ROUNDS):
        if round_ == WARM_UP_ROUNDS:
            for times in (indexed, whole, by_hand):
                times.clear()
        for _ in range(READS):
            began = clock()
            value = float(a[3])
            indexed.append((clock() - began) * 1e6)
            if value != 4.0:
                sys.exit(f"a[3] is {value}.")
        for _ in range(READS):
            began = clock()
            value = float(loss)
            whole.append((clock() - began) * 1e6)
        by_hand += [float(text) for text in hooks.read_by_hand(READS).split(",")]
    expected = 2 * READS * (WARM_UP_ROUNDS + ROUNDS)
    if ac.counters()["sync_waits"] - waits != expected:
        sys.exit("Not every read waited for the device once.")
    hand = statistics.median(by_hand)
    figures = {
        f"scalar_sync_ratio_{host}": statistics.median(indexed) / hand,
        f"scalar_sync_ratio_whole_{host}": statistics.median(whole) / hand,
        f"scalar_sync_us_{host}": statistics.median(indexed),
        f"scalar_sync_whole_us_{host}": statistics.median(whole),
        f"scalar_sync_hand_us_{host}": hand,
    }
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


main()
