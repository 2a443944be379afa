import optuna

log = open("progress.txt", "w")


def write(message):
    log.write(message + "\n")
    log.flush()


def objective(trial):
    x = trial.suggest_float("x", 0, 1)
    write(f"x = {x}")
    return x


study = optuna.create_study()
study.optimize(objective, n_trials=2)
print(study.best_value)
