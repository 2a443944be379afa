"""Compares the server with other durable queues, in turns on this machine: ``./run bench queues``.

A cycle takes one job (a trial), runs it, which takes no time, and stores that it is done. Each
queue first drains jobs that are all there, and then gets 1,000 of them a second. Every queue may
use what its documentation advises for many short jobs.

- Hyperflock: 32 emulated phones over WebSocket, and 250 of them. Each result is durable before it
  is acknowledged. The latency is that from a result to its acknowledgement with the next lease.
- Graphile Worker on PostgreSQL: 32 at once; job by job, and with batches of 500 for which a crash
  repeats up to 500 jobs. The latency is that from before a job is added until it runs.
- River on PostgreSQL: 2,000 at once, and jobs are completed in batches. The latency as above.
- Optuna's journal file: ask and tell in one process, because more processes are slower.

Writes one report, ``build/reports/queues.json``. Exits with 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import statistics
import subprocess
import sys
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import optuna
from local_postgres import LocalPostgres
from optuna.storages.journal import JournalFileBackend

ROOT = Path(__file__).resolve().parents[2]
NAME = "queues"
PEERS = ROOT / "build/queue-peers"
RATE, JOBS = 1_000, 30_000
LEAST_GO = (1, 25)
Figures = dict[str, float]


def answer(*command: object) -> Figures:
    """Run a program that prints one JSON object as its last line, and return the object."""
    words = [str(word) for word in command]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"{words[0]} {words[1]} failed: {done.stderr.strip()[-2000:]}")
    figures: Figures = json.loads(done.stdout.splitlines()[-1])
    return figures


def hyperflock(state: Path, workers: int, seconds: float) -> Figures:
    """Measure the server with this many emulated phones."""
    programs = ROOT / "build/release/bin"
    out = state / "server.json"
    words = [programs / "cycle_bench", "--server", programs / "hyperflock-server"]
    words += ["--state", state, "--out", out, "--workers", workers]
    words += ["--seconds", seconds, "--report-seconds", 1, "--paced-seconds", seconds]
    # It exits with 1 if it misses a goal of its own.
    done = subprocess.run(list(map(str, words)), capture_output=True, text=True, check=False)
    if not out.exists():
        raise RuntimeError(f"cycle_bench failed: {done.stderr.strip()[-2000:]}")
    told = {one["name"]: one["value"] for one in json.loads(out.read_text())["figures"]}
    out.unlink()
    return {
        "jobs_per_s": told["cycles_per_s"],
        "busy_p99_ms": told["cycles_p99_ms"],
        "p50_ms": told["paced_p50_ms"],
        "p99_ms": told["paced_p99_ms"],
    }


def graphile(place: LocalPostgres, mode: str, jobs: int) -> Figures:
    """Measure Graphile Worker; ``mode`` is ``single`` or ``batched``."""
    program = PEERS / "graphile.mjs"
    return answer("node", program, place.database("graphile"), mode, jobs, RATE)


def river(place: LocalPostgres, jobs: int) -> Figures:
    """Measure River."""
    return answer(PEERS / "river", place.database("river"), jobs, RATE)


def journal(state: Path, seconds: float) -> Figures:
    """Measure Optuna's journal file."""
    path = state / "journal.log"
    path.unlink(missing_ok=True)
    storage = optuna.storages.JournalStorage(JournalFileBackend(str(path)))
    study = optuna.create_study(storage=storage, sampler=optuna.samplers.RandomSampler(seed=1))
    waits = []
    begun = time.monotonic()
    while time.monotonic() - begun < seconds:
        asked = time.perf_counter()
        study.tell(study.ask(), 0.5)
        waits.append(1e3 * (time.perf_counter() - asked))
    waits.sort()
    return {
        "jobs_per_s": len(waits) / (time.monotonic() - begun),
        "busy_p99_ms": waits[int(len(waits) * 0.99)],
    }


def go_version() -> tuple[int, int] | None:
    """Return the version of the Go compiler that is here."""
    if shutil.which("go") is None:
        return None
    told = subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True, check=True)
    found = re.match(r"go(\d+)\.(\d+)", told.stdout)
    return (int(found[1]), int(found[2])) if found else None


