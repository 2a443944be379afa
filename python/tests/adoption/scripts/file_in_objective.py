from pathlib import Path

import numpy as np
import optuna

DATA = Path(__file__).parent / "table.csv"


def objective(trial):
    table = np.loadtxt(DATA, delimiter=",", skiprows=1)
    slope = trial.suggest_float("slope", 1.0, 3.0)
    return float(np.abs(slope * table[:, 0] - table[:, 2]).mean())


study = optuna.create_study()
study.optimize(objective, n_trials=2)
print(study.best_value)
