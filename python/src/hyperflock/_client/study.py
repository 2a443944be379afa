"""A study at the server: its trials, its best trial, waiting, cancelling, exports and plots.

    for trial in study: ...        # finished trials, until the study ends
    study.best_trial.params

`Study` is `AsyncStudy` with blocking methods, and copies their docstrings. Several threads may use
one study. Its requests run on the background loop (_transport/background_loop.py).
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, overload

from hyperflock._client.async_study import AsyncStudy
from hyperflock._client.blocking import blocking, blocking_chained, described_as
from hyperflock._client.view import StudyView, detached_text
from hyperflock._model.results import TrialResult
from hyperflock._reports.export import Format, TextFormat
from hyperflock._reports.plots import OPTUNA_KINDS, OptunaPlot, Plot, PlotKind
from hyperflock._transport import background_loop as _loop
from hyperflock._transport.messages import StudyRow


class Study(StudyView):
    """A study at the server, returned by `Client.grid`, `Client.study` and `Client.studies`."""

    def __init__(self, core: AsyncStudy) -> None:
        self._core = core
        self._detached = False

    def __iter__(self) -> Iterator[TrialResult]:
        """Yield each finished trial once, until the study has ended.

        A late result of a failed trial may still be accepted; `trials` then contains it. Ctrl-C
        ends the iteration, not the study.
        """
        return self.watch()

    @property
    def row(self) -> StudyRow:
        """The study's last known row: counts of trials by state, attempts, space, times."""
        return self._core.row

    @property
    def state(self) -> str:
        """The study's current state: ``running``, ``finished`` or ``cancelled``."""
        return self.refresh().row.state

    @property
    def trials(self) -> list[TrialResult]:
        """The trials that have finished, by number."""
        return _loop.run(self._core.trials())

    @property
    def best_trial(self) -> TrialResult:
        """The best complete trial in the study's direction; the lower number wins a tie.

        A trial that does not meet its constraints is never the best.

        Raises
        ------
        NoCompleteTrialError
            ``no_complete_trial``: no trial is complete, or the study has several directions; see
            `best_trials`. ``no_feasible_trial``: no complete trial meets its constraints.
        """
        return _loop.run(self._core.best_trial())

    @property
    def best_trials(self) -> list[TrialResult]:
        """The complete trials that meet their constraints and that no other one beats, by number.

        These are the trials of Optuna's ``best_trials``. With one direction, they are the best
        trial and those with the same value. The list is empty if there are none, and has at most
        1,000 trials of a study with several directions.
        """
        return _loop.run(self._core.best_trials())

    @property
    def best_value(self) -> float:
        """The value of the best trial; errors are those of `best_trial`."""
        return _loop.run(self._core.best_value())

    trial = blocking(AsyncStudy.trial)
    series = blocking(AsyncStudy.series)

    @described_as(AsyncStudy.log)
    def log(self, number: int, *, follow: bool = False) -> Iterator[str]:
        return _loop.iterate(self._core.log(number, follow=follow))

    artifacts = blocking(AsyncStudy.artifacts)
    download_artifact = blocking(AsyncStudy.download_artifact)
    refresh = blocking_chained(AsyncStudy.refresh)
    placement = blocking(AsyncStudy.placement)
    progress = blocking(AsyncStudy.progress)
    cancel = blocking_chained(AsyncStudy.cancel)
    pause = blocking_chained(AsyncStudy.pause)
    resume = blocking_chained(AsyncStudy.resume)
    set_priority = blocking_chained(AsyncStudy.set_priority)
    notify = blocking_chained(AsyncStudy.notify)
    retry = blocking_chained(AsyncStudy.retry)
    retry_failed = blocking_chained(AsyncStudy.retry_failed)
    retry_with = blocking_chained(AsyncStudy.retry_with)
    extend = blocking_chained(AsyncStudy.extend)
    reject = blocking(AsyncStudy.reject)
    delete = blocking(AsyncStudy.delete)
    replay = blocking(AsyncStudy.replay)

    @described_as(AsyncStudy.wait)
    def wait(self, timeout_s: float | None = None) -> Study:
        for _ in self.watch(timeout_s=timeout_s):
            pass
        return self

    @described_as(AsyncStudy.watch)
    def watch(
        self,
        *,
        progress: bool | None = None,
        timeout_s: float | None = None,
        on_idle: Callable[[str], None] | None = None,
    ) -> Iterator[TrialResult]:
        watched = self._core.watch(progress=progress, timeout_s=timeout_s, on_idle=on_idle)
        try:
            yield from _loop.iterate(watched)
        except KeyboardInterrupt as interrupt:
            self._say_detached()
            _without_traceback(interrupt, self.id)
            raise

    @described_as(AsyncStudy.display)
    def display(self, *, every_s: float = 1.0, timeout_s: float | None = None) -> None:
        try:
            _loop.run(self._core.display(every_s=every_s, timeout_s=timeout_s))
        except KeyboardInterrupt as interrupt:
            _without_traceback(interrupt, self.id)
            raise

    to_pandas = blocking(AsyncStudy.to_pandas)
    to_optuna = blocking(AsyncStudy.to_optuna)

    @overload
    def export(
        self, format: TextFormat, path: str | Path | None = None, *, series: bool = False
    ) -> str: ...

    @overload
    def export(
        self, format: Literal["parquet"], path: str | Path | None = None, *, series: bool = False
    ) -> bytes: ...

    @described_as(AsyncStudy.export)
    def export(
        self, format: Format, path: str | Path | None = None, *, series: bool = False
    ) -> str | bytes:
        if format == "parquet":
            return _loop.run(self._core.export(format, path, series=series))
        return _loop.run(self._core.export(format, path, series=series))

    @overload
    def plot(self, kind: PlotKind = "history") -> Plot: ...

    @overload
    def plot(self, kind: OptunaPlot, **options: Any) -> Any: ...

    @described_as(AsyncStudy.plot)
    def plot(self, kind: PlotKind | OptunaPlot = "history", **options: Any) -> Any:
        if kind in OPTUNA_KINDS:
            study = self.to_optuna()
            from hyperflock._reports.optuna_plots import draw

            return draw(study, kind, options)  # Matplotlib has to draw in this thread
        return _loop.run(self._core.plot(kind))

    def _say_detached(self) -> None:
        """Print once how to continue watching."""
        if self._detached:
            return
        self._detached = True
        print(f"\n{detached_text(self.id)}", file=sys.stderr)


def _without_traceback(interrupt: KeyboardInterrupt, study: int) -> None:
    """Let a notebook show a sentence in place of the traceback of an interrupt.

    IPython calls ``_render_traceback_`` of an exception that has this method. Scripts ignore it.
    """
    text = detached_text(study, shows=True)
    interrupt._render_traceback_ = lambda: [text]  # type: ignore[attr-defined]
