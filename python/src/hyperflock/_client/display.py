"""Shows a study on a screen until it has ended: `AsyncStudy.display`.

    shown = Display(study, screen_here())
    await shown.until_end(every_s, trials)

The finished trials come by the study's WebSocket. The running ones, the devices and the best
trial's curve are requested again and again, one request at a time, if the screen shows them. Errors
of these requests are ignored, because the WebSocket reports every error that matters. The screen is
drawn in the thread that waits for the display's end (`background_loop.tell`). All coroutines run on
one event loop.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING

from hyperflock._base.errors import HyperflockError
from hyperflock._client.idle_notice import placement_text
from hyperflock._model.results import TrialResult, trial_result
from hyperflock._reports.live import Screen, View
from hyperflock._transport.background_loop import tell
from hyperflock._transport.messages import BestRow, TrialRow
from hyperflock._transport.pages import whole
from hyperflock._transport.validation import convert

if TYPE_CHECKING:
    from hyperflock._client.async_study import AsyncStudy

# The least seconds between two changes of the picture. Faster changes would not be readable.
_LEAST_S = 0.2
# The most seconds that a display waits for the best trial's curve after the study's end.
_LAST_S = 5.0


class Display:
    """One study on one screen.

    Parameters
    ----------
    study
        The study.
    screen
        Where it is shown.
    detached
        What the screen says if the display is interrupted.
    """

    def __init__(self, study: AsyncStudy, screen: Screen, detached: str) -> None:
        self._study = study
        self._screen = screen
        self._detached = detached
        self._running: list[TrialResult] = []
        self._devices = ""
        self._note = ""
        self._best: TrialResult | None = None
        self._asked: asyncio.Task[None] | None = None

    async def until_end(self, every_s: float, trials: AsyncGenerator[TrialResult, None]) -> None:
        """Draw what has changed every ``every_s`` seconds, until ``trials`` ends."""
        watching = asyncio.ensure_future(_drained(trials))
        try:
            self._ask()
            assert self._asked is not None
            # Wait a moment: if the server is quick, the first picture is complete.
            await asyncio.wait([self._asked], timeout=max(every_s, _LEAST_S))
            while not watching.done():
                self._draw()
                await asyncio.wait([watching], timeout=max(every_s, _LEAST_S))
                self._ask()
            await watching  # raises its error
            if self._screen.needs_trials:
                with contextlib.suppress(HyperflockError, asyncio.TimeoutError):
                    await asyncio.wait_for(self._ask_for_best(), _LAST_S)
            self._note = ""
            self._draw()
        except asyncio.CancelledError:
            self._note = self._detached
            self._draw()
            raise
        finally:
            tasks = [task for task in (watching, self._asked) if task is not None]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def notice(self, reason: str) -> None:
        """Show why nothing runs, until something runs."""
        self._note = reason

    def _draw(self) -> None:
        row = self._study.row
        # In an ask-and-tell study, `running` also counts trials that wait for a device.
        if self._note != self._detached and (self._running if row.kind == "asked" else row.running):
            self._note = ""
        view = View(row, note=self._note)
        if self._screen.needs_trials:
            known = self._study._newest
            trials = sorted(known.values(), key=lambda trial: trial.number)
            running = tuple(trial for trial in self._running if trial.number not in known)
            view = View(row, trials, running, self._best, self._devices, self._note)
        tell(lambda: self._screen.show(view))

    def _ask(self) -> None:
        """Start the requests, unless earlier ones still run."""
        if self._asked is None or self._asked.done():
            self._asked = asyncio.ensure_future(self._answers())

    async def _answers(self) -> None:
        http, path = self._study._http, self._study._path
        needs_trials = self._screen.needs_trials
        if needs_trials or self._study.row.kind == "asked":  # `_draw` uses its running trials
            with contextlib.suppress(HyperflockError):
                where = f"{path}/unfinished{'?points=1' if needs_trials else ''}"
                rows = [convert(row, TrialRow) for row in await whole(http, where, "trials")]
                self._running = [trial_result(row) for row in rows if row.attempts]
        if needs_trials:
            with contextlib.suppress(HyperflockError):
                self._devices = placement_text(await self._study.placement(), self._study.row)
            with contextlib.suppress(HyperflockError):
                await self._ask_for_best()

    async def _ask_for_best(self) -> None:
        """Fetch the best trial with its curve, unless this trial is known already."""
        best = self._study.row.best
        if not isinstance(best, BestRow) or (self._best and self._best.number == best.trial):
            return
        where = f"{self._study._path}/trials/{best.trial}"
        self._best = trial_result(convert(await self._study._http.get(where), TrialRow))


async def _drained(trials: AsyncGenerator[TrialResult, None]) -> None:
    try:
        async for _ in trials:
            pass
    finally:
        await trials.aclose()