def measured(
    given: argparse.Namespace, runs: dict[str, Callable[[], Figures]]
) -> dict[str, Figures]:
    """Run all queues in turns. Return the median of each figure."""
    rows: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    for turn in range(given.rounds):
        for name, run in runs.items():
            print(f"round {turn + 1} of {given.rounds}: {name}", file=sys.stderr, flush=True)
            for figure, value in run().items():
                rows[name][figure].append(value)
    return {
        name: {figure: statistics.median(values) for figure, values in found.items()}
        for name, found in rows.items()
    }


def rows_of(found: dict[str, Figures], *, has_river: bool) -> list[dict[str, Any]]:
    """Return the figures of the report. The peer of a figure is the best one that was measured."""

    def peer(figure: str, best: Callable[..., Any]) -> dict[str, Any] | None:
        values = {
            name: one[figure]
            for name, one in found.items()
            if not name.startswith("hyperflock") and figure in one
        }
        if not values:
            return None
        name = best(values, key=values.__getitem__)
        return {"name": name, "value": values[name]}

    units = {"jobs_per_s": "1/s", "busy_p99_ms": "ms", "p50_ms": "ms", "p99_ms": "ms"}
    goals = {
        ("hyperflock_250", "jobs_per_s"): (">=", 25_000),
        ("hyperflock_250", "busy_p99_ms"): ("<=", 50),
        ("hyperflock_32", "p99_ms"): ("<=", 10),
    }
    rows = []
    for name, figures in found.items():
        for figure, value in figures.items():
            row: dict[str, Any] = {"name": f"{name}_{figure}", "value": value}
            row["unit"] = units[figure]
            if (name, figure) in goals:
                row["op"], row["goal"] = goals[name, figure]
            if name.startswith("hyperflock"):
                row["peer"] = peer(figure, max if figure == "jobs_per_s" else min)
            rows.append(row)
    if not has_river:
        note = f"Go {LEAST_GO[0]}.{LEAST_GO[1]} or newer is not here"
        rows.append({"name": "river_jobs_per_s", "value": None, "unit": "1/s", "note": note})
    return rows


def main() -> int:
    """Measure and write the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build/reports/queues.json")
    parser.add_argument("--state", type=Path, default=ROOT / "build/bench-state" / NAME)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=10, help="of each part of a run")
    parser.add_argument("--jobs", type=int, default=JOBS, help="that a queue drains")
    given = parser.parse_args()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    given.state.mkdir(parents=True, exist_ok=True)
    load = os.getloadavg()[0]
    version = go_version()
    has_river = version is not None and version >= LEAST_GO
    if has_river:
        sources = ROOT / "server/bench/queues/river"
        subprocess.run(["go", "build", "-o", PEERS / "river", "."], cwd=sources, check=True)
    with LocalPostgres() as place:
        runs: dict[str, Callable[[], Figures]] = {
            "hyperflock_32": lambda: hyperflock(given.state, 32, given.seconds),
            "hyperflock_250": lambda: hyperflock(given.state, 250, given.seconds),
            "graphile_single": lambda: graphile(place, "single", given.jobs),
            "graphile_batched": lambda: graphile(place, "batched", given.jobs),
            "optuna_journal": lambda: journal(given.state, given.seconds),
        }
        if has_river:
            runs["river"] = lambda: river(place, given.jobs)
        found = measured(given, runs)
        machine = {"cores": os.cpu_count(), "load": round(load, 1), "postgres": place.version()}
    machine |= {"python": platform.python_version(), "optuna": optuna.__version__}
    rows = rows_of(found, has_river=has_river)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    report = {"name": NAME, "machine": machine, "figures": rows}
    given.out.write_text(json.dumps(report, indent=2) + "\n")
    missed = 0
    for row in rows:
        if row["value"] is None:
            print(f"{row['name']} {row['note']}")
            continue
        print(f"{row['name']} {row['value']:.2f} {row['unit']}")
        if "goal" in row:
            met = row["value"] >= row["goal"] if row["op"] == ">=" else row["value"] <= row["goal"]
            missed += not met
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
