"""Compares trials per second with Optuna's own storages: ``./run bench optuna_vs [FIGURE...]``.

Hyperflock's side is complete: the server on SQLite (``synchronous=FULL``), emulated phones that run
the objective over WebSockets, and `hyperflock.optuna.optimize` with a study in memory. Each peer
runs the same objective in the number of threads or processes with which a short test run was
fastest. Rounds are interleaved; a figure is the ratio of the medians. A peer that reaches its time
limit is measured by the trials that it finished, which favours it: storages slow down with each
trial.

Writes one report, ``build/reports/optuna_vs.json``. Exits with 1 if a goal is missed, or if a study
does not hold what its trials reported.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

import optuna

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "python" / "tests" / "support"))

from real_server import Server  # noqa: E402
from tied import tied  # noqa: E402

PHONES = 100
# The allowed relative difference between the reports per trial of the two sides. They are not
# equal, because trials that run at the same time begin before the pruner has seen enough.
ALIKE = 0.05


@dataclass(frozen=True)
class Peer:
    """A storage to compare with.

    Attributes
    ----------
    about : str
        A description of the storage, for the report.
    goal : float
        The ratio that the project wants to reach.
    workers : tuple of int
        The numbers of threads or processes that are tried.
    worker : str
        ``thread`` or ``process``, the kind of a worker.
    """

    about: str
    goal: float
    workers: tuple[int, ...]
    worker: str = "process"


PEERS = {
    "journal": Peer("JournalStorage, one file", 3, (1, 2, 4)),
    "grpc": Peer("GrpcStorageProxy, its server on SQLite", 20, (1, 2, 4)),
    "memory": Peer("InMemoryStorage", 0.3, (1, 2), "thread"),
}
TPE = "optuna_tpe_sampler_share"
FIGURES = [*(f"optuna_vs_{name}" for name in PEERS), TPE]


class FailedError(Exception):
    """Hyperflock or a peer gave no figure, or an invalid one. The text says why."""


@dataclass
class Side:
    """The measurements of Hyperflock or of one peer, one for each round."""

    rounds: list[dict[str, Any]]

    @property
    def rates(self) -> list[float]:
        """The trials per second of each round."""
        return [one["trials"] / one["seconds"] for one in self.rounds]

    @property
    def median(self) -> float:
        """The median of the rates."""
        return float(statistics.median(self.rates))

    @property
    def reports_per_trial(self) -> float:
        """The mean number of reports per trial."""
        reports = sum(int(one["reports"]) for one in self.rounds)
        return reports / sum(int(one["trials"]) for one in self.rounds)

    @property
    def spread(self) -> str:
        """The rates of the slowest and the fastest round, as text."""
        return f"{min(self.rates):.3g} to {max(self.rates):.3g} in {len(self.rounds)} rounds"


def told_by(command: list[str], env: dict[str, str]) -> dict[str, Any]:
    """Run a program and return the JSON of the last line that it printed.

    Raises
    ------
    FailedError
        The program failed.
    """
    done = subprocess.run(
        tied([sys.executable, *command]),
        env={**os.environ, **env},
        stdout=subprocess.PIPE,
        text=True,
        check=False,
    )
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        raise FailedError(f"{Path(command[0]).name} ended with {done.returncode}")
    told: dict[str, Any] = json.loads(lines[-1])
    return told


def run_peer(
    name: str, workers: int, given: argparse.Namespace, seed: int, trials: int, sampler: str
) -> dict[str, Any]:
    """Run one study on a peer's storage."""
    return told_by(
        [
            *(str(HERE / "vs_peers.py"), name, "--workers", str(workers), "--seed", str(seed)),
            *("--trials", str(trials), "--limit", str(given.limit), "--sampler", sampler),
            *("--folder", str(given.state)),
        ],
        {"PYTHONPATH": str(ROOT / "build" / "bench-peers"), "PYTHONWARNINGS": "ignore"},
    )


