"""Defines a study of one trial, whose value is the Unix time in ms after its first
``optimizer.update``.

As a script it submits the study and prints its id. ``bench_first_compute.ts`` subtracts the time at
which the volunteer tapped Start.
"""

import time
from typing import Any


def objective(trial: Any) -> float:
    """Build a three-layer CNN, update it once on 32 images, and return the time."""
    import chainer
    import chainer.functions as F
    import chainer.links as L

    class Net(chainer.Chain):  # type: ignore[misc]
        def __init__(self, channels: int) -> None:
            super().__init__()
            with self.init_scope():
                self.conv1 = L.Convolution2D(None, channels, 3, pad=1)
                self.norm1 = L.BatchNormalization(channels)
                self.conv2 = L.Convolution2D(None, channels, 3, pad=1)
                self.norm2 = L.BatchNormalization(channels)
                self.conv3 = L.Convolution2D(None, channels, 3, pad=1)
                self.norm3 = L.BatchNormalization(channels)
                self.head = L.Linear(None, 10)

        def forward(self, x: Any) -> Any:
            h = F.max_pooling_2d(F.relu(self.norm1(self.conv1(x))), 2)
            h = F.max_pooling_2d(F.relu(self.norm2(self.conv2(h))), 2)
            h = F.relu(self.norm3(self.conv3(h)))
            return self.head(F.average_pooling_2d(h, h.shape[2]))

    images, labels = trial.data["images"], trial.data["labels"]
    model = L.Classifier(Net(trial.params["channels"]))
    optimizer = chainer.optimizers.MomentumSGD(lr=0.01, momentum=0.9)
    optimizer.setup(model)
    optimizer.update(model, images, labels)
    return time.time() * 1000.0


def main() -> None:
    """Submit the study with 32 random images of 28 x 28, because loading data is not measured."""
    import hyperflock
    import numpy as np

    generator = np.random.default_rng(0)
    data = {
        "images": generator.random((32, 1, 28, 28), dtype=np.float32),
        "labels": generator.integers(0, 10, 32).astype(np.int32),
    }
    study = hyperflock.Client().grid(objective, {"channels": [16]}, data=data, name="first update")
    print(study.id)


if __name__ == "__main__":
    main()
