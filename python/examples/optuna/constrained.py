"""Binh and Korn's functions with their two constraints: a value above 0 is a violation.

``set_constraint`` needs Optuna 5. ``constrained_optuna4.py`` is the same search for Optuna 4.
"""

import hyperflock
import optuna


def objective(trial):
    x = trial.suggest_float("x", -2, 8)
    y = trial.suggest_float("y", -3, 5)
    trial.set_constraint("circle", (x - 5) ** 2 + y**2 - 25)
    trial.set_constraint("outside", -((x - 8) ** 2) - (y + 3) ** 2 + 7.7)
    return 4 * x**2 + 4 * y**2, (x - 5) ** 2 + (y - 5) ** 2


if __name__ == "__main__":
    sampler = optuna.samplers.TPESampler(seed=15)
    study = optuna.create_study(directions=["minimize", "minimize"], sampler=sampler)
    hyperflock.optuna.optimize(study, objective, n_trials=16, client=hyperflock.Client())
    for trial in study.best_trials:
        print(trial.number, trial.values, trial.params)
