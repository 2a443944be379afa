import sys

import optuna
from config import cfg
from engine import run


def objective(trial):
    cfg.train.rate = trial.suggest_float("rate", 0.0, 1.0)
    return run()


if __name__ == "__main__":
    cfg.merge(arg.split("=") for arg in sys.argv[1:])
    study = optuna.create_study()
    for rate in (0.25, 0.5):
        study.enqueue_trial({"rate": rate})
    study.optimize(objective, n_trials=2)
    print([round(trial.value, 8) for trial in study.trials])
