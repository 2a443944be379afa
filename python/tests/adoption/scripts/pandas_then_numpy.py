from pathlib import Path

import numpy as np
import optuna
import pandas as pd

HERE = Path(__file__).parent
df = pd.read_csv(HERE / "table.csv")
df["ratio"] = df["size"] / df["rooms"]
X = df[["size", "rooms", "ratio"]].to_numpy(dtype=np.float64)
y = df["price"].values
X = (X - X.mean(axis=0)) / X.std(axis=0)
n_features = len(df.columns) - 1


def objective(trial):
    alpha = trial.suggest_float("alpha", 1e-3, 10.0, log=True)
    coef = np.linalg.solve(X.T @ X + alpha * np.eye(n_features), X.T @ (y - y.mean()))
    return float(np.mean((X @ coef + y.mean() - y) ** 2))


study = optuna.create_study()
for alpha in (0.01, 0.1, 1.0):
    study.enqueue_trial({"alpha": alpha})
study.optimize(objective, n_trials=3)
print(["%.4f" % trial.value for trial in study.trials])
