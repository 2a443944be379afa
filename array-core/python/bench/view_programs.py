"""Compares random view programs in arraycore and in NumPy.

The programs slice, transpose, reshape, broadcast, and assign between views that overlap.

    ./run python --backend webgpu --mount array-core array-core/python/bench/view_programs.py \
        [--programs N] [--seed N] [--keys]

The script also runs natively with these options, if ``ARRAYCORE_LIBRARY`` is set and
``PYTHONPATH`` is ``array-core/python``. With ``--keys`` programs also read and write by indices of
integers and masks.

The programs are those of ``array-core/tests/native/array_core_fuzz``, with the dtypes that a GPU
computes. The script fails if a shape, a stride, a flag, an error or an element differs. It also
fails if, before the last step of a program, something was read back or the CPU computed for the
GPU. Bytes that were read to learn how many elements a mask selects are allowed, and are counted as
``size_bytes``. The last line is one JSON object.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "native"))

from array_core_fuzz.api import Moved, run_programs
from array_core_fuzz.programs import Totals

_PROGRESS = 1_000


def main() -> None:
    parser = argparse.ArgumentParser(description="Random view programs against NumPy.")
    parser.add_argument("--programs", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keys", action="store_true", help="index by integers and masks too")
    options = parser.parse_args()

    began = time.perf_counter()
    totals, moved = Totals(), Moved()
    for begin in range(0, options.programs, _PROGRESS):
        count = min(_PROGRESS, options.programs - begin)
        done, counted = run_programs(options.seed + begin, count, keys=options.keys)
        totals.add(done)
        moved.add(counted)
        seconds = time.perf_counter() - began
        print(f"{totals.programs} of {options.programs} programs, {seconds:.0f} s", flush=True)
    if moved.bytes_down or moved.cpu_ops:
        raise SystemExit(f"Before the last step: {moved}.")
    backend = os.environ.get("ARRAYCORE_BACKEND", "cpu")
    name = "keyed_view_programs" if options.keys else "view_programs"
    figures = {
        f"{name}_{backend}": totals.programs,
        "steps": totals.steps,
        "assignments": totals.assignments,
        "errors": totals.errors,
        "dispatches": moved.dispatches,
        "bytes_down": moved.bytes_down,
        "size_bytes": moved.size_bytes,
        "cpu_ops": moved.cpu_ops,
        "seconds": round(time.perf_counter() - began, 1),
    }
    print(json.dumps(figures))


main()
