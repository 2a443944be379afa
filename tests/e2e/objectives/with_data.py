"""Submits a study of two trials over a data set of 2 MiB, and checks what they read.

The data are new each time: ``--seed`` makes them. With ``--queue`` it prints the study's id and
ends at once.
"""

import argparse
from typing import Any


def total(trial: Any) -> float:
    """Return the sum of the data, and the point's x."""
    return float(trial.data["numbers"].sum()) + trial.params["x"]


def main() -> None:
    """Submit the study, wait for its trials and compare."""
    import hyperflock
    import numpy as np

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--mib", type=int, default=2)
    parser.add_argument("--trials", type=int, default=2)
    parser.add_argument("--queue", action="store_true")
    options = parser.parse_args()
    size = options.mib << 20
    numbers = np.random.default_rng(options.seed).integers(0, 256, size, dtype=np.uint8)
    space = {"x": list(range(options.trials))}
    study = hyperflock.Client().grid(total, space, data={"numbers": numbers}, name="with-data")
    if options.queue:
        print(study.id)
        return
    values = sorted(trial.value for trial in study)
    right = float(numbers.sum())
    assert values == [right + x for x in range(options.trials)], (values, right)
    print(study.id)


if __name__ == "__main__":
    main()
