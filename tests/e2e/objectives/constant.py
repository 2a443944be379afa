"""A grid whose trials need no training: for tests of scheduling.

Prints the study's id and ends at once; ``--wait`` iterates it to its end instead.
"""

import argparse
from typing import Any


def constant(trial: Any) -> float:
    """Give the point's own value."""
    return float(trial.params["x"])


def endless(trial: Any) -> float:
    """Never end."""
    step = 0
    while True:
        step += 1


def main() -> None:
    """Queue the study that the arguments ask for."""
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
