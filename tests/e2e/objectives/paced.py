"""Submits a study whose trial works in pieces and reports how long each takes with its rest.

It prints the study's id and ends at once.
"""

import argparse
import itertools
import time
from collections.abc import Iterable
from typing import Any

PIECE_S = 0.05


def paced(trial: Any) -> float:
    """Report, for each piece, its time with the report before it, relative to the piece alone."""
    return pieces(trial, range(12))


def endless(trial: Any) -> float:
    """Do the same for ever."""
    return pieces(trial, itertools.count())


def pieces(trial: Any, steps: Iterable[int]) -> float:
    """Work in pieces, one for each step, and return the median ratio."""
    ratios = []
    for step in steps:
        began = time.perf_counter()
        while time.perf_counter() < began + PIECE_S:
            pass
        worked = time.perf_counter() - began
        trial.report(0.0, 2 * step)
        ratios.append((time.perf_counter() - began) / worked)
        trial.report(ratios[-1], 2 * step + 1)
    return sorted(ratios)[len(ratios) // 2]


def main() -> None:
    """Submit the study."""
    import hyperflock

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--endless", action="store_true")
    objective = endless if parser.parse_args().endless else paced
    print(hyperflock.Client().grid(objective, {"x": [0]}, name="paced").id)


if __name__ == "__main__":
    main()
