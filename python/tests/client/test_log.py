"""Tests how the lines that a trial prints are read: page by page, and live."""

from __future__ import annotations

from typing import Any

import pytest
from hyperflock._base.errors import HyperflockError
from hyperflock._client import log as _log
from hyperflock._transport import background_loop as _loop


class FakeHttp:
    """A fake server with one trial. A "look" is a request for the trial's row.

    The first looks find no row. Each of the last two finds one more printed line, and at look
    number ``looks`` the trial has finished. If ``cancelled``, the study is cancelled.
    """

    def __init__(self, lines: list[str], *, looks: int = 0, cancelled: bool = False) -> None:
        self.lines = lines
        self.looks = looks
        self.cancelled = cancelled
        self.asked: list[str] = []

    async def get(self, path: str) -> Any:
        self.asked.append(path)
        if path == "/api/studies/3":
            return {"state": "cancelled" if self.cancelled else "running"}
        if not path.startswith("/api/studies/3/trials/5/log?after="):
            self.looks -= 1
            if self.looks > 1:
                raise HyperflockError("nobody has begun it", code="not_found")
            self.lines.append(f"line of look {self.looks}")
            return {"state": "running" if self.looks > 0 else "complete"}
        after = int(path.rpartition("=")[2])
        page = [
            {"line": at + 1, "attempt": 7, "text": text}
            for at, text in enumerate(self.lines)
            if at >= after
        ][:2]
        return {"lines": page, "cursor": page[-1]["line"] if page else len(self.lines)}


def test_lines_come_page_by_page_and_harmless() -> None:
    http = FakeHttp(["a", "b\x1b[2J", "c"])
    lines = _log.log_lines(http, 3, 5, follow=False)
    assert list(_loop.iterate(lines)) == ["a", "b[2J", "c"]
    assert not any(path.endswith("/5") for path in http.asked)


def test_follow_goes_on_until_the_trial_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    naps: list[float] = []

    async def nap(seconds: float) -> None:
        naps.append(seconds)

    monkeypatch.setattr("hyperflock._client.log.asyncio.sleep", nap)
    http = FakeHttp([], looks=4)
    lines = list(_loop.iterate(_log.log_lines(http, 3, 5, follow=True)))
    assert lines == ["line of look 1", "line of look 0"]
    assert [wait for wait in naps if wait] == [_log._POLL_S] * 3


def test_follow_ends_with_a_study_that_ends_before_the_trial_began() -> None:
    http = FakeHttp([], looks=9, cancelled=True)
    assert list(_loop.iterate(_log.log_lines(http, 3, 5, follow=True))) == []
    assert http.asked.count("/api/studies/3") == 1
