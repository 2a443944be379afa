"""What a cycle costs with one, two and three servers, and what limits.

    for figures in measure(stage, seconds=8, workers=256): ...

Emulated devices of server/bench (`cycle_load`) keep the server that serves as busy as they can. A
cycle is one result, its acknowledgement and the next lease. Processor time is that of the processes
of the servers and of PostgreSQL, so what else runs on the machine does not count.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from seed import SERVERS, Stage
from servers import Node, Servers, ask_json, children, cpu_s
from tied import tied

# The bundle of a study that nobody runs, and a grid that nobody finishes.
_BUNDLE = b"PK\x05\x06" + bytes(18)
_VALUES = list(range(10_000))


@dataclass
class Cost:
    """What was measured with so many servers."""

    servers: int
    cycles_per_s: float
    p99_ms: float
    cycles_per_commit: float
    commits_per_s: float
    database_commits_per_cycle: float
    serving_us: float
    spares_us: float
    database_us: float
    # The parts of the measured time in which the busiest of each worked.
    busy: dict[str, float] = field(default_factory=dict)

    def cpu_us(self) -> float:
        """Return the processor time of a cycle."""
        return self.serving_us + self.spares_us + self.database_us

    def limit(self) -> str:
        """Return which of them worked for the largest part of the time."""
        return max(self.busy, key=self.busy.__getitem__)


@dataclass
class _Sample:
    """Counters at one moment."""

    at: float
    commits: float
    database_commits: int
    sync_s: float
    serving: float
    threads: dict[str, float]
    spares: float
    database: float
    backends: dict[str, float]
    machine_idle: float
    machine_all: float


def measure(stage: Stage, load: Path, seconds: float, workers: int) -> Iterator[Cost]:
    """Measure one, two and three servers, one after the other."""
    for count in range(1, SERVERS + 1):
        stage.say(f"measuring {count} of {SERVERS}")
        yield _measure(stage, load, seconds, workers, count)


def _measure(stage: Stage, load: Path, seconds: float, workers: int, count: int) -> Cost:
    name = f"drill_cost_{count}"
    folder = stage.folder / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    url = stage.postgres.database(name)
    with Servers(stage.binary, folder, url, count) as servers:
        serving = servers.serving()
        _submit(serving, servers.credentials()["researcher_token"])
        command: list[str | os.PathLike[str]] = [
            *(load, "--port", str(serving.compute_port)),
            *("--code", servers.credentials()["enrolment_code"]),
            *("--devices", str(workers), "--seconds", str(seconds)),
        ]
        with subprocess.Popen(tied(command), stdout=subprocess.PIPE, text=True) as process:
            assert process.stdout is not None
            assert process.stdout.readline().strip() == "measuring"
            before = _sample(stage, name, serving, servers)
            answer = process.stdout.readline()
            after = _sample(stage, name, serving, servers)
            assert process.wait() == 0
        told: dict[str, Any] = json.loads(answer)
    shutil.rmtree(folder)
    stage.postgres.drop(name)
    return _cost(count, told, before, after)


def _submit(serving: Node, token: str) -> None:
    headers = {"Authorization": f"Bearer {token}"}
    sha256 = hashlib.sha256(_BUNDLE).hexdigest()
    ask_json("PUT", f"{serving.console}/api/blobs/{sha256}", headers, _BUNDLE)
    spec = {
        "name": "endless", "submit_key": "endless", "direction": "maximize", "entry": "a:b",
        "bundle": {"sha256": sha256, "bytes": len(_BUNDLE)},
        "space": [{"name": name, "values": _VALUES} for name in ("a", "b")],
        "runtime": {"chainer": "7.8.1"},
    }  # fmt: skip
    ask_json("POST", f"{serving.console}/api/studies", headers, spec)


def _sample(stage: Stage, name: str, serving: Node, servers: Servers) -> _Sample:
    postmaster = stage.postgres.pid()
    backends = {place.name: cpu_s(place) for place in children(postmaster)}
    whole = cpu_s(Path(f"/proc/{postmaster}"), with_ended_children=True)
    # The statistics of PostgreSQL are up to a second late.
    ((commits, sync_ms),) = stage.postgres.ask(
        name,
        "SELECT (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()),"
        " (SELECT wal_sync_time FROM pg_stat_wal)",
    )
    cpu = [int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:9]]
    return _Sample(
        at=time.monotonic(),
        commits=serving.metrics()["hyperflock_commits_total"],
        database_commits=int(commits),
        sync_s=float(sync_ms) / 1e3,
        serving=serving.cpu_s(),
        threads=serving.thread_cpu_s(),
        spares=sum(node.cpu_s() for node in servers.nodes if node is not serving),
        database=whole + sum(backends.values()),
        backends=backends,
        machine_idle=cpu[3] + cpu[4],
        machine_all=sum(cpu),
    )


def _cost(count: int, told: dict[str, Any], before: _Sample, after: _Sample) -> Cost:
    cycles, seconds = told["cycles"], after.at - before.at
    # The counters cover a little more than the measured cycles.
    cycles_seen = cycles * seconds / told["seconds"]

    def most(late: dict[str, float], early: dict[str, float]) -> float:
        return max(value - early.get(key, 0.0) for key, value in late.items()) / seconds

    commits = after.commits - before.commits
    idle = (after.machine_idle - before.machine_idle) / (after.machine_all - before.machine_all)
    return Cost(
        servers=count,
        cycles_per_s=cycles / told["seconds"],
        p99_ms=told["p99_ms"],
        cycles_per_commit=cycles_seen / commits,
        commits_per_s=commits / seconds,
        database_commits_per_cycle=(after.database_commits - before.database_commits) / cycles_seen,
        serving_us=1e6 * (after.serving - before.serving) / cycles_seen,
        spares_us=1e6 * (after.spares - before.spares) / cycles_seen,
        database_us=1e6 * (after.database - before.database) / cycles_seen,
        busy={
            "a thread of the server": most(after.threads, before.threads),
            "a process of the database": most(after.backends, before.backends),
            "the disk (waiting for fsync)": (after.sync_s - before.sync_s) / seconds,
            "all processors, with what else runs": 1 - idle,
        },
    )
