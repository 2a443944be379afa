"""``hyperflock.CheckpointExtension``: saves a Chainer trainer for a later attempt of the trial.

    trainer.extend(hyperflock.CheckpointExtension(trial))    # among the other extensions
    trial.resume(trainer)                                    # after the last of them
    trainer.run()

Used on the thread that runs the objective.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

__all__ = ["CheckpointExtension"]


class CheckpointExtension:
    """An extension that saves the trainer as the trial's checkpoint.

    It does not load a checkpoint. Extensions that prepare something when the run begins, such as
    those that change a learning rate, need their state before that. So call
    ``trial.resume(trainer)`` before ``trainer.run()``.

    Parameters
    ----------
    trial
        The objective's trial.
    interval_s : float
        The shortest time between two saves in seconds; with 0 each trigger saves.
    clock : callable
        Returns seconds; for tests.

    Attributes
    ----------
    trigger, priority
        Chainer reads these: the extension runs after each epoch, and after the other extensions,
        whose state it saves.
    """

    trigger = (1, "epoch")
    # This is lower than the priority of Chainer's own snapshots.
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
        """Start counting the time; Chainer calls this when the run begins."""
        self._saved_at = self._clock()

    def __call__(self, trainer: Any) -> None:
        """Save the trainer if the last save is long enough ago.

        Raises
        ------
        CheckpointError
            Part of its state cannot be stored, or it has more than 64 MiB.
        """
        now = self._clock()
        if self._saved_at is not None and now < self._saved_at + self._interval_s:
            return
        self._saved_at = now
        self._trial.checkpoint(trainer)
