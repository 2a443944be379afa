"""Keeps one study's trials as Optuna trials, and fetches only changes.

    trials = LiveTrials(http, row).trials()      # all numbers from 0 on

Finished trials are fetched once; each access asks for newly finished and for running trials. Any
thread except the background loop's may use it.
"""

from __future__ import annotations

import threading

from optuna.distributions import BaseDistribution
from optuna.trial import FrozenTrial, TrialState

from hyperflock._transport import background_loop as _loop
from hyperflock._transport.http import Http
from hyperflock._transport.messages import StudyRow, TrialRow
from hyperflock.optuna.internals import with_ids
from hyperflock.optuna.pages import newer, unfinished
from hyperflock.optuna.study_import import TAG, distributions_of, frozen_trial, when

# A trial's id is made of its study's id and its number; a study can have this many numbers.
NUMBERS = 2**32


class LiveTrials:
    """The trials of one study, kept up to date."""

    def __init__(self, http: Http, row: StudyRow) -> None:
        self.row = row
        self._http = http
        self._lock = threading.Lock()
        self._cursor = 0
        self._space: dict[str, BaseDistribution] = distributions_of(http, row)
        self._finished: dict[int, FrozenTrial] = {}
        self._holes: dict[int, FrozenTrial] = {}
        self._trials: list[FrozenTrial] = []

    def trials(self) -> list[FrozenTrial]:
        """Return the current trials by number; the caller must not change the list."""
        with self._lock:
            _loop.run(self._look())
            return self._trials

    async def _look(self) -> None:
        found = await self._fetched()
        missing = _missing(found)
        if missing - self._holes.keys():
            # A trial that started between the two requests is missing in both answers. Two more
            # requests find it. Numbers that are still missing belong to trials that have not
            # started.
            found = await self._fetched()
            missing = _missing(found)
        for number in missing:
            if number not in self._holes:
                self._holes[number] = self._hole(number)
            found[number] = self._holes[number]
        self._trials = [found[number] for number in sorted(found)]

    async def _fetched(self) -> dict[int, FrozenTrial]:
        """Fetch running trials, then newly finished ones; return all known trials by number."""
        open_rows = await unfinished(self._http, self.row.study)
        rows, cursor = await newer(self._http, self.row.study, self._cursor)
        fresh = {row.trial: self._trial(row) for row in rows}
        self._finished.update(fresh)
        self._cursor = cursor
        # A trial that failed earlier and runs now was issued again.
        running = {row.trial: self._trial(row) for row in open_rows if row.trial not in fresh}
        return {**self._finished, **running}

    def _trial(self, row: TrialRow) -> FrozenTrial:
        trial = frozen_trial(self.row, row, self._space)
        if trial.state is TrialState.RUNNING and not row.attempts:
            trial.state = TrialState.WAITING
        del trial.system_attrs[TAG]
        return self._placed(trial, row.trial)

    def _hole(self, number: int) -> FrozenTrial:
        """Return a failed trial for a number without a trial, because Optuna's numbers have no
        gaps.
        """
        at = when(self.row.created_at)
        hole = FrozenTrial(number, TrialState.FAIL, None, at, at, {}, {}, {}, {}, {}, -1)
        return self._placed(hole, number)

    def _placed(self, trial: FrozenTrial, number: int) -> FrozenTrial:
        return with_ids(trial, number, self.row.study * NUMBERS + number)


def _missing(found: dict[int, FrozenTrial]) -> set[int]:
    """Return the missing numbers below the largest one."""
    return set(range(max(found, default=0))) - found.keys()
