"""Submits a study whose trials need no training, for tests of scheduling.

It prints the study's id and ends at once. With ``--wait`` it iterates over the study to its end.
"""

import argparse
from typing import Any


def constant(trial: Any) -> float:
    """Return the point's x."""
    return float(trial.params["x"])


def endless(trial: Any) -> float:
    """Run for ever."""
    step = 0
    while True:
        step += 1


def main() -> None:
    """Submit the study that the arguments describe."""
    import hyperflock

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1)
    parser.add_argument("--endless", action="store_true")
    parser.add_argument("--label", default="constant")
    parser.add_argument("--wait", action="store_true")
    options = parser.parse_args()
    study = hyperflock.Client().grid(
        endless if options.endless else constant,
        {"x": list(range(options.trials))},
        name=options.label,
    )
    if options.wait:
        values = sorted(trial.value for trial in study)
        assert values == [float(x) for x in range(options.trials)], values
    print(study.id)


if __name__ == "__main__":
    main()
