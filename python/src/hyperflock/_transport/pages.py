"""Reads lists of the server page by page.

    async for rows in pages(http, "/api/studies", "studies"): ...
    everything = await whole(http, "/api/tokens", "tokens")

An answer with ``more`` has only the first rows; its ``cursor`` is the next request's ``after``. A
server that sends no ``more`` has sent the whole list. The coroutines run on any event loop.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

from hyperflock._transport.http import Http


async def pages(http: Http, path: str, key: str) -> AsyncIterator[list[Any]]:
    """Yield the rows of each page; a page is requested when it is needed."""
    where = path
    mark = "&" if "?" in path else "?"
    last = 0
    while True:
        page = await http.get(where)
        yield list(page[key])
        if page.get("more") is not True or page["cursor"] == last:
            return
        last = int(page["cursor"])
        where = f"{path}{mark}after={last}"


async def whole(http: Http, path: str, key: str) -> list[Any]:
    """Return the rows of all pages."""
    return [row async for rows in pages(http, path, key) for row in rows]
