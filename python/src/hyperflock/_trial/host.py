"""What a trial asks of its surroundings, and who answers it on a researcher's machine.

    host = LocalHost()
    trial = Trial({"rate": 0.1}, number=0, seed=7, data={}, host=host)
    trial.report(0.5, 1); host.points

In a volunteer's browser the host is the worker's bridge to its agent. A host gets only what the
trial has checked. Used on the thread that runs the objective, and only there.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from hyperflock._base.errors import CallError


@dataclass(frozen=True)
class Artifact:
    """What a trial says of a file that it uploads.

    Attributes
    ----------
    id : str
        Its own: 1 to 64 letters, digits, ``_`` and ``-``.
    name, type : str
        The file's own name without a folder, and its MIME type.
    store : str
        Name by which the researcher's process finds its artifact store; empty where it has none.
    """

    id: str
    name: str
    type: str
    store: str


class Host(Protocol):
    """The surroundings of a trial. Each call counts as a sign of life."""

    def report(self, step: int, value: float) -> None:
        """Take one point of the curve: a finite value at a step of 0 to 2^53 - 1."""
        ...

    def should_prune(self, step: int) -> bool:
        """Tell whether the trial should stop at this step; waits for the answer.

        Raises
        ------
        CallError
            There is no answer.
        """
        ...

    def suggest(self, name: str, distribution: str) -> str:
        """Give the value of a name as JSON text; ``distribution`` is Optuna's JSON text.

        Raises
        ------
        CallError
            There is no value; ``suggest_mismatch`` where another distribution was asked before.
        """
        ...

    def save_checkpoint(self, kind: str, step: int | None, content: bytes) -> bool:
        """Save a checkpoint; waits, and tells whether it is stored.

        Parameters
        ----------
        kind : str
            ``tree`` or ``npz``.
        step : int or None
            The last step that was reported; None where there was none.
        content : bytes
            As `checkpoints.encode` writes it.

        Raises
        ------
        CallError
            It is refused.
        """
        ...

    def upload_artifact(self, artifact: Artifact, content: bytes) -> bool:
        """Upload a file; waits, and tells whether it is stored. Errors as `save_checkpoint`."""
        ...

    def progress(self) -> None:
        """Take a sign of life."""
        ...


class LocalHost:
    """Answers where there is no server: it keeps the curve, and prunes and stores nothing.

    Attributes
    ----------
    points : list of (int, float)
        The curve so far, as (step, value).
    """

    def __init__(self) -> None:
        self.points: list[tuple[int, float]] = []

    def report(self, step: int, value: float) -> None:
        self.points.append((step, value))

    def should_prune(self, step: int) -> bool:
        return False

    def suggest(self, name: str, distribution: str) -> str:
        raise CallError(f"nobody suggests a value for '{name}' in a dry run", code="owner_error")

    def save_checkpoint(self, kind: str, step: int | None, content: bytes) -> bool:
        return True

    def upload_artifact(self, artifact: Artifact, content: bytes) -> bool:
        return True

    def progress(self) -> None:
        pass


class ReplayHost(LocalHost):
    """Answers a trial that runs once more, so that it ends where it ended.

    Parameters
    ----------
    prune_at : int or None
        The step from which on the trial is told to stop; None: never.
    """

    def __init__(self, prune_at: int | None = None) -> None:
        super().__init__()
        self._prune_at = prune_at

    def should_prune(self, step: int) -> bool:
        # A step that has no point is one too: no curve keeps a NaN.
        return self._prune_at is not None and step >= self._prune_at

    def suggest(self, name: str, distribution: str) -> str:
        # What was suggested then the trial knows, and does not ask for.
        raise CallError(
            f"the trial was given no value for '{name}' when it ran before", code="owner_error"
        )


_running: Host | None = None


@contextmanager
def running(host: Host) -> Iterator[None]:
    """Let `progress` reach a host while its trial runs."""
    global _running
    before, _running = _running, host
    try:
        yield
    finally:
        _running = before


def progress() -> None:
    """Give the host of the trial that runs a sign of life; without one nothing happens."""
    if _running is not None:
        _running.progress()
