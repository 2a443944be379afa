"""Makes the parity page: one HTML file that needs no other, and its numbers as JSON.

    PYTHONPATH=array-core/tests/parity python3 -m parity.page REPORT.json... --out FOLDER

Writes ``FOLDER/index.html`` and ``FOLDER/summary.json`` (:func:`.summary.summary`). ``--detail``
says what a row stands for.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .summary import DETAILS, summary

_TEMPLATE = Path(__file__).with_name("page.html")
_MARK = "@@SUMMARY@@"


def page(table: dict[str, Any]) -> str:
    """Return the HTML page of a table as :func:`.summary.summary` gives it."""
    before, after = _TEMPLATE.read_text(encoding="utf-8").split(_MARK)
    # In a script element, `<` could end the element or begin a comment.
    return before + _text(table).replace("<", "\\u003c") + after


def _text(table: dict[str, Any]) -> str:
    return json.dumps(table, separators=(",", ":"), allow_nan=False)


def write(reports: Iterable[Path], folder: Path, detail: str) -> dict[str, Any]:
    """Write the page and the table of some reports into a folder; return the table."""
    table = summary((json.loads(path.read_text(encoding="utf-8")) for path in reports), detail)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.json").write_text(_text(table) + "\n", encoding="utf-8")
    (folder / "index.html").write_text(page(table), encoding="utf-8")
    return table


def main() -> None:
    parser = argparse.ArgumentParser(prog="parity.page", description="The page of parity runs.")
    parser.add_argument("reports", type=Path, nargs="+", help="what --report of a run wrote")
    parser.add_argument("--out", type=Path, required=True, help="the folder that is written to")
    parser.add_argument("--detail", choices=DETAILS, default="layout", help="what a row stands for")
    arguments = parser.parse_args()
    table = write(arguments.reports, arguments.out, arguments.detail)
    count = sum(backend["cases"] for backend in table["backends"])
    print(f"{arguments.out / 'index.html'}: {len(table['rows'])} rows of {count} cases")


if __name__ == "__main__":
    main()
