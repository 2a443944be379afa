"""Cuts pages from the lists of the fake console, as the server does."""

from __future__ import annotations

from typing import Any


def newest_first(query: str, rows: list[dict[str, Any]], size: int) -> dict[str, Any]:
    """Return a page of studies, whose cursor is the last study's number."""
    after = _after(query)
    older = sorted((row for row in rows if not after or row["study"] < after), key=_minus_study)
    shown = older[:size]
    cursor = shown[-1]["study"] if shown else after
    return {"studies": shown, "cursor": cursor, "more": len(older) > size}


def by_number(query: str, rows: list[dict[str, Any]], size: int) -> dict[str, Any]:
    """Return a page of trials, whose cursor is the number from which the next page begins."""
    after = _after(query)
    later = [row for row in rows if row["trial"] >= after]
    shown = later[:size]
    cursor = shown[-1]["trial"] + 1 if shown else after
    return {"trials": shown, "cursor": cursor, "more": len(later) > size}


def _minus_study(row: dict[str, Any]) -> int:
    return -int(row["study"])


def _after(query: str) -> int:
    values = [part.removeprefix("after=") for part in query.split("&") if part[:6] == "after="]
    return int(values[0]) if values else 0
