"""Runs one study on one of Optuna's own storages: ``python vs_peers.py journal --workers 2``.

Prints one line of JSON: the numbers of trials, pruned trials and reports, and the seconds. The time
runs from the moment at which every worker is ready until the last one has ended.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import multiprocessing
import socket
import sys
import tempfile
import time
from collections.abc import Iterator
from multiprocessing.sharedctypes import Synchronized
from multiprocessing.synchronize import Barrier
from pathlib import Path

import optuna
from optuna.pruners import MedianPruner
from optuna.samplers import BaseSampler, RandomSampler, TPESampler
from optuna.storages import BaseStorage, GrpcStorageProxy, JournalStorage, get_storage
from optuna.storages.journal import JournalFileBackend
from vs_objective import objective, tally

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from tied import end_with_parent

START_S = 300.0
NAME = "vs"
_spawn = multiprocessing.get_context("spawn")


def open_storage(kind: str, address: str) -> BaseStorage:
    """Open a storage that several processes share."""
    if kind == "journal":
        return JournalStorage(JournalFileBackend(address))
    if kind == "sqlite":
        return get_storage(address)
    return GrpcStorageProxy(host="127.0.0.1", port=int(address))


def sampler_of(name: str, seed: int) -> BaseSampler:
    """Return the sampler of this name."""
    return TPESampler(seed=seed) if name == "tpe" else RandomSampler(seed=seed)


def work(
    kind: str,
    address: str,
    seed: int,
    trials: int,
    limit_s: float,
    ready: Barrier,
    ends: Synchronized[float],
) -> None:
    """Run one worker's trials. Then set ``ends`` to now, unless a later time is there already."""
    end_with_parent()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    study = optuna.load_study(
        study_name=NAME,
        storage=open_storage(kind, address),
        sampler=RandomSampler(seed=seed),
        pruner=MedianPruner(),
    )
    ready.wait(START_S)
    study.optimize(objective, n_trials=trials, timeout=limit_s)
    with ends.get_lock():
        ends.value = max(ends.value, time.monotonic())


def serve_grpc(url: str, port: int) -> None:
    """Serve a database over gRPC, as in Optuna's documentation."""
    end_with_parent()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    optuna.storages.run_grpc_proxy_server(get_storage(url), host="127.0.0.1", port=port)


@contextlib.contextmanager
def storage_at(kind: str, folder: Path) -> Iterator[str]:
    """Set up a storage and yield its address."""
    url = f"sqlite:///{folder}/optuna.db"
    if kind == "journal":
        yield str(folder / "optuna.journal")
        return
    if kind == "sqlite":
        yield url
        return
    get_storage(url)  # creates the tables
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    server = _spawn.Process(target=serve_grpc, args=(url, port), daemon=True)
    server.start()
    try:
        GrpcStorageProxy(host="127.0.0.1", port=port).wait_server_ready(START_S)
        yield str(port)
    finally:
        server.kill()
        server.join()


def run_shared(
    kind: str, folder: Path, workers: int, trials: int, limit_s: float, seed: int
) -> tuple[optuna.Study, float]:
    """Run a study in processes that share its storage. Return the study and the seconds."""
    with storage_at(kind, folder) as address:
        study = optuna.create_study(study_name=NAME, storage=open_storage(kind, address))
        ready = _spawn.Barrier(workers + 1)
        ends = _spawn.Value("d", 0.0)
        shares = [trials // workers + (i < trials % workers) for i in range(workers)]
        crew = [
            _spawn.Process(
                target=work,
                args=(kind, address, seed + i, shares[i], limit_s, ready, ends),
                daemon=True,
            )
            for i in range(workers)
        ]
        for one in crew:
            one.start()
        ready.wait(START_S)
        begun = time.monotonic()
        for one in crew:
            one.join()
        if any(one.exitcode for one in crew):
            raise RuntimeError("a worker failed")
        made = optuna.create_study()
        made.add_trials(study.get_trials(deepcopy=False))
        return made, ends.value - begun


def run_memory(
    threads: int, trials: int, limit_s: float, seed: int, sampler: str
) -> tuple[optuna.Study, float]:
    """Run a study in this process's memory. Return the study and the seconds."""
    study = optuna.create_study(sampler=sampler_of(sampler, seed), pruner=MedianPruner())
    begun = time.monotonic()
    study.optimize(objective, n_trials=trials, timeout=limit_s, n_jobs=threads)
    return study, time.monotonic() - begun


def main() -> None:
    """Run one study."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("storage", choices=["memory", "journal", "sqlite", "grpc"])
    parser.add_argument("--workers", type=int, default=1, help="threads in memory, else processes")
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--limit", type=float, default=600.0, help="seconds")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--sampler", choices=["random", "tpe"], default="random")
    parser.add_argument("--folder", type=Path, help="on the disk that is measured")
    given = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    if given.storage == "memory":
        study, seconds = run_memory(
            given.workers, given.trials, given.limit, given.seed, given.sampler
        )
    else:
        with tempfile.TemporaryDirectory(dir=given.folder) as folder:
            study, seconds = run_shared(
                given.storage, Path(folder), given.workers, given.trials, given.limit, given.seed
            )
    print(json.dumps(tally(study).report(seconds)))


if __name__ == "__main__":
    main()
