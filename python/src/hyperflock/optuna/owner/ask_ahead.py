"""What a sampler allows when several devices compute. Pure but for the sampler that it changes.

Which trials a sampler would rather see finished first decides whether it may be asked ahead; and a
sampler with an option of its own for parallel trials gets it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import optuna
from optuna.samplers import BaseSampler, GridSampler, QMCSampler, RandomSampler, TPESampler

from hyperflock.optuna.internals import grid_points_left, has_constant_liar, set_constant_liar

_MOST_AHEAD = 64
# Beside a longer trial the way to the sampler and back is nothing.
_SHORT_S = 1.0


def ahead(study: optuna.Study, computing: int, run_s: float | None) -> int:
    """How many trials may wait in the server's queue, so that no device waits for the sampler.

    None where one device computes, so that a seed means the same as in plain Optuna; none for a
    sampler that learns, because a trial that is asked later knows more; none where trials take
    long, for what was asked is computed even if the study is stopped. A grid is asked ahead as long
    as it has points.

    Parameters
    ----------
    study
        The study.
    computing
        How many trials devices are computing.
    run_s
        How long a trial takes, in seconds; None: not known yet.
    """
    if computing < 2 or run_s is None or run_s > _SHORT_S:
        return 0
    wanted = min(computing, _MOST_AHEAD)
    # The very classes: one that is derived from them may look at anything.
    sampler: object = study.sampler
    if type(sampler) in (RandomSampler, QMCSampler):
        return wanted
    if type(sampler) is GridSampler:
        return max(0, min(wanted, grid_points_left(study, sampler)))
    return 0


def is_used_up(study: optuna.Study) -> bool:
    """Whether each of a grid's points was asked: another trial would compute one again."""
    sampler: object = study.sampler
    return type(sampler) is GridSampler and grid_points_left(study, sampler) <= 0


class ParallelTpe:
    """Turns TPE's constant liar on while several trials run; Optuna 5 has it on by itself."""

    def __init__(self, sampler: BaseSampler) -> None:
        self._sampler = sampler
        self._changed = False

    def tell(self, running: int) -> None:
        """Say how many trials run."""
        sampler = self._sampler
        if running < 2 or self._changed or type(sampler) is not TPESampler:
            return
        if not has_constant_liar(sampler):
            set_constant_liar(sampler, on=True)
            self._changed = True

    def undo(self) -> None:
        """Leave the sampler as it was given."""
        if self._changed and isinstance(self._sampler, TPESampler):
            set_constant_liar(self._sampler, on=False)
            self._changed = False


@contextmanager
def parallel_tpe(sampler: BaseSampler) -> Iterator[ParallelTpe]:
    """Make a `ParallelTpe` for a while."""
    made = ParallelTpe(sampler)
    try:
        yield made
    finally:
        made.undo()
