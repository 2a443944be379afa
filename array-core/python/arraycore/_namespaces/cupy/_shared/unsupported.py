"""CuPy's names that arraycore does not have: calling them raises an error with an alternative.

If arraycore has a function of the same name, that is used instead.
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
    """Return a function that raises NotImplementedError and names an alternative."""

    def function(*args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(f"arraycore has no {name}: {instead}.")

    function.__name__ = function.__qualname__ = name.rsplit(".", 1)[-1]
    function.__doc__ = f"Raise NotImplementedError: {instead}."
    return function


def names_of(module: str, source: str | None, missing: Mapping[str, str]) -> Callable[[str], Any]:
    """Return a module's ``__getattr__``: it finds arraycore's names, then unsupported ones.

    Parameters
    ----------
    module : str
        The module's name here, such as ``"cupy.random"``.
    source : str, optional
        The module of arraycore that has the names.
    missing : mapping of str to str
        The unsupported names and their alternatives.
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
