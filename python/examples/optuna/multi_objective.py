"""Two objectives at once, Binh and Korn's functions (1997), and the trials on the Pareto front."""

import hyperflock
import optuna


def objective(trial):
    x = trial.suggest_float("x", 0, 5)
    y = trial.suggest_float("y", 0, 3)
    return 4 * x**2 + 4 * y**2, (x - 5) ** 2 + (y - 5) ** 2


if __name__ == "__main__":
    sampler = optuna.samplers.TPESampler(seed=14)
    study = optuna.create_study(directions=["minimize", "minimize"], sampler=sampler)
    hyperflock.optuna.optimize(study, objective, n_trials=16, client=hyperflock.Client())
    for trial in study.best_trials:
        print(trial.number, trial.values, trial.params)
