"""One trial, as whatever runs it here needs it. Plain data; any thread."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hyperflock._bundle.archive import needs_optuna
from hyperflock._model.data import DataSet


@dataclass(frozen=True)
class Job:
    """One trial.

    Attributes
    ----------
    entry, bundle
        Where the objective is, and the zip that it is in.
    data
        With wheels and arrays of the code.
    params
        JSON text.
    seed, number
        The trial's.
    runtime
        ``chainer-7.8.1``.
    backend
        What the study asks of devices; None: nothing.
    opened
        What a local browser may compute on: ``webgpu``, which a trial that ran before then has to
        where it can, or ``cpu`` alone.
    asked
        Of a trial of an Optuna study: ``{"directions", "suggested", "attrs"}``, as the runner takes
        it.
    again
        The trial ran before: names that were not suggested then are an error, and `prune_at` says
        at which step it is told to stop; None: never.
    globals
        Names of globals to report before the trial begins, by module; a browser reports none.
    modules
        The modules whose objects a report looks into.
    """

    entry: str
    bundle: bytes
    data: Sequence[DataSet]
    params: str
    seed: int
    runtime: str
    backend: str | None = None
    opened: str = "cpu"
    number: int = 0
    asked: Mapping[str, Any] | None = None
    again: bool = False
    prune_at: int | None = None
    globals: Mapping[str, Sequence[str]] = field(default_factory=dict)
    modules: Sequence[str] = ()

    @property
    def has_optuna(self) -> bool:
        """Whether its browser has Optuna: for an asked trial, or for code that needs it."""
        return self.asked is not None or needs_optuna(self.bundle)
