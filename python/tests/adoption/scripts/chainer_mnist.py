#!/usr/bin/env python
"""Trains a small perceptron on digits with a Trainer, as Chainer's own example does."""
import argparse

import chainer
import chainer.functions as F
import chainer.links as L
import numpy as np
import optuna
from chainer import training
from chainer.training import extensions


class MLP(chainer.Chain):
    def __init__(self, n_units, n_out):
        super(MLP, self).__init__()
        with self.init_scope():
            self.l1 = L.Linear(None, n_units)
            self.l2 = L.Linear(None, n_out)

    def forward(self, x):
        return self.l2(F.relu(self.l1(x)))


def get_digits(n):
    labels = np.arange(n, dtype=np.int32) % 10
    rows = np.arange(64, dtype=np.float32)
    images = np.sin(rows[None] * (labels[:, None] + 1) / 7).astype(np.float32)
    return chainer.datasets.TupleDataset(images, labels)


def main():
    parser = argparse.ArgumentParser(description="Chainer example: digits")
    parser.add_argument("--batchsize", "-b", type=int, default=20)
    parser.add_argument("--epoch", "-e", type=int, default=1)
    parser.add_argument("--device", "-d", type=str, default="-1")
    parser.add_argument("--out", "-o", default="result")
    args = parser.parse_args()
    train, test = get_digits(60), get_digits(20)

    def objective(trial):
        np.random.seed(0)
        model = L.Classifier(MLP(trial.suggest_categorical("unit", [8, 16]), 10))
        optimizer = chainer.optimizers.Adam(trial.suggest_categorical("alpha", [0.01, 0.1]))
        optimizer.setup(model)
        train_iter = chainer.iterators.SerialIterator(train, args.batchsize)
        test_iter = chainer.iterators.SerialIterator(
            test, args.batchsize, repeat=False, shuffle=False
        )
        updater = training.updaters.StandardUpdater(train_iter, optimizer)
        trainer = training.Trainer(updater, (args.epoch, "epoch"), out=args.out)
        trainer.extend(extensions.Evaluator(test_iter, model))
        log = extensions.LogReport()
        trainer.extend(log)
        trainer.extend(extensions.snapshot_object(model, "model.npz"), trigger=(1, "epoch"))
        trainer.run()
        return log.log[-1]["validation/main/loss"]

    space = {"unit": [8, 16], "alpha": [0.01, 0.1]}
    study = optuna.create_study(sampler=optuna.samplers.GridSampler(space, seed=1))
    study.optimize(objective, n_trials=3)
    for trial in study.trials:
        print(sorted(trial.params.items()), "%.5f" % trial.value)


if __name__ == "__main__":
    main()
