"""Trains networks of the bench in one place; prints one JSON object on the steps of each network.

    ./run python --backend webgpu --mount array-core/bench/train --mount python/examples \
        --mount array-core/tests/chainer --wheel CHAINER_WHEEL array-core/bench/train/steps.py \
        resnet18 --batch 16

``ms`` is the median of five blocks of ten steps, or fewer if these would take more than
``--seconds``. Each block ends by reading its last loss. Launches and bytes of a step are counted
over one block. ``busy`` is the time of the device's kernels by its own clock, from a profile of one
more block, as a share of ``ms``; it is null if the device has no clock. ``losses`` are the first
ones of a new network. Comparing them with those of another place shows whether the steps compute
correctly.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Any

from hyperflock_worker import compat

compat.install()
sys.path.insert(0, str(Path(__file__).resolve().parent))

SPENT = ("dispatches", "crossings", "cpu_ops", "bytes_up", "bytes_down", "sync_waits")
BLOCK, BLOCKS = 10, 5
#: The number of losses that are read at the start of a run. If steps are captured, the last of
#: these steps are replays.
LOSSES = 8
MEMORY = ("live_bytes", "device_bytes", "heap_bytes")


def first_steps(
    name: str, batch: int, on: str, captured: bool, losses: int, settled: int, until: int
) -> dict[str, Any]:
    """Return a network's first losses, and the growth of memory between two steps.

    The steps are number ``settled`` and number ``until``.
    """
    from workloads import Work

    work = Work(name, batch, on, captured)
    made: list[float] = []
    held: list[int] = []
    for number in range(max(losses, until)):
        loss = work.step(number)
        if number < losses:
            made.append(float(loss))
        if number + 1 in (settled, until):
            import arraycore

            float(loss)
            del loss
            counters = arraycore.counters()
            held.append(sum(counters[kind] for kind in MEMORY))
    return {"losses": made} | ({"growth": held[1] - held[0]} if held else {})


def run(work: Any, steps: int) -> float:
    """Train for a number of steps; return the milliseconds per step."""
    began = time.perf_counter()
    for number in range(steps):
        loss = work.step(number)
    last = float(loss)
    if last != last:
        raise SystemExit("The loss is no number.")
    return (time.perf_counter() - began) / steps * 1e3


def measured(work: Any, seconds: float) -> dict[str, Any]:
    """Return the time of a step on this device, and the number of steps in a block."""
    from workloads import KINDS

    run(work, work.settles)  # makes what is made once
    one = run(work, 1) / 1e3
    block = max(1, min(BLOCK, int(seconds / BLOCKS / one)))
    blocks = max(1, min(BLOCKS, int(seconds / block / one)))
    for _ in range(2 if blocks > 1 else 0):
        run(work, block)
    times = [run(work, block) for _ in range(blocks)]
    ms = statistics.median(times)
    per_s = work.batch * KINDS[work.name].items / ms * 1e3
    return {
        "ms": round(ms, 3),
        "ms_least": round(min(times), 3),
        "per_s": round(per_s, 2),
        "steps": block * blocks,
        "block": block,
    }


def counted(work: Any, block: int, ms: float) -> dict[str, Any]:
    """Return what a step costs: launches, bytes that move, allocations, and the share of the time
    in which the device is busy.
    """
    import arraycore

    before = arraycore.counters()
    for number in range(block):
        loss = work.step(number)
    float(loss)
    after = arraycore.counters()
    spent: dict[str, Any] = {name: round((after[name] - before[name]) / block, 2) for name in SPENT}
    spent |= {"peak_bytes": after["peak_bytes"], "device_bytes": after["device_bytes"]}
    if work.captured:  # a replay does not run Python, so it has no names of operations
        return spent | {"busy": None, "table": ""}
    with arraycore.profile() as profile:
        for number in range(block):
            loss = work.step(number)
    busy = None
    if profile.device_ms is not None:
        spent["device_ms"] = round(profile.device_ms / block, 3)
        spent["device_dispatches"] = sum(row.dispatches for row in profile.rows) / block
        busy = round(profile.device_ms / block / ms, 3)
    return spent | {"busy": busy, "table": profile.table(12)}


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model", nargs="+")
    parser.add_argument("--batch", type=int, nargs="+", help="one for each model")
    parser.add_argument("--on", choices=("cupy", "numpy"), default="cupy")
    parser.add_argument("--captured", action="store_true", help="replay steps, from the fourth on")
    parser.add_argument("--losses", type=int, default=LOSSES)
    parser.add_argument("--seconds", type=float, default=5, help="0: the losses alone")
    parser.add_argument("--growth", type=int, nargs=2, metavar=("FROM", "TO"), default=(0, 0))
    parser.add_argument("--table", action="store_true", help="show the profile")
    options = parser.parse_args(arguments)
    if options.on == "cupy":
        import arraycore

        arraycore.install_cupy()
    import chainer
    from workloads import KINDS, Work

    batches = options.batch or [KINDS[name].batches[0] for name in options.model]
    for name, batch in zip(options.model, batches, strict=True):
        if options.on == "cupy":
            arraycore.reset()  # peak bytes are this network's own
        made: dict[str, Any] = {"model": name, "batch": batch, "chainer": chainer.__version__}
        made["device"] = arraycore.device_info().name if options.on == "cupy" else "numpy"
        made |= first_steps(
            name, batch, options.on, options.captured, options.losses, *options.growth
        )
        if options.seconds:
            work = Work(name, batch, options.on, options.captured)
            made |= measured(work, options.seconds)
            if options.on == "cupy":
                made |= counted(work, made["block"], made["ms"])
                table = made.pop("table")
                if options.table:
                    print(table)
            del work
        print(json.dumps(made), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
