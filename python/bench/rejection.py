"""Measures how long the rejection of all results of one device takes: ``./run bench rejection``.

A device answers every trial of a grid at a real server, on SQLite and on PostgreSQL. Then one
request rejects all of its results, and another device computes all trials again. In addition, as
many trials of an Optuna study are failed in each kind of storage, as the study's owner does.

Writes one report, ``build/reports/rejection.json``. Exits with 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import bench_report
import optuna
from device import Device
from hyperflock._transport.messages import Failure
from hyperflock.optuna.owner.rejections import fail_rejected
from hyperflock.optuna.rejection import CODE, note_of
from local_postgres import LocalPostgres
from optuna.storages import BaseStorage, InMemoryStorage, JournalStorage, get_storage
from optuna.storages.journal import JournalFileBackend
from optuna_vs import ROOT
from real_server import Server

NAME = "rejection"
GOAL_S = 2.0
LIE = -1e308


def objective(trial: Any) -> float:
    """Stand for code that the devices of this program do not run."""
    return 0.0


@contextmanager
def started(folder: Path, *options: str) -> Iterator[Server]:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    server = Server(folder, *options).start()
    try:
        yield server
    finally:
        server.kill()


def answer(device: Device, trials: int, value: float) -> None:
    """Send a result for each of the next ``trials`` trials."""
    lease = device.ready()
    for left in range(trials - 1, -1, -1):
        ack = device.result(lease, more=left > 0, outcome="complete", values=[value])
        if left:
            lease = ack.lease or device.next_lease()


def at_server(server: Server, trials: int) -> float:
    """Return how many seconds the request takes that rejects the results of a device."""
    with server.client() as client, server.device() as liar, server.device() as phone:
        study = client.grid(objective, {"x": list(range(trials))}, name=NAME, direction="minimize")
        answer(liar, trials, LIE)
        if study.wait().best_value != LIE:
            raise RuntimeError("the invented results are not there")
        begun = time.perf_counter()
        done = study.reject(device=liar.device, reason="it lies")
        took_s = time.perf_counter() - begun
        if (done.attempts, done.trials) != (trials, trials):
            raise RuntimeError(f"{done} is not a rejection of {trials} results")
        answer(phone, trials, 1.0)
        study.wait()
        if study.row.complete != trials or study.best_value != 1.0:
            raise RuntimeError("not every trial has run again")
    return took_s


def opened(kind: str, folder: Path) -> BaseStorage:
    """Open a storage in a folder; in memory it is new."""
    if kind == "memory":
        return InMemoryStorage()
    if kind == "sqlite":
        return get_storage(f"sqlite:///{folder}/study.db")
    return JournalStorage(JournalFileBackend(str(folder / "journal.log")))


def in_optuna(kind: str, state: Path, trials: int) -> float:
    """Return how many seconds it takes to fail all trials of a study but one."""
    # The study is made in memory and then copied to the disk, because Optuna commits each trial.
    with tempfile.TemporaryDirectory(dir="/dev/shm") as made_in:
        storage = opened(kind, Path(made_in))
        study = optuna.create_study(storage=storage, study_name=NAME)
        made = optuna.trial.create_trial
        study.add_trials([made(value=1.0), *(made(value=LIE) for _ in range(trials))])
        storage.remove_session()
        if kind != "memory":
            folder = state / kind
            shutil.rmtree(folder, ignore_errors=True)
            shutil.copytree(made_in, folder)
            study = optuna.load_study(storage=opened(kind, folder), study_name=NAME)
    error = Failure("invalid", CODE, "ada rejected the result: it lies")
    study.get_trials(deepcopy=False)  # an owner has read them before
    notes = dict.fromkeys(range(1, trials + 1), note_of(error, 0))
    begun = time.perf_counter()
    failed = fail_rejected(study, notes)
    took_s = time.perf_counter() - begun
    if len(failed) != trials or study.best_value != 1.0:
        raise RuntimeError("the invented results still count")
    return took_s


def measured(state: Path, trials: int) -> dict[str, float]:
    """Return the seconds of each measurement by its name."""
    told: dict[str, float] = {}
    with started(state / "sqlite") as server:
        told["reject_sqlite_s"] = at_server(server, trials)
    with ExitStack() as stack:
        place = stack.enter_context(LocalPostgres())
        options = ("--database", place.database(NAME))
        server = stack.enter_context(started(state / "postgres", *options))
        told["reject_postgres_s"] = at_server(server, trials)
    for kind in ("memory", "sqlite", "journal"):
        told[f"optuna_{kind}_s"] = in_optuna(kind, state / "optuna", trials)
    return told


def main() -> int:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "reports" / "rejection.json")
    parser.add_argument("--state", type=Path, default=ROOT / "build" / "bench-state" / NAME)
    parser.add_argument("--trials", type=int, default=3_000)
    given = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    os.environ.setdefault(
        "HYPERFLOCK_TEST_SERVER_BIN", str(ROOT / "build" / "release" / "bin" / "hyperflock-server")
    )
    load = os.getloadavg()[0]
    told = measured(given.state, given.trials)
    rows: list[dict[str, Any]] = []
    for name, value in told.items():
        row: dict[str, Any] = {"name": name, "value": value, "unit": "s"}
        rows.append(row | {"op": "<=", "goal": GOAL_S} if name.startswith("reject_") else row)
    more = {"optuna": optuna.__version__, "trials": given.trials}
    return bench_report.write(given.out, NAME, load, rows, **more)


if __name__ == "__main__":
    sys.exit(main())
