"""Lets crowds of emulated devices, some of them dishonest, compute studies on a real server.

    ./run sabotage
    ./run sabotage --kinds flood constant --shares 10 50 --seeds 3

For each kind of saboteur it prints how many wrong results count at the end. The report is
build/reports/sabotage.json. Nothing is judged here: `test_sabotage.py` has
what the server promises.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from play import Setup, play
from rich.console import Console
from rich.table import Table
from saboteurs import SABOTEURS
from truth import OBJECTIVES
from verdict import Verdict

ROOT = Path(__file__).resolve().parents[2]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./run sabotage", description=__doc__.split("\n\n")[0])
    parser.add_argument("--kinds", nargs="*", choices=SABOTEURS, default=list(SABOTEURS))
    parser.add_argument(
        "--shares", nargs="*", type=float, default=[5, 10, 25, 50], help="percent of the devices"
    )
    parser.add_argument(
        "--objectives", nargs="*", choices=OBJECTIVES, default=list(OBJECTIVES),
        help="of the crowds without a saboteur",
    )  # fmt: skip
    parser.add_argument("--seeds", type=int, default=1, help="for each kind and share (1)")
    parser.add_argument("--seed", type=int, default=1, help="the first of them (1)")
    parser.add_argument("--devices", type=int, default=200)
    parser.add_argument("--trials", type=int, default=2000)
    parser.add_argument("--pace", type=float, default=0.5, help="seconds of an average trial (0.5)")
    programs = ROOT / "build/release/bin"
    parser.add_argument("--server", type=Path, default=programs / "hyperflock-server")
    parser.add_argument("--out", type=Path, default=ROOT / "build/reports/sabotage.json")
    return parser.parse_args()


def _interrupt(number: int, frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _setups(given: argparse.Namespace) -> Iterator[Setup]:
    size = {"devices": given.devices, "trials": given.trials, "pace": given.pace}
    seeds = range(given.seed, given.seed + given.seeds)
    for name in given.objectives:
        for seed in seeds:
            yield Setup(given.kinds[0], 0, seed, objective=name, **size)
    for kind in given.kinds:
        for percent in given.shares:
            for seed in seeds:
                yield Setup(kind, percent / 100, seed, **size)


def _row(setup: Setup, verdicts: list[Verdict]) -> dict[str, Any]:
    """Return the figures of all seeds of one kind and share, or of one honest crowd."""
    final = sum(one.trials - one.lost for one in verdicts)
    barred = [one for one in verdicts if one.barred]
    return {
        "crowd": setup.kind if setup.share else f"honest, {setup.objective}",
        "saboteurs_percent": round(100 * setup.share, 1),
        "studies": len(verdicts),
        "final": final,
        "wrong": sum(one.wrong for one in verdicts),
        "lost": sum(one.lost for one in verdicts),
        "wrong_best": sum(one.is_best_wrong for one in verdicts),
        "paused": sum(one.paused for one in verdicts),
        "work": statistics.mean(one.work for one in verdicts),
        "saboteurs": sum(one.saboteurs for one in verdicts),
        "barred": sum(one.barred for one in verdicts),
        "results_to_bar": statistics.median(one.results for one in barred) if barred else None,
        "seconds_to_bar": statistics.median(one.seconds for one in barred) if barred else None,
        "honest": sum(one.devices - one.saboteurs for one in verdicts),
        "honest_barred": sum(one.honest_barred for one in verdicts),
        "honest_rejected": sum(one.honest_rejected for one in verdicts),
    }


_COLUMNS: dict[str, Callable[[dict[str, Any]], str]] = {
    "crowd": lambda row: row["crowd"],
    "saboteurs": lambda row: f"{row['saboteurs_percent']:g} %",
    "wrong of final": lambda row: f"{row['wrong']:,} of {row['final']:,}",
    "lost": lambda row: f"{row['lost']:,}" + (" (paused)" if row["paused"] else ""),
    "wrong best": lambda row: f"{row['wrong_best']} of {row['studies']}",
    "work": lambda row: f"{row['work']:.2f}",
    "barred": lambda row: f"{row['barred']} of {row['saboteurs']}",
    "after results": lambda row: "" if not row["barred"] else f"{row['results_to_bar']:g}",
    "after s": lambda row: "" if not row["barred"] else f"{row['seconds_to_bar']:.1f}",
    "honest barred": lambda row: f"{row['honest_barred']} of {row['honest']:,}",
    "honest rejected": lambda row: f"{row['honest_rejected']:,}",
}


def _write(given: argparse.Namespace, load: float, rows: list[dict[str, Any]]) -> None:
    report = {
        "name": "sabotage",
        "machine": {"cores": os.cpu_count(), "load": round(load, 1)},
        "size": {name: getattr(given, name) for name in ("devices", "trials", "pace", "seeds")},
        "rows": rows,
    }
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(report, indent=1) + "\n")


def _show(rows: list[dict[str, Any]]) -> None:
    table = Table(*_COLUMNS)
    for row in rows:
        table.add_row(*(text(row) for text in _COLUMNS.values()))
    Console(width=160).print(table)


def main() -> None:
    """Play all crowds, and write the report after each."""
    given = _arguments()
    os.environ["HYPERFLOCK_TEST_SERVER_BIN"] = str(given.server)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)
    load = os.getloadavg()[0]
    found: dict[Setup, list[Verdict]] = {}
    try:
        for setup in _setups(given):
            with tempfile.TemporaryDirectory(prefix="sabotage-") as folder:
                verdict = play(setup, Path(folder))
            group = dataclasses.replace(setup, seed=0)
            found.setdefault(group, []).append(verdict)
            rows = [_row(*one) for one in found.items()]
            _write(given, load, rows)
            row = _row(setup, [verdict])
            said = (f"{name} {text(row)}" for name, text in list(_COLUMNS.items())[1:])
            print(time.strftime("%H:%M:%S"), row["crowd"], *said, sep=", ", file=sys.stderr)
    except KeyboardInterrupt:
        # The crowd's thread would complain while Python ends. The server has ended.
        print("interrupted", file=sys.stderr)
        os._exit(130)
    _show([_row(*one) for one in found.items()])


if __name__ == "__main__":
    main()
