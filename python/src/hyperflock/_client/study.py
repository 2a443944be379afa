"""A study at the server: its trials, its best trial, waiting, cancelling, exports and plots.

    for trial in study: ...        # finished trials, until the study ends
    study.best_trial.params

`Study` is `AsyncStudy` with blocking methods. Several threads may use one study. Its requests run
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

        Raises
        ------
        NoCompleteTrialError
            No trial is complete yet.
        """
        return _loop.run(self._core.best_trial())

    def trial(self, number: int) -> TrialResult:
        """Fetch a finished or running trial with `points`, `attempt_list` and `provenance`."""
        return _loop.run(self._core.trial(number))

    def log(self, number: int, *, follow: bool = False) -> Iterator[str]:
        """Yield the newest lines that a trial printed, of all its attempts.

        Parameters
        ----------
        number
            The trial's number.
        follow
            Continue with new lines until the trial has its outcome.

        The server keeps the newest 1,000 lines of a trial in memory, and loses them in a restart.
        """
        return _loop.iterate(self._core.log(number, follow=follow))

    def artifacts(self, trial: int | TrialResult | None = None) -> list[Artifact]:
        """Return the files that trials uploaded, in the order of their upload.

        For a trial with an outcome these are the files of the run that counts; for a failed trial
        those of all its runs.

        Parameters
        ----------
        trial
            Only the files of this trial; None means all trials.
        """
        return _loop.run(self._core.artifacts(trial))

    def download_artifact(self, artifact: Artifact | str, path: str | Path) -> Path:
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
        return _loop.run(self._core.download_artifact(artifact, path))

    def refresh(self) -> Study:
        """Fetch the study's row from the server."""
        _loop.run(self._core.refresh())
        return self

    def placement(self) -> Placement:
        """Fetch how many connected devices may run the trials, and why others may not."""
        return _loop.run(self._core.placement())

    def cancel(self) -> Study:
        """End the study now; running attempts stop, and results so far are kept."""
        _loop.run(self._core.cancel())
        return self

    def pause(self) -> Study:
        """Start no more trials until `resume`; running ones continue and count."""
        _loop.run(self._core.pause())
        return self

    def resume(self) -> Study:
        """Start trials again after `pause`."""
        _loop.run(self._core.resume())
        return self

    def retry(self) -> Study:
        """Issue every failed trial again, with its full number of attempts; a finished study runs
        again.

        Use it when the cause of the failures is gone: an error of the trials or lost devices.
        Trials that succeeded do not change.
        """
        _loop.run(self._core.retry())
        return self

    def delete(self) -> Deleted:
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
        """Run a finished trial again on this machine and compare the results.

        Code and data are fetched and checked by their hashes; parameters, suggested values and the
        seed are those of the trial. It runs in a process of its own, which can import what a
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
            Two numbers count as equal if they differ by at most this fraction of the larger one, or
            by at most this number if that is below 1. Devices round differently, and training
            increases such differences.
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
        return _loop.run(
            self._core.replay(trial, on=on, tolerance=tolerance, browser=browser, trust=trust)
        )

    def wait(self, timeout_s: float | None = None) -> Study:
        """Wait until the study has ended.

        Raises
        ------
        WaitTimeoutError
            It has not ended after ``timeout_s`` seconds; it continues.
        """
        for _ in self.watch(timeout_s=timeout_s):
            pass
        return self

    def watch(
        self, *, progress: bool | None = None, timeout_s: float | None = None
    ) -> Iterator[TrialResult]:
        """Iterate as ``for trial in study`` does, with options.

        Parameters
        ----------
        progress
            Whether to show a progress bar on standard error; None means if it is a terminal.
        timeout_s
            Raise `WaitTimeoutError` if the study has not ended after this time.
        """
        try:
            yield from _loop.iterate(self._core.watch(progress=progress, timeout_s=timeout_s))
        except KeyboardInterrupt:
            self._say_detached()
            raise

    def to_pandas(self) -> pandas.DataFrame:
        """Return the finished trials as a table with one row per trial, by number.

        The columns are ``number`` (int64), ``state``, ``value`` (float64; NaN without one),
        ``value_1`` ... if the objective returned several, ``seed``, ``run_s``, ``load_s``,
        ``attempts``, ``device``, ``device_class``, ``engine``, ``backend``, ``adapter``,
        ``started_at`` and ``finished_at`` (UTC), ``error_code``, ``error`` and ``params_<name>``. A
        parameter's dtype depends on its values in the study's space. Values of one type give bool,
        int64, float64 or str; int and float together give float64. With None among them it is the
        nullable dtype, and in all other cases object. With pandas 2, texts have the dtype object
        too.

        Raises
        ------
        HyperflockError
            ``no_pandas``: pandas is not installed.
        """
        return _loop.run(self._core.to_pandas())

    def to_optuna(self) -> optuna.Study:
        """Return the finished trials as an Optuna study in memory.

        It has the states, values, parameters with distributions, intermediate values, attributes
        and times of the trials, but no notes of the sampler. A grid's parameters become
        categorical. If the original Optuna study was in memory, `hyperflock.optuna.optimize` with
        the same objective continues with this one.

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

        Raises
        ------
        HyperflockError
            ``bad_format``: the format is unknown. ``cannot_write``: the file cannot be written.
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
        """Return a picture of the finished trials, which a notebook shows.

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
            For ``history`` and ``parallel``; ``save`` writes SVG. For Optuna's kinds it is a plotly
            figure, or Matplotlib's axes if plotly is not installed.

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
        if kind in OPTUNA_KINDS:
            study = self.to_optuna()
            from hyperflock._reports.optuna_plots import draw

            return draw(study, kind, options)  # Matplotlib has to draw in this thread
        return _loop.run(self._core.plot(kind))

    def _say_detached(self) -> None:
        """Print once how to continue watching. The command prints it too if Ctrl-C came in its own
        code.
        """
        if self._detached:
            return
        self._detached = True
        print(
            f"\ndetached: study {self.id} goes on at the server; "
            f"watch it again by: hyperflock watch {self.id}",
            file=sys.stderr,
        )
