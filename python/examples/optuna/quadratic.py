"""Optuna's first example: the minimum of a quadratic function.

Every script of this folder is an Optuna script with one changed line, the one that optimizes. With
``study.optimize(objective, n_trials=...)`` instead of it, the script runs on this machine alone.
"""

import hyperflock
import optuna


def objective(trial):
    x = trial.suggest_float("x", -100, 100)
    y = trial.suggest_categorical("y", [-1, 0, 1])
    return x**2 + y


if __name__ == "__main__":
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=10))
    hyperflock.optuna.optimize(study, objective, n_trials=16, client=hyperflock.Client())
    print(study.best_value, study.best_params)
