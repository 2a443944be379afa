"""How fast the device adds: 10,000,000 float32 elements, ``a + b`` into an array that is there.

    ./run python --backend webgpu array-core/python/bench/gpu_add.py [--elements N]

200 launches in one batch, timed by the device's own clock: 12 bytes an element are moved. Prints
one JSON object, gigabytes a second; null with the reason on a software device or without a clock.
"""

from __future__ import annotations

import argparse
import json

import arraycore as ac
import numpy as np

LAUNCHES = 200
WARM_UP = 4000  # an idle device takes some of a second until its clock is up
BYTES_PER_ELEMENT = 12  # two are read, one is written


def measure(elements: int) -> float:
    """Return gigabytes a second."""
    a = ac.array(np.arange(elements, dtype=np.float32) % 1000)
    b = ac.array(np.ones(elements, np.float32))
    out = ac.empty(elements, np.float32)
    for _ in range(WARM_UP):
        ac.add(a, b, out=out)
    with ac.device_timer():  # makes what reading the clock needs
        ac.add(a, b, out=out)
    out[:1].get()
    before = ac.counters()
    with ac.device_timer() as time:
        for _ in range(LAUNCHES):
            ac.add(a, b, out=out)
    after = ac.counters()
    if after["dispatches"] - before["dispatches"] != LAUNCHES or after["cpu_ops"] > 0:
        raise SystemExit("The additions were not one launch each on the device.")
    if not np.array_equal(out.get(), np.arange(elements, dtype=np.float32) % 1000 + 1):
        raise SystemExit("The sums are wrong.")
    return BYTES_PER_ELEMENT * elements * LAUNCHES / time.nanoseconds


def main() -> None:
    parser = argparse.ArgumentParser(description="How fast the device adds.")
    parser.add_argument("--elements", type=int, default=10_000_000)
    elements = parser.parse_args().elements
    device = ac.device_info()
    figures: dict[str, object] = {"device": device.name, "elements": elements}
    if device.name == "cpu":
        raise SystemExit("This measures a device: run it with --backend webgpu.")
    if device.is_software:
        figures |= {"gpu_add_gbs": None, "reason": "The device is a program on the CPU."}
    elif not device.has_clock:
        figures |= {"gpu_add_gbs": None, "reason": "The device has no clock."}
    else:
        figures["gpu_add_gbs"] = round(measure(elements), 1)
    print(json.dumps(figures))


main()
