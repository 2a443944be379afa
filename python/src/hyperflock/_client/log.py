"""Reads the lines that a trial printed. The server keeps the newest ones in memory.

    async for line in log_lines(http, study=1, number=3, follow=True):
        print(line)

The coroutines run on any event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from typing import Any, Protocol

from hyperflock._base.errors import HyperflockError
from hyperflock._base.text import clean
from hyperflock._transport.messages import LogPage
from hyperflock._transport.validation import convert

_POLL_S = 1.0


class _Http(Protocol):
    async def get(self, path: str) -> Any: ...


async def log_lines(
    http: _Http, study: int, number: int, *, follow: bool
) -> AsyncGenerator[str, None]:
    """Yield the lines that trial ``number`` printed, without control characters.

    Parameters
    ----------
    http
        The client's connection.
    study, number
        The trial.
    follow
        Continue with new lines until the trial has its outcome.
    """
    path = f"/api/studies/{study}"
    base = f"{path}/trials/{number}"
    cursor = 0
    while True:
        # The state is fetched before the lines: once the trial has finished, the server has all its
        # lines.
        over = not follow or await _is_over(http, path, base)
        while True:
            page = convert(await http.get(f"{base}/log?after={cursor}"), LogPage)
            for line in page.lines:
                yield clean(line.text)
            cursor = page.cursor
            if not page.lines:
                break
        if over:
            return
        await asyncio.sleep(_POLL_S)


async def _is_over(http: _Http, study: str, trial: str) -> bool:
    try:
        row = await http.get(trial)
    except HyperflockError as error:
        if error.code != "not_found":
            raise
        # A trial that has not started has no row, and never gets one after its study has ended.
        row = await http.get(study)
    return bool(row["state"] != "running")
