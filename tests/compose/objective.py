"""Queues a study of one small trial, waits for its result, and prints it."""

import hyperflock


def objective(trial):
    import numpy as np

    return float(np.square(np.arange(trial.params["n"])).sum())


with hyperflock.Client() as client:
    (trial,) = client.grid(objective, {"n": [4]}, direction="maximize")
print(trial.state, trial.value)
