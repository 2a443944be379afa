"""The networks that the training bench trains, and data that are the same on every machine.

    work = Work("resnet18", 16, "numpy")
    work.step(0)  # trains, and returns the loss

Weights and data come from NumPy's seeded streams, with explicit dtypes, so that CPython, Node and a
browser train the same. The networks are those of ``python/examples`` and of
``tests/chainer/train.py`` (the three-layer CNN of ``mnist_grid.py``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[3]
for folder in ("python/examples", "array-core/tests/chainer"):
    sys.path.insert(0, str(ROOT / folder))

#: The number of batches that training uses in turn.
BATCHES = 4
SEED = 7


@dataclass(frozen=True)
class Kind:
    """A network to train, with its data and its optimizer.

    Attributes
    ----------
    make : callable
        Returns a network. ``chainer`` is imported before the call.
    data : callable
        Takes a number of elements and a random stream; returns inputs and labels.
    optimizer : callable
        Returns an optimizer.
    batches : tuple of int
        The batch sizes of the table.
    items : int
        How many items one element of a batch counts as in the table's column "items/s": 1, or the
        number of characters that are predicted in a text.
    """

    make: Callable[[], Any]
    data: Callable[[int, Any], tuple[Any, Any]]
    optimizer: Callable[[], Any]
    batches: tuple[int, ...]
    items: int = 1


def images(side: int, channels: int, count: int, stream: Any) -> tuple[Any, Any]:
    """Return noisy images of ten kinds, of shape (count, channels, side, side), and labels."""
    labels = stream.randint(0, 10, count, dtype=np.int32)
    kinds = stream.uniform(-1, 1, (10, channels, side, side))
    noise = stream.uniform(-1, 1, (count, channels, side, side))
    return (0.6 * kinds[labels] + 0.4 * noise).astype(np.float32), labels


def scenes(count: int, stream: Any) -> tuple[Any, Any]:
    """Return images of squares on noise, of shape (count, 1, 64, 64), and each pixel's label.

    The label is the brightness of the square, 1 to 10, or 0 for the noise around the squares.
    """
    pictures = stream.uniform(-0.5, 0, (count, 1, 64, 64)).astype(np.float32)
    kinds = np.zeros((count, 64, 64), np.int32)
    places = stream.randint(0, 44, (count, 4, 2), dtype=np.int32)
    which = stream.randint(0, 10, (count, 4), dtype=np.int32)
    for n in range(count):
        for (top, left), kind in zip(places[n], which[n], strict=True):
            square = slice(top, top + 20), slice(left, left + 20)
            pictures[n, 0][square] += 0.1 * (kind + 1)
            kinds[n][square] = kind + 1
    return pictures, kinds


def strips(count: int, stream: Any) -> tuple[Any, Any]:
    """Return texts that follow a pattern, as int32 of shape (count, 21). The inputs and the labels
    are the same texts.
    """
    first = stream.randint(0, 64, (count, 1), dtype=np.int32)
    text = (first + 7 * np.arange(21, dtype=np.int32)) % 64
    return text.astype(np.int32), text.astype(np.int32)


def _resnet(width: int) -> Any:
    from resnet_cifar import network

    return network(10, width)


def _cnn() -> Any:
    from train import cnn

    return cnn((16, 16, 16), 28)


def _mlp() -> Any:
    from mlp_table import network

    return network(10, 1000)


def _lstm() -> Any:
    from lstm_text import network

    return network(64, 256)


def _unet() -> Any:
    from unet_scenes import network

    return network(16)


def momentum() -> Any:
    import chainer

    return chainer.optimizers.MomentumSGD(lr=0.01, momentum=0.9)


def adam() -> Any:
    import chainer

    return chainer.optimizers.Adam()


KINDS = {
    "resnet18": Kind(
        lambda: _resnet(64), lambda n, s: images(32, 3, n, s), momentum, batches=(16, 64)
    ),
    "cnn": Kind(_cnn, lambda n, s: images(28, 1, n, s), momentum, batches=(32, 128)),
    "mlp": Kind(_mlp, lambda n, s: images(28, 1, n, s), adam, batches=(128,)),
    "lstm": Kind(_lstm, strips, adam, batches=(32,), items=20),
    "unet": Kind(_unet, scenes, adam, batches=(16,)),
    # The network of narrow.py: width 8, images of 16 x 16.
    "narrow": Kind(lambda: _resnet(8), lambda n, s: images(16, 3, n, s), momentum, batches=(8,)),
}


class Work:
    """A network, its data and its optimizer, on one device.

    Parameters
    ----------
    name : str
        One of `KINDS`.
    batch : int
        Elements per step.
    on : {"numpy", "cupy"}
        The array library; ``cupy`` is arraycore.
    captured : bool
        Whether steps are replayed (``hyperflock.fast_step``), from the fourth on.
    """

    def __init__(self, name: str, batch: int, on: str, captured: bool = False) -> None:
        import chainer

        kind = KINDS[name]
        np.random.seed(SEED)
        self.name, self.batch = name, batch
        self.network = kind.make()
        x, t = kind.data(BATCHES * batch, np.random.RandomState(5))
        if name == "mlp":
            with chainer.no_backprop_mode():
                self.network.forward(x[:1])  # makes the first layer, from the host's numbers
        if on == "cupy":
            import cupy

            self.network.to_gpu()
            x, t = cupy.asarray(x), cupy.asarray(t)
        parts = [slice(k * batch, (k + 1) * batch) for k in range(BATCHES)]
        self.batches = [(x[part], t[part]) for part in parts]
        if name == "lstm":  # time is the first axis
            self.batches = [(self._turned(x), t) for x, t in self.batches]
        self.optimizer = kind.optimizer()
        self.optimizer.setup(self.network)
        self._run = self.train
        self.captured = captured
        self.settles = 6 if captured else 1  # steps until each is like the one before
        if captured:
            import hyperflock

            self._run = hyperflock.fast_step(self.train)

    @staticmethod
    def _turned(x: Any) -> Any:
        return x.T.copy()

    def loss(self, x: Any, t: Any) -> Any:
        """Return a batch's loss as a Chainer variable."""
        import chainer.functions as F

        if self.name == "lstm":
            self.network.lstm.reset_state()
            return self.network.loss(x)
        return F.softmax_cross_entropy(self.network.forward(x), t)

    def train(self, x: Any, t: Any) -> Any:
        """Train on a batch; return its loss, an array of 0 dimensions, without waiting for it."""
        loss = self.loss(x, t)
        self.network.cleargrads()
        loss.backward()
        self.optimizer.update()
        return loss.array

    def step(self, number: int) -> Any:
        """Train on batch ``number`` modulo `BATCHES`; return its loss as `train` does."""
        return self._run(*self.batches[number % BATCHES])
