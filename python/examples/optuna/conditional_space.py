"""A conditional space: a trial first chooses a model, and then the parameters of that model."""

import hyperflock
import optuna


def objective(trial):
    kind = trial.suggest_categorical("model", ["polynomial", "forest"])
    if kind == "polynomial":
        degree = trial.suggest_int("degree", 1, 9)
        penalty = trial.suggest_float("penalty", 1e-6, 1e2, log=True)
        return abs(degree - 4) + abs(penalty - 0.01) ** 0.5
    depth = trial.suggest_int("depth", 2, 32, log=True)
    loss = 1.0 / depth
    for level in range(trial.suggest_int("levels", 1, 3)):
        loss += abs(trial.suggest_float(f"split_{level}", 0.0, 1.0, step=0.05) - 0.3)
    return loss


if __name__ == "__main__":
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=11))
    hyperflock.optuna.optimize(study, objective, n_trials=16, client=hyperflock.Client())
    print(study.best_value, study.best_params)
