"""Decides how many trials a sampler creates in advance when several devices compute.

A sampler that learns from finished trials creates none in advance. For TPE, its option for parallel
trials is set.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import optuna
from optuna.samplers import BaseSampler, GridSampler, QMCSampler, RandomSampler, TPESampler

from hyperflock.optuna.internals import grid_points_left, has_constant_liar, set_constant_liar

_MOST_AHEAD = 64
# If a trial takes more seconds than this, the sampler's time for a new trial does not matter.
_SHORT_S = 1.0


def ahead(study: optuna.Study, computing: int, run_s: float | None) -> int:
    """Return how many trials may wait in the server's queue, so that no device waits for the
    sampler.

    It is 0 in three cases: with one device, because a seed has to give the same trials as in plain
    Optuna; for a sampler that learns from results, because it suggests better values later; and for
    long trials, because they would be computed even if the study is stopped. For a grid, trials are
    created in advance as long as it has points.

    Parameters
    ----------
    study
        The study.
    computing
        How many trials devices compute now.
    run_s
        The duration of a trial in seconds; None if it is not known yet.
    """
    if computing < 2 or run_s is None or run_s > _SHORT_S:
        return 0
    wanted = min(computing, _MOST_AHEAD)
    # Only these exact classes count, because a derived class may use finished trials.
    sampler: object = study.sampler
    if type(sampler) in (RandomSampler, QMCSampler):
        return wanted
    if type(sampler) is GridSampler:
        return max(0, min(wanted, grid_points_left(study, sampler)))
    return 0


def is_used_up(study: optuna.Study) -> bool:
    """Return whether every point of a grid has a trial, so that another trial would repeat a
    point.
    """
    sampler: object = study.sampler
    return type(sampler) is GridSampler and grid_points_left(study, sampler) <= 0


class ParallelTpe:
    """Switches TPE's option ``constant_liar`` on when several trials run, until `undo` is called.
    In Optuna 5 the option is on by default.
    """

    def __init__(self, sampler: BaseSampler) -> None:
        self._sampler = sampler
        self._changed = False

    def tell(self, running: int) -> None:
        """Switch the option on if at least two trials run."""
        sampler = self._sampler
        if running < 2 or self._changed or type(sampler) is not TPESampler:
            return
        if not has_constant_liar(sampler):
            set_constant_liar(sampler, on=True)
            self._changed = True

    def undo(self) -> None:
        """Restore the sampler's option."""
        if self._changed and isinstance(self._sampler, TPESampler):
            set_constant_liar(self._sampler, on=False)
            self._changed = False


@contextmanager
def parallel_tpe(sampler: BaseSampler) -> Iterator[ParallelTpe]:
    """Yield a `ParallelTpe`, and restore the sampler's option at the end."""
    made = ParallelTpe(sampler)
    try:
        yield made
    finally:
        made.undo()
