"""Submits a study whose trials run until the volunteer has left them often enough.

Each trial saves every few seconds, and when the volunteer leaves. It reports how often that was.
Its value is the number of steps that its last attempt has made. It prints the study's id and ends
at once.
"""

import argparse
from typing import Any


def interrupted(trial: Any) -> float:
    """Work in small steps, and end soon after the volunteer has left for the last time."""
    import math
    import time

    leaves = trial.params["leaves"]
    state = trial.resume() or {"step": 0}
    step = first = state["step"]
    left, last = 0, math.inf
    while step < last:
        time.sleep(0.05)
        step += 1
        trial.report(float(left), step)
        if trial.checkpoint_due(math.inf):
            left += 1
            if left >= leaves:
                last = min(last, step + 5)
                continue
        elif not trial.checkpoint_due(2.5):
            continue
        trial.checkpoint({"step": step})
    return float(step - first)


def main() -> None:
    """Submit the study; each trial is left as often as the arguments say."""
    import hyperflock

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--leaves", type=int, nargs="+")
    given = parser.parse_args()
    points = [{"leaves": count, "x": x} for x, count in enumerate(given.leaves)]
    study = hyperflock.Client().grid(interrupted, points, name="interrupted")
    print(study.id)


if __name__ == "__main__":
    main()
