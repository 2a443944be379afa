import optuna


def objective(trial):
    x = trial.suggest_float("x", -10, 10)
    return (x - 2) ** 2


study = optuna.create_study(sampler=optuna.samplers.GridSampler({"x": [-4, 0, 1.5, 3]}, seed=0))
study.optimize(objective, n_trials=4)

print(study.best_params, study.best_value)  # E.g. {'x': 2.002108042}
