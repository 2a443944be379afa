"""Measures training steps of ResNet-18 (3x3 stem, widths 64 to 512) in Chainer.

    ./run python --backend webgpu --wheel CHAINER_WHEEL train_resnet.py --batch 16 64
    PYTHONPATH=... python3 train_resnet.py --on numpy   # the first losses, to compare

Data and first weights come from NumPy's seeded stream, which is the same everywhere. The last line
is one JSON object. For each batch size it has the first losses; the medians, over several runs
without a read in between, of ``ms`` per step, ``issue_ms`` (the part that Python's thread takes)
and ``images`` per second; ``device_ms`` by the device's own clock; and ``spent``, the growth of
counters in a step.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import sys
import time
from typing import Any

import numpy as np
from hyperflock_worker import compat

compat.install()

IMAGES = 512
FIRST = 10  # losses that are read, one a step
SPENT = ("dispatches", "fused", "crossings", "cpu_ops", "bytes_up", "bytes_down", "sync_waits")


def resnet(width: int) -> Any:
    """Return a ResNet-18 (K. He, X. Zhang, S. Ren, J. Sun, "Deep Residual Learning for Image
    Recognition", 2016), with ``width`` channels in its first stage.
    """
    import chainer
    import chainer.functions as F
    import chainer.links as L

    class Block(chainer.Chain):
        def __init__(self, before: int, channels: int, stride: int) -> None:
            super().__init__()
            with self.init_scope():
                self.conv1 = L.Convolution2D(before, channels, 3, stride, 1, nobias=True)
                self.norm1 = L.BatchNormalization(channels)
                self.conv2 = L.Convolution2D(channels, channels, 3, 1, 1, nobias=True)
                self.norm2 = L.BatchNormalization(channels)
                if stride > 1:
                    self.conv3 = L.Convolution2D(before, channels, 1, stride, nobias=True)
                    self.norm3 = L.BatchNormalization(channels)

        def __call__(self, x: Any) -> Any:
            y = F.relu(self.norm1(self.conv1(x)))
            y = self.norm2(self.conv2(y))
            return F.relu(y + (self.norm3(self.conv3(x)) if hasattr(self, "conv3") else x))

    class Network(chainer.Chain):
        def __init__(self) -> None:
            super().__init__()
            stages = (1, 1, 2, 4, 8)
            with self.init_scope():
                self.stem = L.Convolution2D(3, width, 3, 1, 1, nobias=True)
                self.norm = L.BatchNormalization(width)
                self.blocks = chainer.ChainList()
                for before, after in itertools.pairwise(stages):
                    stride = after // before
                    self.blocks.add_link(Block(before * width, after * width, stride))
                    self.blocks.add_link(Block(after * width, after * width, 1))
                self.out = L.Linear(8 * width, 10)

        def __call__(self, x: Any) -> Any:
            x = F.relu(self.norm(self.stem(x)))
            for block in self.blocks.children():
                x = block(x)
            return self.out(F.average_pooling_2d(x, x.shape[2:]))

    return Network()


class Run:
    """The network, its optimizer, and its data: noisy images of ten kinds.

    Parameters
    ----------
    options : argparse.Namespace
        The options of the command line.
    batch : int
        Images per step.
    """

    def __init__(self, options: argparse.Namespace, batch: int) -> None:
        import chainer

        np.random.seed(7)
        self.network, self.batch = resnet(options.width), batch
        stream = np.random.RandomState(5)
        labels = stream.randint(0, 10, IMAGES, dtype=np.int32)
        kinds = stream.uniform(-1, 1, (10, 3, options.side, options.side))
        noise = stream.uniform(-1, 1, (IMAGES, 3, options.side, options.side))
        images = (0.6 * kinds[labels] + 0.4 * noise).astype(np.float32)
        if options.on == "cupy":
            self.network.to_gpu()
            import cupy

            images, labels = cupy.asarray(images), cupy.asarray(labels)
        self.images, self.labels = images, labels
        self.optimizer = getattr(chainer.optimizers, options.optimizer)()
        self.optimizer.setup(self.network)
        self.number = 0

    def step(self) -> Any:
        """Train on one batch; return its loss, an array of 0 dimensions."""
        import chainer.functions as F

        start = self.number * self.batch % (IMAGES - self.batch + 1)
        self.number += 1
        part = slice(start, start + self.batch)
        loss = F.softmax_cross_entropy(self.network(self.images[part]), self.labels[part])
        self.network.cleargrads()
        loss.backward()
        self.optimizer.update()
        return loss.array


def measured(run: Run, steps: int, repeats: int) -> dict[str, Any]:
    """Measure steps without a read in between; each run waits for its last loss."""
    import arraycore

    for _ in range(steps):
        float(run.step())
    issues, totals = [], []
    for _ in range(repeats):
        began = time.perf_counter()
        for _ in range(steps):
            loss = run.step()
        issues.append((time.perf_counter() - began) / steps * 1e3)
        float(loss)
        totals.append((time.perf_counter() - began) / steps * 1e3)
    before = arraycore.counters()
    run.step()
    after = arraycore.counters()
    ms = statistics.median(totals)
    made = {
        "ms": round(ms, 2),
        "range_ms": [round(min(totals), 2), round(max(totals), 2)],
        "issue_ms": round(statistics.median(issues), 2),
        "images": round(run.batch / ms * 1e3, 1),
        "spent": {name: after[name] - before[name] for name in SPENT},
        "device_bytes": after["device_bytes"],
    }
    if arraycore.device_info().name != "cpu":
        with arraycore.device_timer() as timer:
            for _ in range(steps):
                run.step()
        made["device_ms"] = round(timer.milliseconds / steps, 2)
    return made


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--on", choices=("cupy", "numpy"), default="cupy")
    parser.add_argument("--batch", type=int, nargs="+", default=[16])
    parser.add_argument("--steps", type=int, default=20, help="of one repeat")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--side", type=int, default=32)
    parser.add_argument("--optimizer", default="MomentumSGD")
    parser.add_argument("--profile", action="store_true", help="print where Python spends a step")
    options = parser.parse_args(arguments)
    made: dict[str, Any] = {}
    if options.on == "cupy":
        import arraycore

        arraycore.install_cupy()
        made["device"] = str(arraycore.device_info())
    import chainer

    made["chainer"] = chainer.__version__
    for batch in options.batch:
        run = Run(options, batch)
        made[str(batch)] = result = {"losses": [float(run.step()) for _ in range(FIRST)]}
        if options.on == "cupy":
            result |= measured(run, options.steps, options.repeats)
        if options.profile:
            import cProfile
            import pstats

            profile = cProfile.Profile()
            profile.enable()
            for _ in range(options.steps):
                run.step()
            profile.disable()
            statistics_ = pstats.Stats(profile)
            statistics_.sort_stats("tottime").print_stats(60)
        del run
    print(json.dumps(made), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
