"""Counts the CPU's work for the device while a test case runs the function that it tests.

A forward is an outermost call of one of Chainer's functions or links, outside of ``backward`` and
``chainer.grad``. A forward with a 64-bit float is not counted: gradient checks use such floats for
the numerical gradient, and no browser's device has them. Only pytest's thread may use this module.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

WIDE = (np.dtype("float64"), np.dtype("complex128"))


def arrays_of(values: Iterable[Any]) -> Iterator[Any]:
    """Yield every array and variable among arguments, also those in lists and tuples."""
    for value in values:
        if isinstance(value, list | tuple):
            yield from arrays_of(value)
        elif hasattr(value, "dtype"):
            yield value


def has_wide(values: Iterable[Any]) -> bool:
    """Return whether a 64-bit float is among arguments."""
    return any(array.dtype in WIDE for array in arrays_of(values))


class ForwardWatch:
    """Counts the forwards since ``reset``.

    Parameters
    ----------
    spent : callable
        Returns how many operations the CPU has done for the device so far.
    blames : bool
        Whether to find the lines of Chainer that need the CPU, which is slow.

    Attributes
    ----------
    calls : int
        Forwards without a 64-bit float.
    cpu_ops : int
        Operations that the CPU did for the device in these forwards.
    blamed : list of str
        The lines of Chainer that caused these operations, each once.
    """

    def __init__(self, spent: Callable[[], int], blames: bool = False) -> None:
        self._spent, self._blames = spent, blames
        self._is_inside = False
        self.reset()

    def reset(self) -> None:
        """Set the counts to 0 before a case begins."""
        self.calls = self.cpu_ops = 0
        self.blamed: list[str] = []

    def forward(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a method that calls ``function`` and counts the call as a forward."""

        @functools.wraps(function)
        def counted(owner: Any, *args: Any, **kwargs: Any) -> Any:
            if self._is_inside:
                return function(owner, *args, **kwargs)
            if has_wide((*args, *kwargs.values(), *self._parameters(owner))):
                return self.aside(function)(owner, *args, **kwargs)
            self._is_inside, before = True, self._spent()
            if self._blames:
                sys.settrace(self._tracer())
            try:
                return function(owner, *args, **kwargs)
            finally:
                if self._blames:
                    sys.settrace(None)
                self._is_inside = False
                self.calls += 1
                self.cpu_ops += self._spent() - before

        return counted

    def aside(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that calls ``function``. Forwards inside of the call are not
        counted.
        """

        @functools.wraps(function)
        def uncounted(*args: Any, **kwargs: Any) -> Any:
            was, self._is_inside = self._is_inside, True
            try:
                return function(*args, **kwargs)
            finally:
                self._is_inside = was

        return uncounted

    def _tracer(self) -> Callable[..., Any]:
        """Return a trace function that reads the counter before each line of Chainer.

        If the counter has grown, it blames the previous line.
        """
        last, known = "", self._spent()

        def look(frame: FrameType, event: str, arg: Any) -> Any:
            nonlocal last, known
            path = Path(frame.f_code.co_filename)
            if "chainer" not in path.parts:
                return None
            now = self._spent()
            if now != known and last not in self.blamed:
                self.blamed.append(last)
            last, known = f"{path.name}:{frame.f_lineno}", now
            return look

        return look

    def install(self) -> None:
        """Watch Chainer's functions and links."""
        import chainer

        for owner, name in (
            (chainer.FunctionNode, "apply"),
            (chainer.Function, "apply"),
            (chainer.Link, "__call__"),
        ):
            if name in vars(owner):
                setattr(owner, name, self.forward(vars(owner)[name]))
        chainer.Variable.backward = self.aside(chainer.Variable.backward)
        chainer.grad = self.aside(chainer.grad)

    @staticmethod
    def _parameters(owner: Any) -> Iterator[Any]:
        params = getattr(owner, "params", None)
        if callable(params):
            yield from (param for param in params() if param.array is not None)
