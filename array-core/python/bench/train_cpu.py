"""Measures Chainer's training steps on the CPU, on arraycore and on NumPy, in one process.

    ./run python --wheel CHAINER_WHEEL --mount array-core/tests/chainer \
        array-core/python/bench/train_cpu.py --network cnn --on cupy numpy

``cnn`` is the network of ``python/examples/mnist_grid.py`` with ``--channels``, on random images of
28 x 28. ``resnet18`` is the network for images of 32 x 32, with a stem of 3 x 3 and 64 to 512
channels. MomentumSGD trains in float32. NumPy uses the faster ``tensordot`` that
``hyperflock_worker.compat`` installs; ``--plain-dot`` removes it. The libraries of ``--on``
alternate at each step, so that other work on the machine affects both alike.

Prints one flat JSON object: ``cupy_ms`` and ``numpy_ms``, the time of the fastest step with the
read of its loss; the largest relative difference of the first losses; and how much arraycore's
counters grew in one step.
"""

from __future__ import annotations

import argparse
import json
import time
from typing import Any

import numpy as np
from hyperflock_worker import compat

compat.install()

SPENT = ("crossings", "dispatches", "fused", "peak_bytes")


def resnet18(classes: int) -> Any:
    """Return ResNet-18 for images of 32 x 32 (K. He et al., "Deep Residual Learning", 2015)."""
    import chainer
    import chainer.functions as F
    import chainer.links as L

    class Block(chainer.Chain):
        def __init__(self, channels: int, results: int, stride: int) -> None:
            super().__init__()
            with self.init_scope():
                self.conv1 = L.Convolution2D(channels, results, 3, stride, 1, nobias=True)
                self.norm1 = L.BatchNormalization(results)
                self.conv2 = L.Convolution2D(results, results, 3, 1, 1, nobias=True)
                self.norm2 = L.BatchNormalization(results)
                if channels != results:
                    self.conv3 = L.Convolution2D(channels, results, 1, stride, 0, nobias=True)
                    self.norm3 = L.BatchNormalization(results)

        def forward(self, x: Any) -> Any:
            y = F.relu(self.norm1(self.conv1(x)))
            shortcut = self.norm3(self.conv3(x)) if hasattr(self, "conv3") else x
            return F.relu(self.norm2(self.conv2(y)) + shortcut)

    class Network(chainer.Chain):
        def __init__(self) -> None:
            super().__init__()
            with self.init_scope():
                self.conv = L.Convolution2D(3, 64, 3, 1, 1, nobias=True)
                self.norm = L.BatchNormalization(64)
                self.blocks = chainer.ChainList()
                self.out = L.Linear(512, classes)
            channels = 64
            for results in (64, 128, 256, 512):
                self.blocks.add_link(Block(channels, results, results // channels))
                self.blocks.add_link(Block(results, results, 1))
                channels = results

        def forward(self, x: Any) -> Any:
            y = F.relu(self.norm(self.conv(x)))
            for block in self.blocks:
                y = block(y)
            return self.out(F.average_pooling_2d(y, 4))

    return Network()


class Training:
    """A network, its optimizer and one batch. They are the same on each array library."""

    def __init__(self, network: str, channels: list[int], batch: int, on: str) -> None:
        import chainer

        np.random.seed(7)
        if network == "cnn":
            from train import cnn

            self.network, shape = cnn(channels, 28), (batch, 1, 28, 28)
        else:
            self.network, shape = resnet18(10), (batch, 3, 32, 32)
        stream = np.random.RandomState(5)
        self.x = stream.uniform(-1, 1, shape).astype(np.float32)
        self.t = stream.randint(0, 10, batch, dtype=np.int32)
        if on == "cupy":
            import cupy

            self.network.to_gpu()
            self.x, self.t = cupy.asarray(self.x), cupy.asarray(self.t)
        self.optimizer = chainer.optimizers.MomentumSGD(lr=0.01, momentum=0.9)
        self.optimizer.setup(self.network)

    def step(self) -> float:
        import chainer.functions as F

        loss = F.softmax_cross_entropy(self.network(self.x), self.t)
        self.network.cleargrads()
        loss.backward()
        self.optimizer.update()
        return float(loss.array)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--network", choices=("cnn", "resnet18"), required=True)
    parser.add_argument("--on", nargs="+", choices=("cupy", "numpy"), default=["cupy"])
    parser.add_argument("--channels", default="16,16,16")
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--steps", type=int, default=10)
    parser.add_argument("--warm-up", type=int, default=3)  # a module's first calls run unoptimised
    parser.add_argument("--plain-dot", action="store_true")
    options = parser.parse_args()
    if options.plain_dot:
        from hyperflock_worker.compat import matrix_products

        matrix_products.remove()
    import arraycore

    arraycore.install_cupy()
    channels = [int(each) for each in options.channels.split(",")]
    runs = {on: Training(options.network, channels, options.batch, on) for on in options.on}
    best: dict[str, float] = dict.fromkeys(runs, float("inf"))
    losses: dict[str, list[float]] = {on: [] for on in runs}
    spent: dict[str, int] = {}
    for number in range(options.warm_up + options.steps):
        for on, run in runs.items():
            before = arraycore.counters()
            began = time.perf_counter()
            losses[on].append(run.step())
            took = time.perf_counter() - began
            after = arraycore.counters()
            if number >= options.warm_up:
                best[on] = min(best[on], took)
            if on == "cupy":
                spent = {name: after[name] - before[name] for name in SPENT}
                spent["peak_bytes"] = after["peak_bytes"]
    figures: dict[str, float] = {f"{on}_ms": round(1e3 * took, 2) for on, took in best.items()}
    if len(runs) == 2:
        pairs = list(zip(losses["numpy"], losses["cupy"], strict=True))[:3]
        figures["losses"] = max(abs(ours - theirs) / abs(theirs) for theirs, ours in pairs)
    figures["first_loss"] = losses[options.on[0]][0]
    figures |= spent
    figures["threads"] = arraycore.device_info().cpu_threads
    print(json.dumps(figures))


main()
