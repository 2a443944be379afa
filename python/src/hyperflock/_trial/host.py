"""Declares the calls of a trial to its host, and defines the hosts for a researcher's machine.

    host = LocalHost()
    trial = Trial({"rate": 0.1}, number=0, seed=7, data={}, host=host)
    trial.report(0.5, 1); host.points

In a volunteer's browser, the host is the worker's bridge to its agent. A host gets only arguments
that the trial has checked. Only the thread that runs the objective uses this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Protocol

from hyperflock._base.errors import CallError


@dataclass(frozen=True)
class Artifact:
    """The description of a file that a trial uploads.

    Attributes
    ----------
    id : str
        The artifact's id: 1 to 64 letters, digits, ``_`` and ``-``.
    name, type : str
        The file's name without a folder, and its MIME type.
    store : str
        The name by which the researcher's process finds its artifact store; empty if there is none.
    """

    id: str
    name: str
    type: str
    store: str


class Host(Protocol):
    """The object that handles a trial's calls, such as reports and questions. Each call shows that
    the trial is alive.
    """

    def report(self, step: int, value: float) -> None:
        """Receive a point of the curve: a finite value at a step of 0 to 2^53 - 1."""
        ...

    def log(self, step: int, values: Mapping[str, float]) -> None:
        """Receive a row of named series; its values may be NaN or infinite."""
        ...

    def should_prune(self, step: int) -> bool:
        """Return whether the trial should stop at this step; wait for the answer.

        Raises
        ------
        CallError
            There is no answer.
        """
        ...

    def suggest(self, name: str, distribution: str) -> str:
        """Return the value of a name as JSON text; ``distribution`` is Optuna's JSON text.

        Raises
        ------
        CallError
            There is no value. ``suggest_mismatch``: the name had another distribution before.
        """
        ...

    def save_checkpoint(
        self, kind: str, step: int | None, content: bytes, logged: int | None = None
    ) -> bool:
        """Save a checkpoint; wait a short while and return whether the server has stored it.

        Parameters
        ----------
        kind : str
            ``tree`` or ``npz``.
        step : int or None
            The last reported step; None if nothing was reported.
        content : bytes
            The content as `checkpoints.encode` writes it.
        logged : int or None
            The last step of a series; None if nothing was logged.

        Raises
        ------
        CallError
            The server refuses it.
        """
        ...

    def upload_artifact(self, artifact: Artifact, content: bytes) -> bool:
        """Upload a file; wait and return whether it is stored. See `save_checkpoint` for errors."""
        ...

    def progress(self) -> None:
        """Record that the trial is alive."""
        ...

    def is_leaving(self) -> bool:
        """Return whether the device may soon be gone, so that the trial should save its state."""
        ...


class LocalHost:
    """A host without a server: it keeps the curve, prunes nothing and stores nothing.

    Attributes
    ----------
    points : list of (int, float)
        The curve so far, as (step, value).
    rows : list of (int, dict)
        The logged rows so far: steps and values by name.
    """

    def __init__(self) -> None:
        self.points: list[tuple[int, float]] = []
        self.rows: list[tuple[int, dict[str, float]]] = []

    def report(self, step: int, value: float) -> None:
        self.points.append((step, value))

    def log(self, step: int, values: Mapping[str, float]) -> None:
        self.rows.append((step, dict(values)))

    def should_prune(self, step: int) -> bool:
        return False

    def suggest(self, name: str, distribution: str) -> str:
        raise CallError(f"nobody suggests a value for '{name}' in a dry run", code="owner_error")

    def save_checkpoint(
        self, kind: str, step: int | None, content: bytes, logged: int | None = None
    ) -> bool:
        return True

    def upload_artifact(self, artifact: Artifact, content: bytes) -> bool:
        return True

    def progress(self) -> None:
        pass

    def is_leaving(self) -> bool:
        return False


class ReplayHost(LocalHost):
    """A host for a trial that runs again, so that it ends at the same step.

    Parameters
    ----------
    prune_at : int or None
        The step from which `should_prune` returns True; None means never.
    """

    def __init__(self, prune_at: int | None = None) -> None:
        super().__init__()
        self._prune_at = prune_at

    def should_prune(self, step: int) -> bool:
        # A step whose value was NaN has no point in the recorded curve. So the trial may have been
        # pruned at a later step than the curve's last one.
        return self._prune_at is not None and step >= self._prune_at

    def suggest(self, name: str, distribution: str) -> str:
        # The trial already has the recorded suggestions. So it asks here only for a name that the
        # recorded run did not have.
        raise CallError(
            f"the trial was given no value for '{name}' when it ran before", code="owner_error"
        )


def series_of(
    rows: Iterable[tuple[int, Mapping[str, float]]],
) -> dict[str, tuple[tuple[int, float], ...]]:
    """Return logged rows as series: (step, value) pairs by name."""
    found: dict[str, list[tuple[int, float]]] = {}
    for step, values in rows:
        for name, value in values.items():
            found.setdefault(name, []).append((step, value))
    return {name: tuple(pairs) for name, pairs in found.items()}


_running: Host | None = None


@contextmanager
def running(host: Host) -> Iterator[None]:
    """Let `progress` reach this host while its trial runs."""
    global _running
    before, _running = _running, host
    try:
        yield
    finally:
        _running = before


def progress() -> None:
    """Show the host of the running trial that the trial is alive; without a trial do nothing."""
    if _running is not None:
        _running.progress()
