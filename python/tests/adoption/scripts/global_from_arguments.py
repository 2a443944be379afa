import sys

import optuna

EPOCHS = 1
VERBOSE = False


def objective(trial):
    momentum = trial.suggest_categorical("momentum", [0.0, 0.5, 0.9])
    x, v = 1.0, 0.0
    for _ in range(EPOCHS):
        v = momentum * v - 0.1 * x
        x += v
    if VERBOSE:
        print("at", x)
    return abs(x)


def main(argv):
    global EPOCHS
    if len(argv) > 1:
        EPOCHS = int(argv[1])
    study = optuna.create_study(
        sampler=optuna.samplers.GridSampler({"momentum": [0.0, 0.5, 0.9]}, seed=2)
    )
    study.optimize(objective, n_trials=3)
    print(sorted((t.params["momentum"], round(t.value, 8)) for t in study.trials))


if __name__ == "__main__":
    main(sys.argv)
