import multiprocessing as mp
import os

import numpy as np
import optuna

WORKERS = min(2, os.cpu_count() or 1)


def preprocess(i):
    return np.sin(np.arange(8) * (i + 1)).sum()


def init():
    np.seterr(all="raise")


def objective(trial):
    t = trial.suggest_categorical("threshold", [-0.5, 0.0, 0.5])
    return float(np.mean(features > t))


if __name__ == "__main__":
    mp.freeze_support()
    with mp.get_context("spawn").Pool(WORKERS, initializer=init) as pool:
        features = np.array(pool.map(preprocess, range(12)))
    space = {"threshold": [-0.5, 0.0, 0.5]}
    study = optuna.create_study(sampler=optuna.samplers.GridSampler(space, seed=3))
    study.optimize(objective, n_trials=3)
    print(sorted((t.params["threshold"], round(t.value, 8)) for t in study.trials))
