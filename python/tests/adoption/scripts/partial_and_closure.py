from functools import partial

import numpy as np
import optuna


def make_model(activation):
    scale = 1.5

    def model(x, w):
        return activation(scale * x * w)

    return model


def objective(trial, x, y, model, *, norm="l2"):
    w = trial.suggest_float("w", -2.0, 2.0)
    error = model(x, w) - y
    return float(np.sum(error**2) if norm == "l2" else np.sum(np.abs(error)))


x = np.linspace(-1, 1, 9)
study = optuna.create_study()
for w in (-1.0, 0.5, 1.0):
    study.enqueue_trial({"w": w})
objective = partial(objective, x=x, y=np.tanh(x), model=make_model(np.tanh), norm="l1")
study.optimize(objective, n_trials=3)
print(["%.8f" % trial.value for trial in study.trials])
