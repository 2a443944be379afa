"""Measures how fast the CPU multiplies square float32 matrices, and how fast NumPy does.

    ./run python array-core/python/bench/cpu_matmul.py [--size N] [--no-numpy]

Python computes ``a @ b`` on as many threads as ``./run python --threads`` gives, and the best of
several turns counts. ``--size`` is 1024 by default. Prints one flat JSON object: the number of
threads, billions of operations per second, and arraycore's speed divided by NumPy's.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np

TURNS = 7
WARM_UP = 3  # a module's first calls run unoptimised


def seconds(run: Callable[[], Any]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast the CPU multiplies matrices.")
    parser.add_argument("--size", type=int, default=1024)
    parser.add_argument("--no-numpy", action="store_true")
    arguments = parser.parse_args()
    size = arguments.size
    if ac.device_info().name != "cpu":
        raise SystemExit("This measures the CPU: run it with --backend cpu.")
    random = np.random.default_rng(1)
    a, b = (random.integers(-4, 5, (size, size)).astype("f4") for _ in range(2))
    left, right = ac.array(a), ac.array(b)
    for _ in range(WARM_UP):
        product = left @ right
    rows = slice(None, None, 97)
    if not np.array_equal(product[rows].get(), a[rows] @ b):
        raise SystemExit("The product is wrong.")
    ours = min(seconds(lambda: left @ right) for _ in range(TURNS))
    flop = 2e-9 * size**3
    threads = ac.device_info().cpu_threads
    figures = {"size": size, "threads": threads, "cpu_matmul_gflops": round(flop / ours, 2)}
    if not arguments.no_numpy:
        numpys = min(seconds(lambda: a @ b) for _ in range(2))
        figures["cpu_matmul_numpy_gflops"] = round(flop / numpys, 3)
        figures["cpu_matmul_vs_numpy"] = round(numpys / ours, 1)
    print(json.dumps(figures))


main()
