"""Provides the options of the larger examples, and prints a row for each finished candidate.

`main` submits the grid of an objective. With --try it trains the first candidate on this machine
instead, without a server or volunteers: on array-core if its native library exists, else on NumPy.
"""

import argparse
import os
import sys
from itertools import product


def options(description):
    """Return a parser with the options that all examples share. Each example adds its own."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--try", dest="here", action="store_true", help="train one candidate here")
    parser.add_argument("--url", help="the console's address (or HYPERFLOCK_URL)")
    parser.add_argument("--token", help="a researcher's token (or HYPERFLOCK_TOKEN)")
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
    return parser


def numbers(text, kind=float):
    """Return the numbers of an option, which are separated by commas."""
    return [kind(number) for number in text.split(",")]


def main(args, objective, space, data, *, name, metric, direction="maximize"):
    """Train one candidate on this machine, or submit the grid and print results as they arrive."""
    try:
        if args.here:
            train_here(args, objective, space, data, metric)
        else:
            submit(args, objective, space, data, name, metric, direction)
    except KeyboardInterrupt:
        sys.exit(130)


def train_here(args, objective, space, data, metric):
    """Train the grid's first candidate with the seed that it would have on a volunteer's device."""
    import hyperflock

    params = dict(zip(space, next(product(*space.values())), strict=True))
    run = hyperflock.run_local(objective, params, hyperflock.trial_seed(args.seed, 0), data)
    for step, value in run.points:
        print(f"step {step:6}  {value:.4f}")
    print(f"{said(params)}: {metric} {run.value:.4f}")


def submit(args, objective, space, data, name, metric, direction):
    """Submit a study and print a row for each finished candidate."""
    import hyperflock

    client = hyperflock.Client(args.url, args.token)
    join_url = client.join_url() if args.join_url == "" else args.join_url
    study = client.grid(
        objective,
        space,
        data=data,
        name=name,
        direction=direction,
        seed=args.seed,
        runtime=args.runtime,
        backend=args.backend,
        progress=False,  # this script prints its own table
    )
    print(f"study {study.id}: {len(study)} candidates, {client.url}")
    if join_url:
        print(f"volunteers join at {join_url}")
    print(f"{metric:>12}  {'seconds':>7}  attempts  candidate, device", flush=True)
    for trial in study:
        value = trial.state if trial.value is None else f"{trial.value:.4f}"
        device = f"{trial.device or '-'} ({trial.engine or '-'}, {trial.backend or '-'})"
        row = f"{value:>12}  {trial.run_s:7.1f}  {trial.attempts:8}  {said(trial.params)}, {device}"
        print(row, flush=True)
    best = study.best_trial
    print(f"best: {said(best.params)} with {metric} {best.value:.4f}")


def said(params):
    """Return the parameters of a candidate in one line."""
    return " ".join(f"{name}={value}" for name, value in params.items())
