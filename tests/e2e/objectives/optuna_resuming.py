"""Runs two trials of an Optuna study with the same values. The second one waits half-way until it
is killed.

They use array-core's CPU back end. It prints both trials' results as one line of JSON.
"""

import json
from typing import Any

import optuna

EPOCHS, STOPS_AT = 6, 4


def objective(trial: optuna.Trial) -> float:
    """Train, and return the sum of the weights' absolute values."""
    import hyperflock

    device = hyperflock.device().use()  # before Chainer is imported
    import chainer
    import chainer.functions as F
    import chainer.links as L
    import numpy as np
    from chainer import training

    class Network(chainer.Chain):
        """Two layers with dropout, so that the result depends on random numbers."""

        def __init__(self) -> None:
            super().__init__()
            with self.init_scope():
                self.first = L.Linear(4, 16)
                self.second = L.Linear(16, 2)

        def __call__(self, x: Any) -> Any:
            return self.second(F.dropout(F.relu(self.first(x)), 0.5))

    rate = trial.suggest_float("rate", 0.01, 0.5, log=True)
    np.random.seed(0)
    device.xp.random.seed(0)
    x = np.random.rand(24, 4).astype(np.float32)
    data = chainer.datasets.TupleDataset(x, (x.sum(1) > 2).astype(np.int32))
    model = device.send(L.Classifier(Network()))
    optimizer = chainer.optimizers.MomentumSGD(rate).setup(model)
    batches = chainer.iterators.SerialIterator(data, 8)
    updater = training.updaters.StandardUpdater(batches, optimizer, device=device.chainer_device)
    trainer = training.Trainer(updater, (EPOCHS, "epoch"))
    trainer.extend(hyperflock.CheckpointExtension(trial, interval_s=0))

    def watch(trainer: training.Trainer) -> None:
        trial.report(float(trainer.observation["main/loss"].array), trainer.updater.epoch)
        if trial.number == 1 and not is_resumed and trainer.updater.epoch == STOPS_AT:
            print("stopped")
            while True:
                trial.should_prune()

    trainer.extend(watch, trigger=(1, "epoch"), name="watch")
    is_resumed = trial.resume(trainer)
    trainer.run()
    return sum(float(abs(weights.array).sum()) for weights in model.params())


def main() -> None:
    """Run both trials on devices."""
    import hyperflock.optuna

    study = optuna.create_study(study_name="resuming", pruner=optuna.pruners.NopPruner())
    for _ in range(2):
        study.enqueue_trial({"rate": 0.1})
    hyperflock.optuna.optimize(study, objective, n_trials=2, backend="cpu")
    print(json.dumps([[trial.value, trial.intermediate_values] for trial in study.trials]))


if __name__ == "__main__":
    main()
