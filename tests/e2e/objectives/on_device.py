"""A part of MNIST's grid on volunteers' devices and in this CPython must agree.

    python on_device.py --backend webgpu --channels 4,16 [--chainer 5.4.0] [--images 96]

The objective is that of python/examples/mnist_grid.py, on small pictures of scikit-learn's digits.
Same seeds, same order of data. Ends with 1 and a sentence where a trial did not compute on the
back end, where one of the first losses differs by more than 1e-3 of itself, or an accuracy by more
than 2 percentage points.
"""

import argparse
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
MOST_LOSS = 1e-3
MOST_ACCURACY = 0.02
SEED = 7


def pictures(train: int, test: int) -> dict[str, Any]:
    """MNIST's four arrays, of digits of 8 x 8 points drawn on 28 x 28."""
    import numpy as np
    from sklearn.datasets import load_digits

    digits = load_digits()
    drawn = np.kron(digits.images * 15.9375, np.ones((3, 3)))
    images = np.pad(drawn, ((0, 0), (2, 2), (2, 2))).astype(np.uint8)
    labels = digits.target.astype(np.uint8)
    return {
        "train_images": images[:train],
        "train_labels": labels[:train],
        "test_images": images[-test:],
        "test_labels": labels[-test:],
    }


def main() -> int:
    """Run both sides and compare."""
    import hyperflock

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chainer", choices=("7.8.1", "5.4.0"), default="7.8.1")
    parser.add_argument("--backend", default="webgpu")
    parser.add_argument("--expect", help="where it differs from --backend")
    parser.add_argument("--channels", default="4,16")
    parser.add_argument("--images", type=int, default=96)
    options = parser.parse_args()
    wheels = ROOT / "build/cache"
    sys.path += [
        str(wheels / f"wheels/chainer-{options.chainer}-py3-none-any.whl"),
        str(next((wheels / "downloads").glob("six-*.whl"))),
        str(ROOT / "worker-runtime/python"),
        str(ROOT / "python/examples"),
    ]
    import mnist_grid

    # This side is plain NumPy: Chainer is imported before any device could be used.
    from hyperflock_worker import compat

    compat.install()
    __import__("chainer")
    channels = [int(one) for one in options.channels.split(",")]
    data = {"mnist": pictures(options.images, 100)}
    study = hyperflock.Client().grid(
        mnist_grid.objective,
        {"c1": channels, "c2": channels, "c3": channels},
        data=data,
        name="on a device",
        seed=SEED,
        runtime=f"chainer-{options.chainer}",
        backend=options.backend,
        direction="maximize",
    )
    expected = options.expect or options.backend
    worst_loss = worst_accuracy = 0.0
    adapters = set()
    for trial in study:
        if trial.state != "complete":
            print(f"trial {trial.number} {trial.state}: {trial.error}")
            return 1
        if trial.backend != expected:
            print(f"trial {trial.number} computed on {trial.backend}, not on {expected}")
            return 1
        adapters.add(trial.adapter)
        run = hyperflock.run_local(
            mnist_grid.objective, trial.params, seed=trial.seed, data=data, number=trial.number
        )
        theirs, ours = dict(study.trial(trial.number).points), dict(run.points)
        if sorted(theirs) != sorted(ours):
            print(f"trial {trial.number}: {len(theirs)} losses there, {len(ours)} here")
            return 1
        loss = max(abs(theirs[step] - ours[step]) / abs(ours[step]) for step in ours)
        accuracy = abs(trial.value - run.value)
        print(f"{trial.params}: loss {loss:.1e}, accuracy {accuracy:.3f}, {trial.run_s:.1f} s")
        worst_loss, worst_accuracy = max(worst_loss, loss), max(worst_accuracy, accuracy)
    print(
        f"Chainer {options.chainer} on {expected} ({', '.join(sorted(adapters)) or 'no adapter'}): "
        f"{len(study)} candidates, largest relative difference of a loss {worst_loss:.1e}, of "
        f"accuracy {100 * worst_accuracy:.2f} percentage points"
    )
    return int(worst_loss > MOST_LOSS or worst_accuracy > MOST_ACCURACY)


if __name__ == "__main__":
    sys.exit(main())
