"""Describes a trial that runs on this machine. The module has plain data only; any thread may use
it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hyperflock._bundle.archive import needs_of
from hyperflock._bundle.source.runtime import with_needs
from hyperflock._model.data import DataSet


@dataclass(frozen=True)
class Job:
    """A trial that runs on this machine.

    Attributes
    ----------
    entry, bundle
        The objective as ``module:function``, and the zip with its sources.
    data
        The study's data sets, and the wheels and arrays of the code.
    params
        The parameters as JSON text.
    seed, number
        The trial's seed and number.
    runtime
        The runtime, such as ``chainer-7.8.1``.
    backend
        The back end that the study asks for; None if it asks for no device.
    opened
        The back end that a local browser opens: ``webgpu`` or ``cpu``. ``webgpu`` means that the
        recorded run of the trial used WebGPU, so the browser must use WebGPU if it can.
    asked
        The fields of a trial of an Optuna study, as the runner gets them: ``{"directions",
        "suggested", "attrs"}``.
    again
        Whether the trial ran before. A suggestion with a new name is then an error, and `prune_at`
        is the step at which the trial is pruned; None if it is not pruned.
    globals
        The names of the globals of which the child process writes snapshots before the trial
        begins, by module. A browser writes none.
    modules
        The modules whose objects these snapshots describe in parts.
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
        """Whether a browser loads Optuna: for an Optuna study, or for code that imports it."""
        return self.asked is not None or "optuna" in needs_of(self.bundle)

    @property
    def packs(self) -> tuple[str, ...]:
        """The packs that a browser loads for the code: those that it imports, and their needs."""
        return with_needs(needs_of(self.bundle))
