"""Contains the smoke test's objective: a small three-layer CNN, trained on noise for two steps."""

import hashlib

import chainer
import chainer.functions as F
import chainer.links as L
import hyperflock
import numpy as np


class Net(chainer.Chain):
    """Three 3x3 convolutions with batch normalisation, average pooling, and a linear layer."""

    def __init__(self, channels):
        super().__init__()
        with self.init_scope():
            self.conv1 = L.Convolution2D(None, channels, 3, pad=1)
            self.norm1 = L.BatchNormalization(channels)
            self.conv2 = L.Convolution2D(None, channels, 3, pad=1)
            self.norm2 = L.BatchNormalization(channels)
            self.conv3 = L.Convolution2D(None, channels, 3, pad=1)
            self.norm3 = L.BatchNormalization(channels)
            self.out = L.Linear(None, 10)

    def forward(self, x):
        h = F.max_pooling_2d(F.relu(self.norm1(self.conv1(x))), 2)
        h = F.max_pooling_2d(F.relu(self.norm2(self.conv2(h))), 2)
        h = F.relu(self.norm3(self.conv3(h)))
        return self.out(F.average_pooling_2d(h, 7))

    __call__ = forward


def digest(model):
    """Return a hash over the bytes of all parameters."""
    hashed = hashlib.sha256()
    for name, parameter in sorted(model.namedparams()):
        hashed.update(name.encode() + parameter.array.tobytes())
    return hashed.hexdigest()


def objective(trial):
    """Train two steps, print the hash of the initial weights, and return the last loss."""
    assert isinstance(trial, hyperflock.Trial)
    channels = trial.suggest_categorical("channels", [4, 8])
    model = Net(channels)
    optimizer = chainer.optimizers.MomentumSGD(lr=0.05, momentum=0.9)
    optimizer.setup(model)
    images = trial.data["images"][np.random.permutation(len(trial.data["images"]))]
    labels = np.random.randint(0, 10, len(images)).astype(np.int32)
    for step in range(2):
        loss = F.softmax_cross_entropy(model(images), labels)
        if step == 0:
            print(f"weights {digest(model)}")
        model.cleargrads()
        loss.backward()
        optimizer.update()
        print(f"step {step}", flush=True)
        trial.report(loss, step)
    return loss
