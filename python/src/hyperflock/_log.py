"""What a trial prints, as the server keeps it: the newest lines, in memory alone.

    for line in study.log(3, follow=True):
        print(line)

Any thread; each iterator belongs to one.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any, Protocol

from msgspec import Struct

from hyperflock._protocol import Count, LogLine
from hyperflock._schema import convert
from hyperflock._text import clean

_POLL_S = 1.0


class LogPage(Struct):
    """One answer of the server."""

    lines: list[LogLine]
    cursor: Count


class _Http(Protocol):
    def get(self, path: str) -> Any: ...


def log_lines(http: _Http, study: int, number: int, *, follow: bool) -> Iterator[str]:
    """Yield the lines that trial ``number`` printed, without control characters.

    Parameters
    ----------
    http
        The client's connection.
    study, number
        Which trial.
    follow
        Go on with what comes, until the trial has its outcome.
    """
    base = f"/api/studies/{study}/trials/{number}"
    cursor = 0
    while True:
        # Asked before the lines: what it printed last is there once it has finished.
        over = not follow or _is_over(http, base)
        while True:
            page = convert(http.get(f"{base}/log?after={cursor}"), LogPage)
            yield from (clean(line.text) for line in page.lines)
            cursor = page.cursor
            if not page.lines:
                break
        if over:
            return
        time.sleep(_POLL_S)


def _is_over(http: _Http, base: str) -> bool:
    # A trial that nobody has begun has no row yet.
    try:
        row = http.get(base)
    except Exception as error:
        if getattr(error, "code", None) == "not_found":
            return False
        raise
    return bool(row["state"] != "running")
