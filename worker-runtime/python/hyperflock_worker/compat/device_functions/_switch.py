"""Decides whether a call uses a device function, and replaces methods by device functions."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

VARIABLE = "HYPERFLOCK_DEVICE_FUNCTIONS"
#: The dtypes of arraycore.nn: float16, float32 and float64.
_FLOATS = "efd"

_known: list[Any] = []  # arraycore.ndarray, once Chainer's cupy is arraycore
_state = {"on": os.environ.get(VARIABLE, "1") != "0"}


@contextlib.contextmanager
def chainers_own() -> Iterator[None]:
    """Use only Chainer's own kernels within a block. Not safe for several threads."""
    before = _state["on"]
    _state["on"] = False
    try:
        yield
    finally:
        _state["on"] = before


def takes(*arrays: Any) -> bool:
    """Return whether all arguments that are not None are arraycore arrays of one float dtype."""
    ndarray = array_type()
    if ndarray is None or not _state["on"] or not isinstance(arrays[0], ndarray):
        return False
    dtype = arrays[0].dtype
    if dtype.char not in _FLOATS:
        return False
    # A plain loop is the fastest form; a training step calls this some hundred times.
    for each in arrays[1:]:
        if each is not None and not (isinstance(each, ndarray) and each.dtype == dtype):
            return False
    return True


def array_type() -> Any:
    """Return ``arraycore.ndarray`` if it is Chainer's ``cupy.ndarray``, else None."""
    if _known:
        return _known[0]
    arraycore, cupy = sys.modules.get("arraycore"), sys.modules.get("cupy")
    ndarray = getattr(arraycore, "ndarray", None)
    if ndarray is None or getattr(cupy, "ndarray", None) is not ndarray:
        return None
    _known.append(ndarray)
    return ndarray


def nn() -> Any:
    """Return ``arraycore.nn``. Call it only after :func:`takes` returned True: arraycore is
    imported then.
    """
    return sys.modules["arraycore"].nn


def replace(cls: Any, name: str, by: Callable[..., Any]) -> None:
    """Replace a method by ``by``; if ``by`` returns None, the original method is called.

    Parameters
    ----------
    cls : type
        A class of Chainer. A class without such a method is not changed.
    name : str
        The method's name.
    by : callable
        A function of the method's parameters. If it returns None it must have changed nothing.
    """
    original = vars(cls).get(name)
    if original is None:
        return

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = by(self, *args, **kwargs)
        return original(self, *args, **kwargs) if result is None else result

    setattr(cls, name, method)
