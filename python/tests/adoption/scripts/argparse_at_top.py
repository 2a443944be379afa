import argparse

import optuna

parser = argparse.ArgumentParser()
parser.add_argument("--steps", type=int, default=10)
parser.add_argument("--power", type=float, default=1.0)
args = parser.parse_args()
SCALE = 10 ** args.power


def loss(x, steps=args.steps):
    for _ in range(steps):
        x = x - 0.1 * 2 * (x - 3)
    return SCALE * (x - 3) ** 2


def objective(trial):
    return loss(trial.suggest_float("start", -5, 5))


study = optuna.create_study()
for start in (-4.0, 0.0, 4.0):
    study.enqueue_trial({"start": start})
study.optimize(objective, n_trials=3)
print(["%.8f" % trial.value for trial in study.trials])
