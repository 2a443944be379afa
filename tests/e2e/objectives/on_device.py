"""Checks that a part of MNIST's grid gives the same on volunteers' devices and in CPython.

    python on_device.py --backend webgpu --channels 4,16 [--chainer 5.4.0] [--images 64]
    python on_device.py --data FOLDER --channels 4,16,64,256 --images 10000 --json FILE

The objective is that of python/examples/mnist_grid.py. By default it trains on small pictures of
scikit-learn's digits, with --data on MNIST itself. Seeds and the order of data are the same on both
sides. The exit code is 1, with a sentence, if a trial did not compute on the back end, if one of
the first losses differs by more than 1e-3 relative, or if accuracies differ by more than 0.3
percentage points on average or 2 at most. --json writes the results, the makespan and each device's
share.
"""

import argparse
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]
MOST_LOSS = 1e-3
MOST_ACCURACY, MOST_MEAN_ACCURACY = 0.02, 0.003
FIRST_LOSSES = 10
SEED = 7


def pictures(train: int, test: int) -> dict[str, Any]:
    """Return arrays like MNIST's four, with scikit-learn's 8 x 8 digits drawn on 28 x 28 pixels."""
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


def spread(trials: list[Any]) -> dict[str, Any]:
    """Return the makespan in seconds, each device's share of the work, and the efficiency.

    The efficiency is the time spent in objectives, divided by the makespan times the number of
    devices.
    """
    began = min(trial.started_at for trial in trials)
    ended = max(trial.finished_at for trial in trials)
    makespan_s = (ended - began).total_seconds()
    run_s: dict[str, float] = defaultdict(float)
    for trial in trials:
        run_s[trial.device] += trial.run_s
    total_s = sum(run_s.values())
    return {
        "trials": len(trials),
        "makespan_s": makespan_s,
        "run_s": total_s,
        "devices": len(run_s),
        "shares": sorted(seconds / total_s for seconds in run_s.values()),
        "efficiency": total_s / (makespan_s * len(run_s)),
        "adapters": sorted({trial.adapter for trial in trials} - {""}),
    }


def main() -> int:
    """Compute on both sides and compare."""
    import hyperflock

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--chainer", choices=("7.8.1", "5.4.0"), default="7.8.1")
    parser.add_argument("--backend", default="webgpu")
    parser.add_argument("--expect", help="where it differs from --backend")
    parser.add_argument("--channels", default="4,16")
    parser.add_argument("--images", type=int, default=64)
    parser.add_argument("--data", help="folder of MNIST's files; else digits are drawn")
    parser.add_argument("--json", type=Path, help="file to write what was found to")
    options = parser.parse_args()
    wheels = ROOT / "build/cache"
    sys.path += [
        str(wheels / f"wheels/chainer-{options.chainer}-py3-none-any.whl"),
        str(next((wheels / "downloads").glob("six-*.whl"))),
        str(ROOT / "worker-runtime/python"),
        str(ROOT / "python/examples"),
    ]
    import mnist_grid

    # In this process Chainer uses plain NumPy, because it is imported before array-core's device
    # could be set up.
    from hyperflock_worker import compat

    compat.install()
    __import__("chainer")
    channels = [int(one) for one in options.channels.split(",")]
    if options.data is None:
        arrays = pictures(options.images, 100)
    else:
        arrays, _ = mnist_grid.load(options.data, options.images)
    data = {"mnist": arrays}
    study = hyperflock.Client().grid(
        mnist_grid.objective,
        {"c1": channels, "c2": channels, "c3": channels},
        data=data,
        name="on a device",
        seed=SEED,
        runtime=f"chainer-{options.chainer}",
        backend=options.backend,
        direction="maximize",
        time_limit_s=0,
    )
    expected = options.expect or options.backend
    # Wait for all trials first, because the local runs below would take processor time from the
    # volunteers.
    trials = list(study)
    losses, accuracies = [], []
    for trial in sorted(trials, key=lambda one: one.number):
        if trial.state != "complete":
            print(f"trial {trial.number} {trial.state}: {trial.error}")
            return 1
        if trial.backend != expected:
            print(f"trial {trial.number} computed on {trial.backend}, not on {expected}")
            return 1
        run = hyperflock.run_local(
            mnist_grid.objective, trial.params, seed=trial.seed, data=data, number=trial.number
        )
        theirs, ours = dict(study.trial(trial.number).points), dict(run.points)
        if sorted(theirs) != sorted(ours):
            print(f"trial {trial.number}: {len(theirs)} losses there, {len(ours)} here")
            return 1
        first = [step for step in ours if step < FIRST_LOSSES]
        losses.append(max(abs(theirs[step] - ours[step]) / abs(ours[step]) for step in first))
        accuracies.append(abs(trial.value - run.value))
        print(
            f"{trial.params}: loss {losses[-1]:.1e}, accuracy {accuracies[-1]:.3f}, "
            f"{trial.run_s:.1f} s",
            flush=True,
        )
    mean = sum(accuracies) / len(accuracies)
    found = {
        **spread(trials),
        "worst_loss": max(losses),
        "worst_accuracy": max(accuracies),
        "mean_accuracy": mean,
    }
    print(
        f"Chainer {options.chainer} on {expected} ({', '.join(found['adapters']) or 'no adapter'}):"
        f" {len(trials)} candidates, largest relative difference of a loss {max(losses):.1e}, of"
        f" accuracy {100 * max(accuracies):.2f} percentage points, {100 * mean:.2f} on average"
    )
    if options.json is not None:
        options.json.write_text(json.dumps(found, indent=1))
    agrees = max(losses) <= MOST_LOSS and max(accuracies) <= MOST_ACCURACY
    return int(not agrees or mean > MOST_MEAN_ACCURACY)


if __name__ == "__main__":
    sys.exit(main())
