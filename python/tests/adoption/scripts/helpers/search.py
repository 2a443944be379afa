import numpy as np
import optuna
from vision import MODELS, accuracy, show

x = np.linspace(-1, 1, 50)


def objective(trial):
    name = trial.suggest_categorical("model", sorted(MODELS))
    model = MODELS[name](trial.suggest_int("width", 1, 5))
    return accuracy(model.loss(x))


study = optuna.create_study(direction="maximize")
study.enqueue_trial({"model": "poly", "width": 5})
study.enqueue_trial({"model": "mean", "width": 2})
study.optimize(objective, n_trials=2)
print([round(trial.value, 6) for trial in study.trials], callable(show))
