"""How long the device sums: 10,000,000 float32 elements into one that is there.

    ./run python --backend webgpu array-core/python/bench/gpu_sum.py [--elements N]

200 sums in one batch, timed by the device's own clock, nothing read back: 4 bytes an element are
read. Prints one JSON object, milliseconds a sum; null with the reason on a software device or
without a clock.
"""

from __future__ import annotations

import argparse
import json

import arraycore as ac
import numpy as np

LAUNCHES = 200
WARM_UP = 4000  # an idle device takes some of a second until its clock is up


def measure(elements: int) -> float:
    """Return milliseconds."""
    values = np.arange(elements, dtype=np.float32) % 7
    a = ac.array(values)
    out = ac.empty((), np.float32)
    for _ in range(WARM_UP):
        ac.sum(a, out=out)
    with ac.device_timer():  # makes what reading the clock needs
        ac.sum(a, out=out)
    out.get()
    before = ac.counters()
    with ac.device_timer() as time:
        for _ in range(LAUNCHES):
            ac.sum(a, out=out)
    after = ac.counters()
    if after["dispatches"] - before["dispatches"] != LAUNCHES or after["cpu_ops"] > 0:
        raise SystemExit("The sums were not one launch each on the device.")
    if after["bytes_down"] != before["bytes_down"]:
        raise SystemExit("Something was read back.")
    exact = float(values.sum(dtype=np.float64))
    if abs(float(out) - exact) > 1e-5 * exact:
        raise SystemExit("The sum is wrong.")
    return time.nanoseconds / LAUNCHES / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description="How long the device sums.")
    parser.add_argument("--elements", type=int, default=10_000_000)
    elements = parser.parse_args().elements
    device = ac.device_info()
    figures: dict[str, object] = {"device": device.name, "elements": elements}
    if device.name == "cpu":
        raise SystemExit("This measures a device: run it with --backend webgpu.")
    if device.is_software:
        figures |= {"gpu_sum_1e7_ms": None, "reason": "The device is a program on the CPU."}
    elif not device.has_clock:
        figures |= {"gpu_sum_1e7_ms": None, "reason": "The device has no clock."}
    else:
        milliseconds = measure(elements)
        figures["gpu_sum_1e7_ms"] = round(milliseconds, 4)
        figures["gpu_sum_gbs"] = round(4 * elements / milliseconds / 1e6, 1)
    print(json.dumps(figures))


main()
