import random

import numpy as np
import optuna

random.seed(0)
np.random.seed(0)
order = random.sample(range(20), 20)
noise = np.random.randn(20)
rng = np.random.default_rng(42)
weights = rng.uniform(size=20)


def objective(trial):
    keep = trial.suggest_categorical("keep", [5, 10, 20])
    chosen = order[:keep]
    return float(np.dot(weights[chosen], noise[chosen]))


study = optuna.create_study(sampler=optuna.samplers.GridSampler({"keep": [5, 10, 20]}, seed=0))
study.optimize(objective, n_trials=3)
print(sorted((t.params["keep"], round(t.value, 10)) for t in study.trials))
