"""Runs one Hyperflock study on a server: ``python vs_owner.py --console URL --trials 1000``.

The token is in ``HYPERFLOCK_TOKEN``. Prints one line of JSON, as vs_peers.py does. ``seconds`` is
the duration of the call of `hyperflock.optuna.optimize`, and ``sampler_s`` the part of it that the
sampler used.
"""

from __future__ import annotations

import argparse
import cProfile
import functools
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hyperflock
import hyperflock.optuna
import optuna
from optuna.pruners import MedianPruner
from vs_objective import objective, tally
from vs_peers import sampler_of

SAMPLING = (
    "before_trial",
    "infer_relative_search_space",
    "sample_relative",
    "sample_independent",
    "after_trial",
)


class Stopwatch:
    """Counts the seconds that an object's methods take. Nested calls count once."""

    def __init__(self, timed: object, names: tuple[str, ...]) -> None:
        self.seconds = 0.0
        self._depth = 0
        for name in names:
            # The methods of the object are replaced, because a derived class would change the
            # sampler's type.
            setattr(timed, name, self._timed(getattr(timed, name)))

    def _timed(self, method: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(method)
        def timed(*args: Any, **kwargs: Any) -> Any:
            self._depth += 1
            begun = time.perf_counter()
            try:
                return method(*args, **kwargs)
            finally:
                self._depth -= 1
                if not self._depth:
                    self.seconds += time.perf_counter() - begun

        return timed


def main() -> None:
    """Run one study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--console", required=True, help="the server's console origin")
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sampler", choices=["random", "tpe"], default="random")
    parser.add_argument("--stopwatch", action="store_true", help="time the sampler")
    parser.add_argument("--profile", type=Path, help="write a profile of the thread that samples")
    given = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.create_study(
        sampler=sampler_of(given.sampler, given.seed), pruner=MedianPruner()
    )
    client = hyperflock.Client(given.console, os.environ["HYPERFLOCK_TOKEN"])
    watches = {}
    if given.stopwatch:
        watches["sampler_s"] = Stopwatch(study.sampler, SAMPLING)
    profile = cProfile.Profile() if given.profile else None
    begun = time.monotonic()
    if profile is not None:
        profile.enable()
    hyperflock.optuna.optimize(study, objective, n_trials=given.trials, client=client)
    if profile is not None:
        profile.disable()
        profile.dump_stats(given.profile)
    seconds = time.monotonic() - begun
    watched = {name: watch.seconds for name, watch in watches.items()}
    print(json.dumps(tally(study).report(seconds) | watched))


if __name__ == "__main__":
    main()
