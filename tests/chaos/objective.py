"""Submits a grid whose trials take a moment, save their state, and resume from saved states.

It prints the study's id and ends: ``objective.py --trials 20``.
"""

import argparse
import time
from typing import Any

STEPS = 4


def objective(trial: Any) -> float:
    """Return the point's x after a few steps."""
    state = trial.resume() or {"step": 0, "x": trial.params["x"]}
    assert state["x"] == trial.params["x"], "a checkpoint of another trial"
    for step in range(state["step"], STEPS):
        time.sleep(0.1)
        print(f"trial {trial.number} step {step}")
        trial.report(float(step), step)
        if step == 1:
            trial.checkpoint({"step": step + 1, "x": trial.params["x"]})
    return float(trial.params["x"])


def main() -> None:
    """Submit the grid."""
    import hyperflock

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20)
    options = parser.parse_args()
    study = hyperflock.Client().grid(objective, {"x": list(range(options.trials))}, name="chaos")
    print(study.id)


if __name__ == "__main__":
    main()
