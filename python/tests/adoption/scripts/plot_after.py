import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import optuna

fig, ax = plt.subplots()
colors = plt.rcParams["axes.prop_cycle"].by_key()["color"]


def simulate(r, n=50):
    x = np.empty(n)
    x[0] = 0.5
    for i in range(1, n):
        x[i] = r * x[i - 1] * (1 - x[i - 1])
    return x


def objective(trial):
    return float(simulate(trial.suggest_float("r", 2.5, 3.2))[-10:].std())


study = optuna.create_study()
for r in (2.6, 2.9, 3.1):
    study.enqueue_trial({"r": r})
study.optimize(objective, n_trials=3)
for trial, color in zip(study.trials, colors):
    ax.plot(simulate(trial.params["r"]), color=color, label="r = %g" % trial.params["r"])
ax.legend()
fig.savefig("chaos.png")
print(["%.6f" % trial.value for trial in study.trials], len(ax.lines))
