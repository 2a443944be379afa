"""Searches learning rate and weight decay of a ResNet-18 on CIFAR-10 or CIFAR-100.

    HYPERFLOCK_TOKEN=... python resnet_cifar.py --data FOLDER [--rates 0.1,0.05] [--epochs 10]
    python resnet_cifar.py --data FOLDER --try --width 8 --epochs 1 --limit 512

The folder holds the files of the binary version: data_batch_1.bin to data_batch_5.bin and
test_batch.bin of CIFAR-10, or train.bin and test.bin of CIFAR-100. The network is the one for small
images (3x3 stem, four stages of two blocks). It is trained by momentum SGD with a cosine schedule,
crops and flips; its value is the accuracy on the test images. A trial saves a checkpoint every half
minute, from which another device can resume it.
"""

import math
import sys
import time
from pathlib import Path

import numpy as np

SIDE = 32
BATCH = 64
SAVE_EACH_S = 30


def network(classes, width=64):
    """Build a ResNet-18 for 32 x 32 images, with ``width`` channels in the first of four stages."""
    import chainer
    import chainer.functions as F
    import chainer.links as L

    class Block(chainer.Chain):
        """Two 3x3 convolutions and a shortcut around them."""

        def __init__(self, inside, outside, stride):
            super().__init__()
            with self.init_scope():
                self.conv1 = L.Convolution2D(inside, outside, 3, stride, 1, nobias=True)
                self.norm1 = L.BatchNormalization(outside)
                self.conv2 = L.Convolution2D(outside, outside, 3, 1, 1, nobias=True)
                self.norm2 = L.BatchNormalization(outside)
                if stride != 1 or inside != outside:
                    self.conv3 = L.Convolution2D(inside, outside, 1, stride, nobias=True)
                    self.norm3 = L.BatchNormalization(outside)
            self.straight = stride == 1 and inside == outside

        def forward(self, x):
            around = x if self.straight else self.norm3(self.conv3(x))
            x = F.relu(self.norm1(self.conv1(x)))
            return F.relu(self.norm2(self.conv2(x)) + around)

    class ResNet18(chainer.Chain):
        def __init__(self):
            super().__init__()
            blocks, inside = [], width
            for stage in range(4):
                for number in range(2):
                    stride = 2 if stage > 0 and number == 0 else 1
                    blocks.append(Block(inside, width << stage, stride))
                    inside = width << stage
            with self.init_scope():
                self.conv = L.Convolution2D(3, width, 3, 1, 1, nobias=True)
                self.norm = L.BatchNormalization(width)
                self.blocks = chainer.ChainList(*blocks)
                self.out = L.Linear(inside, classes)

        def forward(self, x):
            x = F.relu(self.norm(self.conv(x)))
            for block in self.blocks:
                x = block(x)
            return self.out(F.average_pooling_2d(x, x.shape[2:]))

    return ResNet18()


class Training:
    """All state of a trial. Chainer's serializers save and load it, so that a trial can resume."""

    def __init__(self, network, optimizer):
        self.network, self.optimizer = network, optimizer
        self.step = 0

    def serialize(self, serializer):
        self.network.serialize(serializer["network"])
        self.optimizer.serialize(serializer["optimizer"])
        self.step = int(serializer("step", self.step))


def objective(trial):
    """Train one candidate. Return its accuracy on the test images."""
    import hyperflock

    device = hyperflock.device().use()  # before Chainer is imported
    import chainer
    import chainer.functions as F

    cifar = trial.data["cifar"]
    images, labels = cifar["train_images"], cifar["train_labels"].astype(np.int32)
    epochs, width = trial.params["epochs"], trial.params["width"]
    model = network(100 if labels.max() >= 10 else 10, width)
    device.send(model)
    optimizer = chainer.optimizers.MomentumSGD(lr=trial.params["rate"], momentum=0.9)
    optimizer.setup(model)
    optimizer.add_hook(chainer.optimizer_hooks.WeightDecay(trial.params["decay"]))
    training = Training(model, optimizer)
    trial.resume(training)

    steps = len(images) // BATCH
    saved = time.monotonic()
    for step in range(training.step, epochs * steps):
        # The order depends on the epoch and the seed alone, so that a resumed trial sees the same
        # batches.
        epoch, place = divmod(step, steps)
        order = np.random.RandomState((trial.seed + epoch) % 2**32).permutation(len(images))
        batch = order[place * BATCH : (place + 1) * BATCH]
        stream = np.random.RandomState((trial.seed ^ step) % 2**32)
        x = device.xp.asarray(augmented(images[batch], stream))
        optimizer.lr = 0.5 * trial.params["rate"] * (1 + math.cos(math.pi * step / epochs / steps))
        loss = F.softmax_cross_entropy(model.forward(x), device.xp.asarray(labels[batch]))
        model.cleargrads()
        loss.backward()
        optimizer.update()
        training.step = step + 1
        if step % 20 == 0 or step < 10:  # a report waits for the loss
            trial.report(float(loss.array), step)
            if trial.should_prune():
                raise hyperflock.TrialPruned
        if time.monotonic() - saved > SAVE_EACH_S:
            trial.checkpoint(training)
            saved = time.monotonic()
    return accuracy(model, device, cifar["test_images"], cifar["test_labels"])


