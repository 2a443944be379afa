"""Submits a study of two trials over a data set of 2 MiB, and checks what they read.

The data are new each time: ``--seed`` makes them.
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
    options = parser.parse_args()
    numbers = np.random.default_rng(options.seed).integers(0, 256, 2 << 20, dtype=np.uint8)
    study = hyperflock.Client().grid(total, {"x": [0, 1]}, data={"numbers": numbers})
    values = sorted(trial.value for trial in study)
    right = float(numbers.sum())
    assert values == [right, right + 1], (values, right)
    print(study.id)


if __name__ == "__main__":
    main()
