"""Trains small networks with Chainer, on NumPy or on arraycore through ``cupy``; prints the losses.

    ./run python --backend webgpu --wheel CHAINER_WHEEL train.py --version 7.8.1
    PYTHONPATH=... python3 train.py --version 7.8.1 --on numpy

The script is the same on CPython, in Node and in a browser: data and first weights come from
NumPy's seeded stream, which is the same everywhere. The last line is one JSON object. For each
model on each array library it holds ``losses`` (of the first 20 steps and of a few later ones),
``ms`` per step, ``spent`` (by how much counters grew in the last step) and ``growth`` (by how many
bytes arrays, buffers and memory grew after step 50).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from hyperflock_worker import compat

compat.install()

SETTLED = 50  # by this step, all pools and shaders exist
IMAGES = 512
MEMORY = ("live_bytes", "device_bytes", "heap_bytes")
SPENT = ("dispatches", "crossings", "cpu_ops", "bytes_up", "bytes_down", "sync_waits")


def examples(side: int) -> tuple[Any, Any]:
    """Return noisy images of ten kinds, float32 of shape (IMAGES, 1, side, side), and labels."""
    stream = np.random.RandomState(5)
    # The dtype is explicit, because the default integer of a browser's NumPy has 32 bits.
    labels = stream.randint(0, 10, IMAGES, dtype=np.int32)
    kinds = stream.uniform(-1, 1, (10, 1, side, side))
    noise = stream.uniform(-1, 1, (IMAGES, 1, side, side))
    return (0.6 * kinds[labels] + 0.4 * noise).astype(np.float32), labels


def cnn(channels: Sequence[int], side: int) -> Any:
    """Return the network of python/examples/mnist_grid.py for images of ``side`` * ``side``."""
    import chainer
    import chainer.functions as F
    import chainer.links as L

    class Network(chainer.Chain):
        def __init__(self) -> None:
            super().__init__()
            with self.init_scope():
                self.conv1 = L.Convolution2D(1, channels[0], 3, pad=1)
                self.norm1 = L.BatchNormalization(channels[0])
                self.conv2 = L.Convolution2D(channels[0], channels[1], 3, pad=1)
                self.norm2 = L.BatchNormalization(channels[1])
                self.conv3 = L.Convolution2D(channels[1], channels[2], 3, pad=1)
                self.norm3 = L.BatchNormalization(channels[2])
                self.out = L.Linear(channels[2], 10)

        def forward(self, x: Any) -> Any:
            x = F.max_pooling_2d(F.relu(self.norm1(self.conv1(x))), 2)
            x = F.max_pooling_2d(F.relu(self.norm2(self.conv2(x))), 2)
            x = F.average_pooling_2d(F.relu(self.norm3(self.conv3(x))), side // 4)
            return self.out(x)

    return Network()


def mlp(units: int, side: int) -> Any:
    """Return a perceptron of three layers."""
    import chainer
    import chainer.functions as F
    import chainer.links as L

    class Network(chainer.Chain):
        def __init__(self) -> None:
            super().__init__()
            with self.init_scope():
                self.l1 = L.Linear(side * side, units)
                self.l2 = L.Linear(units, units)
                self.l3 = L.Linear(units, 10)

        def forward(self, x: Any) -> Any:
            return self.l3(F.relu(self.l2(F.relu(self.l1(x)))))

    return Network()


class Run:
    """A network with its data and its optimizer.

    Parameters
    ----------
    model : {"cnn", "mlp"}
        The network. MomentumSGD trains "cnn", Adam trains "mlp".
    on : {"cupy", "numpy"}
        The array library.
    width : int
        The number of channels of "cnn", or a quarter of the number of units of "mlp".
    side : int
        An image's width and height in pixels, a multiple of 4.
    batch : int
        Images per step.
    """

    def __init__(self, model: str, on: str, width: int, side: int, batch: int) -> None:
        import chainer

        np.random.seed(7)
        self.network = cnn((width,) * 3, side) if model == "cnn" else mlp(4 * width, side)
        self.batch = batch
        self.images, self.labels = examples(side)
        if on == "cupy":
            self.network.to_gpu()
            import cupy

            # The data are uploaded before the first step, so that a step uploads nothing.
            self.images, self.labels = cupy.asarray(self.images), cupy.asarray(self.labels)
        optimizers = chainer.optimizers
        self.optimizer = (
            optimizers.MomentumSGD(lr=0.01, momentum=0.9) if model == "cnn" else optimizers.Adam()
        )
        self.optimizer.setup(self.network)

    def step(self, number: int) -> Any:
        """Train on one batch; return its loss, an array of no dimensions."""
        import chainer.functions as F

        start = number * self.batch % (IMAGES - self.batch + 1)
        part = slice(start, start + self.batch)
        loss = F.softmax_cross_entropy(self.network(self.images[part]), self.labels[part])
        self.network.cleargrads()
        loss.backward()
        self.optimizer.update()
        return loss.array


def train(run: Run, steps: int, counters: Callable[[], dict[str, int]]) -> dict[str, Any]:
    """Train; return what the script prints."""
    losses: list[float] = []
    settled, before = counters(), counters()
    began = time.perf_counter()
    for number in range(steps):
        before = counters()
        loss = run.step(number)
        after = counters()
        # The loss is read at each early step, to compare runs. Later it is read at few steps only,
        # because a read waits for the device. Memory is counted after steps at which the loss is
        # read, so that no work is pending then.
        if number < 20 or number in (SETTLED, steps - 1) or number % 500 == 0:
            losses.append(float(loss))
        del loss
        if number == SETTLED:
            settled = counters()
    ms = (time.perf_counter() - began) / steps * 1e3
    now = counters()
    return {
        "losses": losses,
        "ms": round(ms, 2),
        "spent": {name: after[name] - before[name] for name in SPENT if name in after},
        "growth": sum(now[name] - settled[name] for name in MEMORY if name in now),
    }


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", required=True, help="the Chainer that is expected")
    parser.add_argument("--on", nargs="+", choices=("cupy", "numpy"), default=["cupy"])
    parser.add_argument("--model", nargs="+", choices=("cnn", "mlp"), default=["cnn"])
    parser.add_argument("--steps", type=int, default=20)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--width", type=int, default=16)
    parser.add_argument("--side", type=int, default=28)
    options = parser.parse_args(arguments)
    if "cupy" in options.on:
        import arraycore

        arraycore.install_cupy()
    import chainer

    if chainer.__version__ != options.version:
        raise SystemExit(f"this is Chainer {chainer.__version__}, not {options.version}")
    made: dict[str, dict[str, Any]] = {}
    for model in options.model:
        made[model] = {}
        for on in options.on:
            run = Run(model, on, options.width, options.side, options.batch)
            made[model][on] = train(
                run, options.steps, arraycore.counters if on == "cupy" else dict
            )
            del run
    print(json.dumps(made))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
