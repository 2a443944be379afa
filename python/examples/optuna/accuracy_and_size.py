"""A small and accurate network for handwritten digits: two objectives and their Pareto front.

The digits come from scikit-learn, which only this machine needs. They are sent with the objective.
"""

import hyperflock
import numpy as np
import optuna

EPOCHS = 3
TRAIN_IMAGES = 288
TEST_IMAGES = 192


def make_objective(images, labels):
    def objective(trial):
        import chainer
        import chainer.functions as F
        import chainer.links as L

        np.random.seed(0)  # the same initial weights in every trial
        layers = []
        for number in range(trial.suggest_int("layers", 0, 2)):
            units = trial.suggest_int(f"units_{number}", 4, 96, log=True)
            layers += [L.Linear(None, units), F.relu]
        model = chainer.Sequential(*layers, L.Linear(None, 10))
        optimizer = chainer.optimizers.Adam(alpha=0.01).setup(model)
        stream = np.random.RandomState(1)
        for _ in range(EPOCHS):
            for batch in np.split(stream.permutation(TRAIN_IMAGES), TRAIN_IMAGES // 48):
                loss = F.softmax_cross_entropy(model(images[batch]), labels[batch])
                model.cleargrads()
                loss.backward()
                optimizer.update()
        guessed = model(images[TRAIN_IMAGES:]).array.argmax(axis=1)
        accuracy = float((guessed == labels[TRAIN_IMAGES:]).mean())
        return accuracy, sum(parameter.size for parameter in model.params())

    return objective


if __name__ == "__main__":
    from sklearn.datasets import load_digits

    digits = load_digits()
    chosen = np.random.RandomState(0).permutation(len(digits.data))[: TRAIN_IMAGES + TEST_IMAGES]
    images = digits.data[chosen].astype(np.float32) / 16
    study = optuna.create_study(
        directions=["maximize", "minimize"], sampler=optuna.samplers.NSGAIISampler(seed=17)
    )
    objective = make_objective(images, digits.target[chosen].astype(np.int32))
    hyperflock.optuna.optimize(study, objective, n_trials=16, client=hyperflock.Client())
    for trial in study.best_trials:
        print(trial.number, trial.values, trial.params)
