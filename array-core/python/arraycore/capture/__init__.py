"""Capture and replay: a step that runs without Python from its fourth call on.

    def train(x):
        weights[...] = weights - 0.1 * gradient(weights, x)

    step = arraycore.capture.Step(train)
    for batch in batches:
        step(batch)  # the first call runs as usual, two are recorded, the others are replayed
    step.close()

``docs/capture.md`` has the contract.
"""

from __future__ import annotations

import struct
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.creation import asarray, empty_like
from .._core.ndarray import ndarray
from ._recording import (
    CaptureError,
    Numbers,
    Recorder,
    Replay,
    StaleCapture,
    is_recording,
)

__all__ = ["CaptureError", "Host", "Scalar", "Step"]

#: After these errors, the step is recorded again up to two times. Its first runs may differ from
#: later ones in the operations that are fused and in the buffers that are used.
_UNSETTLED = ("capture_operations", "capture_shapes", "capture_arrays")
_MORE_RUNS = 2
#: If the arguments of this many calls in a row differ from those of the call before, ``reason``
#: says so.
_MOST_OTHERS = 8

#: The list to which a running step adds the scalars that it reads; None if no step runs.
_reading: list[Scalar] | None = None


class Scalar:
    """A number whose current value each replay of a step uses.

    The step reads ``value`` where it needs the number. A replay does not repeat Python's arithmetic
    on it (``2 * s.value``): make such a result a scalar of its own.
    """

    __slots__ = ("_value",)

    def __init__(self, value: float) -> None:
        self._value = value

    @property
    def value(self) -> float:
        """The number's current value."""
        if _reading is not None and self not in _reading:
            _reading.append(self)
        return self._value

    @value.setter
    def value(self, value: float) -> None:
        self._value = value

    def __float__(self) -> float:
        return float(self.value)


class Host:
    """Does in Python what a replay does not repeat; this base class does nothing."""

    def numbers(self) -> Numbers:
        """Return the numbers that the host passed to the last step; their count is constant."""
        return ()

    def refusal(self) -> str | None:
        """Return why steps must not be captured, or None. `Step` calls it before the first step."""
        return None

    def before(self) -> None:
        """`Step` calls this method before it records a step."""

    def after(self) -> None:
        """`Step` calls this method when the step's function has returned or raised. It must launch
        nothing.
        """

    def recorded(self) -> None:
        """`Step` calls this method when a step has been recorded."""

    def captured(self, carried: int) -> None:
        """`Step` calls this method when it has captured a step. From then on, steps are replayed.

        Parameters
        ----------
        carried : int
            The number of arrays that each step computes from those of the step before.

        Raises
        ------
        CaptureError
            The program needs the step's Python code.
        """

    def is_as_captured(self) -> bool:
        """Return whether the program is still as it was when the step was captured."""
        return True

    def advance(self, steps: int) -> None:
        """Count steps that are replayed without Python; ``steps`` is -1 to undo the count of one
        step.
        """

    def replayed(self) -> None:
        """`Step` calls this method when a step was replayed."""


