"""A study at the server: iterate it, ask for its best trial, wait, cancel.

    for trial in study: ...        # finished trials, as they finish; ends with the study
    study.best_trial.params

A study may be used by several threads; each iteration has its own connection. Iterating blocks in
the calling thread, the connection lives on the background loop.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

from hyperflock import _loop
from hyperflock._connection import watch
from hyperflock._errors import NoCompleteTrialError, WaitTimeoutError
from hyperflock._http import Http, Origin
from hyperflock._log import log_lines
from hyperflock._protocol import BestRow, Direction, StudyRow, TrialRow, Update
from hyperflock._results import TrialResult, trial_result
from hyperflock._schema import convert
from hyperflock._text import clean

_PAGE = 500


class Study:
    """A study at the server. Made by `Client.grid`, `Client.study` and `Client.studies`."""

    def __init__(
        self, http: Http, origin: Origin, token: str, row: StudyRow, *, progress: bool | None = None
    ) -> None:
        self._http = http
        self._origin = origin
        self._token = token
        self._row = row
        self._progress = progress
        self._detached = False
        self._lock = threading.Lock()
        # Finished trials as they were learnt of; `_behind` is the cursor behind them. A trial that
        # failed may finish again: its newest row counts, older ones stay behind in the list.
        self._finished: list[TrialResult] = []
        self._newest: dict[int, TrialResult] = {}
        self._seqs: dict[int, int] = {}
        self._behind = 0

    def __repr__(self) -> str:
        row = self._row
        return f"<Study {row.study} '{self.name}' {row.state}, {self._done(row)} of {row.total}>"

    def __len__(self) -> int:
        """Number of points of the grid."""
        return self._row.total

    def __iter__(self) -> Iterator[TrialResult]:
        """Yield each finished trial once, as it finishes; ends when the study has ended.

        A failed trial may still be accepted, late; `trials` then has its result. Ctrl-C ends the
        iteration, not the study.
        """
        return self.watch()

    @property
    def id(self) -> int:
        """The server's number for it."""
        return self._row.study

    @property
    def name(self) -> str:
        """Its name."""
        return clean(self._row.name)

    @property
    def owner(self) -> str:
        """Who submitted it."""
        return clean(self._row.owner)

    @property
    def direction(self) -> Direction:
        """``minimize`` or ``maximize``."""
        return self._row.direction

    @property
    def seed(self) -> int:
        """The study's seed; `trial_seed` makes a trial's of it."""
        return self._row.seed

    @property
    def row(self) -> StudyRow:
        """What the server last told: counts of trials by state, attempts, space, times."""
        return self._row

    @property
    def state(self) -> str:
        """``running``, ``finished`` or ``cancelled``, as the server has it now."""
        return self.refresh().row.state

    @property
    def trials(self) -> list[TrialResult]:
        """The trials that have finished by now, by number."""
        self._fetch_finished()
        with self._lock:
            return sorted(self._newest.values(), key=lambda trial: trial.number)

    @property
    def best_trial(self) -> TrialResult:
        """The best complete trial by now, in the study's direction; the lower number wins a tie.

        Raises
        ------
        NoCompleteTrialError
            None is complete yet.
        """
        best = self.refresh().row.best
        if not isinstance(best, BestRow):
            raise NoCompleteTrialError(f"study {self.id} has no complete trial yet")
        with self._lock:
            known = self._newest.get(best.trial)
        return known if known and known.state == "complete" else self.trial(best.trial)

    def trial(self, number: int) -> TrialResult:
        """Fetch one trial, a running one too, with its `points` and `attempt_list`."""
        row = self._http.get(f"/api/studies/{self.id}/trials/{int(number)}")
        return trial_result(convert(row, TrialRow))

    def log(self, number: int, *, follow: bool = False) -> Iterator[str]:
        """Yield the newest lines that a trial printed, of all its attempts.

        Parameters
        ----------
        number
            The trial's number.
        follow
            Go on with what comes, until the trial has its outcome.

        The server keeps them in memory: the newest 1,000 lines of a trial, none after a restart.
        """
        return log_lines(self._http, self.id, int(number), follow=follow)

    def refresh(self) -> Study:
        """Ask the server how the study stands."""
        self._learn(convert(self._http.get(f"/api/studies/{self.id}"), StudyRow))
        return self

    def cancel(self) -> Study:
        """End the study now: running attempts are revoked, results so far are kept."""
        self._learn(convert(self._http.post(f"/api/studies/{self.id}/cancel", {}), StudyRow))
        return self

    def replay(self) -> Study:
        """Issue every failed trial again, with fresh budgets; a finished study runs again.

        For trials that their own error or lost devices put into quarantine, after the reason is
        gone. Trials that succeeded are left alone.
        """
        self._learn(convert(self._http.post(f"/api/studies/{self.id}/replay", {}), StudyRow))
        with self._lock:
            self._newest = {n: t for n, t in self._newest.items() if t.state != "failed"}
        return self

    def wait(self, timeout_s: float | None = None) -> Study:
        """Wait until the study has ended.

        Raises
        ------
        WaitTimeoutError
            It has not ended after ``timeout_s`` seconds; it goes on.
        """
        for _ in self.watch(timeout_s=timeout_s):
            pass
        return self

    def watch(
        self, *, progress: bool | None = None, timeout_s: float | None = None
    ) -> Iterator[TrialResult]:
        """Iterate as ``for trial in study`` does, with a say in it.

        Parameters
        ----------
        progress
            Show a progress bar on standard error; None: when that is a terminal.
        timeout_s
            Raise `WaitTimeoutError` when the study has not ended by then.
        """
        shown = progress if progress is not None else self._progress
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        with (
            self._bar(sys.stderr.isatty() if shown is None else shown) as show,
            contextlib.ExitStack() as stack,
        ):
            updates = watch(self._origin, self._token, self.id, self._behind)
            stack.callback(lambda: _loop.run(updates.aclose()))
            looked_at = 0
            given: set[int] = set()
            ended = False
            try:
                while True:
                    with self._lock:
                        fresh = self._finished[looked_at:]
                    for trial in fresh:
                        looked_at += 1
                        if trial.number in given or self._newest.get(trial.number) is not trial:
                            continue
                        given.add(trial.number)
                        show(self._row, len(given))
                        yield trial
                    if ended:
                        return
                    update = self._next(updates, deadline)
                    if update is None:
                        return
                    ended = self._take(update)
                    show(self._row, len(given))
            except KeyboardInterrupt:
                self._say_detached()
                raise

    # ---- inside

    def _say_detached(self) -> None:
        """Tell once how to come back; the command says it too when Ctrl-C met its own code."""
        if self._detached:
            return
        self._detached = True
        print(
            f"\ndetached: study {self.id} goes on at the server; "
            f"watch it again by: hyperflock watch {self.id}",
            file=sys.stderr,
        )

    def _next(self, updates: Any, deadline: float | None) -> Update | None:
        left_s = None if deadline is None else max(0.0, deadline - time.monotonic())
        try:
            update: Update = _loop.run(updates.__anext__(), left_s)
            return update
        except StopAsyncIteration:
            return None
        except WaitTimeoutError:
            raise WaitTimeoutError(
                f"study {self.id} has not ended in time; it goes on at the server"
            ) from None

    def _take(self, update: Update) -> bool:
        """Learn an update; tells whether the study has ended and all of its trials are known."""
        self._add(update.trials, update.cursor)
        self._learn(update.study)
        return update.study.state != "running" and update.cursor >= update.study.cursor

    def _fetch_finished(self) -> None:
        while True:
            behind = self._behind
            page = self._http.get(f"/api/studies/{self.id}/trials?after={behind}&limit={_PAGE}")
            rows = [convert(row, TrialRow) for row in page["trials"]]
            self._add(rows, int(page["cursor"]))
            if not rows:
                return

    def _add(self, rows: list[TrialRow], cursor: int) -> None:
        with self._lock:
            for row in rows:
                if row.state != "running" and row.seq > self._seqs.get(row.trial, 0):
                    self._seqs[row.trial] = row.seq
                    self._newest[row.trial] = trial = trial_result(row)
                    self._finished.append(trial)
            self._behind = max(self._behind, cursor)

    def _learn(self, row: StudyRow) -> None:
        with self._lock:
            self._row = row

    @staticmethod
    def _done(row: StudyRow) -> int:
        return row.complete + row.pruned + row.failed

    @contextlib.contextmanager
    def _bar(self, shown: bool) -> Iterator[Callable[[StudyRow, int], None]]:
        if not shown:
            yield lambda row, given: None
            return
        from tqdm.auto import tqdm

        with tqdm(total=len(self), desc=self.name, unit="trial", file=sys.stderr) as bar:

            def show(row: StudyRow, given: int) -> None:
                bar.update(given - bar.n)
                best = f"{row.best.value:.6g}" if isinstance(row.best, BestRow) else "-"
                bar.set_postfix(
                    {"running": row.running, "best": best, "failed": row.failed}, refresh=False
                )

            yield show
