"""A hand-written updater, a model with a method that plots, and Chainer's configuration."""
import chainer
import chainer.functions as F
import chainer.links as L
import matplotlib.pyplot as plt
import numpy as np
import optuna
from chainer import reporter

chainer.global_config.dtype = np.float64
chainer.config.lazy_grad_sum = True


class Autoencoder(chainer.Chain):
    sparsity = 0.001

    def __init__(self, n_hidden):
        super().__init__()
        with self.init_scope():
            self.encoder = L.Linear(12, n_hidden, initialW=chainer.initializers.LeCunNormal(rng=np.random.RandomState(0)))
            self.decoder = L.Linear(n_hidden, 12, initialW=chainer.initializers.LeCunNormal(rng=np.random.RandomState(1)))

    def forward(self, x):
        h = F.sigmoid(self.encoder(x))
        return self.decoder(h), h

    def draw(self, path):
        plt.imshow(self.encoder.W.array)
        plt.savefig(path)


class Updater(chainer.training.updaters.StandardUpdater):
    def __init__(self, *args, weight, **kwargs):
        super().__init__(*args, **kwargs)
        self.weight = weight

    def update_core(self):
        optimizer = self.get_optimizer("main")
        x = self.converter(self.get_iterator("main").next(), self.device)
        y, h = optimizer.target(x)
        loss = F.mean_squared_error(y, x) + self.weight * F.mean(h)
        optimizer.target.cleargrads()
        loss.backward()
        optimizer.update()
        reporter.report({"loss": loss}, optimizer.target)
        self.last = float(loss.array)


def objective(trial):
    model = Autoencoder(trial.suggest_categorical("hidden", [2, 3, 4]))
    data = np.sin(np.arange(20)[:, None] * np.arange(12)[None])
    iterator = chainer.iterators.SerialIterator(data, 10, shuffle=False)
    optimizer = chainer.optimizers.SGD(0.5).setup(model)
    updater = Updater(iterator, optimizer, weight=model.sparsity)
    while updater.epoch < 3:
        updater.update()
    assert model.encoder.W.dtype == np.float64
    return updater.last


Autoencoder.sparsity = 0.01
study = optuna.create_study(sampler=optuna.samplers.GridSampler({"hidden": [2, 3, 4]}, seed=0))
study.optimize(objective, n_trials=3)
print(sorted((t.params["hidden"], round(t.value, 9)) for t in study.trials))
