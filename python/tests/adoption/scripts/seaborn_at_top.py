import matplotlib.pyplot as plt
import numpy as np
import optuna
import pandas as pd
import seaborn as sns

sns.set_theme(style="whitegrid")
plt.rcParams["figure.figsize"] = (8, 4)


def objective(trial):
    angles = np.linspace(0, np.pi, trial.suggest_int("n", 3, 30))
    return float(np.abs(np.sum(np.sin(angles)) * angles[1] - 2))


def report(study):
    frame = pd.DataFrame([{**t.params, "value": t.value} for t in study.trials])
    sns.lineplot(data=frame, x="n", y="value")
    return frame.value.min()


study = optuna.create_study(sampler=optuna.samplers.GridSampler({"n": [3, 10, 30]}, seed=0))
study.optimize(objective, n_trials=3)
print(round(report(study), 10))
