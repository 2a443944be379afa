"""Compares the narrow ResNet in one place with NumPy on CPython: 50 losses, memory over 500 steps.

    python3 array-core/bench/train/narrow.py --version 7.8.1 --where node_webgpu [--steps 50]

The network has width 8, images of 16 x 16 and batches of 8. The script prints one flat JSON object.
``narrow_first_losses`` is the largest relative difference of the first ten losses,
``narrow_late_mean`` that of the mean of the last ten, and ``narrow_bytes_growth`` the growth of
arrays, buffers and memory in bytes from step 50 to ``--until``. The exit code is 0 if all numbers
are within their limits.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from running import PLACES, VERSIONS, run

FIRST_BAR, LATE_BAR = 0.01, 0.05


def apart(wanted: float, got: float) -> float:
    """Return the relative difference of two numbers, or infinity if one of them is NaN."""
    difference = abs(got - wanted) / abs(wanted)
    return difference if difference == difference else float("inf")


def compared(where: str, version: str, steps: int, until: int) -> dict[str, float]:
    """Return the figures of one place: differences of losses from those of NumPy on CPython, and
    how many bytes memory grew.
    """
    options = ("narrow", "--losses", str(steps), "--seconds", "0")
    more = ("--growth", "50", str(until)) if until > 50 else ()
    (wanted,), (got,) = run(None, version, *options), run(where, version, *options, *more)
    pairs = list(zip(wanted["losses"], got["losses"], strict=True))
    figures = {"narrow_first_losses": max(apart(*pair) for pair in pairs[:10])}
    if steps >= 20:
        late = [statistics.mean(losses) for losses in zip(*pairs[-10:], strict=True)]
        figures["narrow_late_mean"] = apart(*late)
        figures["narrow_learned"] = late[1] / pairs[0][1]
    if "growth" in got:
        figures["narrow_bytes_growth"] = got["growth"]
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", choices=VERSIONS, default="7.8.1")
    parser.add_argument("--where", choices=tuple(PLACES), required=True)
    parser.add_argument("--steps", type=int, default=50, help="whose losses are compared")
    parser.add_argument(
        "--until", type=int, default=500, help="the step at which memory is as at 50"
    )
    options = parser.parse_args()
    figures = compared(options.where, options.version, options.steps, options.until)
    print(json.dumps(figures))
    good = figures["narrow_first_losses"] <= FIRST_BAR
    good &= figures.get("narrow_late_mean", 0.0) <= LATE_BAR
    return 0 if good and figures.get("narrow_bytes_growth", 0) <= 0 else 1


if __name__ == "__main__":
    sys.exit(main())
