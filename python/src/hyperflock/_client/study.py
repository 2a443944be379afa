"""A study at the server: iterate it, ask for its best trial, wait, cancel, export, plot.

    for trial in study: ...        # finished trials, as they finish; ends with the study
    study.best_trial.params

The blocking face of `AsyncStudy`; a study may be used by several threads. Whatever it asks for runs
on the background loop (_transport/background_loop.py).
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, overload

from hyperflock._client.artifacts import Artifact
from hyperflock._client.async_study import AsyncStudy
from hyperflock._client.deletion import Deleted
from hyperflock._client.placement import Placement
from hyperflock._client.view import StudyView
from hyperflock._execution.replay import DEFAULT_TOLERANCE, Replay, ReplayOn
from hyperflock._model.results import TrialResult
from hyperflock._reports.export import Format, TextFormat
from hyperflock._reports.plots import OPTUNA_KINDS, OptunaPlot, Plot, PlotKind
from hyperflock._transport import background_loop as _loop
from hyperflock._transport.messages import StudyRow

if TYPE_CHECKING:
    import optuna
    import pandas


class Study(StudyView):
    """A study at the server. Made by `Client.grid`, `Client.study` and `Client.studies`."""

    def __init__(self, core: AsyncStudy) -> None:
        self._core = core
        self._detached = False

    def __iter__(self) -> Iterator[TrialResult]:
        """Yield each finished trial once, as it finishes; ends when the study has ended.

        A failed trial may still be accepted, late; `trials` then has its result. Ctrl-C ends the
        iteration, not the study.
        """
        return self.watch()

    @property
    def row(self) -> StudyRow:
        """What the server last told: counts of trials by state, attempts, space, times."""
        return self._core.row

    @property
    def state(self) -> str:
        """``running``, ``finished`` or ``cancelled``, as the server has it now."""
        return self.refresh().row.state

    @property
    def trials(self) -> list[TrialResult]:
        """The trials that have finished by now, by number."""
        return _loop.run(self._core.trials())

    @property
    def best_trial(self) -> TrialResult:
        """The best complete trial by now, in the study's direction; the lower number wins a tie.

        Raises
        ------
        NoCompleteTrialError
            None is complete yet.
        """
        return _loop.run(self._core.best_trial())

    def trial(self, number: int) -> TrialResult:
        """Fetch one trial, a running one too: `points`, `attempt_list`, `provenance` as well."""
        return _loop.run(self._core.trial(number))

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
        return _loop.iterate(self._core.log(number, follow=follow))

    def artifacts(self, trial: int | TrialResult | None = None) -> list[Artifact]:
        """List the files that trials uploaded, as they came.

        Those of a trial that has its outcome are of the run that counts; of one that failed, of all
        of its runs.

        Parameters
        ----------
        trial
            Of one trial alone.
        """
        return _loop.run(self._core.artifacts(trial))

    def download_artifact(self, artifact: Artifact | str, path: str | Path) -> Path:
        """Write a file that a trial uploaded, whole or not at all.

        Parameters
        ----------
        artifact
            The artifact, or its id.
        path
            A file, which is replaced, or a folder, in which it is ``TRIAL-NAME``.

        Returns
        -------
        Path
            Where it is.

        Raises
        ------
        NotFoundError
            ``unknown_artifact``.
        HyperflockError
            ``cannot_write``; ``blob_damaged``: the server sent other bytes.
        """
        return _loop.run(self._core.download_artifact(artifact, path))

    def refresh(self) -> Study:
        """Ask the server how the study stands."""
        _loop.run(self._core.refresh())
        return self

    def placement(self) -> Placement:
        """Ask which of the connected devices may run the study's trials, and why others may not."""
        return _loop.run(self._core.placement())

    def cancel(self) -> Study:
        """End the study now: running attempts are revoked, results so far are kept."""
        _loop.run(self._core.cancel())
        return self

    def pause(self) -> Study:
        """Give its trials to no more devices until `resume`; those that run go on and count."""
        _loop.run(self._core.pause())
        return self

    def resume(self) -> Study:
        """Give its trials to devices again."""
        _loop.run(self._core.resume())
        return self

    def retry(self) -> Study:
        """Issue every failed trial again, with fresh budgets; a finished study runs again.

        For trials that their own error or lost devices put into quarantine, after the reason is
        gone. Trials that succeeded are left alone.
        """
        _loop.run(self._core.retry())
        return self

    def delete(self) -> Deleted:
        """Delete a study that is over, for good: its trials, curves and files, at once.

        Code and data go where no other study of its owner has them, and none of it counts for the
        owner's quota any more. Its name and its ``submit_key`` are free again. Whatever this object
        is asked from then on is a `NotFoundError`; what was exported or copied before stays.

        Returns
        -------
        Deleted
            How much there was.

        Raises
        ------
        NotFoundError
            ``unknown_study``: it is gone already.
        ServerError
            ``study_running``: it is not over; `cancel` it first, or `wait`.
        """
        return _loop.run(self._core.delete())

    def replay(
        self,
        trial: int | TrialResult,
        *,
        on: ReplayOn = "cpython",
        tolerance: float = DEFAULT_TOLERANCE,
        browser: str | None = None,
        trust: bool = False,
    ) -> Replay:
        """Run a trial that has its result again on this machine, and compare.

        Code and data are fetched and checked by their hashes; parameters, suggested values and the
        seed are the trial's. It runs in a process of its own that sees what a browser has. Where
        the trial was pruned, it is told to stop at the step at which it was.

        Parameters
        ----------
        trial
            Its number, or the trial itself.
        on
            ``cpython``: Python here; Chainer has to be installed for a trial that uses it.
            ``chromium``: a local headless browser, by the server's pages and runtime, which are
            fetched once and kept; on WebGPU where the trial ran on it and the browser has it.
        tolerance
            Two numbers are the same where they differ by no more than this part of the larger one;
            below 1 by no more than this. Devices round differently, and training lets that grow.
        browser
            The browser's program; None: ``HYPERFLOCK_BROWSER``, else Chromium.
        trust
            Run the code of somebody else's study, which an administrator can ask for. A replay is
            no sandbox: the process has none of this one's environment and all of the user's rights.

        Returns
        -------
        Replay
            ``same``, and what was compared.

        Raises
        ------
        ReplayError
            ``trial_unfinished``, ``blob_damaged``, ``replay_failed``: it cannot be run again.
            ``untrusted_code``: it is somebody else's, without ``trust``.
        DryRunError
            ``dry_run_unavailable``, ``dry_run_broken``, ``runtime_unavailable``,
            ``runtime_damaged``: not on this machine.
        """
        return _loop.run(
            self._core.replay(trial, on=on, tolerance=tolerance, browser=browser, trust=trust)
        )

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
        try:
            yield from _loop.iterate(self._core.watch(progress=progress, timeout_s=timeout_s))
        except KeyboardInterrupt:
            self._say_detached()
            raise

    def to_pandas(self) -> pandas.DataFrame:
        """Give the finished trials as a table, one row each, by number.

        Columns are ``number`` (int64), ``state``, ``value`` (float64; NaN without one),
        ``value_1`` ... where the objective gave several, ``seed``, ``run_s``, ``load_s``,
        ``attempts``, ``device``, ``device_class``, ``engine``, ``backend``, ``adapter``,
        ``started_at`` and ``finished_at`` (UTC), ``error_code``, ``error`` and ``params_<name>``. A
        parameter's dtype follows the values in the study's space: bool, int64, float64 or str where
        they are of one kind (int and float together: float64), the kind that knows missing values
        where None is among them, else object. With pandas 2 a text's is object as well.

        Raises
        ------
        HyperflockError
            ``no_pandas``: pandas is not installed.
        """
        return _loop.run(self._core.to_pandas())

    def to_optuna(self) -> optuna.Study:
        """Give the finished trials as an Optuna study in memory.

        States, values, parameters with their distributions, intermediate values, attributes and
        times are those of a study that saw all trials here; what a sampler noted for itself is not
        kept. A grid's parameters become categorical ones. `hyperflock.optuna.optimize` with the
        same objective goes on with it where the study that asked was in memory.

        Raises
        ------
        OptunaMissingError
            ``no_optuna``: Optuna is not installed.
        """
        return _loop.run(self._core.to_optuna())

    @overload
    def export(self, format: TextFormat, path: str | Path | None = None) -> str: ...

    @overload
    def export(self, format: Literal["parquet"], path: str | Path | None = None) -> bytes: ...

    def export(self, format: Format, path: str | Path | None = None) -> str | bytes:
        """Give the finished trials as text or as Parquet's bytes.

        With ``path`` they are also written there, whole or not at all.

        Parameters
        ----------
        format
            ``csv``: one row per trial, the columns of `to_pandas`. A text that a spreadsheet
            program would take for a formula gets an apostrophe in front. ``json``: the study and
            its trials, every value of its own kind. ``jsonl``: one trial a line. ``parquet``: the
            columns of `to_pandas` as Apache Arrow has them; a parameter whose values are of several
            kinds is JSON text. Needs pyarrow.
        path
            A file; what was there is replaced.

        Raises
        ------
        HyperflockError
            ``bad_format``: there is no such format. ``cannot_write``: the file cannot be written.
            ``no_pyarrow``: pyarrow is not installed.
        """
        if format == "parquet":
            return _loop.run(self._core.export(format, path))
        return _loop.run(self._core.export(format, path))

    @overload
    def plot(self, kind: PlotKind = "history") -> Plot: ...

    @overload
    def plot(self, kind: OptunaPlot, **options: Any) -> Any: ...

    def plot(self, kind: PlotKind | OptunaPlot = "history", **options: Any) -> Any:
        """Draw the finished trials; a notebook shows the picture.

        Parameters
        ----------
        kind
            ``history``: values in the order in which trials finished, and the best so far.
            ``parallel``: one axis for each parameter and one for the value, a line for each trial.
            Or one of Optuna's: ``contour``, ``edf``, ``hypervolume_history``,
            ``intermediate_values``, ``optimization_history``, ``parallel_coordinate``,
            ``param_importances``, ``pareto_front``, ``rank``, ``slice``,
            ``terminator_improvement``, ``timeline``.
        **options
            Keyword arguments of ``optuna.visualization.plot_<kind>``.

        Returns
        -------
        Plot
            Of ``history`` and ``parallel``; ``save`` writes it as SVG. Of Optuna's kinds a plotly
            figure, or Matplotlib's axes where plotly is not installed.

        Raises
        ------
        NoCompleteTrialError
            None is complete yet.
        OptunaMissingError
            ``no_optuna``: a kind of Optuna's without Optuna.
        HyperflockError
            ``bad_plot``: there is no such kind. ``no_plotter``: a kind of Optuna's with neither
            plotly nor Matplotlib.
        """
        if kind in OPTUNA_KINDS:
            study = self.to_optuna()
            from hyperflock._reports.optuna_plots import draw

            return draw(study, kind, options)  # in this thread, as Matplotlib wants it
        return _loop.run(self._core.plot(kind))

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
