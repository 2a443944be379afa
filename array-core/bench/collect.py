"""Run array-core's benchmarks and keep their figures: ``./run bench array-core [NAME...]``.

NAME is the name of a command or of a figure (``figures.py``). Each figure is written to the report
as soon as it is measured, and replaces the figure of the same name from an earlier run. If a
command fails, its figures have the reason instead of a value, and count as missed. The exit code is
1 if a figure of this run was missed, and 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import platform
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Mapping
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from figures import COMMANDS, Command, Figure

ROOT = Path(__file__).resolve().parents[2]
PYTHON_COMMAND = (
    "node",
    "--disable-warning=ExperimentalWarning",
    "worker-runtime/node/python_command.ts",
)
PACKAGE = "array-core/python"
PARITY = "parity_"
# A command has this many seconds to end after SIGINT.
GRACE_S = 20


class CommandFailed(Exception):
    """A command printed no figures; the exception's text says why."""


def machine() -> dict[str, Any]:
    """Return a description of the machine that measures the figures."""
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    models = [line.split(": ", 1)[1] for line in lines if line.startswith("model name")]
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cpu": models[0] if models else platform.machine(),
        "cores": os.cpu_count(),
        "memory_gib": round(memory / 2**30),
    }


def arguments_of(command: Command) -> list[str]:
    """Return the arguments of the process that runs a command."""
    if command.python is None:
        return list(command.arguments)
    return [*PYTHON_COMMAND, "--mount", PACKAGE, *command.python, *command.arguments]


def parse_last_line(output: list[str]) -> dict[str, Any]:
    """Return the numbers in the last line of a command's output.

    Raises
    ------
    CommandFailed
        The line is not a JSON object.
    """
    last = output[-1] if output else ""
    try:
        numbers = json.loads(last)
    except ValueError:
        numbers = None
    if not isinstance(numbers, dict):
        raise CommandFailed(f"the last line of output is no JSON object: {last[:120]!r}")
    return numbers


def run(command: Command) -> tuple[dict[str, Any], int]:
    """Run one command, show its output; return the numbers of its last line and its exit status.

    Raises
    ------
    CommandFailed
        The command took too long, or its last line has no numbers.
    """
    env = {**os.environ, **command.env}
    process = subprocess.Popen(
        arguments_of(command), cwd=ROOT, env=env, stdout=subprocess.PIPE, text=True
    )
    late = threading.Event()

    def end() -> None:
        late.set()
        # SIGINT, the signal of Ctrl-C, lets the command close its browser before it ends.
        process.send_signal(signal.SIGINT)
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()

    timer = threading.Timer(command.limit_s, end)
    timer.daemon = True
    timer.start()
    output: list[str] = []
    assert process.stdout is not None
    try:
        for line in process.stdout:
            if line.strip():
                output.append(line.strip())
            print("   ", line, end="", flush=True)
        status = process.wait()
    except KeyboardInterrupt:
        # Ctrl-C sent SIGINT to the command too, so it ends by itself.
        try:
            process.wait(GRACE_S)
        except subprocess.TimeoutExpired:
            process.kill()
        raise
    finally:
        timer.cancel()
    if late.is_set():
        raise CommandFailed(f"took longer than {command.limit_s} s")
    try:
        numbers = parse_last_line(output)
    except CommandFailed as problem:
        raise CommandFailed(f"ended with {status}; {problem}" if status else str(problem)) from None
    return numbers, status


def is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def row_of(figure: Figure, numbers: Mapping[str, Any], when: str) -> dict[str, Any]:
    """Return the figure's row of the report. It has no value if the numbers lack the figure."""
    row: dict[str, Any] = {"name": figure.name, "unit": figure.unit, "when": when}
    if figure.op is not None:
        row |= {"op": figure.op, "goal": figure.goal}
    key = figure.key or figure.name
    value = numbers.get(key)
    if is_number(value):
        row["value"] = value
    elif figure.optional and key in numbers:
        row |= {"value": None, "note": str(numbers.get("reason", "no such device here"))}
    else:
        row |= {"value": None, "error": f"the command gave no number {key}"}
    if "device" in numbers:
        row["device"] = str(numbers["device"])
    if figure.peer is not None and is_number(numbers.get(figure.peer[1])):
        row["peer"] = {"name": figure.peer[0], "value": numbers[figure.peer[1]]}
    return row


