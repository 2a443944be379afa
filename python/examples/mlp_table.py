"""Searches units and dropout of a multi-layer perceptron that classifies the rows of a table.

    HYPERFLOCK_TOKEN=... python mlp_table.py --data table.csv --target species [--units 64,256]
    python mlp_table.py --data table.csv --target species --try --epochs 3

The table is a CSV file with a header line. The target column holds the class; every other column
holds numbers, and an empty field gets the mean of its column. Each fifth row is for evaluation.
Columns are scaled to mean 0 and variance 1. The perceptron has three layers and is trained by Adam;
its value is the accuracy on the rows for evaluation.
"""

import csv
import sys
import time

import numpy as np

BATCH = 128
SAVE_EACH_S = 30


def network(classes, units, dropout=0.0):
    """Build three layers. The first gets the number of columns from its first input."""
    import chainer
    import chainer.functions as F
    import chainer.links as L

    class Perceptron(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.l1 = L.Linear(None, units)
                self.l2 = L.Linear(units, units)
                self.l3 = L.Linear(units, classes)

        def forward(self, x):
            x = F.dropout(F.relu(self.l1(x)), dropout)
            x = F.dropout(F.relu(self.l2(x)), dropout)
            return self.l3(x)

    return Perceptron()


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
    """Train one candidate. Return its accuracy on the rows for evaluation."""
    import hyperflock

    device = hyperflock.device().use()  # before Chainer is imported
    import chainer
    import chainer.functions as F

    table = trial.data["table"]
    rows, labels = table["train_rows"], table["train_labels"]
    classes = int(max(labels.max(), table["test_labels"].max())) + 1
    model = network(classes, trial.params["units"], trial.params["dropout"])
    with chainer.no_backprop_mode():
        model.forward(rows[:1])  # creates the first layer, still in NumPy
    device.send(model)
    optimizer = chainer.optimizers.Adam()
    optimizer.setup(model)
    training = Training(model, optimizer)
    trial.resume(training)

    saved = time.monotonic()
    for epoch in range(training.epoch, trial.params["epochs"]):
        order = np.random.RandomState((trial.seed + epoch) % 2**32).permutation(len(rows))
        total = 0.0
        for start in range(0, len(rows), BATCH):
            batch = order[start : start + BATCH]
            scores = model.forward(device.xp.asarray(rows[batch]))
            loss = F.softmax_cross_entropy(scores, device.xp.asarray(labels[batch]))
            model.cleargrads()
            loss.backward()
            optimizer.update()
            total = total + loss.array * len(batch)  # stays on the device, so no step waits for it
        training.epoch = epoch + 1
        trial.report(float(total) / len(rows), epoch)
        if trial.should_prune():
            raise hyperflock.TrialPruned
        if time.monotonic() - saved > SAVE_EACH_S:
            trial.checkpoint(training)
            saved = time.monotonic()

    with chainer.using_config("train", False), chainer.no_backprop_mode():
        scores = model.forward(device.xp.asarray(table["test_rows"])).array
    found = chainer.backends.cuda.to_cpu(scores.argmax(axis=1))
    return float((found == table["test_labels"]).mean())


def load(path, target):
    """Return the rows as float32, scaled to mean 0 and variance 1, and their classes as int32."""
    with open(path, newline="", encoding="utf-8") as file:
        lines = csv.reader(file)
        head = next(lines, [])
        if target not in head:
            sys.exit(f"{path} has no column {target!r}; it has {', '.join(head) or 'none'}")
        place = head.index(target)
        kinds, rows = [], []
        for number, fields in enumerate(lines, 2):
            if len(fields) != len(head):
                sys.exit(f"line {number} of {path} has {len(fields)} fields, not {len(head)}")
            kinds.append(fields.pop(place))
            try:
                rows.append([float(field) if field.strip() else np.nan for field in fields])
            except ValueError as error:
                sys.exit(f"line {number} of {path}: {error}")
    if len(rows) < 5:
        sys.exit(f"{path} has {len(rows)} rows; five are the least")
    columns = np.array(rows)
    names = sorted(set(kinds))
    labels = np.array([names.index(kind) for kind in kinds], np.int32)
    test = np.arange(len(columns)) % 5 == 4
    mean, spread = np.nanmean(columns[~test], axis=0), np.nanstd(columns[~test], axis=0)
    scaled = np.nan_to_num((columns - mean) / np.where(spread > 0, spread, 1)).astype(np.float32)
    return {
        "train_rows": scaled[~test],
        "train_labels": labels[~test],
        "test_rows": scaled[test],
        "test_labels": labels[test],
    }


def main():
    """Read the table and search."""
    import searching

    parser = searching.options(__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="a CSV file with a head line")
    parser.add_argument("--target", required=True, help="the column that holds the class")
    parser.add_argument("--units", default="64,256,1024", help="units of each hidden layer")
    parser.add_argument("--dropouts", default="0,0.2,0.5", help="shares of units that are left out")
    parser.add_argument("--epochs", type=int, default=20)
    args = parser.parse_args()
    space = {
        "units": searching.numbers(args.units, int),
        "dropout": searching.numbers(args.dropouts),
        "epochs": [args.epochs],
    }
    searching.main(
        args,
        objective,
        space,
        {"table": load(args.data, args.target)},
        name=f"{args.target}: units and dropout of a perceptron",
        metric="accuracy",
    )


if __name__ == "__main__":
    main()
