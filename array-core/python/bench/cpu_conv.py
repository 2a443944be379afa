"""Measures how fast the CPU convolves float32 images, and how fast NumPy does on the same CPU.

    ./run python array-core/python/bench/cpu_conv.py

Windows are 3 x 3, with padding 1. Python calls array-core, which computes on one thread, and the
fastest of several calls counts. NumPy copies the windows into a matrix (``sliding_window_view``)
and multiplies it. Array-core's product of matrices of these sizes is measured too. Prints one flat
JSON object.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

import arraycore as ac
import numpy as np

IMAGES, CHANNELS, RESULTS, HEIGHT, WIDTH = 4, 32, 64, 28, 28
TURNS = 7
WARM_UP = 3  # a module's first calls run unoptimised


def seconds(run: Callable[[], Any]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def unfolded(x: Any, w: Any) -> Any:
    """Return the convolution that NumPy computes as one product of matrices."""
    wide = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(wide, (3, 3), (2, 3))
    columns = windows.transpose(0, 2, 3, 1, 4, 5).reshape(-1, CHANNELS * 9)
    y = columns @ w.reshape(RESULTS, -1).T
    return y.reshape(IMAGES, HEIGHT, WIDTH, RESULTS).transpose(0, 3, 1, 2)


def main() -> None:
    if ac.device_info().name != "cpu":
        raise SystemExit("This measures the CPU: run it with --backend cpu.")
    random = np.random.default_rng(1)
    x = random.integers(-2, 3, (IMAGES, CHANNELS, HEIGHT, WIDTH)).astype("f4")
    w = random.integers(-2, 3, (RESULTS, CHANNELS, 3, 3)).astype("f4")
    data, weights = ac.array(x), ac.array(w)
    places = IMAGES * HEIGHT * WIDTH
    left = ac.array(w.reshape(RESULTS, -1))
    right = ac.zeros((CHANNELS * 9, places), "float32")
    gradient = ac.zeros((IMAGES, RESULTS, HEIGHT, WIDTH), "float32")
    if not np.array_equal(ac.nn.conv(data, weights, padding=1).get(), unfolded(x, w)):
        raise SystemExit("The convolution is wrong.")
    runs: dict[str, Callable[[], Any]] = {
        "conv": lambda: ac.nn.conv(data, weights, padding=1),
        "data": lambda: ac.nn.conv_data_gradient(gradient, weights, (HEIGHT, WIDTH), padding=1),
        "weights": lambda: ac.nn.conv_weight_gradient(data, gradient, 3, padding=1),
        "gemm": lambda: left @ right,
        "numpy": lambda: unfolded(x, w),
    }
    best = {}
    for name, run in runs.items():
        for _ in range(1 if name == "numpy" else WARM_UP):
            run()
        best[name] = min(seconds(run) for _ in range(2 if name == "numpy" else TURNS))
    flop = 2e-9 * RESULTS * CHANNELS * 9 * places
    figures = {
        "cpu_conv_gflops": round(flop / best["conv"], 2),
        "cpu_conv_data_gflops": round(flop / best["data"], 2),
        "cpu_conv_weights_gflops": round(flop / best["weights"], 2),
        "cpu_conv_gemm_gflops": round(flop / best["gemm"], 2),
        "cpu_conv_vs_numpy": round(best["numpy"] / best["conv"], 2),
    }
    print(json.dumps(figures))


main()
