"""A convolutional network in a hand-written training loop. Its arguments are in a global."""
import argparse

import chainer
import chainer.functions as F
import chainer.links as L
import numpy
import optuna

xp = numpy


class Block(chainer.Chain):
    def __init__(self, out_channels, ksize, pad=1):
        super().__init__()
        with self.init_scope():
            self.conv = L.Convolution2D(None, out_channels, ksize, pad=pad, nobias=True)
            self.bn = L.BatchNormalization(out_channels)

    def __call__(self, x):
        return F.relu(self.bn(self.conv(x)))


class Net(chainer.ChainList):
    def __init__(self, channels, n_class=10):
        super().__init__(Block(channels, 3), Block(2 * channels, 3), L.Linear(None, n_class))

    def __call__(self, x):
        for block in self.children():
            x = block(x)
            if x.ndim == 4:
                x = F.max_pooling_2d(x, ksize=2, stride=2)
        return x


def load():
    t = (xp.arange(40) % 10).astype(xp.int32)
    grid = xp.arange(3 * 8 * 8, dtype=xp.float32).reshape(3, 8, 8)
    return xp.cos(grid[None] * (t[:, None, None, None] + 1) / 50).astype(xp.float32), t


def train(channels, lr):
    xp.random.seed(args.seed)
    model = Net(channels)
    optimizer = chainer.optimizers.MomentumSGD(lr)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(args.decay))
    for epoch in range(args.epoch):
        for i in range(0, len(x_train), args.batchsize):
            x, t = x_train[i : i + args.batchsize], t_train[i : i + args.batchsize]
            loss = F.softmax_cross_entropy(model(x), t)
            model.cleargrads()
            loss.backward()
            optimizer.update()
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        return float(F.softmax_cross_entropy(model(x_train), t_train).data)


def objective(trial):
    return train(trial.suggest_int("channels", 2, 4), trial.suggest_float("lr", 0.01, 0.1))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--epoch", type=int, default=9)
    parser.add_argument("--batchsize", type=int, default=20)
    parser.add_argument("--decay", type=float, default=5e-4)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args()
    x_train, t_train = load()
    study = optuna.create_study()
    study.enqueue_trial({"channels": 2, "lr": 0.05})
    study.enqueue_trial({"channels": 4, "lr": 0.02})
    study.optimize(objective, n_trials=2)
    print(["%.4f" % t.value for t in study.trials])
