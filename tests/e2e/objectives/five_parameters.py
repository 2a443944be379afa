"""Submits a study of random points with five parameters, for benchmarks of pages.

It prints the study's id and ends at once.
"""

import argparse
from typing import Any


def objective(trial: Any) -> float:
    """Return one of the parameters; a benchmark's device reports values of its own."""
    return float(trial.params["momentum"])


def main() -> None:
    """Submit the study that the arguments describe."""
    import hyperflock
    from hyperflock import choice, integer, uniform

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=1)
    options = parser.parse_args()
    study = hyperflock.Client().random(
        objective,
        {
            "lr": uniform(1e-5, 1.0, log=True),
            "momentum": uniform(0.0, 1.0),
            "width": integer(4, 512),
            "optimizer": choice(["Adam", "MomentumSGD", "RMSprop"]),
            "dropout": uniform(0.0, 0.6),
        },
        trials=options.trials,
        name="five parameters",
    )
    print(study.id)


if __name__ == "__main__":
    main()
