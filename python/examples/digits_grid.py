"""Searches the channels of a small CNN on scikit-learn's digits, in volunteers' browsers.

    HYPERFLOCK_TOKEN=... python digits_grid.py [--url URL] [--channels 4,8] [--join-url [LINK]]
        [--digits FILE]

Each candidate has three blocks of 3x3 convolution, batch-norm and ReLU, whose channels come from a
grid. It trains one epoch on 1,437 images; its value is the accuracy on the other 360. This machine
needs scikit-learn, or a file with the same arrays (``--digits``), and not Chainer. The browsers
need Chainer and not scikit-learn.
"""

import argparse
import os
import sys

TRAIN_IMAGES = 1437
BATCH = 32


def objective(trial):
    """Train one candidate for an epoch. Return its accuracy on the held-out images."""
    import chainer
    import chainer.functions as F
    import chainer.links as L
    import numpy as np

    digits = trial.data["digits"]
    images = digits["images"].astype(np.float32)[:, None] / 16.0
    labels = digits["labels"].astype(np.int32)
    channels = [trial.params[name] for name in ("c1", "c2", "c3")]

    class Network(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.conv1 = L.Convolution2D(1, channels[0], 3, pad=1)
                self.norm1 = L.BatchNormalization(channels[0])
                self.conv2 = L.Convolution2D(channels[0], channels[1], 3, pad=1)
                self.norm2 = L.BatchNormalization(channels[1])
                self.conv3 = L.Convolution2D(channels[1], channels[2], 3, pad=1)
                self.norm3 = L.BatchNormalization(channels[2])
                self.out = L.Linear(channels[2] * 4 * 4, 10)

        def forward(self, x):
            x = F.relu(self.norm1(self.conv1(x)))
            x = F.max_pooling_2d(F.relu(self.norm2(self.conv2(x))), 2)
            x = F.relu(self.norm3(self.conv3(x)))
            return self.out(x)

    network = Network()
    optimizer = chainer.optimizers.MomentumSGD(lr=0.05, momentum=0.9)
    optimizer.setup(network)
    order = np.random.permutation(TRAIN_IMAGES)
    for step, start in enumerate(range(0, TRAIN_IMAGES, BATCH)):
        batch = order[start : start + BATCH]
        loss = F.softmax_cross_entropy(network.forward(images[batch]), labels[batch])
        network.cleargrads()
        loss.backward()
        optimizer.update()
        # Report the first 20 steps, to compare runs. Report later steps rarely, because a report
        # waits until the loss is computed.
        if step < 20 or step % 5 == 0:
            trial.report(float(loss.array), step)

    with chainer.using_config("train", False), chainer.no_backprop_mode():
        scores = network.forward(images[TRAIN_IMAGES:]).array
    return float((scores.argmax(axis=1) == labels[TRAIN_IMAGES:]).mean())


def load(path=None):
    """Return the digits as plain arrays, so that the browsers need no scikit-learn."""
    import numpy as np

    if path is not None:
        with np.load(path) as arrays:
            return dict(arrays)
    from sklearn.datasets import load_digits

    digits = load_digits()
    return {
        "images": digits.images.astype(np.uint8),
        "labels": digits.target.astype(np.uint8),
    }


def main():
    """Submit the grid and print each candidate when its result arrives."""
    import hyperflock

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--url", help="the console's address (or HYPERFLOCK_URL)")
    parser.add_argument("--token", help="a researcher's token (or HYPERFLOCK_TOKEN)")
    parser.add_argument("--channels", default="4,8", help="values of each channel count")
    parser.add_argument("--runtime", default="chainer-7.8.1", help="or chainer-5.4.0")
    parser.add_argument("--digits", help="an .npz file of the digits, in place of scikit-learn")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument(
        "--join-url",
        nargs="?",
        const="",
        default=os.environ.get("HYPERFLOCK_JOIN_URL"),
        help="the volunteers' link to print (or HYPERFLOCK_JOIN_URL); no value: a new one",
    )
    args = parser.parse_args()

    channels = [int(c) for c in args.channels.split(",")]
    client = hyperflock.Client(args.url, args.token)
    join_url = client.join_url() if args.join_url == "" else args.join_url
    study = client.grid(
        objective,
        {"c1": channels, "c2": channels, "c3": channels},
        data={"digits": load(args.digits)},
        name="digits: channels of a small CNN",
        direction="maximize",
        seed=args.seed,
        runtime=args.runtime,
        progress=False,  # this script prints its own table
    )
    print(f"study {study.id}: {len(study)} candidates, {client.url}")
    if join_url:
        print(f"volunteers join at {join_url}")
    print(f"{'candidate':>14}  {'accuracy':>8}  {'seconds':>7}  attempts  device", flush=True)
    for trial in study:
        candidate = "-".join(str(trial.params[c]) for c in ("c1", "c2", "c3"))
        accuracy = trial.state if trial.value is None else f"{trial.value:.4f}"
        device = f"{trial.device or '-'} ({trial.engine or '-'}, {trial.backend or '-'})"
        row = f"{candidate:>14}  {accuracy:>8}  {trial.run_s:7.1f}  {trial.attempts:8}  {device}"
        print(row, flush=True)
    best = study.best_trial
    channels_found = "-".join(str(best.params[c]) for c in ("c1", "c2", "c3"))
    print(f"best: {channels_found} with accuracy {best.value:.4f} on held-out images")
    if join_url:
        print(f"page: {join_url}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
