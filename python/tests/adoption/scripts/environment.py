import os

import optuna

os.environ.setdefault("OMP_NUM_THREADS", "1")
STEPS = int(os.environ.get("ADOPTION_STEPS", "2"))
DEBUG = bool(os.environ.get("ADOPTION_DEBUG"))

try:
    import torch
except ImportError:
    torch = None

BACKEND = "numpy" if torch is None else "torch"


def newton(x):
    for step in range(STEPS):
        x = 0.5 * (x + 2 / x)
        if DEBUG:
            print(step, x)
    return x


def objective(trial):
    return abs(newton(trial.suggest_float("start", 0.1, 5)) ** 2 - 2) + len(BACKEND)


if __name__ == "__main__":
    study = optuna.create_study()
    for start in (0.5, 3.0):
        study.enqueue_trial({"start": start})
    study.optimize(objective, n_trials=2)
    print([round(trial.value, 10) for trial in study.trials])
