"""Runs the command ``python -m array_core_fuzz --programs 1000000 --jobs 2``.

The last line of output is one JSON object, for ``./run bench array-core``.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed

from array_core_fuzz.runner import DifferenceError, Totals, run_programs

_CHUNK = 10_000


def main() -> int:
    """Run the programs that the command line chooses; return 1 if a result differs from NumPy's."""
    parser = argparse.ArgumentParser(prog="array_core_fuzz", description=__doc__)
    parser.add_argument("--programs", type=int, default=20_000, help="how many (default 20000)")
    parser.add_argument("--seed", type=int, default=0, help="the first program's seed (default 0)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    options = parser.parse_args()

    began = time.perf_counter()
    totals = Totals()
    end = options.seed + options.programs
    with ProcessPoolExecutor(options.jobs) as pool:
        chunks = [
            pool.submit(run_programs, begin, min(_CHUNK, end - begin))
            for begin in range(options.seed, end, _CHUNK)
        ]
        try:
            for chunk in as_completed(chunks):
                totals.add(chunk.result())
        except DifferenceError as difference:
            pool.shutdown(cancel_futures=True)
            print(difference)
            return 1
    seconds = time.perf_counter() - began
    print(
        f"{totals.programs} view programs equal NumPy: {totals.steps} steps, "
        f"{totals.assignments} assignments, {totals.errors} expected errors, "
        f"{seconds:.1f} s, {totals.programs / seconds:.0f} programs/s"
    )
    print(json.dumps({"view_programs": totals.programs}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
