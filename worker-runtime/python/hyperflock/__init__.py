"""``hyperflock`` as a module sees it inside a trial.

An objective's module may import ``hyperflock`` at its top, on the researcher's machine and here.
What belongs into a trial is here; what talks to the server as a researcher says plainly that it is
not.
"""

from __future__ import annotations

from typing import Any, NoReturn

from hyperflock_worker.artifacts import ArtifactError, ArtifactLostError
from hyperflock_worker.checkpoints import CheckpointError
from hyperflock_worker.devices import Device, device
from hyperflock_worker.trial import SuggestMismatchError, Trial, TrialPruned

from hyperflock._fast_step import FastStep, fast_step, scalar
from hyperflock._trainer import CheckpointExtension

__all__ = [
    "ArtifactError",
    "ArtifactLostError",
    "CheckpointError",
    "CheckpointExtension",
    "Client",
    "Device",
    "FastStep",
    "NotInTrialError",
    "SuggestMismatchError",
    "Trial",
    "TrialPruned",
    "device",
    "fast_step",
    "grid",
    "scalar",
]


class NotInTrialError(RuntimeError):
    """Something for the researcher's machine was used inside a trial."""


def _refuse(name: str) -> NoReturn:
    raise NotInTrialError(
        f"hyperflock.{name} is not available inside a trial: put the code that submits the study "
        'below `if __name__ == "__main__":`.'
    )


class Client:
    """The researcher's connection to a server; cannot be made inside a trial."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("Client")


def grid(*args: Any, **kwargs: Any) -> NoReturn:
    """Submitting a grid cannot be done inside a trial."""
    _refuse("grid")
