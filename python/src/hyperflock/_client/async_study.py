"""A study at the server, as coroutines. `Study` calls it and blocks.

    async for trial in study: ...        # finished trials, until the study ends
    (await study.best_trial()).params

`AsyncClient` returns these objects. Only one event loop at a time may use a study; each iteration
has its own connection.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from msgspec import to_builtins

from hyperflock._base.errors import (
    NoCompleteTrialError,
    NotFoundError,
    WaitTimeoutError,
)
from hyperflock._bundle.bundle import Bundle, bundle_objective
from hyperflock._bundle.wheels import read_wheels
from hyperflock._client import artifacts as _artifacts
from hyperflock._client import deletion as _deletion
from hyperflock._client.artifacts import Artifact
from hyperflock._client.deletion import Deleted
from hyperflock._client.display import Display
from hyperflock._client.idle_notice import SLICE_S, Waiting
from hyperflock._client.log import log_lines
from hyperflock._client.mending import retry
from hyperflock._client.numbers import number_of
from hyperflock._client.other_content import extend_study
from hyperflock._client.placement import Placement, placement_of
from hyperflock._client.rejection import RejectingStudy
from hyperflock._client.submission import check_priority
from hyperflock._client.view import detached_text
from hyperflock._client.webhooks import webhook_of
from hyperflock._execution.replay import (
    DEFAULT_TOLERANCE,
    Replay,
    ReplayOn,
    replay,
    spec_of,
)
from hyperflock._model.results import TrialResult, series_of, trial_result
from hyperflock._model.space import SearchSpace, Space
from hyperflock._reports import export as _export
from hyperflock._reports import parquet as _parquet
from hyperflock._reports import plots as _plots
from hyperflock._reports.best import NO_BEST, no_best
from hyperflock._reports.estimate import Progress, duration_text, progress_of
from hyperflock._reports.export import Format, TextFormat
from hyperflock._reports.live import screen_here
from hyperflock._reports.plots import OptunaPlot, Plot, PlotKind
from hyperflock._reports.progress import Bar, wanted
from hyperflock._transport.background_loop import in_thread
from hyperflock._transport.http import Http
from hyperflock._transport.messages import (
    BestRow,
    SeriesOfTrial,
    SeriesOfTrials,
    StudyRow,
    StudySpec,
    TrialRow,
    Update,
    WebhookEvent,
)
from hyperflock._transport.pages import whole
from hyperflock._transport.validation import convert
from hyperflock._transport.websocket import watch

if TYPE_CHECKING:
    import optuna
    import pandas

_PAGE = 500


class AsyncStudy(RejectingStudy):
    """A study at the server, returned by `AsyncClient.grid`, `.study` and `.studies`."""

    def __init__(self, http: Http, row: StudyRow, *, progress: bool | None = None) -> None:
        self._http = http
        self._row = row
        self._progress = progress
        # Finished trials in the order of their arrival; `_behind` is the cursor after them. A
        # failed trial may finish again: its newest row counts, and older ones stay in the list.
        self._finished: list[TrialResult] = []
        self._newest: dict[int, TrialResult] = {}
        self._seqs: dict[int, int] = {}
        self._behind = 0
        # The fetched specs by the version of their code. The spec of a version never changes.
        self._specs: dict[int, StudySpec] = {}

    def __aiter__(self) -> AsyncIterator[TrialResult]:
        """Yield each finished trial once, until the study has ended."""
        return self.watch()

    @property
    def row(self) -> StudyRow:
        """The study's last known row: counts of trials by state, attempts, space, times."""
        return self._row

    async def trials(self) -> list[TrialResult]:
        """Fetch the trials that have finished so far, sorted by number."""
        while True:
            where = f"{self._path}/trials?after={self._behind}&limit={_PAGE}"
            page = await self._http.get(where)
            rows = [convert(row, TrialRow) for row in page["trials"]]
            self._add(rows, int(page["cursor"]))
            if not rows:
                return sorted(self._newest.values(), key=lambda trial: trial.number)

    async def best_trial(self) -> TrialResult:
        """Fetch the best complete trial so far; the lower number wins a tie.

        A trial that does not meet its constraints is never the best.

        Raises
        ------
        NoCompleteTrialError
            ``no_complete_trial``: no trial is complete, or the study has several directions; see
            `best_trials`. ``no_feasible_trial``: no complete trial meets its constraints.
        """
        row = (await self.refresh()).row
        if len(row.aims) > 1:
            raise NoCompleteTrialError(
                f"study {self.id} has {len(row.aims)} objectives and so no single best trial: take "
                "best_trials"
            )
        best = row.best
        if not isinstance(best, BestRow):
            raise no_best(row)
        known = self._newest.get(best.trial)
        return known if known and known.state == "complete" else await self.trial(best.trial)

    async def best_trials(self) -> list[TrialResult]:
        """Fetch the complete trials that meet their constraints and that no other one beats, by
        number, as Optuna's ``best_trials``.

        A trial beats another one if it is at least as good in each direction and better in one.
        With one direction these are the best trial and those with the same value. The list is
        empty if no complete trial meets its constraints. With several directions, it has at most
        1,000 trials, those with the lowest numbers.
        """
        row = (await self.refresh()).row
        if len(row.aims) == 1:
            best = row.best
            if not isinstance(best, BestRow):
                return []
            return [
                trial
                for trial in await self.trials()
                if trial.state == "complete" and trial.value == best.value and trial.is_feasible
            ]
        try:
            rows = await whole(self._http, f"{self._path}/best", "trials")
        except NotFoundError as error:
            if error.code not in NO_BEST:
                raise
            return []
        return [trial_result(convert(row, TrialRow)) for row in rows]

    async def best_value(self) -> float:
        """Fetch the value of the best trial; errors are those of `best_trial`."""
        best = (await self.refresh()).row.best
        return best.value if isinstance(best, BestRow) else (await self.best_trial()).values[0]

    async def trial(self, number: int) -> TrialResult:
        """Fetch a finished or running trial with `points`, `series`, `attempt_list` and
        `provenance`.
        """
        where = f"{self._path}/trials/{number_of(number, 'trial')}"
        row = await self._http.get(where)
        series = {}
        if row.get("last"):  # an older server has none
            series = series_of(convert(await self._http.get(f"{where}/series"), SeriesOfTrial))
        told = convert(row, TrialRow)
        version = told.code_version if isinstance(told.code_version, int) else 1
        # An older server does not serve the spec.
        with suppress(NotFoundError):
            if version not in self._specs:
                self._specs[version] = await spec_of(self._http, told)
        return replace(trial_result(told, self._specs.get(version)), series=series)

    async def series(self) -> dict[int, dict[str, tuple[tuple[int, float], ...]]]:
        """Fetch what the finished trials logged: (step, value) pairs by trial and by name.

        A value may be NaN or infinite. Trials that logged nothing are left out.
        """
        found = {}
        cursor = 0
        while True:
            where = f"{self._path}/series/trials?after={cursor}&limit={_PAGE}"
            page = convert(await self._http.get(where), SeriesOfTrials)
            # If a trial occurs again, its later entry replaces the earlier one.
            found.update({one.trial: series_of(one) for one in page.trials})
            if not page.trials:
                return {number: found[number] for number in sorted(found) if found[number]}
            cursor = page.cursor

    async def _trials_with_series(self) -> list[TrialResult]:
        trials = await self.trials()
        series = await self.series()
        return [replace(trial, series=series.get(trial.number, {})) for trial in trials]

    async def replay(
        self,
        trial: int | TrialResult,
        *,
        on: ReplayOn = "cpython",
        tolerance: float = DEFAULT_TOLERANCE,
        browser: str | None = None,
        trust: bool = False,
    ) -> Replay:
        """Run a finished trial again on this machine and compare the results.

        Code and data are fetched and checked by their hashes; parameters, suggested values and the
        seed are those of the trial. The trial runs in a process of its own, which can import what a
        browser has. A pruned trial is pruned again at the same step.

        Parameters
        ----------
        trial
            The trial or its number.
        on
            ``cpython`` runs it in Python; a trial that uses Chainer needs Chainer installed.
            ``chromium`` runs it in a local headless browser with the server's pages and runtime,
            which are fetched once and kept. It uses WebGPU if the trial did and the browser has it.
        tolerance
            Two numbers count as equal if they differ by at most this fraction of the larger one. If
            the larger one is below 1, they may differ by this number itself. Devices round
            differently, and training increases such differences.
        browser
            The browser's program; None means ``HYPERFLOCK_BROWSER``, or Chromium.
        trust
            Allow the code of somebody else's study, which administrators can fetch. A replay is not
            a sandbox: its process does not get this one's environment, but has all rights of the
            user.

        Returns
        -------
        Replay
            The comparison; `Replay.same` is its result.

        Raises
        ------
        ReplayError
            ``trial_unfinished``, ``blob_damaged``, ``replay_failed``: the trial cannot be run
            again. ``untrusted_code``: the study is somebody else's, and ``trust`` is false.
        DryRunError
            ``dry_run_unavailable``, ``dry_run_broken``, ``runtime_unavailable``,
            ``runtime_damaged``: the trial cannot run on this machine.
        """
        number = trial.number if isinstance(trial, TrialResult) else number_of(trial, "trial")
        return await replay(
            self._http, self.id, number, on=on, tolerance=tolerance, browser=browser, trust=trust
        )

    def log(self, number: int, *, follow: bool = False) -> AsyncGenerator[str, None]:
        """Yield the newest lines that all attempts of a trial printed.

        Parameters
        ----------
        number
            The trial's number.
        follow
            Continue with new lines until the trial has its outcome.

        The server keeps the newest 1,000 lines of a trial in memory, and loses them in a restart.

        Raises
        ------
        NotFoundError
            The study has no such trial.
        """
        trial = number_of(number, "trial")
        if self.row.kind != "asked" and not 0 <= trial < len(
            self
        ):  # otherwise this would wait for its first line
            raise NotFoundError(f"study {self.id} has {len(self)} trials, none with number {trial}")
        return log_lines(self._http, self.id, trial, follow=follow)

    async def artifacts(self, trial: int | TrialResult | None = None) -> list[Artifact]:
        """Return the files that trials uploaded, in the order of their upload.

        For a trial with a result, these are the files of the run whose result counts. For a failed
        trial, these are the files of all its runs.

        Parameters
        ----------
        trial
            Only the files of this trial; None means all trials.
        """
        number = trial.number if isinstance(trial, TrialResult) else trial
        return await _artifacts.artifacts(
            self._http, self.id, None if number is None else number_of(number, "trial")
        )

    async def download_artifact(self, artifact: Artifact | str, path: str | Path) -> Path:
        """Write a file that a trial uploaded, whole or not at all.

        Parameters
        ----------
        artifact
            The artifact, or its id.
        path
            A file, which is replaced, or a folder, in which the file is named ``TRIAL-NAME``.

        Returns
        -------
        Path
            The written file.

        Raises
        ------
        NotFoundError
            ``unknown_artifact``.
        HyperflockError
            ``cannot_write``; ``blob_damaged``: the server sent other bytes.
        """
        if not isinstance(artifact, Artifact):
            artifact = await _artifacts.find(self._http, self.id, str(artifact))
        return await _artifacts.download(self._http, self.id, artifact, Path(path))

    async def refresh(self) -> AsyncStudy:
        """Fetch the study's row from the server."""
        self._row = convert(await self._http.get(self._path), StudyRow)
        return self

    async def placement(self) -> Placement:
        """Fetch which devices may run the trials, the owner's share, and why a trial waits."""
        return placement_of(await self._http.get(f"{self._path}/placement"))

    async def progress(self) -> Progress:
        """Fetch how far the study is, and the server's estimate of how long it will still take.

        Nothing is known before the first trial has finished.
        """
        await self.refresh()
        return progress_of(self._row)

    async def cancel(self) -> AsyncStudy:
        """End the study now; running attempts stop, and results so far are kept."""
        return await self._change("cancel")

    async def pause(self) -> AsyncStudy:
        """Start no more trials until `resume`; running ones continue and count."""
        return await self._change("pause")

    async def resume(self) -> AsyncStudy:
        """Start trials again after `pause`, or after the study has paused itself."""
        return await self._change("resume")

    async def set_priority(self, priority: int) -> AsyncStudy:
        """Give the study another priority among its owner's studies, from -100 to 100.

        The one with the highest priority that has work gets devices first. Running trials continue.
        """
        check_priority(priority)
        return await self._change("priority", {"priority": priority})

    async def notify(
        self, url: str | None, *, events: Sequence[WebhookEvent] | None = None
    ) -> AsyncStudy:
        """Set the address to which the server posts the study's events, even without this process.

        A new address replaces the one before. `Client.webhook_secret` returns the key with which
        the server signs these posts, and `verify_webhook` checks their signatures.

        Parameters
        ----------
        url
            An address that begins with ``https://``. None removes the webhook.
        events
            What is posted: ``finished``; ``stopped``, when the study has paused itself after
            ``max_failures``; ``cancelled``; ``no_devices``, when it had devices and has had none
            for some minutes. None means all of them.

        Raises
        ------
        ServerError
            ``webhook_refused``: the address is in a network that the operator does not allow.
            ``bad_webhook``: the address has a user name or another form that is refused.
            ``webhooks_off``: the operator allows no webhooks.
        """
        webhook = webhook_of(url, events)
        if webhook is None:
            await self._http.delete(f"{self._path}/webhook")
            return await self.refresh()
        return await self._change("webhook", to_builtins(webhook))

    async def retry(self) -> AsyncStudy:
        """Issue every failed trial again and count its attempts anew; a finished study runs again.

        Use it when the cause of the failures is gone: an error of the trials or lost devices.
        Trials that succeeded do not change. `retry_failed` runs them with mended code.
        """
        return await self.retry_with(None)

    def retry_failed(
        self,
        objective: Callable[[Any], Any] | None = None,
        *,
        keep_checkpoints: bool = False,
        wheels: Sequence[str | Path] = (),
    ) -> Coroutine[Any, Any, AsyncStudy]:
        """Issue every failed trial again with a mended objective. Trials that have not begun also
        get it.

        Trials that succeeded keep their results, and running ones continue with the code that they
        have. `TrialResult.code_version` says which version of the code computed a result. The
        study's data, options and space stay. A paused study stays paused until `resume`.

        Parameters
        ----------
        objective
            What `Client.grid` takes. None means the code of the study, as in `retry`.
        keep_checkpoints
            Let trials continue from checkpoints that the earlier code saved. Without it each of
            them starts from the beginning.
        wheels
            As for `Client.grid`.

        Raises
        ------
        BundleError
            The objective cannot be sent.
        ServerError
            ``no_failed_trial``: no trial has failed, so the study keeps its code.
            ``study_cancelled``, ``not_a_grid``: the study cannot go on in this way.
            ``runtime_mismatch``: no device of the server has the runtime of the code.
            ``quota_exceeded``: a finished study would run again.
        """
        # `bundle_objective` must be called here, before any `await`: it reads its caller's stack.
        bundle = None if objective is None else bundle_objective(objective, read_wheels(wheels))
        return self.retry_with(bundle, keep_checkpoints=keep_checkpoints)

    async def retry_with(
        self, bundle: Bundle | None, *, keep_checkpoints: bool = False
    ) -> AsyncStudy:
        """Issue every failed trial again, with a bundle of mended code if one is given."""
        row = await retry(self._http, self.id, bundle, keep_checkpoints=keep_checkpoints)
        self._row = convert(row, StudyRow)
        self._newest = {n: t for n, t in self._newest.items() if t.state != "failed"}
        return self

    async def extend(
        self, space: Space | SearchSpace | None = None, *, trials: int | None = None
    ) -> AsyncStudy:
        """Add the trials that a larger space has and the study lacks; a finished study runs again.

        The trials that exist keep their numbers and results, and the new ones get the numbers
        after them. If nothing is new, nothing changes.

        Parameters
        ----------
        space
            The study's space with further values of its names, or a study's list of points with
            further points. It must contain every value or point of the study, in any order. None
            means the study's own space.
        trials
            The new number of trials of a random or Sobol study, whose space stays.

        Raises
        ------
        ServerError
            ``space_changed``: the space lacks a value, a point or a name of the study, or has a
            further name. ``not_a_grid``: the study asks its owner for trials.
            ``study_cancelled``. ``quota_exceeded``: you may not have so many trials.
        """
        self._row = convert(await extend_study(self._http, self.id, space, trials), StudyRow)
        return self

    async def delete(self) -> Deleted:
        """Delete an ended study permanently, with its trials, curves and files.

        Code and data are deleted too, unless another study of its owner uses them, and no longer
        count against the owner's quota. The study's name and ``submit_key`` can be used again.
        After that every request of this object raises `NotFoundError`. Exported files are not
        touched.

        Returns
        -------
        Deleted
            How much was deleted.

        Raises
        ------
        NotFoundError
            ``unknown_study``: it has been deleted before.
        ServerError
            ``study_running``: it has not ended; `cancel` it first, or `wait`.
        """
        return await _deletion.delete(self._http, self.id)

    async def wait(self, timeout_s: float | None = None) -> AsyncStudy:
        """Wait until the study has ended.

        Raises
        ------
        WaitTimeoutError
            It has not ended after ``timeout_s`` seconds; it continues.
        """
        async for _ in self.watch(timeout_s=timeout_s):
            pass
        return self

    async def to_pandas(self, *, series: bool = False) -> pandas.DataFrame:
        """Return the finished trials as a table with one row per trial, by number.

        The columns are ``number`` (int64), ``state``, ``value`` (float64; NaN without one),
        ``code_version`` (int64) if the study has several versions of its code, ``value_1`` ... if
        the objective returned several values, ``seed``, ``run_s``, ``load_s``, ``attempts``,
        ``device``, ``device_class``, ``engine``, ``backend``, ``adapter``, ``started_at`` and
        ``finished_at`` (UTC), ``error_code``, ``error``, ``params_<name>``, ``summary_<name>``
        (float64) and ``user_attrs_<name>``. A parameter's dtype depends on its values in the
        study's space, and a user attribute's dtype on its values: bool, int64, float64 or str for
        values of one type, float64 for int and float. If there is a None too, bool becomes boolean
        and int64 becomes Int64. Other mixtures, integers beyond 64 bits, and str with pandas 2
        give object.

        With ``series`` the table has what the trials logged instead, one row per trial and step.
        Its columns are ``number``, ``step`` (int64) and the series (float64; NaN for no value).

        Raises
        ------
        HyperflockError
            ``no_pandas``: pandas is not installed.
        """
        trials = await (self._trials_with_series() if series else self.trials())
        return _export.frame(self.row, trials, series=series)

    @overload
    async def export(
        self, format: TextFormat, path: str | Path | None = None, *, series: bool = False
    ) -> str: ...

    @overload
    async def export(
        self, format: Literal["parquet"], path: str | Path | None = None, *, series: bool = False
    ) -> bytes: ...

    async def export(
        self, format: Format, path: str | Path | None = None, *, series: bool = False
    ) -> str | bytes:
        """Return the finished trials as text or as Parquet's bytes.

        With ``path`` they are also written to a file, completely or not at all.

        Parameters
        ----------
        format
            ``csv`` has one row per trial with the columns of `to_pandas`; a text that looks like a
            formula gets an apostrophe in front. ``json`` has the study and its trials, and values
            keep their types. ``jsonl`` has one trial per line. ``parquet`` has the columns of
            `to_pandas`; a parameter whose values have several types is JSON text. It needs pyarrow.
        path
            A file, which is replaced.
        series
            Write what the trials logged: ``csv`` and ``parquet`` have the columns of
            ``to_pandas(series=True)``, and ``json`` and ``jsonl`` have the series of each trial.
            NaN and infinity are text in JSON.

        Raises
        ------
        HyperflockError
            ``bad_format``: the format is unknown. ``cannot_write``: the file cannot be written.
            ``no_pyarrow``: pyarrow is not installed.
        """
        trials = await (self._trials_with_series() if series else self.trials())
        row = (await self.refresh()).row
        content: str | bytes
        if format == "parquet":
            content = _parquet.parquet(row, trials, series=series)
        else:
            content = _export.text(format, row, trials, series=series)
        if path is not None:
            _export.write(Path(path), content)
        return content

    @overload
    async def plot(self, kind: PlotKind = "history") -> Plot: ...

    @overload
    async def plot(self, kind: OptunaPlot, **options: Any) -> Any: ...

    async def plot(self, kind: PlotKind | OptunaPlot = "history", **options: Any) -> Any:
        """Return a picture of the finished trials, which a notebook shows.

        Matplotlib draws in the calling thread, because its windows belong to that thread.

        Parameters
        ----------
        kind
            ``history`` shows the values in the order in which trials finished, and the best so far.
            ``parallel`` has an axis for each parameter and one for the value, and a line for each
            trial. Optuna's kinds are ``contour``, ``edf``, ``hypervolume_history``,
            ``intermediate_values``, ``optimization_history``, ``parallel_coordinate``,
            ``param_importances``, ``pareto_front``, ``rank``, ``slice``,
            ``terminator_improvement``, ``timeline``.
        **options
            Keyword arguments of ``optuna.visualization.plot_<kind>``.

        Returns
        -------
        Plot
            For ``history`` and ``parallel``; its method ``save`` writes SVG. Optuna's kinds return
            a plotly figure, or Matplotlib's axes if plotly is not installed.

        Raises
        ------
        NoCompleteTrialError
            No trial is complete yet.
        OptunaMissingError
            ``no_optuna``: the kind needs Optuna, which is not installed.
        HyperflockError
            ``bad_plot``: the kind is unknown. ``no_plotter``: the kind needs plotly or Matplotlib,
            and neither is installed.
        """
        if kind in _plots.OPTUNA_KINDS:
            study = await self.to_optuna()
            from hyperflock._reports.optuna_plots import draw, has_plotly

            if not has_plotly():
                return draw(study, kind, options)
            return await in_thread(lambda: draw(study, kind, options))
        trials = await self.trials()
        return await in_thread(lambda: _plots.plot(kind, self.row, trials))

    async def to_optuna(self) -> optuna.Study:
        """Return the finished trials as an Optuna study in memory.

        It has the states, values, parameters with distributions, intermediate values, attributes
        and times of the trials, but not what a sampler stored with them. A grid's parameters become
        categorical. If the original Optuna study was in memory, `hyperflock.optuna.optimize` with
        the same objective continues with this one.

        Raises
        ------
        OptunaMissingError
            ``no_optuna``: Optuna is not installed.
        """
        await self.refresh()

        def made() -> optuna.Study:
            import hyperflock.optuna  # noqa: F401 (raises an error if Optuna is missing)
            from hyperflock.optuna.study_import import to_optuna

            return to_optuna(self._http, self.row)

        return await in_thread(made)

    def watch(
        self,
        *,
        progress: bool | None = None,
        timeout_s: float | None = None,
        on_idle: Callable[[str], None] | None = None,
    ) -> AsyncGenerator[TrialResult, None]:
        """Iterate as ``async for trial in study`` does, with options.

        A late result of a failed trial may still be accepted; `trials` then contains it. After a
        broken connection the iteration continues where it was. Ending the iteration does not end
        the study. If the study pauses itself, the reason is printed, and the iteration waits until
        the study is resumed or cancelled.

        Parameters
        ----------
        progress
            Whether to show a progress bar on standard error; by default only if it is a terminal.
        timeout_s
            Raise `WaitTimeoutError` if the study has not ended after this time.
        on_idle
            Called with a sentence when no trial has run for some seconds: no device is connected,
            or none qualifies, or the study is paused. It must return at once.
        """
        return self._watched(
            shown=wanted(self._progress if progress is None else progress),
            timeout_s=timeout_s,
            on_idle=on_idle,
        )

    async def display(self, *, every_s: float = 1.0, timeout_s: float | None = None) -> None:
        """Show the study until it has ended.

        In a notebook the display is one picture below the cell, which changes in place: progress,
        the best trial or the best trials, the running trials and their devices, and curves. It
        contains no script, and its last state stays in the saved notebook. Elsewhere each change is
        one line on standard output.

        An interrupt ends the display and not the study. The picture then says how to go on.

        Parameters
        ----------
        every_s
            How often the picture may change, in seconds; at least 0.2.
        timeout_s
            Raise `WaitTimeoutError` if the study has not ended after this time.
        """
        shown = Display(self, screen_here(), detached_text(self.id, shows=True))
        await shown.until_end(
            every_s,
            self._watched(shown=False, timeout_s=timeout_s, on_idle=shown.notice, is_quiet=True),
        )

    # ---- inside

    async def _watched(
        self,
        *,
        shown: bool,
        timeout_s: float | None,
        on_idle: Callable[[str], None] | None,
        is_quiet: bool = False,
    ) -> AsyncGenerator[TrialResult, None]:
        deadline = None if timeout_s is None else time.monotonic() + timeout_s
        bar = Bar(shown, total=len(self), desc=self.name, unit="trial")
        updates = watch(self._http.origin, self._http.token, self.id, self._behind)
        waiting = Waiting(self._http, self.id, on_idle, is_quiet=is_quiet)
        looked_at = 0
        given: set[int] = set()
        ended = False
        try:
            while True:
                fresh = self._finished[looked_at:]
                for trial in fresh:
                    looked_at += 1
                    if trial.number in given or self._newest.get(trial.number) is not trial:
                        continue
                    given.add(trial.number)
                    self._show(bar, len(given))
                    yield trial
                if ended:
                    return
                ended = self._take(await self._next(updates, waiting, deadline))
                waiting.told(self._row)
                self._show(bar, len(given))
        finally:
            bar.close()
            waiting.close()
            await updates.aclose()

    @property
    def _path(self) -> str:
        return f"/api/studies/{self.id}"

    async def _change(self, what: str, body: dict[str, Any] | None = None) -> AsyncStudy:
        self._row = convert(await self._http.post(f"{self._path}/{what}", body or {}), StudyRow)
        return self

    async def _next(
        self, updates: AsyncGenerator[Update, None], waiting: Waiting, deadline: float | None
    ) -> Update:
        """Wait for the next update, and meanwhile print why nothing runs."""
        coming = asyncio.ensure_future(anext(updates))
        try:
            while not coming.done():
                left_s = math.inf if deadline is None else deadline - time.monotonic()
                if left_s <= 0:
                    raise WaitTimeoutError(
                        f"study {self.id} has not ended in time; it goes on at the server"
                    )
                await asyncio.wait([coming], timeout=min(left_s, SLICE_S))
                row = self._row
                waiting.look(asyncio.ensure_future, idle=row.state == "running" and not row.running)
            return coming.result()
        finally:
            if not coming.done():
                coming.cancel()
                # Wait for the cancelled step, because a generator cannot be closed while it runs.
                await asyncio.gather(coming, return_exceptions=True)

    def _take(self, update: Update) -> bool:
        """Apply an update; return whether the study has ended and all of its trials are known."""
        self._add(update.trials, update.cursor)
        self._row = update.study
        return update.study.state != "running" and update.cursor >= update.study.cursor

    def _add(self, rows: list[TrialRow], cursor: int) -> None:
        for row in rows:
            if row.state != "running" and row.seq > self._seqs.get(row.trial, 0):
                self._seqs[row.trial] = row.seq
                self._newest[row.trial] = trial = trial_result(row)
                self._finished.append(trial)
        self._behind = max(self._behind, cursor)

    def _show(self, bar: Bar, given: int) -> None:
        row = self._row
        bar.total(len(self))  # an owner may want more trials than at first
        left_s = progress_of(row).left_s
        left = {} if left_s is None else {"left": duration_text(left_s)}
        bar.move(given, running=row.running, best=self.best_text, failed=row.failed, **left)
