"""Checks that the same candidates agree in volunteers' browsers and in CPython.

The exit code is 1, with a sentence, if they do not. The goals are those of the platform: points and
initial weights exactly equal, the first 20 losses within 1e-4 relative, the final accuracy within
1 percentage point.
"""

import argparse
import sys
import zlib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
# The rate 1.0 tests that a whole float stays a float in every JSON text. The objective divides
# rates by 50. With a rate of 0.2 or more, training is chaotic, and rounding alone changes the
# accuracy.
SPACE = {"channels": [4, 8], "lr": [0.05, 1.0]}
LOSSES = 20
WEIGHTS_STEP = 10**6  # the step under which the checksum of the initial weights is reported


def build(channels: int) -> Any:
    """Build three convolutions with batch normalisation and a linear layer."""
    import chainer
    import chainer.functions as F
    import chainer.links as L

    class Net(chainer.Chain):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            with self.init_scope():
                self.conv1 = L.Convolution2D(1, channels, 3, pad=1)
                self.norm1 = L.BatchNormalization(channels)
                self.conv2 = L.Convolution2D(channels, channels, 3, pad=1)
                self.norm2 = L.BatchNormalization(channels)
                self.conv3 = L.Convolution2D(channels, channels, 3, pad=1)
                self.norm3 = L.BatchNormalization(channels)
                self.head = L.Linear(channels, 10)

        def __call__(self, x: Any) -> Any:
            h = F.max_pooling_2d(F.relu(self.norm1(self.conv1(x))), 2)
            h = F.relu(self.norm2(self.conv2(h)))
            h = F.relu(self.norm3(self.conv3(h)))
            return self.head(F.average_pooling_2d(h, h.shape[2]))

    return L.Classifier(Net())


def objective(trial: Any) -> float:
    """Train one epoch. Report weights and first losses, and return the accuracy on held-out
    images.
    """
    import chainer
    import numpy as np

    digits = trial.data["digits"]
    images, labels = digits["images"], digits["labels"]
    held_out = len(images) // 5
    model = build(trial.params["channels"])
    checksum = 0
    for _, parameter in sorted(model.namedparams()):
        checksum = zlib.crc32(np.ascontiguousarray(parameter.array).tobytes(), checksum)
    trial.report(float(checksum), WEIGHTS_STEP)
    optimizer = chainer.optimizers.MomentumSGD(lr=trial.params["lr"] / 50, momentum=0.9)
    optimizer.setup(model)
    order = np.random.permutation(len(images) - held_out) + held_out
    for step, start in enumerate(range(0, len(order), 32)):
        batch = order[start : start + 32]
        optimizer.update(model, images[batch], labels[batch])
        if step < LOSSES:
            trial.report(float(model.loss.array), step)
    with chainer.using_config("train", False), chainer.no_backprop_mode():
        model(images[:held_out], labels[:held_out])
    return float(model.accuracy.array)


def main() -> int:
    """Compute on both sides and compare."""
    import hyperflock

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chainer", choices=("7.8.1", "5.4.0"), default="7.8.1")
    options = parser.parse_args()
    wheels = ROOT / "build/cache"
    sys.path += [
        str(wheels / f"wheels/chainer-{options.chainer}-py3-none-any.whl"),
        str(next((wheels / "downloads").glob("six-*.whl"))),
        str(ROOT / "worker-runtime/python"),
    ]
    from sklearn.datasets import load_digits

    digits = load_digits()
    data = {
        "digits": {
            "images": (digits.images / 16).astype("float32")[:, None],
            "labels": digits.target.astype("int32"),
        }
    }
    client = hyperflock.Client()
    study = client.grid(
        objective,
        SPACE,
        data=data,
        name="parity",
        seed=2024,
        runtime=f"chainer-{options.chainer}",
        direction="maximize",
    )
    points = list(hyperflock.suggest_grid(SPACE))
    worst_loss = worst_accuracy = 0.0
    finished = 0
    for trial in study:
        if trial.state != "complete":
            print(f"trial {trial.number} {trial.state}: {trial.error}")
            return 1
        finished += 1
        expected = points[trial.number]
        if repr(trial.params) != repr(expected):
            print(f"trial {trial.number}: parameters {trial.params!r}, CPython has {expected!r}")
            return 1
        if trial.seed != hyperflock.trial_seed(2024, trial.number):
            print(f"trial {trial.number}: seed {trial.seed}")
            return 1
        run = hyperflock.run_local(
            objective, expected, seed=trial.seed, data=data, number=trial.number
        )
        ours, theirs = dict(study.trial(trial.number).points), dict(run.points)
        if ours.pop(WEIGHTS_STEP) != theirs.pop(WEIGHTS_STEP):
            print(f"trial {trial.number}: initial weights differ")
            return 1
        if sorted(ours) != list(range(LOSSES)) or sorted(theirs) != sorted(ours):
            print(f"trial {trial.number}: {len(ours)} losses in the browser, {len(theirs)} here")
            return 1
        worst_loss = max(worst_loss, *(abs(ours[k] - theirs[k]) / abs(theirs[k]) for k in theirs))
        worst_accuracy = max(worst_accuracy, abs(trial.value - run.value))
    print(
        f"Chainer {options.chainer}: {finished} candidates, largest relative difference of a loss "
        f"{worst_loss:.1e}, of accuracy {100 * worst_accuracy:.2f} percentage points"
    )
    return int(finished != len(points) or worst_loss > 1e-4 or worst_accuracy > 0.01)


if __name__ == "__main__":
    sys.exit(main())
