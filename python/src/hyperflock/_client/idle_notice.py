"""Prints why no trial of a study runs: no device is connected, or none meets its requirements.

    waiting = Waiting(http, study=3)
    waiting.look(_loop.start, idle=True)      # every second or so; never blocks

It prints one line on standard error for each reason, after some seconds in which nothing ran. The
waiting thread calls `look`. A separate coroutine asks the server, and its errors are ignored.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Coroutine
from typing import Any, Protocol

from hyperflock._base.text import clean
from hyperflock._client.placement import Placement, placement_of
from hyperflock._reports.held import held_text
from hyperflock._reports.progress import beside
from hyperflock._reports.stopped import stopped_text
from hyperflock._transport.http import Http
from hyperflock._transport.messages import Requirements, StudyRow
from hyperflock._transport.validation import convert

# The seconds between two calls of `look`.
SLICE_S = 1.0
# The reason is printed when nothing has run for this many seconds.
_PATIENCE_S = 5.0
_AGAIN_S = 10.0


class _Found(Protocol):
    """A future of asyncio or of a thread."""

    def done(self) -> bool: ...
    def result(self) -> str: ...
    def cancel(self) -> object: ...


class Waiting:
    """Prints why nothing runs, and calls ``on_idle`` with each reason. With ``is_quiet`` it prints
    nothing.
    """

    def __init__(
        self,
        http: Http,
        study: int,
        on_idle: Callable[[str], None] | None = None,
        *,
        is_quiet: bool = False,
    ) -> None:
        self._http = http
        self._is_quiet = is_quiet
        self._on_idle = on_idle
        self._study = study
        self._idle_since: float | None = None
        self._ask_at = -math.inf
        self._asked: _Found | None = None
        self._said = ""
        self._stop = ""

    def look(self, start: Callable[[Coroutine[Any, Any, str]], _Found], *, idle: bool) -> None:
        """Print why nothing runs, after some idle seconds and once the server has sent the reason.

        Parameters
        ----------
        start
            Starts a coroutine that runs concurrently.
        idle
            Whether no trial runs, as far as the caller knows.
        """
        now = time.monotonic()
        if not idle:
            # A trial runs now. The answer to an earlier request describes the time before, so it is
            # dropped.
            self.close()
            self._idle_since = None
            self._said = ""
        elif self._idle_since is None:
            self._idle_since = now
        if self._asked is not None:
            if self._asked.done():
                asked, self._asked = self._asked, None
                self._say(asked.result())
        elif idle and now >= max(self._ask_at, (self._idle_since or now) + _PATIENCE_S):
            self._ask_at = now + _AGAIN_S
            self._asked = start(self._reason())

    def told(self, row: StudyRow) -> None:
        """Print at once why the study has paused itself or an administrator holds it, if its new
        row ``row`` says so.
        """
        reason = _why_stopped(row)
        if reason and reason != self._stop:
            self._say(reason)
        self._stop = reason

    def close(self) -> None:
        """Stop asking the server."""
        if self._asked is not None:
            self._asked.cancel()
            self._asked = None

    def _say(self, reason: str) -> None:
        # The reason for which the study paused itself is long. It is printed once, even if trials
        # ran in between.
        if reason and reason not in (self._said, self._stop):
            if not self._is_quiet:
                beside(f"study {self._study} waits: {reason}")
            if self._on_idle is not None:
                self._on_idle(reason)
        self._said = reason

    async def _reason(self) -> str:
        """Return why nothing runs; an empty text if something runs or could run."""
        try:
            path = f"/api/studies/{self._study}"
            row = convert(await self._http.get(f"{path}?space=names"), StudyRow)
            # In an ask-and-tell study, `running` also counts trials that wait for a device.
            if row.state != "running" or (row.running and row.kind != "asked"):
                return ""
            if stopped := _why_stopped(row):
                return stopped
            if row.paused is True:
                return f"it is paused; it goes on by: hyperflock resume {self._study}"
            told = placement_of(await self._http.get(f"{path}/placement"))
        except Exception:  # the caller's own requests report errors that matter
            return self._said
        return "" if told.matching else why_none(told, row)


def _why_stopped(row: StudyRow) -> str:
    """Return why an administrator holds the study or why it has paused itself; empty if neither."""
    return held_text(row) or stopped_text(row)


def why_none(placement: Placement, row: StudyRow) -> str:
    """Return why no device may run a study's trials."""
    count, lacking = placement.devices, placement.reasons
    if not count:
        return "no device is connected; volunteers join by the link of: hyperflock join"
    if len(lacking) == 1:
        (code,) = lacking
        who = "the one connected device lacks" if count == 1 else f"none of {count} devices has"
        return f"{who} {_wanted(code, row)}"
    return f"none of {count} devices qualifies: {lacking_text(placement, row)}"


def placement_text(placement: Placement, row: StudyRow) -> str:
    """Return how many devices are connected, how many qualify, and what the others lack."""
    if not placement.devices:
        return "none connected; volunteers join by the link of: hyperflock join"
    text = f"{placement.devices} connected, {placement.matching or 'none'} "
    text += "matches" if placement.matching < 2 else "match"
    lacking = lacking_text(placement, row)
    text = f"{text}: {lacking}" if lacking else text
    waiting = waiting_text(placement)
    return f"{text}; {waiting}" if waiting else text


def waiting_text(placement: Placement) -> str:
    """Return why the next trial waits although devices match; empty if it does not."""
    share = placement.share
    if not placement.matching or share is None:
        return ""
    part = f"your weight is {share.weight} of {share.weights}"
    texts = {
        "busy": "all of them compute, and you are next",
        "others_first": f"all of them compute, and {share.ahead} of the researchers "
        f"{'comes' if share.ahead == 1 else 'come'} before you; {part}",
        "own_priority": "another study of yours has a higher priority",
        "ceiling": f"you may not use more devices now, {share.devices} compute for you",
        "no_trial": "every trial has begun",
        "server": "the server leases nothing now",
    }
    return texts.get(placement.waits, "")


def lacking_text(placement: Placement, row: StudyRow) -> str:
    """Return what devices lack and how many lack it, the most frequent first."""
    by_count = sorted(placement.reasons.items(), key=lambda item: -item[1])
    return ", ".join(
        f"{count} {'lacks' if count == 1 else 'lack'} {_wanted(code, row)}"
        for code, count in by_count
    )


def _wanted(code: str, row: StudyRow) -> str:
    """Return as text what the study requires, given the code of the reason why a device does not
    qualify.
    """
    wanted = row.requires if isinstance(row.requires, Requirements) else Requirements()
    texts = {
        "no_webgpu": "WebGPU",
        "no_webgl2": "WebGL2",
        "no_graphics_card": "a graphics card for WebGPU",
        "no_f16": "half precision (f16) on WebGPU",
        "small_buffers": f"room for arrays of {wanted.buffer_mb} MiB on WebGPU",
        "little_memory": f"{wanted.memory_mb} MiB of memory",
        "few_cores": f"{wanted.cores} cores",
    }
    return texts.get(code) or f"what it needs ({clean(code, limit=40)})"
