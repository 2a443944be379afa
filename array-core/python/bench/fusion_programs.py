"""Compares random programs with and without fusion.

    python3 array-core/python/bench/fusion_programs.py [--programs N] [--seed N]
    ./run python --backend webgpu --mount array-core array-core/python/bench/fusion_programs.py \
        --steady [--programs N] [--seed N]

The programs are those of ``array-core/tests/native/array_core_fuzz/fusion_program.py``. A program
fails if elements, errors or steps differ, or if it has more than 1.1 times the bytes in live arrays
with fusion than without.
The script then prints the program's seed and steps, and the first step that differs by too much,
with the bits of its operands and its result. ``--seed N --programs 1`` runs that program again.

Without ``--steady``, for the CPU, programs use every operation and are compared bit for bit. With
``--steady``, for a GPU, they use only operations that do not amplify errors, and each operation may
err by two units in the last place. Programs whose bits differ by no more than that are printed and
counted as ``inexact``. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "native"))

from array_core_fuzz.fusion import Totals, run_programs

_PROGRESS = 250
_SHOWN = 20  # inexact programs


def _run(task: tuple[int, int, bool]) -> Totals:
    first, count, steady = task
    return run_programs(first, count, steady=steady)


def _add(totals: Totals, done: Totals) -> None:
    for text in done.inexact[: max(0, _SHOWN - len(totals.inexact))]:
        print(f"inexact: {text}", flush=True)
    totals.add(done)


def main() -> None:
    parser = argparse.ArgumentParser(description="Random programs with fusion and without it.")
    parser.add_argument("--programs", type=int, default=5_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--steady", action="store_true")
    parser.add_argument("--jobs", type=int, default=1, help="processes; a browser has one")
    options = parser.parse_args()

    began = time.perf_counter()
    totals = Totals()
    tasks = [
        (options.seed + begin, min(_PROGRESS, options.programs - begin), options.steady)
        for begin in range(0, options.programs, _PROGRESS)
    ]
    if options.jobs > 1:
        with ProcessPoolExecutor(options.jobs) as pool:
            for done in pool.map(_run, tasks):
                _add(totals, done)
    else:
        for task in tasks:
            _add(totals, _run(task))
            seconds = time.perf_counter() - began
            print(f"{totals.programs} of {options.programs} programs, {seconds:.0f} s", flush=True)
    backend = os.environ.get("ARRAYCORE_BACKEND", "cpu")
    figures = {
        f"fusion_programs_{backend}": totals.programs,
        "steps": totals.steps,
        "errors": totals.errors,
        "inexact": len(totals.inexact),
        "fusion_live_share": round(totals.live_share, 4),
        "dispatches": totals.dispatches,
        "unfused_dispatches": totals.unfused_dispatches,
        "fused": totals.fused,
        "seconds": round(time.perf_counter() - began, 1),
    }
    print(json.dumps(figures))


main()
