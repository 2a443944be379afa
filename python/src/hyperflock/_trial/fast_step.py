"""``hyperflock.fast_step``: captures Chainer's training steps, which arraycore replays.

    step = hyperflock.fast_step(updater)  # or a function that trains on a batch
    trainer.run()

``array-core/docs/capture.md`` has the contract.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from arraycore.capture import Scalar, Step

__all__ = ["FastStep", "fast_step", "scalar"]


def scalar(value: float) -> Scalar:
    """Return a number that may change between captured steps.

    Read its ``value`` inside the step, and set it outside.
    """
    from arraycore.capture import Scalar

    return Scalar(value)


def fast_step(step: Any, *, strict: bool = True) -> FastStep:
    """Capture a training step and replay it. The results are exactly those of the plain step.

    Parameters
    ----------
    step : chainer.training.updaters.StandardUpdater or callable
        An updater, which is fast from then on wherever it is used; or a function of a batch's
        arrays that runs the model, its backward pass and ``optimizer.update()``.
    strict : bool
        Whether a step that cannot be captured raises ``arraycore.capture.CaptureError``. Otherwise
        it runs as before, and ``reason`` says why. A step of a model on NumPy cannot be captured.

    Raises
    ------
    TypeError
        ``step`` is neither of these.
    ImportError
        array-core is missing: the study asks for no device, or it is not installed.
    """
    if not hasattr(step, "update_core") and not callable(step):
        raise TypeError(f"fast_step takes an updater or a function, not {type(step).__name__}.")
    import arraycore.capture

    from hyperflock._trial.chainer_step import ChainerHost

    if hasattr(step, "update_core") and hasattr(step, "get_optimizer"):
        optimizer = step.get_optimizer("main")
        plain = optimizer.update
        captured = arraycore.capture.Step(plain, host=ChainerHost(optimizer), strict=strict)
        optimizer.update = _update(captured, plain)

        def undo() -> None:
            del optimizer.update

        return FastStep(captured, step.update, undo)
    captured = arraycore.capture.Step(step, host=ChainerHost(), strict=strict)
    return FastStep(captured, captured, lambda: None)


def _update(captured: Step, plain: Callable[..., Any]) -> Callable[..., Any]:
    def update(lossfun: Any = None, *args: Any, **kwargs: Any) -> Any:
        # A call without a loss function only applies gradients that other code has computed, so it
        # is no complete step.
        return (plain if lossfun is None else captured)(lossfun, *args, **kwargs)

    return update


class FastStep:
    """A captured training step. Call it like the given step, or use the given updater.

    Attributes
    ----------
    is_captured : bool
        Whether the next step is a replay.
    reason : str or None
        Why steps are not captured.
    commands : int
        The number of launches and uploads of a replay.
    nbytes : int
        The memory that the capture itself uses, in bytes.
    """

    def __init__(self, step: Step, run: Callable[..., Any], undo: Callable[[], None]) -> None:
        self._step = step
        self._run = run
        self._undo: Callable[[], None] | None = undo

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run a step. An updater takes its batch itself; a function gets the arguments."""
        return self._run(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in ("is_captured", "reason", "commands", "nbytes"):
            return getattr(self._step, name)
        raise AttributeError(f"FastStep has no attribute {name!r}")

    def close(self) -> None:
        """Free the memory of the capture; the updater runs plain steps again."""
        self._step.close()
        if self._undo is not None:
            self._undo()
            self._undo = None

    def __enter__(self) -> FastStep:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