@contextmanager
def phones(server: Server, count: int) -> Iterator[subprocess.Popen[str]]:
    """Run emulated phones on a server while the context lasts."""
    program = str(ROOT / "build" / "release" / "bin" / "asked_load")
    port = server.compute.rpartition(":")[2]
    code = server.credentials["enrolment_code"]
    crowd = subprocess.Popen(
        tied([program, "--port", port, "--code", code, "--devices", str(count)]),
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert crowd.stdout is not None
        if crowd.stdout.readline().strip() != "ready":
            raise FailedError("the emulated phones did not get ready")
        yield crowd
    finally:
        crowd.kill()
        crowd.communicate()


def run_ours(given: argparse.Namespace, seed: int, sampler: str, *options: str) -> dict[str, Any]:
    """Run one study on a Hyperflock server of its own, and check the counts in its database.

    Raises
    ------
    FailedError
        The emulated phones did not start, a program failed, or the counts differ from those of
        the study's own program or of the phones.
    """
    folder = given.state / "ours"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    server = Server(folder).start()
    try:
        with phones(server, given.phones) as crowd:
            told = told_by(
                [
                    *(str(HERE / "vs_owner.py"), "--console", server.console),
                    *("--trials", str(given.trials), "--seed", str(seed)),
                    *("--sampler", sampler, *options),
                ],
                {"HYPERFLOCK_TOKEN": server.credentials["researcher_token"]},
            )
            crowd.send_signal(signal.SIGTERM)
            ran = json.loads(crowd.communicate(timeout=300)[0])
        server.stop()
        check_ours(folder / "state" / "hyperflock.db", told, ran, given.trials)
    finally:
        server.kill()
    return told


def check_ours(database: Path, told: dict[str, Any], ran: dict[str, Any], trials: int) -> None:
    """Compare the counts of the study, the server's database and the phones.

    Raises
    ------
    FailedError
        The counts differ.
    """
    with sqlite3.connect(database) as db:
        accepted, attempts = db.execute(
            "SELECT (SELECT count(*) FROM trials WHERE accepted_attempt IS NOT NULL),"
            " (SELECT count(*) FROM attempts)"
        ).fetchone()
        (points,) = db.execute("SELECT count(*) FROM points").fetchone()
        (suggested,) = db.execute("SELECT count(*) FROM suggestions").fetchone()
    counted = {
        "trials of the study": (told["trials"], trials),
        "accepted trials": (accepted, trials),
        "attempts": (attempts, trials),
        "points": (points, told["reports"]),
        "suggestions": (suggested, 3 * trials),
        "pruned trials": (ran["pruned"], told["pruned"]),
        "completed trials": (ran["complete"], trials - told["pruned"]),
        "calls": (ran["calls"], 3 * trials + told["reports"]),
    }
    for what, (found, wanted) in counted.items():
        if found != wanted:
            raise FailedError(f"{found} {what}, not {wanted}")


def best_workers(name: str, given: argparse.Namespace) -> int:
    """Return the number of workers with which a peer runs a fifth of a study fastest."""
    rates: dict[int, float] = {}
    for workers in PEERS[name].workers:
        try:
            told = run_peer(name, workers, given, 1, max(20, given.trials // 5), "random")
        except FailedError as problem:
            print(f"    {name}, {workers} workers: {problem}", flush=True)
            continue
        rates[workers] = told["trials"] / told["seconds"]
        print(f"    {name}, {workers} workers: {rates[workers]:.1f} trials/s", flush=True)
    if not rates:
        raise FailedError(f"{name} runs with no number of workers")
    return max(rates, key=lambda workers: rates[workers])


def measure(names: list[str], given: argparse.Namespace) -> tuple[dict[str, Side], dict[str, int]]:
    """Measure all sides, one round after another."""
    workers = {name: best_workers(name, given) for name in names}
    sides = {name: Side([]) for name in ["ours", *names]}
    for turn in range(1, given.rounds + 1):
        for name, side in sides.items():
            if name == "ours":
                told = run_ours(given, turn, "random")
            else:
                told = run_peer(name, workers[name], given, turn, given.trials, "random")
            side.rounds.append(told)
            print(
                f"    round {turn}, {name}: {side.rates[-1]:.1f} trials/s, {told['trials']} trials,"
                f" {told['pruned']} pruned, {told['reports']} reports",
                flush=True,
            )
    return sides, workers


def rows_of(sides: dict[str, Side], workers: dict[str, int]) -> list[dict[str, Any]]:
    """Compute the figures from the measurements."""
    ours = sides["ours"]
    rows: list[dict[str, Any]] = []
    for name in workers:
        peer, side = PEERS[name], sides[name]
        row: dict[str, Any] = {
            "name": f"optuna_vs_{name}",
            "value": ours.median / side.median,
            "unit": "x",
            "op": ">=",
            "goal": peer.goal,
        }
        ratio = ours.reports_per_trial / side.reports_per_trial
        if abs(ratio - 1) > ALIKE:
            row |= {
                "value": None,
                "error": f"{ours.reports_per_trial:.2f} reports a trial, the peer "
                f"{side.reports_per_trial:.2f}: these are not the same studies",
            }
        rows.append(row)
    rows.append(
        {
            "name": "optuna_trials_per_s",
            "value": ours.median,
            "unit": "1/s",
            "note": ours.spread,
        }
    )
    rows.append(
        {
            "name": "optuna_reports_per_s",
            "value": ours.median * ours.reports_per_trial,
            "unit": "1/s",
        }
    )
    for name, count in workers.items():
        peer, side = PEERS[name], sides[name]
        plural = "" if count == 1 else "es" if peer.worker == "process" else "s"
        rows.append(
            {
                "name": f"optuna_{name}_trials_per_s",
                "value": side.median,
                "unit": "1/s",
                "note": f"{peer.about}, {count} {peer.worker}{plural}: {side.spread}",
            }
        )
    return rows


def tpe_rows(given: argparse.Namespace) -> list[dict[str, Any]]:
    """Measure how much of a Hyperflock run with TPE is spent in the sampler."""
    ours = run_ours(given, 1, "tpe", "--stopwatch")
    peer = run_peer("memory", 1, given, 1, given.trials, "tpe")
    rate = ours["trials"] / ours["seconds"]
    return [
        {
            "name": TPE,
            "value": 100 * ours["sampler_s"] / ours["seconds"],
            "unit": "%",
            "op": ">=",
            "goal": 50,
        },
        {
            "name": "optuna_tpe_trials_per_s",
            "value": rate,
            "unit": "1/s",
            "peer": {
                "name": "InMemoryStorage, 1 thread",
                "value": peer["trials"] / peer["seconds"],
            },
        },
    ]


def rows_or_errors(
    measure_rows: Callable[[], list[dict[str, Any]]], names: list[str]
) -> list[dict[str, Any]]:
    """Return the figures, or rows that contain the error if they cannot be measured."""
    try:
        return measure_rows()
    except FailedError as problem:
        return [{"name": name, "value": None, "error": str(problem)} for name in names]


def machine(load: float, phone_count: int) -> dict[str, Any]:
    """Return a description of the machine and of the versions."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(": ", 1)[1] for line in lines if line.startswith("model name")]
    return {
        "cpu": models[0] if models else platform.machine(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        "optuna": optuna.__version__,
        "load before": f"{load:.2f}",
        "phones": phone_count,
    }


def main() -> int:
    """Measure the named figures. The other figures of an earlier report stay in the report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("figures", nargs="*", metavar="FIGURE", help=", ".join(FIGURES))
    parser.add_argument("--list", action="store_true", help="print the figures")
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "reports" / "optuna_vs.json")
    parser.add_argument("--state", type=Path, default=ROOT / "build" / "bench-state" / "optuna_vs")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--trials", type=int, default=1000)
    parser.add_argument("--phones", type=int, default=PHONES)
    parser.add_argument("--limit", type=float, default=60.0, help="seconds of a peer's round")
    given = parser.parse_args()
    if given.list:
        print("\n".join(FIGURES))
        return 0
    wanted = given.figures or FIGURES
    if unknown := set(wanted) - set(FIGURES):
        parser.error(f"there is no figure {', '.join(sorted(unknown))}; --list names them")
    os.environ.setdefault(
        "HYPERFLOCK_TEST_SERVER_BIN", str(ROOT / "build" / "release" / "bin" / "hyperflock-server")
    )
    given.state.mkdir(parents=True, exist_ok=True)
    load = os.getloadavg()[0]
    names = [name for name in PEERS if f"optuna_vs_{name}" in wanted]
    rows: list[dict[str, Any]] = []
    if names:
        compared = [f"optuna_vs_{name}" for name in names]
        rows += rows_or_errors(lambda: rows_of(*measure(names, given)), compared)
    if TPE in wanted:
        rows += rows_or_errors(lambda: tpe_rows(given), [TPE])
    when = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M")
    kept = json.loads(given.out.read_text())["figures"] if given.out.exists() else []
    new = {row["name"] for row in rows}
    report = {
        "name": "optuna_vs",
        "machine": machine(load, given.phones),
        "figures": [
            *({**row, "when": when} for row in rows),
            *(row for row in kept if row["name"] not in new),
        ],
    }
    given.out.parent.mkdir(parents=True, exist_ok=True)
    given.out.write_text(json.dumps(report, indent=2) + "\n")
    missed = [
        row["name"]
        for row in rows
        if row["value"] is None or row["value"] < row.get("goal", -math.inf)
    ]
    for name in missed:
        print(f"missed: {name}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
