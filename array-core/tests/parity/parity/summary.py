"""Joins reports of parity runs in one table, with a row for each operation, dtypes of operands and
layout.

A report is what ``python -m parity --report FILE`` writes on one back end. The table has the cells
of several back ends side by side. Many names and cells are equal. So the table lists each of them
once, and rows refer to them by index. This module does not use arraycore.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Any

#: The number of failures that are described in words. All failures are counted.
_TOLD = 200

#: What a row stands for: every layout, every set of operands, or the operation as a whole.
DETAILS = ("layout", "operands", "operation")

Key = tuple[str, str, str, str]


class _Numbers:
    """Numbers distinct values in the order in which they first appear."""

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def of(self, value: Hashable) -> int:
        return self._numbers.setdefault(value, len(self._numbers))

    def listed(self) -> list[Any]:
        return list(self._numbers)


class _Cell:
    """The counts of a row on one back end."""

    def __init__(self) -> None:
        self.cases = self.on_device = self.failures = 0
        self.error = 0.0
        self.operands: set[str] = set()
        self.layouts: set[str] = set()

    def add(self, case: dict[str, Any], backend: str, operands: str, layout: str) -> None:
        self.cases += 1
        self.on_device += case["ran"] == backend
        self.failures += bool(case["failure"])
        # A failure may have no number in the report; then only its sentence says what is wrong.
        self.error = max(self.error, case["error_ulp"] or 0.0)
        self.operands.add(operands)
        self.layouts.add(layout)

    def packed(self) -> tuple[int, int, int, float]:
        # Readers need only three digits of an error.
        return self.cases, self.on_device, self.failures, float(f"{self.error:.3g}")


def _key_of(detail: str) -> Callable[[dict[str, Any]], Key]:
    def key(case: dict[str, Any]) -> Key:
        operands = ", ".join(case["operands"]) if detail != "operation" else ""
        layout = _layout(case) if detail == "layout" else ""
        return case["group"], case["operation"], operands, layout

    return key


def _layout(case: dict[str, Any]) -> str:
    """Return the layouts of a case's operands, or one name if they are equal."""
    names = case["layout"].split(",")
    return names[0] if len(set(names)) == 1 else ", ".join(names)


def _count(found: set[str], one: str, many: str) -> str:
    """Return the text of a row that stands for several things: their number, and their name in the
    plural.
    """
    return f"{len(found)} {one if len(found) == 1 else many}"


def summary(reports: Iterable[dict[str, Any]], detail: str = "layout") -> dict[str, Any]:
    """Return the table of several back ends' reports.

    Parameters
    ----------
    reports : iterable of dict
        As ``python -m parity --report`` writes them; one for each back end.
    detail : {"layout", "operands", "operation"}
        What a row stands for. The things that a row combines are shown as a count.

    Returns
    -------
    dict
        ``backends``: what ran, where, and its figures. ``names``: the words that rows are made of.
        ``cells``: distinct ``[cases, cases on the device, failures, largest error]``. ``rows``:
        ``[group, operation, operands, layout, cell...]``, as indices into these lists; a cell of -1
        is a back end that did not run the row. ``failures``: the first ones in words.

    Raises
    ------
    ValueError
        Two reports are of the same back end.
    """
    reports = list(reports)
    names = [report["backend"] for report in reports]
    if len(set(names)) != len(names):
        raise ValueError(f"Each back end has one report; these are of {', '.join(names)}.")
    key_of = _key_of(detail)
    rows: dict[Key, list[_Cell | None]] = {}
    failures = []
    for at, report in enumerate(reports):
        on_cpu = report["device"] == "cpu"
        for case in report["cases"]:
            cells = rows.setdefault(key_of(case), [None] * len(reports))
            cell = cells[at] = cells[at] or _Cell()
            cell.add(case, "" if on_cpu else report["backend"], ", ".join(case["operands"]),
                     _layout(case))  # fmt: skip
            if case["failure"] and len(failures) < _TOLD:
                failures.append(_told(report["backend"], case))
    words, packed = _Numbers(), _Numbers()
    table = []
    for key, cells in rows.items():
        group, operation, operands, layout = key
        there = [cell for cell in cells if cell is not None]
        if not operands:
            operands = _count(set().union(*(cell.operands for cell in there)), "set", "sets")
        if not layout:
            layout = _count(set().union(*(cell.layouts for cell in there)), "layout", "layouts")
        numbers = [words.of(word) for word in (group, operation, operands, layout)]
        table.append(numbers + [-1 if cell is None else packed.of(cell.packed()) for cell in cells])
    return {
        "detail": detail,
        "backends": [_backend(report) for report in reports],
        "names": words.listed(),
        "cells": [list(cell) for cell in packed.listed()],
        "rows": table,
        "failures": failures,
    }


def _told(backend: str, case: dict[str, Any]) -> str:
    operands = ", ".join(case["operands"])
    what = f"{case['group']} {case['operation']}({operands}) {case['layout']} {case['form']}"
    return f"{backend}: {what.strip()}: {case['failure']}"


def _backend(report: dict[str, Any]) -> dict[str, Any]:
    figures = report["figures"]
    return {
        "name": report["backend"],
        "device": report["device"],
        "platform": report["platform"],
        "numpy": report["numpy"],
        "when": report.get("when", ""),
        "selection": bool(report["short"]),
        "cases": figures["parity_cases"],
        "failures": figures["parity_failures"],
        "device_share": None if report["device"] == "cpu" else figures["parity_gpu_share"],
        "seconds": figures["parity_seconds"],
    }
