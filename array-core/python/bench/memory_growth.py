"""Measures whether memory grows in a training-like loop, and while 512 MB are copied both ways.

    ./run python --backend webgpu array-core/python/bench/memory_growth.py [--iterations N] [--mb N]

``loop_bytes_growth`` is by how many bytes arrays, the device's buffers and the module's memory
together grew after iteration 50 of an elementwise loop. ``stream_heap_growth_mb`` is by how many MB
the module's memory grew while arrays of 32 MB were uploaded and read back. Prints one JSON object.
"""

from __future__ import annotations

import argparse
import json

import arraycore as ac
import numpy as np

SETTLED = 50  # by this iteration, all pools and shaders exist
STREAMED_MB = 32  # one array
MB = 1_000_000


def held() -> dict[str, int]:
    counters = ac.counters()
    return {name: counters[name] for name in ("live_bytes", "device_bytes", "heap_bytes")}


def loop(iterations: int) -> dict[str, int]:
    """Return the growth of each counter. An iteration is a gradient descent step with momentum."""
    generator = np.random.default_rng(0)
    shape = (64, 100)
    x = ac.array(generator.standard_normal(shape, np.float32))
    target = ac.array(generator.standard_normal(shape, np.float32))
    weight = ac.array(np.ones(shape[1], np.float32))
    momentum = ac.zeros(shape, np.float32)
    value = ac.zeros(shape, np.float32)
    settled = held()
    for i in range(iterations):
        predicted = ac.tanh(x * weight + value)
        error = predicted - target
        gradient = error * (1.0 - predicted * predicted)
        momentum = momentum * 0.9 + gradient * 0.1
        value -= momentum * 0.01
        if i == SETTLED:
            value.get()
            settled = held()
        elif i % 1000 == 0:
            value[:1].get()  # as a loop that reports its loss
    if not np.isfinite(value.get()).all():
        raise SystemExit("The loop's values are not finite.")
    return {name: now - settled[name] for name, now in held().items()}


def stream(total_mb: int) -> float:
    """Upload arrays and read them back. Return by how many MB the module's memory grew."""
    data = np.arange(STREAMED_MB * MB // 4, dtype=np.float32)
    before = ac.counters()["heap_bytes"]
    for i in range(total_mb // STREAMED_MB):
        data[0] = data[-1] = i
        if not np.array_equal(ac.array(data).get(), data):
            raise SystemExit("What came back is not what went up.")
    return (ac.counters()["heap_bytes"] - before) / MB


def main() -> None:
    parser = argparse.ArgumentParser(description="Whether memory grows.")
    parser.add_argument("--iterations", type=int, default=10_000)
    parser.add_argument("--mb", type=int, default=512)
    arguments = parser.parse_args()
    if ac.counters()["heap_bytes"] == 0:
        raise SystemExit("This measures the module's memory: use ./run python.")
    growth = loop(arguments.iterations)
    print(
        json.dumps(
            {
                "iterations": arguments.iterations,
                "loop_bytes_growth": sum(growth.values()),
                "growth": growth,
                "streamed_mb": arguments.mb,
                "stream_heap_growth_mb": round(stream(arguments.mb), 1),
            }
        )
    )


main()
