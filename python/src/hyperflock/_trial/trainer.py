"""``hyperflock.CheckpointExtension``: a Chainer trainer whose trial goes on at another device.

    trainer.extend(hyperflock.CheckpointExtension(trial))    # among the other extensions
    trial.resume(trainer)                                    # after the last of them
    trainer.run()

One thread: the objective's.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

__all__ = ["CheckpointExtension"]


class CheckpointExtension:
    """Saves the trainer as the trial's checkpoint.

    It does not load one: extensions that set something up when the run begins, as those that shift
    a learning rate, need their state before that. So ``trial.resume(trainer)`` stands before
    ``trainer.run()``.

    Parameters
    ----------
    trial
        The objective's trial.
    interval_s : float
        Seconds that lie between two saves at least; 0 saves whenever it is triggered.
    clock : callable
        Gives seconds; for tests.

    Attributes
    ----------
    trigger, priority
        What Chainer reads: after each epoch, and after the other extensions, whose state is saved.
    """

    trigger = (1, "epoch")
    # Below that of Chainer's own snapshots.
    priority = -200
    name = "hyperflock_checkpoint"

    def __init__(
        self,
        trial: Any,
        *,
        interval_s: float = 30.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._trial = trial
        self._interval_s = interval_s
        self._clock = clock
        self._saved_at: float | None = None

    def initialize(self, trainer: Any) -> None:
        """Count from now on; Chainer calls it when the run begins."""
        self._saved_at = self._clock()

    def __call__(self, trainer: Any) -> None:
        """Save the trainer, where the last save is long enough ago.

        Raises
        ------
        CheckpointError
            Part of its state cannot be stored, or it takes more than 64 MiB.
        """
        now = self._clock()
        if self._saved_at is not None and now < self._saved_at + self._interval_s:
            return
        self._saved_at = now
        self._trial.checkpoint(trainer)
