"""Defines a study of one trial, whose value is the Unix time in ms after a fit of scikit-learn.

    python first_fit.py svc|forest

As a script it submits the study and prints its id. ``bench_first_sklearn.ts`` subtracts the time at
which the volunteer tapped Start.
"""

import sys
import time
from typing import Any


def objective(trial: Any) -> float:
    """Fit one estimator to 300 samples, and return the time."""
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.svm import SVC

    is_forest = trial.params["kind"] == "forest"
    estimator = RandomForestClassifier(10, random_state=0) if is_forest else SVC()
    samples = trial.data["samples"]
    estimator.fit(samples["x"], samples["y"])
    return time.time() * 1000.0


def main(kind: str) -> None:
    """Submit the study with random samples of 16 features and three classes."""
    import hyperflock
    import numpy as np

    generator = np.random.default_rng(0)
    samples = {"x": generator.normal(size=(300, 16)), "y": generator.integers(0, 3, 300)}
    client = hyperflock.Client()
    study = client.grid(objective, {"kind": [kind]}, data={"samples": samples}, name=kind)
    print(study.id)


if __name__ == "__main__":
    main(sys.argv[1])