def accuracy(model, device, images, labels):
    """Return the share of images that the network classifies correctly."""
    import chainer

    right = 0
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        for start in range(0, len(images), 100):
            scores = model.forward(device.xp.asarray(normalised(images[start : start + 100]))).array
            found = chainer.backends.cuda.to_cpu(scores.argmax(axis=1))
            right += int((found == labels[start : start + 100]).sum())
    return right / len(images)


def normalised(images):
    """Convert images of bytes, of the shape (n, 3, 32, 32), to float32 values around 0."""
    return (images.astype(np.float32) - 120) / 64


def augmented(images, stream):
    """Return normalised images, each moved by up to 4 pixels, and about half of them mirrored."""
    padded = np.pad(normalised(images), ((0, 0), (0, 0), (4, 4), (4, 4)))
    out = np.empty_like(padded[:, :, :SIDE, :SIDE])
    moves, mirrored = stream.randint(0, 9, (len(images), 2)), stream.rand(len(images)) < 0.5
    for to, image, (down, right), mirror in zip(out, padded, moves, mirrored, strict=True):
        part = image[:, down : down + SIDE, right : right + SIDE]
        to[...] = part[:, :, ::-1] if mirror else part
    return out


def load(folder, limit=None):
    """Return CIFAR's images and labels as uint8 arrays; ``limit`` cuts the training set."""
    folder = Path(folder)
    if (folder / "train.bin").is_file():
        train, test, classes = ["train.bin"], "test.bin", 100
    else:
        train, test, classes = [f"data_batch_{k}.bin" for k in range(1, 6)], "test_batch.bin", 10
    parts = [records(folder / name, classes) for name in train]
    images, labels = (np.concatenate(each) for each in zip(*parts, strict=True))
    test_images, test_labels = records(folder / test, classes)
    few = None if limit is None else max(1, limit // 5)
    return {
        "train_images": images[:limit],
        "train_labels": labels[:limit],
        "test_images": test_images[:few],
        "test_labels": test_labels[:few],
    }


def records(path, classes):
    """Read images (n, 3, 32, 32) and labels of one file.

    A record is its labels, then its pixels.
    """
    if not path.is_file():
        sys.exit(f"{path} is not there: get CIFAR's binary version and give its folder")
    head = 1 if classes == 10 else 2  # CIFAR-100: the coarse and the fine label
    content = np.fromfile(path, np.uint8)
    size = head + 3 * SIDE * SIDE
    if len(content) == 0 or len(content) % size:
        sys.exit(f"{path} is no file of CIFAR-{classes}: its size is no multiple of {size} bytes")
    rows = content.reshape(-1, size)
    labels = rows[:, head - 1]
    if labels.max() >= classes:
        sys.exit(f"{path} is no file of CIFAR-{classes}: it has a label {labels.max()}")
    return rows[:, head:].reshape(-1, 3, SIDE, SIDE), labels.copy()


def main():
    """Read the files and search."""
    import searching

    parser = searching.options(__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder of CIFAR's binary files")
    parser.add_argument("--rates", default="0.1,0.05,0.02", help="learning rates")
    parser.add_argument("--decays", default="5e-4,1e-4", help="weight decays")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--width", type=int, default=64, help="channels of the first stage")
    parser.add_argument("--limit", type=int, help="number of training images")
    args = parser.parse_args()
    space = {
        "rate": searching.numbers(args.rates),
        "decay": searching.numbers(args.decays),
        "width": [args.width],
        "epochs": [args.epochs],
    }
    searching.main(
        args,
        objective,
        space,
        {"cifar": load(args.data, args.limit)},
        name="CIFAR: learning rate of a ResNet-18",
        metric="accuracy",
    )


if __name__ == "__main__":
    main()
