"""Runs four studies at once. Three of them misbehave, and the fourth must finish nevertheless."""

import math
import sys
import time
from typing import Any


def not_a_number(trial: Any) -> float:
    """Return NaN."""
    return math.nan


def raises(trial: Any) -> float:
    """Raise an error."""
    raise ValueError("the objective's own mistake")


def endless(trial: Any) -> float:
    """Run for ever. The study's time limit is 3 s."""
    while True:
        time.sleep(0)


def healthy(trial: Any) -> float:
    """Return the point's x."""
    return float(trial.params["x"])


EXPECTED = {
    not_a_number: ("invalid", "metric_not_finite"),
    raises: ("user_error", "objective_raised"),
    endless: ("timeout", "time_limit"),
}


def main() -> int:
    """Run the studies. Return 0 if each ended as it should."""
    import hyperflock

    client = hyperflock.Client()
    bad = {
        objective: client.grid(objective, {"x": [0]}, name=objective.__name__, time_limit_s=3)
        for objective in EXPECTED
    }
    good = client.grid(healthy, {"x": [1, 2, 3]}, name="healthy")
    status = 0
    for objective, study in bad.items():
        (trial,) = list(study)
        found = (trial.error.cause, trial.error.code) if trial.error else None
        print(f"{objective.__name__}: {trial.state}, {found}")
        if trial.state != "failed" or found != EXPECTED[objective]:
            status = 1
        if objective is raises and "the objective's own mistake" not in trial.error.traceback:
            print(trial.error.traceback)
            status = 1
    values = sorted(trial.value for trial in good)
    print(f"healthy: {values}")
    return status or int(values != [1.0, 2.0, 3.0])


if __name__ == "__main__":
    sys.exit(main())
