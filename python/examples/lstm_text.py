"""Searches units and dropout of an LSTM that learns to write a text, character by character.

    HYPERFLOCK_TOKEN=... python lstm_text.py --data book.txt [--units 64,128]
    python lstm_text.py --data ../../LICENSE --try --epochs 2

Any text file will do. Its last tenth is for evaluation. The text is cut into strips that are read
in parallel, a few characters at a time. The LSTM keeps its state from these characters to the next.
The value of a candidate is the bits per character of the evaluation part; fewer are better.
"""

import math
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np

STRIPS = 16
SPAN = 20  # characters over which gradients flow back
SAVE_EACH_S = 30


def network(characters, units, dropout=0.0):
    """Build an embedding, an LSTM and an output layer. The LSTM keeps its state between calls."""
    import chainer
    import chainer.functions as F
    import chainer.links as L

    class Writer(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.embed = L.EmbedID(characters, units)
                self.lstm = L.LSTM(units, units)
                self.out = L.Linear(units, characters)

        def forward(self, x):
            """Return scores for the next character of each strip, after the characters ``x``."""
            return self.out(F.dropout(self.lstm(F.dropout(self.embed(x), dropout)), dropout))

        def loss(self, strips):
            """Return the mean loss, in nats, of each character given those before it."""
            losses = [
                F.softmax_cross_entropy(self.forward(now), following)
                for now, following in pairwise(strips)
            ]
            return sum(losses) / len(losses)

    return Writer()


class Training:
    """All state of a trial. Chainer's serializers save and load it, so that a trial can resume."""

    def __init__(self, network, optimizer):
        self.network, self.optimizer = network, optimizer
        self.epoch = 0

    def serialize(self, serializer):
        self.network.serialize(serializer["network"])
        self.optimizer.serialize(serializer["optimizer"])
        self.epoch = int(serializer("epoch", self.epoch))


def objective(trial):
    """Train one candidate. Return the bits per character of the evaluation part."""
    import hyperflock

    device = hyperflock.device().use()  # before Chainer is imported
    import chainer

    text = trial.data["text"]
    characters = int(text["characters"].size)
    train = device.xp.asarray(in_strips(text["train"], STRIPS))
    strips = max(1, min(STRIPS, len(text["test"]) // SPAN))
    test = device.xp.asarray(in_strips(text["test"], strips))
    model = network(characters, trial.params["units"], trial.params["dropout"])
    device.send(model)
    optimizer = chainer.optimizers.Adam(alpha=trial.params["rate"])
    optimizer.setup(model)
    training = Training(model, optimizer)
    trial.resume(training)

    saved, steps = time.monotonic(), (len(train) - 1) // SPAN
    for epoch in range(training.epoch, trial.params["epochs"]):
        model.lstm.reset_state()
        total = 0.0
        for step in range(steps):
            loss = model.loss(train[step * SPAN : (step + 1) * SPAN + 1])
            model.cleargrads()
            loss.backward()
            loss.unchain_backward()  # keep the state, drop its history
            optimizer.update()
            total = total + loss.array
        training.epoch = epoch + 1
        trial.report(float(total) / steps / math.log(2), epoch)
        if trial.should_prune():
            raise hyperflock.TrialPruned
        if time.monotonic() - saved > SAVE_EACH_S:
            trial.checkpoint(training)
            saved = time.monotonic()

    model.lstm.reset_state()
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        return float(model.loss(test).array) / math.log(2)


def in_strips(numbers, strips):
    """Cut the text into strips. Return int32 of the shape (characters of a strip, ``strips``)."""
    length = len(numbers) // strips
    return np.ascontiguousarray(numbers[: length * strips].reshape(strips, length).T)


def load(path, limit=None):
    """Return the text's characters as int32 numbers, and the character of each number."""
    text = Path(path).read_text("utf-8")[:limit]
    characters = sorted(set(text))
    places = {character: number for number, character in enumerate(characters)}
    numbers = np.array([places[character] for character in text], np.int32)
    split = len(numbers) * 9 // 10
    if split // STRIPS <= SPAN or len(numbers) - split < 2:
        least = (SPAN + 1) * STRIPS * 10 // 9 + 1
        sys.exit(f"{path} has {len(text)} characters; {least} are the least")
    return {
        "train": numbers[:split],
        "test": numbers[split:],
        "characters": np.array([ord(character) for character in characters], np.int32),
    }


def main():
    """Read the text and search."""
    import searching

    parser = searching.options(__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="a text file, in UTF-8")
    parser.add_argument("--units", default="64,128,256")
    parser.add_argument("--dropouts", default="0,0.2", help="shares of units that are left out")
    parser.add_argument("--rates", default="0.01,0.003", help="Adam's step sizes")
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--limit", type=int, help="number of characters")
    args = parser.parse_args()
    space = {
        "units": searching.numbers(args.units, int),
        "dropout": searching.numbers(args.dropouts),
        "rate": searching.numbers(args.rates),
        "epochs": [args.epochs],
    }
    searching.main(
        args,
        objective,
        space,
        {"text": load(args.data, args.limit)},
        name="text: units and dropout of an LSTM",
        metric="bits/char",
        direction="minimize",
    )


if __name__ == "__main__":
    main()
