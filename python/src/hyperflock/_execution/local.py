"""Runs one trial in this process, with the seeds that it would have in a volunteer's browser.

    run = run_local(objective, {"channels": 16}, seed=trial.seed, data={"digits": arrays})
    run.value, run.points

The calling thread runs the objective. A run seeds generators of the whole process, so run only one
at a time.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from hyperflock._base.errors import DryRunError
from hyperflock._execution.notes import process_notes
from hyperflock._execution.worker import import_worker
from hyperflock._model.data import as_seen_by_trial
from hyperflock._model.space import Value
from hyperflock._trial import devices
from hyperflock._trial.host import LocalHost, progress, running, series_of
from hyperflock._trial.metrics import objective_values, split_result
from hyperflock._trial.random_state import seed_everything
from hyperflock._trial.trial import Trial, is_pruned


@dataclass(frozen=True)
class LocalRun:
    """The result of a local run.

    Attributes
    ----------
    state : str
        ``complete`` or ``pruned``.
    values : tuple of float
        The values that the objective returned; empty if the trial was pruned.
    points : tuple of (int, float)
        The reported curve as (step, value).
    notes : tuple of str
        Sentences that say how this process differs from a device: by other versions, or because
        Chainer is not installed here.
    series : dict
        The logged series: (step, value) pairs by name.
    summary : dict
        The newest value of each series, and the named numbers that the objective returned.
    user_attrs : dict
        What the objective attached by `Trial.set_user_attr`.
    """

    state: str
    values: tuple[float, ...]
    points: tuple[tuple[int, float], ...]
    notes: tuple[str, ...] = field(default=(), compare=False)
    series: dict[str, tuple[tuple[int, float], ...]] = field(default_factory=dict)
    summary: dict[str, float] = field(default_factory=dict)
    user_attrs: dict[str, Any] = field(default_factory=dict)

    @property
    def value(self) -> float | tuple[float, ...] | None:
        """The value; a tuple if the objective returned several, None if the trial was pruned."""
        if len(self.values) == 1:
            return self.values[0]
        return self.values or None


def run_local(
    objective: Callable[[Any], Any],
    params: Mapping[str, Value],
    seed: int = 0,
    data: Mapping[str, Any] | None = None,
    *,
    number: int = 0,
) -> LocalRun:
    """Run ``objective`` once in this process.

    For an objective that uses `device`, this function opens array-core anew and closes it after the
    run. Existing arrays of array-core would then be lost, so the process must not have any.

    Parameters
    ----------
    objective
        Any callable ``objective(trial)``.
    params
        The trial's parameters.
    seed
        The trial's seed, 0 to 2^32-1 (`TrialResult.seed`, `trial_seed`), for ``random.seed`` and
        ``numpy.random.seed``.
    data
        The data as for `Client.grid`.
    number
        The trial's number.

    Raises
    ------
    DryRunError
        ``arrays_alive``: this process has arrays of array-core.
    MetricError
        The objective returned a value that is not a finite number (``metric_not_number``,
        ``metric_not_finite``). Exceptions of the objective itself are not changed.
    """
    _refuse_beside_arrays()
    _prepare_chainer()
    devices.prepare(None, seed)
    host = LocalHost()
    with as_seen_by_trial(data or {}) as seen, running(host):
        trial = Trial(params, number=number, seed=seed, data=seen, host=host)
        seed_everything(seed)
        try:
            value, summary = split_result(objective(trial))
            values = tuple(objective_values(value))
        except BaseException as error:
            if not is_pruned(error):
                raise
            return _run_of("pruned", (), host, trial, {})
        finally:
            devices.finish()
        return _run_of("complete", values, host, trial, summary)


def _run_of(
    state: str,
    values: tuple[float, ...],
    host: LocalHost,
    trial: Trial,
    summary: Mapping[str, float],
) -> LocalRun:
    series = series_of(host.rows)
    last = {name: pairs[-1][1] for name, pairs in series.items()}
    return LocalRun(
        state,
        values,
        tuple(host.points),
        process_notes(),
        series,
        {**last, **summary},
        trial.user_attrs,
    )


def _refuse_beside_arrays() -> None:
    arraycore = sys.modules.get("arraycore")
    alive = 0 if arraycore is None else arraycore.counters()["live_arrays"]
    if alive:
        raise DryRunError(
            f"this process holds {alive} arrays of array-core's, which a trial's device would end: "
            "drop them, or copy them by .get(), before run_local",
            code="arrays_alive",
        )


def _prepare_chainer() -> None:
    """Install the worker's patches for Chainer, if Chainer is installed."""
    if importlib.util.find_spec("chainer") is not None:
        import_worker()
        from hyperflock_worker import compat

        compat.install(progress)
