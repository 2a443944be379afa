"""Compares Chainer's training steps in WebAssembly: arraycore's CPU back end against NumPy.

    python3 array-core/bench/train_cpu.py cnn [--host chromium]
    python3 array-core/bench/train_cpu.py grid [--values 4,16,64,256]
    python3 array-core/bench/train_cpu.py resnet18

``cnn`` is the network of ``python/examples/mnist_grid.py`` with 16 channels and batches of 32, and
``grid`` is each candidate of its search. Both use NumPy with the faster ``tensordot`` that trials
of volunteers get. ``resnet18`` has batches of 16. It trains one step on unchanged NumPy, which
takes about a minute, and then alternately on arraycore with one thread and with two. The script
prints one flat JSON object of figures. It stops with an error if losses differ by more than a
thousandth.
"""

from __future__ import annotations

import argparse
import itertools
import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = "array-core/python/bench/train_cpu.py"
RUNTIME = ("node", "--disable-warning=ExperimentalWarning", "worker-runtime/node/python_command.ts")
WHEEL = "build/cache/wheels/chainer-7.8.1-py3-none-any.whl"
BAR = 1e-3
TURNS = 2


def measured(host: str, threads: int, *arguments: str) -> dict[str, float]:
    """Return the numbers that a process in the worker runtime prints."""
    command = (
        *RUNTIME, "--host", host, "--backend", "cpu", "--threads", str(threads),
        "--wheel", WHEEL, "--mount", "array-core/tests/chainer", SCRIPT, *arguments,
    )  # fmt: skip
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True)
    figures: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    if not figures.get("losses", 0) <= BAR:
        raise SystemExit(f"The losses differ by {figures['losses']}.")
    return figures


def cnn(host: str) -> dict[str, float]:
    both = [measured(host, 1, "--network", "cnn", "--on", "cupy", "numpy") for _ in range(TURNS)]
    ours, numpys = (min(each[name] for each in both) for name in ("cupy_ms", "numpy_ms"))
    return {
        "train_cnn_ms": ours,
        "train_cnn_numpy_ms": numpys,
        "train_cnn_vs_numpy": round(numpys / ours, 2),
        "train_cnn_crossings": both[0]["crossings"],
        "train_cnn_dispatches": both[0]["dispatches"],
    }


def grid(host: str, values: list[str]) -> dict[str, float]:
    ratios: dict[str, float] = {}
    for channels in itertools.product(values, repeat=3):
        name = ",".join(channels)
        large = max(map(int, channels)) > 64
        steps = ("--steps", "2" if large else "6", "--warm-up", "1" if large else "3")
        both = measured(
            host, 1, "--network", "cnn", "--on", "cupy", "numpy", "--channels", name, *steps
        )
        ratios[name] = both["numpy_ms"] / both["cupy_ms"]
        print(f"{name}: {both['cupy_ms']} ms, NumPy {both['numpy_ms']} ms", file=sys.stderr)
    return {
        "train_grid_candidates": len(ratios),
        "train_grid_least_vs_numpy": round(min(ratios.values()), 2),
        "train_grid_slower_than_numpy": sum(ratio < 1 for ratio in ratios.values()),
    }


def resnet18(host: str) -> dict[str, float]:
    of = ("--network", "resnet18", "--batch", "16")
    numpy = measured(host, 1, *of, "--on", "numpy", "--plain-dot", "--steps", "1", "--warm-up", "0")
    one, two = float("inf"), float("inf")
    for _ in range(TURNS):
        alone = measured(host, 1, *of, "--steps", "3", "--warm-up", "1")
        one = min(one, alone["cupy_ms"])
        two = min(two, measured(host, 2, *of, "--steps", "3", "--warm-up", "1")["cupy_ms"])
    difference = abs(alone["first_loss"] - numpy["first_loss"]) / numpy["first_loss"]
    if not difference <= BAR:
        raise SystemExit(f"The first losses differ by {difference}.")
    return {
        "train_resnet18_ms": one,
        "train_resnet18_numpy_ms": numpy["numpy_ms"],
        "train_resnet18_vs_numpy": round(numpy["numpy_ms"] / one, 1),
        "train_resnet18_two_threads_ms": two,
        "train_resnet18_two_threads_vs_one": round(one / two, 2),
        "train_resnet18_dispatches": alone["dispatches"],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("cnn", "grid", "resnet18"))
    parser.add_argument("--host", choices=("node", "chromium"), default="chromium")
    parser.add_argument("--values", default="4,16,64,256")
    options = parser.parse_args()
    if options.what == "grid":
        figures = grid(options.host, options.values.split(","))
    else:
        figures = (cnn if options.what == "cnn" else resnet18)(options.host)
    print(json.dumps(figures))


main()
