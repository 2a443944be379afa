"""Saves and resumes a Chainer trainer that an objective runs without a checkpoint of its own.

    with auto_checkpoint.watching(trial):
        objective(trial)                    # its trainer.run() calls `attach` first

It does nothing for an objective that calls ``trial.checkpoint``, ``trial.resume`` or
``trial.checkpoint_due`` itself. Only the first trainer of a trial is saved, and only if the trial
has reported nothing before it runs, because the next attempt runs that code again. The python
thread's patch of ``Trainer.run`` calls `attach`; Chainer is never imported here. Only the thread
that runs the objective uses this module.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from hyperflock._base.errors import CheckpointError
from hyperflock._trial import checkpoints, random_state
from hyperflock._trial.trainer_state import unsaved_state

# The file's name in the zip of a checkpoint that a trainer saved by itself.
MEMBER = "hyperflock_auto.json"
_MEMBER_BYTES = 64
INTERVAL_S = 30.0


class SavedTrial(Protocol):
    """What this module needs of a trial."""

    @property
    def auto(self) -> AutoCheckpoint: ...

    def auto_content(self) -> bytes | None:
        """Return the checkpoint with which the attempt begins if a trainer saved it by itself."""
        ...

    def auto_resume(self) -> dict[str, Any] | None:
        """Decode that checkpoint, and continue with its generators, attributes and series."""
        ...

    def auto_save(self, trainer: Any, interval_s: float) -> None:
        """Save the trainer if it is time to.

        Raises
        ------
        CheckpointError
            Part of its state cannot be stored, or it is too large.
        """
        ...


class AutoCheckpoint:
    """Whether a trial's trainer saves itself, and why not.

    Attributes
    ----------
    interval_s : float or None
        The shortest time between two saves in seconds; None means never.
    is_manual : bool
        Whether the objective saves or resumes itself.
    has_output : bool
        Whether the attempt has reported, logged or uploaded something.
    """

    def __init__(self) -> None:
        self.interval_s: float | None = INTERVAL_S
        self.is_manual = False
        self.has_output = False
        self._has_run = False

    def take(self) -> bool:
        """Return whether the trainer that now runs should save itself. Only the first one may."""
        is_first, self._has_run = not self._has_run, True
        return is_first and not self.is_off and not self.has_output

    @property
    def is_off(self) -> bool:
        return self.is_manual or self.interval_s is None

    def refuse(self, why: str) -> None:
        """Say once why the trial goes on without automatic checkpoints."""
        self.interval_s = None
        print(
            f"[no_auto_checkpoint] {why}, so the trainer is not saved by itself: see "
            "trial.checkpoint, or turn this off by trial.auto_checkpoint(False)",
            file=sys.stderr,
        )


def is_auto(content: bytes) -> bool:
    """Return whether a trainer saved this checkpoint by itself; False if it cannot be read."""
    try:
        return checkpoints.read_member(content, MEMBER, _MEMBER_BYTES) is not None
    except CheckpointError:
        return False


class _Extension:
    """The extension of a trainer that saves it. It runs after all others, whose state it saves."""

    trigger = (1, "iteration")
    priority = -300
    name = "hyperflock_auto_checkpoint"

    def __init__(self, trial: SavedTrial) -> None:
        self._trial = trial

    def initialize(self, trainer: Any) -> None:
        # The initializers of the other extensions may have drawn numbers.
        content = self._trial.auto_content()
        if content is not None:
            random_state.restore(content)

    def __call__(self, trainer: Any) -> None:
        auto = self._trial.auto
        if auto.interval_s is None or auto.is_manual:
            return
        try:
            self._trial.auto_save(trainer, auto.interval_s)
        except CheckpointError as error:
            auto.refuse(error.message)
        except Exception as error:
            # A serialize() of the researcher's failed. The trial did not ask for it.
            auto.refuse(f"its state cannot be saved ({type(error).__name__}: {error})")


_watched: SavedTrial | None = None


@contextmanager
def watching(trial: SavedTrial) -> Iterator[None]:
    """Let trainers that run inside this block save themselves as checkpoints of the trial."""
    global _watched
    before, _watched = _watched, trial
    try:
        yield
    finally:
        _watched = before


def attach(trainer: Any) -> None:
    """Prepare a trainer that is about to run: resume it, and let it save itself.

    Raises
    ------
    CheckpointError
        ``checkpoint_malformed``: the checkpoint does not fit the trainer. The trial then begins
        again without it (R38).
    """
    trial = _watched
    if trial is None or not trial.auto.take():
        return
    names = [type(entry.extension).__name__ for entry in trainer._extensions.values()]
    if "CheckpointExtension" in names:
        return
    why = unsaved_state(trainer)
    if why is not None:
        trial.auto.refuse(why)
        return
    trainer.extend(_Extension(trial))
    if trial.auto_content() is None:
        return
    state = trial.auto_resume()
    if state is None:
        return
    try:
        checkpoints.restore(trainer, state)
    except Exception as error:
        raise CheckpointError(
            f"the checkpoint does not fit the trainer: {error}", code="checkpoint_malformed"
        ) from error
