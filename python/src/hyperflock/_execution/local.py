"""Runs one trial in this process, seeded as in a volunteer's browser.

    run = run_local(objective, {"channels": 16}, seed=trial.seed, data={"digits": arrays})
    run.value, run.points

Seeds the process-wide generators, so one run at a time; the calling thread runs the objective.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from hyperflock._base.errors import DryRunError
from hyperflock._execution.worker import import_worker
from hyperflock._model.data import as_seen_by_trial
from hyperflock._model.grid import Scalar
from hyperflock._trial import devices
from hyperflock._trial.host import LocalHost, progress, running
from hyperflock._trial.metrics import objective_values
from hyperflock._trial.random_state import seed_everything
from hyperflock._trial.trial import Trial, is_pruned


@dataclass(frozen=True)
class LocalRun:
    """Outcome of a local run.

    Attributes
    ----------
    state : str
        ``complete`` or ``pruned``.
    values : tuple of float
        What the objective gave; empty when pruned.
    points : tuple of (int, float)
        The curve that it reported, as (step, value).
    """

    state: str
    values: tuple[float, ...]
    points: tuple[tuple[int, float], ...]

    @property
    def value(self) -> float | tuple[float, ...] | None:
        """The value, a tuple where the objective gave several, None when pruned."""
        if len(self.values) == 1:
            return self.values[0]
        return self.values or None


def run_local(
    objective: Callable[[Any], Any],
    params: Mapping[str, Scalar],
    seed: int = 0,
    data: Mapping[str, Any] | None = None,
    *,
    number: int = 0,
) -> LocalRun:
    """Run ``objective`` once, here.

    An objective that uses `device` opens array-core anew and closes it at its end, in this process:
    arrays of array-core's that are alive would be lost, so there must be none.

    Parameters
    ----------
    objective
        ``objective(trial)``; any callable.
    params
        The trial's point.
    seed
        The trial's seed in 0..2^32-1 (`TrialResult.seed`, `trial_seed`): ``random.seed(seed)``,
        then ``numpy.random.seed(seed)``.
    data
        As for `Client.grid`.
    number
        The trial's number.

    Raises
    ------
    DryRunError
        ``arrays_alive``: this process holds arrays of array-core's.
    MetricError
        The objective gave no finite number (``metric_not_number``, ``metric_not_finite``). What the
        objective itself raises comes through unchanged.
    """
    _refuse_beside_arrays()
    _prepare_chainer()
    devices.prepare(None, seed)
    host = LocalHost()
    with as_seen_by_trial(data or {}) as seen, running(host):
        trial = Trial(params, number=number, seed=seed, data=seen, host=host)
        seed_everything(seed)
        try:
            values = tuple(objective_values(objective(trial)))
        except BaseException as error:
            if not is_pruned(error):
                raise
            return LocalRun("pruned", (), tuple(host.points))
        finally:
            devices.finish()
        return LocalRun("complete", values, tuple(host.points))


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