class _Call:
    """A call's arguments: arrays, which are copied to slots (arrays that every call uses), and
    values that must not change.
    """

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.arrays: list[Any] = []
        self.shape = (self._flat(args), self._flat(kwargs))

    def _flat(self, value: Any) -> Any:
        if isinstance(value, ndarray | np.ndarray):
            self.arrays.append(value)
            return ("array", value.shape, value.dtype.str)
        if isinstance(value, tuple | list):
            return (type(value), *(self._flat(each) for each in value))
        if isinstance(value, dict):
            return (dict, *((key, self._flat(each)) for key, each in value.items()))
        return _Leaf(value)

    def rebuilt(self, slots: list[ndarray]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """Return the arguments with slots in place of the arrays."""
        rest = iter(slots)
        args, kwargs = self.shape
        return tuple(_rebuilt(args, rest)), _rebuilt(kwargs, rest)


class _Leaf:
    """An argument that is no array. Scalars, texts, bytes and methods are compared by value, any
    other object by identity.
    """

    __slots__ = ("_key", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self._key = _key(value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Leaf) and self._key == other._key

    __hash__ = None  # type: ignore[assignment]


def _key(value: Any) -> tuple[Any, ...]:
    """Return a key that is equal for equal arguments. Floats are compared by their bits."""
    if isinstance(value, np.generic):
        return (type(value), value.dtype.str, value.tobytes())
    if isinstance(value, float):
        return (type(value), struct.pack("<d", value))
    if isinstance(value, complex):
        return (type(value), struct.pack("<dd", value.real, value.imag))
    # Each access to a bound method makes another object, so methods are compared by value.
    if value is None or isinstance(value, int | str | bytes | types.MethodType):
        return (type(value), value)
    return (type(value), id(value))


def _rebuilt(shape: Any, slots: Any) -> Any:
    if isinstance(shape, _Leaf):
        return shape.value
    kind, *rest = shape
    if kind == "array":
        return next(slots)
    if kind is dict:
        return {key: _rebuilt(each, slots) for key, each in rest}
    values = [_rebuilt(each, slots) for each in rest]
    if not issubclass(kind, tuple):
        return values
    return kind._make(values) if hasattr(kind, "_make") else tuple(values)  # a named tuple


class Step:
    """A function that is run, recorded twice, and from then on replayed.

    Parameters
    ----------
    function : callable
        A function of any arguments and result. Arrays among its arguments (NumPy's too, also in
        tuples, lists and dicts) are copied to slots: arrays that every call passes to the function.
        A call with other shapes, or other values of arguments that are no arrays, runs without
        capture.
    host : Host, optional
        Does in Python what a replay does not repeat, such as counting an optimizer's steps.
    strict : bool
        Whether a step that cannot be captured raises :class:`CaptureError`, after it has run. Else
        steps run without capture from then on, and ``reason`` says why.
    warm_up : int
        The number of calls before the first recorded one. They compile kernels and make the arrays
        that outlive a step.

    Attributes
    ----------
    reason : str or None
        Why steps are not captured. If the reason is that the arguments differ in each call, it is
        removed at the first call whose arguments equal those of the call before.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        *,
        host: Host | None = None,
        strict: bool = True,
        warm_up: int = 1,
    ) -> None:
        self._function = function
        self._host = host or Host()
        self._strict = strict
        self._warm_up = warm_up
        self._runs = 0
        self._shape: Any = None
        self._slots: list[ndarray] = []
        self._scalars: list[Scalar] = []
        self._recorder = Recorder(self._numbers)
        self._replay: Replay | None = None
        self._result: Any = None
        self._unfinished = False
        self._leaves = False  # the host has refused: arguments stay what they are
        self._parted = 0  # runs that were another program than the one before
        self._others = 0  # calls in a row whose arguments were not those of the call before
        self._varies = False  # that is the reason
        self.reason: str | None = None

    @property
    def is_captured(self) -> bool:
        """Whether the next call whose arguments have the same shapes is a replay."""
        return self._replay is not None

    @property
    def commands(self) -> int:
        """The number of launches and uploads of a replay; 0 if nothing is captured."""
        return self._replay.commands if self._replay else 0

    @property
    def nbytes(self) -> int:
        """The bytes of memory that only the capture uses."""
        return self._replay.nbytes if self._replay else 0

    def _numbers(self) -> Numbers:
        return (*self._host.numbers(), *(scalar._value for scalar in self._scalars))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the step; return what the function returned.

        A replay returns the arrays of the last recorded step, with new elements.

        Raises
        ------
        CaptureError
            The step cannot be captured and ``strict`` is true. The step has run.
        """
        self._finish()
        if self._shape is None and self.reason is None:
            self.reason = self._host.refusal()
            self._leaves = self.reason is not None
        if self._leaves:
            return self._function(*args, **kwargs)
        called = _Call(args, kwargs)
        other = called.shape != self._shape
        within = is_recording()  # an outer step is being recorded, and includes this one
        if not within and self._replay is None:
            self._count(other)
        refused = self.reason is not None and not self._varies
        if within or refused or (other and self._replay is not None):
            given, names = called.rebuilt([asarray(each) for each in called.arrays])
            return self._function(*given, **names)
        if other:
            self._begin(called)
        for slot, given in zip(self._slots, called.arrays, strict=True):
            if given is not slot:
                slot[...] = asarray(given)
        if self._replay is not None and self._replayed(self._replay):
            return self._result
        slots, names = called.rebuilt(self._slots)
        if self._runs < self._warm_up or self._recorder.waits():
            self._runs += 1
            return self._read(lambda: self._function(*slots, **names))
        return self._record(lambda: self._function(*slots, **names))

    def _count(self, other: bool) -> None:
        """Count the calls in a row whose arguments were new. After many of them, set ``reason``,
        which says why steps are not captured. ``other`` is true if this call's arguments were new.
        """
        if self.reason is not None and not self._varies:
            return
        self._others = self._others + 1 if other and self._shape is not None else 0
        self._varies = self._others >= _MOST_OTHERS
        self.reason = (
            f"{_MOST_OTHERS} calls in a row had arguments of other shapes or values each time: "
            "hand over what changes as arrays."
            if self._varies
            else None
        )

    def _begin(self, called: _Call) -> None:
        self._restart()
        self._shape = called.shape
        self._slots = [empty_like(asarray(given)) for given in called.arrays]

    def _restart(self, runs: int = 0) -> None:
        if self._replay is not None:
            self._replay.close()
        self._replay = None
        self._result = None
        self._parted = 0
        if self._recorder.recordings:
            self._recorder.forget()
        self._runs = runs

    def _replayed(self, replay: Replay) -> bool:
        """Replay the step; return False if it has to be run and recorded again."""
        if not self._host.is_as_captured():
            self._restart()
            return False
        self._host.advance(1)
        try:
            replay()
        except StaleCapture:
            self._host.advance(-1)
            self._restart(self._warm_up)
            return False
        except BaseException:
            try:
                self._unfinished = replay.interrupted
            finally:
                if not self._unfinished:
                    self._host.advance(-1)
            raise
        self._host.replayed()
        return True

    def _finish(self) -> None:
        """Run the rest of a step that Ctrl-C interrupted."""
        if self._unfinished and self._replay is not None:
            try:
                self._replay.resume()
            except BaseException:
                self._unfinished = self._replay.interrupted
                raise
            self._unfinished = False
            self._host.replayed()

    def _read(self, run: Callable[[], Any]) -> Any:
        global _reading
        before, _reading = _reading, self._scalars
        try:
            return run()
        finally:
            _reading = before

    def _record(self, run: Callable[[], Any]) -> Any:
        known = len(self._scalars)

        def surrounded() -> Any:
            try:
                return self._read(run)
            finally:
                self._host.after()

        self._host.before()
        result = self._recorder.record(surrounded)
        self._host.recorded()
        if len(self._scalars) != known:  # there are more numbers now
            self._recorder.forget()
            return result
        try:
            self._recorder.check()
            if self._recorder.recordings == 2:
                self._replay = self._recorder.build()
                self._result = result
                self._host.captured(self._replay.carried)
        except CaptureError as error:
            if error.code in _UNSETTLED and self._parted < _MORE_RUNS:
                self._parted += 1
                return result
            self._restart()
            self.reason = str(error)
            if self._strict:
                raise
        return result

    def close(self) -> None:
        """Free the capture's memory. The next calls run without it and are captured again."""
        try:
            self._finish()
        except ValueError:  # the library was reset: nothing is left to finish
            if self._unfinished:
                raise
        self._restart()
        self._shape, self._slots, self._scalars = None, [], []
        self.reason, self._leaves = None, False
        self._others, self._varies = 0, False

    def __enter__(self) -> Step:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
