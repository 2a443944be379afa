"""Submits a study whose trial works in pieces and reports how long each takes with its rest.

It prints the study's id and ends at once.
"""

import time
from typing import Any

PIECE_S = 0.05


def paced(trial: Any) -> float:
    """Report, for each piece, its time with the report before it, relative to the piece alone."""
    ratios = []
    for step in range(12):
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

    print(hyperflock.Client().grid(paced, {"x": [0]}, name="paced").id)


if __name__ == "__main__":
    main()
