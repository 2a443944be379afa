"""Extensions of a Chainer trainer: checkpoints, logging and pruning of the trial.

    trainer.extend(hyperflock.LogReport(trial))
    trainer.extend(
        hyperflock.HyperflockPruningExtension(trial, "validation/main/loss", (1, "epoch"))
    )
    trainer.extend(hyperflock.CheckpointExtension(trial))    # among the other extensions
    trial.resume(trainer)                                    # after the last of them
    trainer.run()

Only the thread that runs the objective uses this module. Chainer is imported when an extension is
made.
"""

from __future__ import annotations

import math
import numbers
import time
from collections.abc import Callable, Iterable
from typing import Any

from hyperflock._trial.save_pace import SavePace
from hyperflock._trial.trial import TrialPruned

__all__ = ["CheckpointExtension", "HyperflockPruningExtension", "LogReport"]

# Chainer's priority of extensions that read what others have observed.
_PRIORITY_READER = 100


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
        The shortest time between two saves in seconds; with 0 each trigger saves. If saves are
        slow, it is twenty times the duration of the last one. When the volunteer puts the page away
        or pauses, the trainer is saved at once.
    clock : callable
        Returns seconds; for tests.

    Attributes
    ----------
    trigger, priority
        Chainer reads these: the extension runs after each iteration, and after the other
        extensions, whose state it saves.
    """

    trigger = (1, "iteration")
    # This is lower than the priority of Chainer's own snapshots, so this extension runs after them.
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
        self._pace: SavePace | None = None

    def initialize(self, trainer: Any) -> None:
        """Start counting the time; Chainer calls this when the run begins."""
        self._pace = SavePace(self._clock)

    def __call__(self, trainer: Any) -> None:
        """Save the trainer if the last save is long enough ago, or if the device may be gone soon.

        Raises
        ------
        CheckpointError
            Part of its state cannot be stored, or it has more than 64 MiB.
        """
        # A trainer that calls an extension without `initialize` saves at once.
        is_late = self._pace is None or self._pace.is_due(self._interval_s, is_leaving=False)
        if not self._trial.checkpoint_due(math.inf) and not is_late:
            return
        self._pace = self._pace or SavePace(self._clock)
        self._pace.begin()
        self._trial.checkpoint(trainer)
        self._pace.end(is_leaving=False)


class LogReport:
    """An extension that logs what Chainer's ``LogReport`` reports as series of the trial.

    It collects the observations of the trainer, such as ``main/loss``, and logs their means at each
    trigger with `Trial.log`. The step is the iteration. The series ``elapsed_time`` has the
    trainer's seconds, and ``epoch`` the epoch. No file is written, and Chainer's own ``LogReport``
    may be among the extensions too.

    Parameters
    ----------
    trial
        The objective's trial.
    keys : iterable of str or None
        The observations to log; None means all.
    trigger : tuple or Trigger
        When the means are logged, as for Chainer's ``LogReport``.
    postprocess : callable or None
        Gets each entry before it is logged, as a dict that it may change.

    Attributes
    ----------
    trigger, priority
        Chainer reads these: the extension runs after each iteration.
    """

    trigger = (1, "iteration")
    priority = _PRIORITY_READER
    name = "hyperflock_log_report"

    def __init__(
        self,
        trial: Any,
        keys: Iterable[str] | None = None,
        trigger: Any = (1, "epoch"),
        postprocess: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        from chainer.training import extensions

        self._trial = trial
        self._report = extensions.LogReport(
            keys=keys, trigger=trigger, postprocess=postprocess, log_name=None
        )
        self._sent = 0

    def __call__(self, trainer: Any) -> None:
        """Collect the observations, and log their means if the trigger fires.

        Raises
        ------
        SeriesError
            See `Trial.log`.
        """
        self._report(trainer)
        entries = self._report.log[self._sent :]
        self._sent = len(self._report.log)
        for entry in entries:
            values = {
                name: value
                for name, value in entry.items()
                if name not in ("iteration", "epoch") and isinstance(value, numbers.Real)
            }
            self._trial.log(values, step=int(entry["iteration"]), epoch=entry["epoch"])

    def serialize(self, serializer: Any) -> None:
        """Save or load the collected observations; Chainer calls this for a checkpoint.

        The loaded entries are not logged again, because the attempt that saved the checkpoint has
        logged them.
        """
        self._report.serialize(serializer)
        self._sent = len(self._report.log)


class HyperflockPruningExtension:
    """An extension that reports an observation and prunes the trial, with the parameters of
    Optuna's ``ChainerPruningExtension``.

    Parameters
    ----------
    trial
        The objective's trial.
    observation_key : str
        The observation to report, such as ``main/loss`` or ``validation/main/loss``.
    pruner_trigger : tuple or Trigger
        When to report and to ask: an ``IntervalTrigger`` such as ``(1, "epoch")``, or a
        ``ManualScheduleTrigger``. Its unit is the unit of the reported steps.

    Attributes
    ----------
    trigger, priority
        Chainer reads these: the extension runs after each iteration.

    Raises
    ------
    TypeError
        The trigger is of another kind.
    """

    trigger = (1, "iteration")
    priority = _PRIORITY_READER
    name = "hyperflock_pruning"

    def __init__(self, trial: Any, observation_key: str, pruner_trigger: Any) -> None:
        from chainer.training import get_trigger, triggers

        self._trial = trial
        self._observation_key = observation_key
        self._pruner_trigger = get_trigger(pruner_trigger)
        kinds = (triggers.IntervalTrigger, triggers.ManualScheduleTrigger)
        if not isinstance(self._pruner_trigger, kinds):
            raise TypeError(
                "pruner_trigger is an IntervalTrigger or a ManualScheduleTrigger, "
                f"not a {type(self._pruner_trigger).__name__}"
            )

    def __call__(self, trainer: Any) -> None:
        """Report the observation if the trigger fires, and ask whether to stop.

        Raises
        ------
        TrialPruned
            The pruner stops the trial.
        MetricError
            The observation is not a finite number.
        """
        if not self._pruner_trigger(trainer) or self._observation_key not in trainer.observation:
            return
        unit = self._pruner_trigger.unit
        step = getattr(trainer.updater, unit)
        self._trial.report(trainer.observation[self._observation_key], step)
        if self._trial.should_prune():
            raise TrialPruned(f"Trial was pruned at {unit} {step}.")
