"""A Chainer network whose layers are chosen while it is built. Runs that fall behind are pruned."""

import hyperflock
import numpy as np
import optuna

EPOCHS = 6


def make_data():
    """Return the points of two spirals that wind around each other, and their labels."""
    stream = np.random.RandomState(0)
    turn = np.sqrt(stream.uniform(0.02, 1, 240)) * 2.5 * np.pi
    side = np.arange(240) % 2
    angle = turn + np.pi * side
    x = np.stack([turn * np.cos(angle), turn * np.sin(angle)], axis=1) / 8
    return (x + stream.normal(0, 0.02, x.shape)).astype(np.float32), side.astype(np.int32)


def create_model(trial):
    import chainer

    layers = []
    for number in range(trial.suggest_int("n_layers", 1, 3)):
        units = trial.suggest_int(f"units_{number}", 4, 64, log=True)
        layers += [chainer.links.Linear(None, units), chainer.functions.relu]
    return chainer.Sequential(*layers, chainer.links.Linear(None, 2))


def create_optimizer(trial, model):
    import chainer

    name = trial.suggest_categorical("optimizer", ["Adam", "MomentumSGD"])
    if name == "Adam":
        alpha = trial.suggest_float("adam_alpha", 1e-4, 1e-1, log=True)
        optimizer = chainer.optimizers.Adam(alpha=alpha)
    else:
        lr = trial.suggest_float("momentum_sgd_lr", 1e-4, 1e-1, log=True)
        optimizer = chainer.optimizers.MomentumSGD(lr=lr)
    return optimizer.setup(model)


def objective(trial):
    import chainer.functions as F

    np.random.seed(0)  # the same initial weights in every trial
    model = create_model(trial)
    optimizer = create_optimizer(trial, model)
    x, y = make_data()
    stream = np.random.RandomState(1)
    accuracy = 0.0
    for epoch in range(EPOCHS):
        for batch in np.split(stream.permutation(len(x)), 8):
            loss = F.softmax_cross_entropy(model(x[batch]), y[batch])
            model.cleargrads()
            loss.backward()
            optimizer.update()
        accuracy = float((model(x).array.argmax(axis=1) == y).mean())
        trial.report(accuracy, epoch)
        if trial.should_prune():
            raise optuna.TrialPruned()
    return accuracy


if __name__ == "__main__":
    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=13),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=4),
    )
    hyperflock.optuna.optimize(study, objective, n_trials=16, client=hyperflock.Client())
    print(study.best_value, study.best_params)
