"""Runs trials that wait for the server in each possible way: for answers, and until it takes more
reports.

The exit code is 1 if a trial fails or a point is lost.
"""

import argparse
import sys
from typing import Any

# This is more than the number of points that may be unacknowledged at once.
POINTS = 5_000


def waiting(trial: Any) -> float:
    """Report many points with questions between them. Return the number of answers."""
    answers = 0
    for step in range(POINTS):
        trial.report(1.0 / (step + 1), step)
        if step % 1_000 == 999:
            answers += trial.should_prune() is False
    return float(answers)


def main() -> int:
    """Run the study. Return 0 if every trial had all of its answers and points."""
    import hyperflock

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1)
    options = parser.parse_args()
    study = hyperflock.Client().grid(waiting, {"x": list(range(options.trials))}, name="waiting")
    for trial in study:
        points = len(study.trial(trial.number).points)
        if trial.value != 5.0 or points != POINTS:
            print(f"trial {trial.number}: {trial.state}, {trial.value}, {points} points")
            print(trial.error)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
