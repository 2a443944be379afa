"""Tests that lists are read to their end, page by page, and never for ever."""

from __future__ import annotations

import asyncio
from typing import Any, cast

from hyperflock._transport.http import Http
from hyperflock._transport.pages import pages, whole


class Paged:
    """A server whose list has pages; the cursor is the number of rows that were sent."""

    def __init__(self, count: int, size: int = 2) -> None:
        self.rows = list(range(count))
        self.size = size
        self.asked: list[str] = []

    async def get(self, where: str) -> dict[str, Any]:
        self.asked.append(where)
        after = int(where.partition("after=")[2] or 0)
        cursor = min(after + self.size, len(self.rows))
        return {
            "rows": self.rows[after:cursor],
            "cursor": cursor,
            "more": cursor < len(self.rows),
        }


def all_of(server: object, path: str = "/api/list") -> list[Any]:
    return asyncio.run(whole(cast(Http, server), path, "rows"))


def test_every_page_is_read_once() -> None:
    server = Paged(5)
    assert all_of(server) == server.rows
    assert server.asked == ["/api/list", "/api/list?after=2", "/api/list?after=4"]
    assert all_of(Paged(5), "/api/list?points=1") == server.rows
    assert all_of(Paged(0)) == []


def test_a_page_is_asked_for_when_it_is_needed() -> None:
    server = Paged(100)

    async def first_three() -> list[int]:
        found: list[int] = []
        async for rows in pages(cast(Http, server), "/api/list", "rows"):
            found += rows
            if len(found) >= 3:
                break
        return found

    assert asyncio.run(first_three()) == [0, 1, 2, 3]
    assert len(server.asked) == 2


def test_a_server_without_pages_has_sent_everything() -> None:
    class Older:
        async def get(self, where: str) -> dict[str, Any]:
            return {"rows": [1, 2, 3]}

    assert all_of(Older()) == [1, 2, 3]


def test_a_cursor_that_stands_still_ends_the_list() -> None:
    class Stuck:
        count = 0

        async def get(self, where: str) -> dict[str, Any]:
            self.count += 1
            return {"rows": [self.count], "cursor": 7, "more": True}

    assert all_of(Stuck()) == [1, 2]
