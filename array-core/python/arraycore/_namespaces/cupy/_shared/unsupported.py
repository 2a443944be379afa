"""What CuPy has and arraycore has not: names that raise when they are called, and say what helps.

A name here steps back as soon as arraycore has a function of the same name.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

HOST = "call NumPy's with array.get(), and arraycore's array() with the result"
KERNEL = "write an ElementwiseKernel or a ReductionKernel, which array-core compiles"
POINTER = "browsers' devices have no addresses; call the array's own methods and functions"
COUNTERS = "ask arraycore.counters()"


def absent(name: str, instead: str) -> Callable[..., NoReturn]:
    """Return a function that says what to do in place of calling it."""

    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"arraycore has no {name}: {instead}.")

    function.__name__ = function.__qualname__ = name.rsplit(".", 1)[-1]
    function.__doc__ = f"Not supported: {instead}."
    return function


def names_of(module: str, source: str | None, missing: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a module: arraycore's names, then what is missing.

    Parameters
    ----------
    module : str
        The module's name here, such as ``"cupy.random"``.
    source : str, optional
        The module of arraycore's that has the names, where it is there.
    missing : mapping of str to str
        What is not there, and what to do in its place.
    """

    def lookup(name: str) -> Any:
        if not name.startswith("_") and source is not None:
            try:
                return getattr(importlib.import_module(source), name)
            except (ImportError, AttributeError):
                pass
        if name in missing:
            return absent(f"{module}.{name}", missing[name])
        raise AttributeError(f"module {module!r} has no attribute {name!r}")

    return lookup
