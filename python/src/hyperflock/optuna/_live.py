"""The trials of one study as Optuna's, kept up to date by fetching what is new.

    trials = LiveTrials(http, row).trials()      # every number from 0 on, without a gap

What has finished is fetched once; each look asks for what finished since and for what runs. Any
thread but the background loop's.
"""

from __future__ import annotations

import threading

from optuna.distributions import CategoricalDistribution
from optuna.trial import FrozenTrial, TrialState

from hyperflock import _loop
from hyperflock._http import Http
from hyperflock._protocol import StudyRow, TrialRow
from hyperflock.optuna._pages import newer, unfinished
from hyperflock.optuna._rebuild import TAG, choices_of, frozen_trial, when

# A trial's id is that of its study and its number; so many numbers a study can have.
NUMBERS = 2**32


class LiveTrials:
    """One study's trials."""

    def __init__(self, http: Http, row: StudyRow) -> None:
        self.row = row
        self._http = http
        self._lock = threading.Lock()
        self._cursor = 0
        self._choices: dict[str, CategoricalDistribution] = choices_of(row)
        self._finished: dict[int, FrozenTrial] = {}
        self._holes: dict[int, FrozenTrial] = {}
        self._trials: list[FrozenTrial] = []

    def trials(self) -> list[FrozenTrial]:
        """Give all trials as they are now, by number; who gets the list leaves it as it is."""
        with self._lock:
            _loop.run(self._look())
            return self._trials

    async def _look(self) -> None:
        open_rows = await unfinished(self._http, self.row.study)
        missing = await self._merge(open_rows)
        if missing - self._holes.keys():
            # What began between the two requests is found by a third; nobody has begun the rest.
            missing = await self._merge(await unfinished(self._http, self.row.study))
        for number in missing:
            self._holes.setdefault(number, self._hole(number))
        known = {trial.number: trial for trial in self._trials}
        known.update((number, self._holes[number]) for number in missing)
        self._trials = [known[number] for number in sorted(known)]

    async def _merge(self, open_rows: list[TrialRow]) -> set[int]:
        """Take what runs and what has finished since; the numbers that lack in between."""
        rows, cursor = await newer(self._http, self.row.study, self._cursor)
        fresh = {row.trial: self._trial(row) for row in rows}
        # One that failed earlier and runs now was issued again.
        running = {row.trial: self._trial(row) for row in open_rows if row.trial not in fresh}
        self._finished.update(fresh)
        self._cursor = cursor
        found = {**self._finished, **running}
        self._trials = [found[number] for number in sorted(found)]
        last = self._trials[-1].number if self._trials else -1
        return set() if len(found) == last + 1 else set(range(last)) - found.keys()

    def _trial(self, row: TrialRow) -> FrozenTrial:
        trial = frozen_trial(self.row, row, self._choices)
        if trial.state is TrialState.RUNNING and not row.attempts:
            trial.state = TrialState.WAITING
        del trial.system_attrs[TAG]
        return self._placed(trial, row.trial)

    def _hole(self, number: int) -> FrozenTrial:
        """Stand in for a trial that never came here: Optuna counts from 0 on without a gap."""
        at = when(self.row.created_at)
        hole = FrozenTrial(number, TrialState.FAIL, None, at, at, {}, {}, {}, {}, {}, -1)
        return self._placed(hole, number)

    def _placed(self, trial: FrozenTrial, number: int) -> FrozenTrial:
        trial.number = number
        trial._trial_id = self.row.study * NUMBERS + number
        return trial
