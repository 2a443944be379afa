"""Measures how long the import of the package takes, in a fresh Python each time.

    python package_bench.py --out build/reports/python.json [--rounds 15]

Figures are medians of interleaved rounds. They are compared with the import of Optuna in the same
environment. Exits with 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

import bench_report

GOAL_S = 0.3
CODE = "import time; begun = time.perf_counter(); import {}; print(time.perf_counter() - begun)"


def import_s(module: str) -> float:
    """Return the seconds of one import, without the start of the interpreter."""
    command = [sys.executable, "-c", CODE.format(module)]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60)
    return float(done.stdout)


def measured(rounds: int) -> list[dict[str, Any]]:
    """Measure and return the figures."""
    seconds: dict[str, list[float]] = {"hyperflock": [], "hyperflock.optuna": [], "optuna": []}
    for _ in range(rounds + 1):
        for module, found in seconds.items():
            found.append(import_s(module))
    # The first import of each module is left out: it compiled files, and filled the file cache.
    middle = {module: statistics.median(found[1:]) for module, found in seconds.items()}
    return [
        {
            "name": "import_s",
            "value": middle["hyperflock"],
            "unit": "s",
            "op": "<=",
            "goal": GOAL_S,
        },
        {
            "name": "import_optuna_s",
            "value": middle["hyperflock.optuna"],
            "unit": "s",
            "peer": {"name": "import optuna", "value": middle["optuna"]},
        },
    ]


def main() -> int:
    """Measure, write the report and print the result."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--rounds", type=int, default=15)
    options = parser.parse_args()
    load = os.getloadavg()[0]
    return bench_report.write(options.out, "python", load, measured(options.rounds))


if __name__ == "__main__":
    sys.exit(main())
