"""Whether arraycore's functions stand in for Chainer's, and how a method is replaced."""

from __future__ import annotations

import contextlib
import functools
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any

VARIABLE = "HYPERFLOCK_DEVICE_FUNCTIONS"
#: What arraycore.nn computes: float16, float32 and float64.
_FLOATS = "efd"

_known: list[Any] = []  # arraycore.ndarray, once Chainer's cupy is arraycore
_state = {"on": os.environ.get(VARIABLE, "1") != "0"}


@contextlib.contextmanager
def chainers_own() -> Iterator[None]:
    """Let Chainer's own kernels do everything meanwhile. For one thread."""
    before = _state["on"]
    _state["on"] = False
    try:
        yield
    finally:
        _state["on"] = before


def takes(*arrays: Any) -> bool:
    """Whether all are arraycore's arrays of one dtype of floats, None aside."""
    ndarray = array_type()
    if ndarray is None or not _state["on"] or not isinstance(arrays[0], ndarray):
        return False
    dtype = arrays[0].dtype
    if dtype.char not in _FLOATS:
        return False
    # A loop: functions ask this some hundred times in a step.
    for each in arrays[1:]:
        if each is not None and not (isinstance(each, ndarray) and each.dtype == dtype):
            return False
    return True


def array_type() -> Any:
    """``arraycore.ndarray`` where it is what Chainer knows as ``cupy.ndarray``, else None."""
    if _known:
        return _known[0]
    arraycore, cupy = sys.modules.get("arraycore"), sys.modules.get("cupy")
    ndarray = getattr(arraycore, "ndarray", None)
    if ndarray is None or getattr(cupy, "ndarray", None) is not ndarray:
        return None
    _known.append(ndarray)
    return ndarray


def nn() -> Any:
    """``arraycore.nn``; arraycore is there where :func:`takes` said yes."""
    return sys.modules["arraycore"].nn


def replace(cls: Any, name: str, by: Callable[..., Any]) -> None:
    """Let ``by`` answer in the place of a method; where it gives None the method does.

    Parameters
    ----------
    cls : type
        A class of Chainer's. One that has no such method is left alone.
    name : str
        The method's.
    by : callable
        Takes what the method takes. It changes nothing where it gives None.
    """
    original = vars(cls).get(name)
    if original is None:
        return

    @functools.wraps(original)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = by(self, *args, **kwargs)
        return original(self, *args, **kwargs) if result is None else result

    setattr(cls, name, method)
