"""Captured training steps in a trial that runs here: the worker's own code, loaded when first used.

step = hyperflock.fast_step(updater)     # in an objective; needs array-core's native library

In a volunteer's browser these names are the worker's own (worker-runtime/python/hyperflock).
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType
from typing import Any, Protocol, cast

from hyperflock._execution.dry_run import worker_packages

_LOADED_AS = "hyperflock._in_trial"


class FastStep(Protocol):
    """A step that is captured: call it as what it was made of, or use the updater.

    Attributes
    ----------
    is_captured : bool
        Whether the next step is a replay.
    reason : str or None
        Why steps are not captured.
    commands : int
        Launches and uploads of a replay.
    nbytes : int
        Memory that the capture has of its own, in bytes.
    """

    is_captured: bool
    reason: str | None
    commands: int
    nbytes: int

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run a step: an updater's takes its batch by itself, a function gets the arguments."""
        ...

    def close(self) -> None:
        """Give the memory back; the updater is plain again."""
        ...

    def __enter__(self) -> FastStep: ...
    def __exit__(self, *_: object) -> None: ...


class Scalar(Protocol):
    """A number that captured steps follow."""

    value: float


def fast_step(step: Any, *, strict: bool = True) -> FastStep:
    """Capture a training step and replay it, with the very results of the plain one.

    Parameters
    ----------
    step
        A ``chainer.training.updaters.StandardUpdater``, or a function of a batch's arrays that
        trains on it.
    strict
        Whether a step that cannot be captured raises ``arraycore.capture.CaptureError``; else it
        runs as ever, and ``reason`` says why.

    Raises
    ------
    TypeError
        ``step`` is neither.
    ImportError
        array-core is not installed here.
    DryRunError
        ``dry_run_unavailable``: the worker's packages are not here.
    """
    return cast(FastStep, worker_module("_fast_step").fast_step(step, strict=strict))


def scalar(value: float) -> Scalar:
    """Return a number that captured steps follow: read ``.value`` in the step, set it outside.

    Raises
    ------
    ImportError
        array-core is not installed here.
    """
    return cast(Scalar, worker_module("_fast_step").scalar(value))


def worker_module(name: str) -> ModuleType:
    """A module of the worker's own ``hyperflock``.

    Raises
    ------
    DryRunError
        ``dry_run_unavailable``: the worker's packages are not here.
    """
    # The worker's package has this one's name: its modules are taken by another, without what its
    # __init__ would load.
    if _LOADED_AS not in sys.modules:
        package = ModuleType(_LOADED_AS)
        package.__path__ = [str(worker_packages() / "hyperflock")]
        sys.modules[_LOADED_AS] = package
    return importlib.import_module(f"{_LOADED_AS}.{name}")
