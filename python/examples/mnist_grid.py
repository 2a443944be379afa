"""Searches the channels of a three-layer CNN on MNIST, by default {4, 16, 64, 256}^3.

    HYPERFLOCK_TOKEN=... python mnist_grid.py --data FOLDER [--channels 4,16] [--limit N]

The folder holds MNIST's IDX files, compressed (.gz) or not. Each of the 64 candidates has three
blocks of 3x3 convolution, batch-norm and ReLU, with pooling. It trains one epoch on 10,000 images
with momentum SGD (0.9) in batches of 32; its value is the accuracy on 1,000 others. --limit uses
only the first N training images (and N/10 for evaluation), for a quick look.
"""

import argparse
import gzip
import os
import struct
import sys
from pathlib import Path

TRAIN_IMAGES = 10_000
TEST_IMAGES = 1_000
BATCH = 32


def objective(trial):
    """Train one candidate for an epoch. Return its accuracy on the evaluation images."""
    import chainer
    import chainer.functions as F
    import chainer.links as L
    import hyperflock
    import numpy as np

    device = hyperflock.device().use()  # the volunteer's GPU, if there is one
    mnist = trial.data["mnist"]
    images = mnist["train_images"].astype(np.float32)[:, None] / 255.0
    labels = mnist["train_labels"].astype(np.int32)
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
                self.out = L.Linear(channels[2], 10)

        def forward(self, x):
            x = F.max_pooling_2d(F.relu(self.norm1(self.conv1(x))), 2)
            x = F.max_pooling_2d(F.relu(self.norm2(self.conv2(x))), 2)
            x = F.average_pooling_2d(F.relu(self.norm3(self.conv3(x))), 7)
            return self.out(x)

    network = device.send(Network())
    optimizer = chainer.optimizers.MomentumSGD(lr=0.01, momentum=0.9)
    optimizer.setup(network)
    order = np.random.permutation(len(images))
    for step, start in enumerate(range(0, len(images), BATCH)):
        batch = order[start : start + BATCH]
        x, t = device.send(images[batch]), device.send(labels[batch])
        loss = F.softmax_cross_entropy(network.forward(x), t)
        network.cleargrads()
        loss.backward()
        optimizer.update()
        # Report the first 20 steps, to compare runs. Report later steps rarely, because a report
        # waits until the loss is computed.
        if step < 20 or step % 10 == 0:
            trial.report(float(loss.array), step)

    images = mnist["test_images"].astype(np.float32)[:, None] / 255.0
    labels = mnist["test_labels"].astype(np.int32)
    correct = 0
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        for start in range(0, len(images), 100):
            scores = network.forward(device.send(images[start : start + 100])).array
            expected = device.send(labels[start : start + 100])
            correct += int((scores.argmax(axis=1) == expected).sum())
    return correct / len(images)


def load(folder, limit=None):
    """Return MNIST's images and labels as uint8 arrays, and a sentence about their origin."""
    folder = Path(folder)
    if find(folder, "train-images") and find(folder, "train-labels"):
        arrays = {
            "train_images": read_idx(find(folder, "train-images"))[:TRAIN_IMAGES],
            "train_labels": read_idx(find(folder, "train-labels"))[:TRAIN_IMAGES],
        }
        test_images = read_idx(needed(folder, "t10k-images"))
        test_labels = read_idx(needed(folder, "t10k-labels"))
        said = "the training files"
    else:
        images = read_idx(needed(folder, "t10k-images"))
        labels = read_idx(needed(folder, "t10k-labels"))
        split = len(images) - TEST_IMAGES
        arrays = {"train_images": images[:split], "train_labels": labels[:split]}
        test_images, test_labels = images[split:], labels[split:]
        said = f"only the t10k files are there, split {split:,}/{TEST_IMAGES:,}"
    arrays["test_images"] = test_images[:TEST_IMAGES]
    arrays["test_labels"] = test_labels[:TEST_IMAGES]
    if limit is not None:
        part = {"train": limit, "test": max(1, limit // 10)}
        arrays = {name: array[: part[name.split("_")[0]]] for name, array in arrays.items()}
    counts = f"{len(arrays['train_images']):,} training, {len(arrays['test_images']):,} evaluation"
    return arrays, f"{counts} images ({said})"


def find(folder, stem):
    """Return the path of the IDX file of this name, in any spelling, or None."""
    for suffix in ("-idx3-ubyte", "-idx1-ubyte", ".idx3-ubyte", ".idx1-ubyte"):
        for end in ("", ".gz"):
            path = folder / f"{stem}{suffix}{end}"
            if path.is_file():
                return path
    return None


def needed(folder, stem):
    """Return what `find` returns. End the program if there is no such file."""
    path = find(folder, stem)
    if path is None:
        sys.exit(
            f"{folder} has no {stem}-idx*-ubyte(.gz); get MNIST's IDX files and give their folder"
        )
    return path


def read_idx(path):
    """Return the content of an IDX file of unsigned bytes as an array."""
    import numpy as np

    content = path.read_bytes()
    if content[:2] == b"\x1f\x8b":
        content = gzip.decompress(content)
    zero, kind, dimensions = struct.unpack(">HBB", content[:4])
    if zero != 0 or kind != 8:
        sys.exit(f"{path} is not an IDX file of unsigned bytes")
    shape = struct.unpack(f">{dimensions}I", content[4 : 4 + 4 * dimensions])
    return np.frombuffer(content, np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def main():
    """Submit the grid and print each candidate when its result arrives."""
    import hyperflock

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder of MNIST's IDX files")
    parser.add_argument("--url", help="the console's address (or HYPERFLOCK_URL)")
    parser.add_argument("--token", help="a researcher's token (or HYPERFLOCK_TOKEN)")
    parser.add_argument("--channels", default="4,16,64,256", help="values of each channel count")
    parser.add_argument("--limit", type=int, help="number of training images")
    parser.add_argument("--runtime", default="chainer-7.8.1", help="or chainer-5.4.0")
    parser.add_argument("--backend", help="auto (default), webgpu or cpu")
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
    arrays, said = load(args.data, args.limit)
    client = hyperflock.Client(args.url, args.token)
    join_url = client.join_url() if args.join_url == "" else args.join_url
    study = client.grid(
        objective,
        {"c1": channels, "c2": channels, "c3": channels},
        data={"mnist": arrays},
        name="MNIST: channels of a small CNN",
        direction="maximize",
        seed=args.seed,
        runtime=args.runtime,
        backend=args.backend,
        progress=False,  # this script prints its own table
    )
    print(f"study {study.id}: {len(study)} candidates, {client.url}")
    print(said)
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
    print(f"best: {channels_found} with accuracy {best.value:.4f} on the evaluation images")
    if join_url:
        print(f"page: {join_url}")


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