def failed_row(figure: Figure, reason: str, when: str) -> dict[str, Any]:
    """Return the row of a figure whose command failed."""
    return {**row_of(figure, {}, when), "error": reason}


def missed(row: Mapping[str, Any]) -> bool:
    """Return whether a row's figure misses its goal or was not measured."""
    goal = row.get("goal")
    if "error" in row or row["value"] is None or goal is None:
        return "error" in row
    return bool(row["value"] < goal if row["op"] == ">=" else row["value"] > goal)


def chosen(names: list[str]) -> list[Command]:
    """Return the commands with these names, or all commands. A name may also be that of a figure;
    then the command that measures it is returned.

    Raises
    ------
    SystemExit
        There is no such name.
    """
    if not names:
        return list(COMMANDS)
    found = []
    for name in names:
        named = [
            command
            for command in COMMANDS
            if name == command.name or name in {figure.name for figure in command.figures}
        ]
        if not named:
            raise SystemExit(f"There is no figure {name!r}; --list names them.")
        found += [command for command in named if command not in found]
    return found


def write_report(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Put the rows into the report. A row replaces an earlier one of the same name."""
    known = {figure.name: None for command in COMMANDS for figure in command.figures}
    held: dict[str, Mapping[str, Any]] = {}
    if path.is_file():
        held = {row["name"]: row for row in json.loads(path.read_text())["figures"]}
    held |= {row["name"]: row for row in rows}
    report = {
        "name": "array-core",
        "machine": machine(),
        "figures": [held[name] for name in known if name in held],
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_text(json.dumps(report, indent=1) + "\n")
    part.replace(path)


def write_parity_page(folder: Path) -> None:
    """Make the page of all parity reports that exist, also of earlier runs."""
    known = [command.name.removeprefix(PARITY) for command in COMMANDS if of_parity(command)]
    reports = [path for name in known if (path := folder / f"{name}.json").is_file()]
    if reports:
        command = [sys.executable, "-m", "parity.page", *map(str, reports), "--out", str(folder)]
        subprocess.run(command, cwd=ROOT / "array-core/tests/parity", check=True)


def of_parity(command: Command) -> bool:
    return command.name.startswith(PARITY)


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("names", nargs="*", help="commands or figures; none: all")
    parser.add_argument("--list", action="store_true", help="name them, measure nothing")
    parser.add_argument("--out", type=Path, default=ROOT / "build/reports/array-core.json")
    options = parser.parse_args(argv)
    if options.list:
        for command in COMMANDS:
            print(f"{command.name}: {', '.join(figure.name for figure in command.figures)}")
        return 0
    commands = chosen(options.names)
    (ROOT / "build/reports/parity").mkdir(parents=True, exist_ok=True)
    worst = 0
    for number, command in enumerate(commands, 1):
        print(f"[{number}/{len(commands)}] {command.name}", flush=True)
        began = time.monotonic()
        when = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M")
        try:
            numbers, status = run(command)
            rows = [row_of(figure, numbers, when) for figure in command.figures]
            # A command that checks its own results may exit with an error. Then a figure must
            # count as missed.
            if status and not any(missed(row) for row in rows):
                rows = [{**row, "error": f"the command ended with {status}"} for row in rows]
        except CommandFailed as problem:
            rows = [failed_row(figure, str(problem), when) for figure in command.figures]
        except KeyboardInterrupt:
            print("interrupted; what was measured is kept", file=sys.stderr)
            return 130
        write_report(options.out, rows)
        for row in rows:
            verdict = (
                "MISSED" if missed(row) else "ok" if row["value"] is not None else "unmeasured"
            )
            reason = row.get("error", row.get("note", ""))
            print(f"  {row['name']} {row['value']} {row['unit']}: {verdict} {reason}", flush=True)
            worst |= missed(row)
        print(f"  {time.monotonic() - began:.0f} s", flush=True)
    if any(map(of_parity, commands)):
        write_parity_page(options.out.resolve().parent / "parity")
    return worst


if __name__ == "__main__":
    sys.exit(main())
