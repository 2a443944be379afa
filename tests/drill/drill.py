"""Kills servers of one PostgreSQL database under load, and checks that each result counts once.

    ./run drill --seeds 20 --workers 1000

Then it measures what a cycle costs with one, two and three servers. The report is
build/reports/drill.json. Exits with 1 if anything is wrong, or a takeover took too long.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import signal
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import optuna
from figures import Cost, measure
from local_postgres import LocalPostgres
from rich.console import Console
from rich.table import Table
from seed import Outcome, Play, Size, Stage

ROOT = Path(__file__).resolve().parents[2]
TAKEOVER_S = 15.0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./run drill", description=__doc__.split("\n\n")[0])
    parser.add_argument("--seeds", type=int, default=20, help="how many seeds are played (20)")
    parser.add_argument("--seed", type=int, default=1, help="the first of them (1)")
    parser.add_argument("--workers", type=int, default=1000, help="emulated devices (1000)")
    parser.add_argument(
        "--rounds", type=int, default=1, help="how often all that can happen happens in a seed (1)"
    )
    parser.add_argument(
        "--relay",
        action="store_true",
        help="spares pass connections on, and nobody looks for the server that serves",
    )
    parser.add_argument("--seconds", type=float, default=8, help="of each measurement; 0: none (8)")
    parser.add_argument("--load", type=int, default=256, help="devices that are measured (256)")
    programs = ROOT / "build/release/bin"
    parser.add_argument("--server", type=Path, default=programs / "hyperflock-server")
    parser.add_argument("--cycle-load", type=Path, default=programs / "cycle_load")
    parser.add_argument("--out", type=Path, default=ROOT / "build/reports/drill.json")
    parser.add_argument("--state", type=Path, default=ROOT / "build/drill", help="a folder for it")
    return parser.parse_args()


def _say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _play(given: argparse.Namespace, stage: Stage) -> Iterator[Outcome]:
    size = Size(workers=given.workers, relay=given.relay)
    size = dataclasses.replace(size, events=size.events * given.rounds)
    for seed in range(given.seed, given.seed + given.seeds):
        outcome = Play(stage, seed, size).run()
        _say(
            f"seed {seed}: {outcome.accepted} results of {outcome.studies} studies, "
            f"{len(outcome.takeovers_s)} takeovers in at most {max(outcome.takeovers_s):.1f} s, "
            f"{len(outcome.problems)} problems, {outcome.seconds:.0f} s"
        )
        yield outcome


def _figures(outcomes: list[Outcome], costs: list[Cost]) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []

    def add(name: str, value: float, unit: str, **more: Any) -> None:
        rows.append({"name": name, "value": value, "unit": unit, **more})

    if outcomes:
        takeovers = [one for outcome in outcomes for one in outcome.takeovers_s]
        problems = sum(len(outcome.problems) for outcome in outcomes)
        add("seeds", len(outcomes), "seeds")
        add("accepted_results", sum(one.accepted for one in outcomes), "results")
        add("problems", problems, "problems", op="<=", goal=0)
        add("takeovers", len(takeovers), "takeovers")
        add("takeover_median_s", statistics.median(takeovers), "s")
        add("takeover_max_s", max(takeovers), "s", op="<=", goal=TAKEOVER_S)
    for cost in costs:
        end = f"{cost.servers}_servers"
        add(f"cycles_per_s_{end}", cost.cycles_per_s, "1/s")
        add(f"commits_per_cycle_{end}", 1 / cost.cycles_per_commit, "commits")
        add(f"cpu_us_per_cycle_{end}", cost.cpu_us(), "us")
    return rows


def _show(outcomes: list[Outcome], costs: list[Cost]) -> None:
    screen = Console()
    if outcomes:
        table = Table("seed", "results", "studies", "takeovers", "median", "longest", "problems")
        for one in outcomes:
            row = [one.seed, one.accepted, one.studies, len(one.takeovers_s)]
            times = [statistics.median(one.takeovers_s), max(one.takeovers_s)]
            table.add_row(
                *map(str, row), *(f"{seconds:.1f} s" for seconds in times), str(len(one.problems))
            )
        screen.print(table)
    if costs:
        table = Table("", *(f"{one.servers} server{'s' * (one.servers > 1)}" for one in costs))
        rows: dict[str, Callable[[Cost], str]] = {
            "cycles a second": lambda one: f"{one.cycles_per_s:,.0f}",
            "99th percentile": lambda one: f"{one.p99_ms:.1f} ms",
            "commits a cycle": lambda one: f"{1 / one.cycles_per_commit:.4f}",
            "commits of the database a cycle": lambda one: f"{one.database_commits_per_cycle:.4f}",
            "processor time a cycle": lambda one: f"{one.cpu_us():.1f} us",
            "  the server": lambda one: f"{one.serving_us:.1f} us",
            "  its spares": lambda one: f"{one.spares_us:.2f} us",
            "  the database": lambda one: f"{one.database_us:.1f} us",
            "what limits": lambda one: one.limit(),
        }
        for name, text in rows.items():
            table.add_row(name, *map(text, costs))
        for name in costs[0].busy:
            table.add_row(f"busy: {name}", *(f"{one.busy[name]:.0%}" for one in costs))
        screen.print(table)


def _write(path: Path, machine: dict[str, Any], outcomes: list[Outcome], costs: list[Cost]) -> None:
    report = {
        "name": "drill",
        "machine": machine,
        "figures": _figures(outcomes, costs),
        "seeds": [dataclasses.asdict(one) for one in outcomes],
        "costs": [dataclasses.asdict(one) for one in costs],
    }
    path.write_text(json.dumps(report, indent=1) + "\n")


def main() -> int:
    """Play the seeds, measure, and write the report, also after each seed."""
    given = _arguments()
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    given.out.parent.mkdir(parents=True, exist_ok=True)
    load = os.getloadavg()[0]
    outcomes: list[Outcome] = []
    costs: list[Cost] = []
    try:
        with LocalPostgres("track_wal_io_timing=on") as postgres:
            machine = {
                "cores": os.cpu_count(),
                "load": round(load, 1),
                "postgres": postgres.version(),
            }
            stage = Stage(given.server, postgres, given.state, _say)
            for outcome in _play(given, stage):
                outcomes.append(outcome)
                _write(given.out, machine, outcomes, costs)
            if given.seconds:
                costs = list(measure(stage, given.cycle_load, given.seconds, given.load))
    except KeyboardInterrupt:
        _say("interrupted")
        # The threads of the package would complain while Python ends. All processes have ended.
        os._exit(130)
    _write(given.out, machine, outcomes, costs)
    _show(outcomes, costs)
    missed = [
        one["name"]
        for one in _figures(outcomes, costs)
        if "goal" in one and one["value"] > one["goal"]
    ]
    for name in missed:
        _say(f"missed: {name}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
