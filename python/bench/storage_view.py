"""Measures how fast the storage view reads a server's study: ``./run bench storage_view``.

A real server on SQLite and emulated phones make the study, with 3 suggestions and 10 reports in
each trial. A new process reads it through `hyperflock.optuna.Storage`. The first read fetches every
trial, the second one only asks for changes. The peer is Optuna's storage in memory, with the same
trials.

Writes one report, ``build/reports/storage_view.json``. Exits with 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import bench_report
import hyperflock
import hyperflock.optuna
import optuna
from optuna.pruners import NopPruner
from optuna.samplers import RandomSampler
from optuna.trial import TrialState
from optuna_vs import ROOT, phones, told_by
from real_server import Server
from vs_objective import objective

NAME = "storage_view"
TOKEN = "HYPERFLOCK_TOKEN"
FIRST_S, SECOND_S = 3.0, 0.1
T = TypeVar("T")


def timed(work: Callable[[], T]) -> tuple[T, float]:
    """Call ``work``. Return its result and its duration in seconds."""
    begun = time.perf_counter()
    done = work()
    return done, time.perf_counter() - begun


def peak_mb() -> float:
    """Return the largest memory size that this process has had, in MB."""
    # getrusage is not used: its maximum starts at that of the parent process.
    status = Path("/proc/self/status").read_text()
    found = re.search(r"VmHWM:\s+(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024 / 1e6


def read(console: str, wanted: int) -> dict[str, float]:
    """Open the study in this new process, read it twice, and return the times."""
    before_mb = peak_mb()
    storage = hyperflock.optuna.Storage(hyperflock.Client(console, os.environ[TOKEN]))
    study = optuna.load_study(study_name=NAME, storage=storage)
    trials, first_s = timed(lambda: study.trials)
    found, second_s = timed(lambda: study.trials)
    best, best_s = timed(lambda: study.best_trial)
    read_mb = peak_mb() - before_mb
    values = [trial.value for trial in found if trial.value is not None]
    if len(values) != wanted or best.value != min(values) or found != trials:
        raise RuntimeError(f"{len(values)} trials have a value, not {wanted}")
    if any(t.state is not TrialState.COMPLETE or len(t.intermediate_values) != 10 for t in found):
        raise RuntimeError("a trial lacks its curve")
    plain = optuna.create_study()
    plain.add_trials(found)
    _, peer_s = timed(lambda: plain.trials)
    _, peer_best_s = timed(lambda: plain.best_trial)
    return {
        "first_s": first_s,
        "second_s": second_s,
        "best_s": best_s,
        "read_mb": read_mb,
        "peer_s": peer_s,
        "peer_best_s": peer_best_s,
    }


def measured(given: argparse.Namespace) -> dict[str, float]:
    """Compute the study, and measure in another process how it is read."""
    folder = given.state
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    server = Server(folder).start()
    try:
        with phones(server, given.phones), server.client() as client:
            study = optuna.create_study(
                study_name=NAME, sampler=RandomSampler(seed=1), pruner=NopPruner()
            )
            hyperflock.optuna.optimize(study, objective, n_trials=given.trials, client=client)
        return told_by(
            [__file__, "--read", server.console, "--trials", str(given.trials)],
            {TOKEN: server.credentials["researcher_token"]},
        )
    finally:
        server.kill()


def rows_of(told: dict[str, float]) -> list[dict[str, Any]]:
    """Return the rows of the report."""
    best: dict[str, Any] = {"name": "storage_view_best_s", "value": told["best_s"], "unit": "s"}
    best["peer"] = {"name": "InMemoryStorage", "value": told["peer_best_s"]}
    return [
        {
            "name": "storage_view_first_s",
            "value": told["first_s"],
            "unit": "s",
            "op": "<=",
            "goal": FIRST_S,
        },
        {
            "name": "storage_view_second_s",
            "value": told["second_s"],
            "unit": "s",
            "op": "<=",
            "goal": SECOND_S,
            "peer": {"name": "InMemoryStorage", "value": told["peer_s"]},
        },
        best,
        {"name": "storage_view_read_mb", "value": told["read_mb"], "unit": "MB"},
    ]


def main() -> int:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--out", type=Path, default=ROOT / "build" / "reports" / "storage_view.json"
    )
    parser.add_argument("--state", type=Path, default=ROOT / "build" / "bench-state" / NAME)
    parser.add_argument("--trials", type=int, default=10_000)
    parser.add_argument("--phones", type=int, default=100)
    parser.add_argument("--read", metavar="CONSOLE", help="read the study of that server")
    given = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if given.read:
        print(json.dumps(read(given.read, given.trials)))
        return 0
    os.environ.setdefault(
        "HYPERFLOCK_TEST_SERVER_BIN", str(ROOT / "build" / "release" / "bin" / "hyperflock-server")
    )
    load = os.getloadavg()[0]
    rows = rows_of(measured(given))
    more = {"optuna": optuna.__version__, "trials": given.trials}
    return bench_report.write(given.out, NAME, load, rows, **more)


if __name__ == "__main__":
    sys.exit(main())
