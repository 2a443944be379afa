"""Searches width and learning rate of a U-Net that finds handwritten digits in cluttered scenes.

    HYPERFLOCK_TOKEN=... python unet_scenes.py --data FOLDER [--widths 8,16]
    python unet_scenes.py --data FOLDER --try --widths 4 --epochs 1 --scenes 64

The folder holds MNIST's IDX files, compressed (.gz) or not. Each scene is an image of 64 x 64
pixels with a few digits at random places, on noise. The network classifies every pixel as
background or as one of the ten digits. The value is the mean intersection over union of these
eleven classes, on scenes made of other digits.
"""

import time

import numpy as np

SIDE = 64
DIGITS = 4  # per scene
KINDS = 11  # background, and ten digits
BATCH = 16
SAVE_EACH_S = 30


def network(width):
    """Build a U-Net of three levels. Channels start at ``width`` and double with each level."""
    import chainer
    import chainer.functions as F
    import chainer.links as L

    class Level(chainer.Chain):
        """Two times a 3x3 convolution, batch-norm and ReLU."""

        def __init__(self, inside, outside):
            super().__init__()
            with self.init_scope():
                self.conv1 = L.Convolution2D(inside, outside, 3, 1, 1, nobias=True)
                self.norm1 = L.BatchNormalization(outside)
                self.conv2 = L.Convolution2D(outside, outside, 3, 1, 1, nobias=True)
                self.norm2 = L.BatchNormalization(outside)

        def forward(self, x):
            x = F.relu(self.norm1(self.conv1(x)))
            return F.relu(self.norm2(self.conv2(x)))

    class UNet(chainer.Chain):
        def __init__(self):
            super().__init__()
            with self.init_scope():
                self.down1 = Level(1, width)
                self.down2 = Level(width, 2 * width)
                self.bottom = Level(2 * width, 4 * width)
                self.up2 = L.Deconvolution2D(4 * width, 2 * width, 2, 2)
                self.join2 = Level(4 * width, 2 * width)
                self.up1 = L.Deconvolution2D(2 * width, width, 2, 2)
                self.join1 = Level(2 * width, width)
                self.out = L.Convolution2D(width, KINDS, 1)

        def forward(self, x):
            fine = self.down1(x)
            middle = self.down2(F.max_pooling_2d(fine, 2))
            x = self.bottom(F.max_pooling_2d(middle, 2))
            x = self.join2(F.concat((middle, self.up2(x))))
            x = self.join1(F.concat((fine, self.up1(x))))
            return self.out(x)

    return UNet()


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
    """Train one candidate. Return its mean intersection over union on scenes of other digits."""
    import hyperflock

    device = hyperflock.device().use()  # before Chainer is imported
    import chainer
    import chainer.functions as F

    scenes = trial.data["scenes"]
    images, kinds = scenes["train_images"], scenes["train_kinds"].astype(np.int32)
    model = network(trial.params["width"])
    device.send(model)
    optimizer = chainer.optimizers.Adam(alpha=trial.params["rate"])
    optimizer.setup(model)
    training = Training(model, optimizer)
    trial.resume(training)

    steps = len(images) // BATCH
    saved = time.monotonic()
    for step in range(training.step, trial.params["epochs"] * steps):
        epoch, place = divmod(step, steps)
        order = np.random.RandomState((trial.seed + epoch) % 2**32).permutation(len(images))
        batch = order[place * BATCH : (place + 1) * BATCH]
        scores = model.forward(device.xp.asarray(normalised(images[batch])))
        loss = F.softmax_cross_entropy(scores, device.xp.asarray(kinds[batch]))
        model.cleargrads()
        loss.backward()
        optimizer.update()
        training.step = step + 1
        if step % 10 == 0 or step < 10:  # a report waits for the loss
            trial.report(float(loss.array), step)
            if trial.should_prune():
                raise hyperflock.TrialPruned
        if time.monotonic() - saved > SAVE_EACH_S:
            trial.checkpoint(training)
            saved = time.monotonic()
    return overlap(model, device, scenes["test_images"], scenes["test_kinds"])


def overlap(model, device, images, kinds):
    """Return the mean intersection over union of the classes that occur."""
    import chainer

    table = np.zeros((KINDS, KINDS))  # pixels by true and predicted class
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        for start in range(0, len(images), BATCH):
            part = slice(start, start + BATCH)
            scores = model.forward(device.xp.asarray(normalised(images[part]))).array
            found = chainer.backends.cuda.to_cpu(scores.argmax(axis=1)).ravel()
            pairs = kinds[part].ravel().astype(np.int64) * KINDS + found
            table += np.bincount(pairs, minlength=KINDS * KINDS).reshape(KINDS, KINDS)
    both = np.diag(table)
    either = table.sum(axis=0) + table.sum(axis=1) - both
    return float((both[either > 0] / either[either > 0]).mean())


def normalised(images):
    """Convert images of bytes to float32 values around 0, of the shape (n, 1, 64, 64)."""
    return images[:, None].astype(np.float32) / 128 - 0.5


def load(folder, scenes):
    """Return uint8 arrays: images (n, 64, 64), and the class of each pixel (0, or digit + 1)."""
    from mnist_grid import load as load_digits

    digits, _ = load_digits(folder)
    made = {}
    for seed, (part, count) in enumerate((("train", scenes), ("test", max(BATCH, scenes // 5)))):
        stream = np.random.RandomState(seed)
        images, labels = digits[f"{part}_images"], digits[f"{part}_labels"]
        pairs = [compose(images, labels, stream) for _ in range(count)]
        made[f"{part}_images"], made[f"{part}_kinds"] = (
            np.stack(each) for each in zip(*pairs, strict=True)
        )
    return made


def compose(images, labels, stream):
    """Return one scene: an image with noise, and the class of each pixel."""
    image = stream.randint(0, 60, (SIDE, SIDE)).astype(np.uint8)
    kinds = np.zeros((SIDE, SIDE), np.uint8)
    height, width = images.shape[1:]
    for number in stream.randint(0, len(images), DIGITS):
        top, left = stream.randint(0, SIDE - height + 1), stream.randint(0, SIDE - width + 1)
        place = slice(top, top + height), slice(left, left + width)
        image[place] = np.maximum(image[place], images[number])
        kinds[place] = np.where(images[number] > 100, labels[number] + 1, kinds[place])
    return image, kinds


def main():
    """Compose the scenes and search."""
    import searching

    parser = searching.options(__doc__.splitlines()[0])
    parser.add_argument("--data", required=True, help="folder of MNIST's IDX files")
    parser.add_argument("--widths", default="8,16,32", help="channels of the finest level")
    parser.add_argument("--rates", default="0.003,0.001", help="Adam's step sizes")
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--scenes", type=int, default=1000, help="for training")
    args = parser.parse_args()
    space = {
        "width": searching.numbers(args.widths, int),
        "rate": searching.numbers(args.rates),
        "epochs": [args.epochs],
    }
    searching.main(
        args,
        objective,
        space,
        {"scenes": load(args.data, args.scenes)},
        name="scenes: width and learning rate of a U-Net",
        metric="overlap",
    )


if __name__ == "__main__":
    main()
