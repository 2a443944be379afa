"""Print the benchmark figures in ``build/reports`` as one table.

Each report is ``{"name", "machine", "figures": [{"name", "value", "unit", "op": ">=" | "<=",
"goal", "peer"}]}``; ``op``, ``goal`` and ``peer`` may be missing or null. ``peer`` is ``{"name",
"value"}``: what another system reached in the same run, or what a physical limit allows. The ratio
is our value divided by the peer's. A figure may say ``when`` it was measured. A figure without a
value has an ``error``, which counts as a missed goal, or a ``note`` that this machine cannot
measure it.

Usage: ``report.py FOLDER [--json]``. The exit code is 1 if a goal is missed.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table


def load(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the reports in the order of their names."""
    for path in sorted(folder.glob("*.json")):
        report = json.loads(path.read_text())
        if "figures" in report:
            yield report


def met(figure: dict[str, Any]) -> bool | None:
    """Return whether the figure reaches its goal. A figure with an error does not. Return None if
    it has no goal or no value.
    """
    if figure.get("error"):
        return False
    goal, value = figure.get("goal"), figure["value"]
    if goal is None or value is None:
        return None
    return bool(value >= goal if figure["op"] == ">=" else value <= goal)


def number(value: float | None) -> str:
    """Return a number with four significant digits, or with separated thousands if it is large."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def against(figure: dict[str, Any]) -> tuple[str, str]:
    """Return the peer's name, and our value divided by the peer's value."""
    peer = figure.get("peer") or {}
    if not isinstance(peer, dict):
        return str(peer), ""
    value, theirs = figure["value"], peer.get("value")
    return peer.get("name", ""), number(value / theirs) if theirs and value is not None else ""


def main() -> int:
    """Print every report. Return 1 if a goal is missed."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", action="store_true", help="print one JSON list instead of tables")
    options = parser.parse_args()
    reports = list(load(options.folder))
    if not reports:
        print("No figures yet: ./run bench writes them.", file=sys.stderr)
        return 1
    if options.json:
        json.dump(reports, sys.stdout, indent=2)
        print()
        return 0
    # If the output goes to a pipe or a log, it has no width, so a fixed width is used.
    console = Console() if sys.stdout.isatty() else Console(width=120)
    missed = 0
    for report in reports:
        machine = report.get("machine") or {}
        about = (
            ", ".join(f"{key} {value}" for key, value in machine.items())
            if isinstance(machine, dict)
            else machine
        )
        table = Table(title=f"{report['name']} ({about})", title_justify="left")
        dated = any("when" in figure for figure in report["figures"])
        compared = any(figure.get("peer") for figure in report["figures"])
        columns = ["figure", "value", "unit", "goal", ""]
        columns += ["peer", "ratio to peer"] if compared else []
        columns += ["measured (UTC)"] if dated else []
        for column in columns:
            table.add_column(
                column,
                justify="right" if column in ("value", "goal", "ratio to peer") else "left",
                no_wrap=column in ("figure", "value", "goal", "measured (UTC)"),
            )
        for figure in report["figures"]:
            verdict = met(figure)
            missed += verdict is False
            remark = figure.get("error") or figure.get("note") or ""
            goal = figure.get("goal")
            table.add_row(
                figure["name"],
                number(figure["value"]),
                figure.get("unit", ""),
                "" if goal is None else f"{figure['op']} {number(goal)}",
                {True: "[green]met[/]", False: "[red]missed[/] ", None: ""}[verdict]
                + escape(remark),
                *(against(figure) if compared else ()),
                *((figure.get("when", ""),) if dated else ()),
            )
        console.print(table)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
