"""Fetches rows of trials page by page: only new ones, with the curves that are needed.

    rows, cursor = await newer(http, study=3, cursor=0)      # all finished trials, in order
    rows = await unfinished(http, study=3)                   # with the curves so far

The coroutines run on any event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable
from typing import Any

import msgspec

from hyperflock._transport.http import Http
from hyperflock._transport.messages import TrialRow
from hyperflock._transport.pages import whole
from hyperflock._transport.validation import convert

_PAGE = 500
_AT_ONCE = 8


async def newer(
    http: Http, study: int, cursor: int, *, points: bool = True
) -> tuple[list[TrialRow], int]:
    """Fetch the trials that finished after a cursor, in order, and the new cursor.

    A failed trial may appear again with a later outcome.
    """
    found: list[TrialRow] = []
    with_curves = "&points=1" if points else ""
    while True:
        where = f"/api/studies/{study}/trials?after={cursor}&limit={_PAGE}{with_curves}"
        page = await http.get(where)
        rows = _rows(page["trials"])
        if not rows:
            break
        found += rows
        cursor = int(page["cursor"])
    if points:
        found = await with_points(http, study, found)
    return found, cursor


async def unfinished(http: Http, study: int, *, points: bool = True) -> list[TrialRow]:
    """Fetch the trials that have no outcome, by number: those that devices have started and those
    that wait.
    """
    where = f"/api/studies/{study}/unfinished{'?points=1' if points else ''}"
    rows = _rows(await whole(http, where, "trials"))
    if not points:
        return rows
    begun = await with_points(http, study, [row for row in rows if row.attempts])
    waiting = [row for row in rows if not row.attempts]
    return sorted([*begun, *waiting], key=lambda row: row.trial)


async def with_points(
    http: Http, study: int, rows: Iterable[TrialRow], wanted: Container[int] | None = None
) -> list[TrialRow]:
    """Fetch the curves that a page left out, for all rows or for those with a wanted number."""
    gate = asyncio.Semaphore(_AT_ONCE)

    async def whole(row: TrialRow) -> TrialRow:
        if isinstance(row.points, list) or (wanted is not None and row.trial not in wanted):
            return row
        async with gate:
            told = convert(await http.get(f"/api/studies/{study}/trials/{row.trial}"), TrialRow)
        # The trial may have changed since the page was fetched. The page's row counts, so only a
        # curve with the same outcome is used.
        row.points = told.points if told.seq == row.seq else []
        return row

    return list(await asyncio.gather(*map(whole, rows)))


def _rows(listed: list[Any]) -> list[TrialRow]:
    try:
        return msgspec.convert(listed, list[TrialRow])
    except msgspec.ValidationError:  # the conversion below names the wrong field
        return [convert(row, TrialRow) for row in listed]
