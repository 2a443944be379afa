"""A network for digits whose layers and channels are chosen while it is built, with pruning.

The digits come from scikit-learn, which only this machine needs. They are sent with the objective.
"""

import hyperflock
import numpy as np
import optuna

EPOCHS = 3
TRAIN_IMAGES = 240
TEST_IMAGES = 160


def create_model(trial):
    import functools

    import chainer.functions as F
    import chainer.links as L
    from chainer import Sequential

    halve = functools.partial(F.max_pooling_2d, ksize=2)
    layers = []
    for number in range(trial.suggest_int("layers", 1, 3)):
        channels = trial.suggest_int(f"channels_{number}", 2, 16, log=True)
        layers += [L.Convolution2D(None, channels, 3, pad=1), F.relu, halve]
    units = trial.suggest_categorical("units", [None, 16, 32])
    if units is not None:
        layers += [L.Linear(None, units), F.relu]
    return Sequential(*layers, L.Linear(None, 10))


def make_objective(images, labels):
    def objective(trial):
        import chainer
        import chainer.functions as F

        np.random.seed(0)  # the same initial weights in every trial
        model = create_model(trial)
        rate = trial.suggest_float("rate", 1e-3, 1e-1, log=True)
        optimizer = chainer.optimizers.Adam(alpha=rate).setup(model)
        stream = np.random.RandomState(1)
        accuracy = 0.0
        for epoch in range(EPOCHS):
            for batch in np.split(stream.permutation(TRAIN_IMAGES), TRAIN_IMAGES // 48):
                loss = F.softmax_cross_entropy(model(images[batch]), labels[batch])
                model.cleargrads()
                loss.backward()
                optimizer.update()
            with chainer.using_config("train", False), chainer.no_backprop_mode():
                guessed = model(images[TRAIN_IMAGES:]).array.argmax(axis=1)
            accuracy = float((guessed == labels[TRAIN_IMAGES:]).mean())
            trial.report(accuracy, epoch)
            if trial.should_prune():
                raise optuna.TrialPruned()
        return accuracy

    return objective


if __name__ == "__main__":
    from sklearn.datasets import load_digits

    digits = load_digits()
    chosen = np.random.RandomState(0).permutation(len(digits.images))[: TRAIN_IMAGES + TEST_IMAGES]
    images = digits.images[chosen][:, None].astype(np.float32) / 16
    study = optuna.create_study(
        direction="maximize",
        sampler=optuna.samplers.TPESampler(seed=16),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=4),
    )
    objective = make_objective(images, digits.target[chosen].astype(np.int32))
    hyperflock.optuna.optimize(study, objective, n_trials=16, client=hyperflock.Client())
    print(study.best_value, study.best_params)
