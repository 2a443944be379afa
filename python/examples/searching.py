"""What the larger examples share: their options, and a table of the candidates as they come.

`main` submits an objective's grid, or with --try trains its first candidate here, without a server
and without volunteers: on array-core where its native library is, else on NumPy.
"""

import argparse
import os
import sys
from itertools import product


def options(description):
    """A parser with what every example takes; each adds its own."""
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
    """Numbers between commas, as an option holds them."""
    return [kind(number) for number in text.split(",")]


def main(args, objective, space, data, *, name, metric, direction="maximize"):
    """Train one candidate here, or submit the grid and print each candidate as it comes."""
    try:
        if args.here:
            train_here(args, objective, space, data, metric)
        else:
            submit(args, objective, space, data, name, metric, direction)
    except KeyboardInterrupt:
        sys.exit(130)


def train_here(args, objective, space, data, metric):
    """The grid's first candidate, seeded as a volunteer's would be."""
    import hyperflock

    params = dict(zip(space, next(product(*space.values())), strict=True))
    run = hyperflock.run_local(objective, params, hyperflock.trial_seed(args.seed, 0), data)
    for step, value in run.points:
        print(f"step {step:6}  {value:.4f}")
    print(f"{said(params)}: {metric} {run.value:.4f}")


def submit(args, objective, space, data, name, metric, direction):
    """A study on the server, and its table."""
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
        progress=False,  # the table below shows it
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
    """A candidate in a line."""
    return " ".join(f"{name}={value}" for name, value in params.items())
