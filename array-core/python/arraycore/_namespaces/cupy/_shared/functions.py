"""Functions of CuPy that neither NumPy nor arraycore has."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

import arraycore
import numpy as np
from arraycore import ndarray
from arraycore._runtime import session

_MEMOS: list[Callable[[], None]] = []


def get_array_module(*args: Any) -> Any:
    """Return ``cupy`` if one of the arguments is an array of arraycore, else NumPy."""
    on_device = any(isinstance(argument, ndarray) for argument in args)
    return sys.modules["cupy"] if on_device else np


def asnumpy(
    a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True
) -> Any:
    """Return an array of arraycore, or anything that NumPy accepts, as a NumPy array.

    Parameters
    ----------
    a : ndarray or array_like
        The array to return.
    stream : Stream, optional
        Without effect: operations run in order.
    order : {"C", "F", "A"}
        The result's layout.
    out : numpy.ndarray, optional
        Receives the result; it is returned.
    blocking : bool
        Without effect: reading always waits.
    """
    if isinstance(a, ndarray):
        return a.get(stream, order, out)
    made = np.asarray(a, order=order)  # type: ignore[call-overload]
    if out is None:
        return made
    out[...] = made
    return out


def memoize(for_each_device: bool = False) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Return a decorator that caches a function's results by its arguments.

    Parameters
    ----------
    for_each_device : bool
        Without effect: there is one device.
    """

    def decorator(function: Callable[..., Any]) -> Callable[..., Any]:
        kept = functools.cache(function)
        _MEMOS.append(kept.cache_clear)
        return kept

    return decorator


def clear_memo() -> None:
    """Clear the caches of all functions that :func:`memoize` decorated."""
    for clear in _MEMOS:
        clear()


def fuse(function: Callable[..., Any] | None = None, *, kernel_name: str | None = None) -> Any:
    """Return a decorator, or a decorated function, whose operations are fused into few kernels.

    While the function runs, operations wait and are fused with those that read their results
    (``array-core/docs/fusion.md``). By default, all other operations are fused too. If fusion is
    off (``ARRAYCORE_FUSE=0``), operations that still wait are computed when the function ends.

    Parameters
    ----------
    function : callable, optional
        The function to decorate.
    kernel_name : str, optional
        Accepted for compatibility with CuPy; without effect.
    """
    if function is None:
        return _fused
    if not callable(function):
        raise TypeError(f"fuse takes a function, not {type(function)}")
    return _fused(function)


def _fused(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        before = session.set_fusing(True)
        try:
            return function(*args, **kwargs)
        finally:
            if not before:
                session.set_fusing(False)

    return wrapper


class broadcast:
    """Arrays and numbers, broadcast against each other.

    Parameters
    ----------
    *arrays : ndarray or scalar
        The arrays and numbers.

    Attributes
    ----------
    shape : tuple of int
        The broadcast shape.
    nd, size : int
        The number of its dimensions and of its elements.
    values : list
        The arrays, each broadcast to the shape; scalars as they are.
    """

    def __init__(self, *arrays: Any) -> None:
        shapes = [each.shape for each in arrays if isinstance(each, ndarray)]
        self.shape = np.broadcast_shapes(*shapes)
        self.nd = len(self.shape)
        self.size = int(np.prod(self.shape, dtype=np.int64))
        self.values = [
            arraycore.broadcast_to(each, self.shape) if isinstance(each, ndarray) else each
            for each in arrays
        ]


class RawKernel(arraycore.RawKernel):
    """A compute shader in WGSL; see :class:`arraycore.RawKernel`. CUDA C is refused.

    Raises
    ------
    NotImplementedError
        The text is CUDA C, or there are options for its compiler.
    """

    __slots__ = ()

    def __init__(self, code: str, name: str, options: Any = (), **others: Any) -> None:
        if "__global__" in code or options or others:
            raise NotImplementedError(
                f"arraycore has no compiler of CUDA C for RawKernel {name!r}: write an "
                "ElementwiseKernel or a ReductionKernel, or the shader in WGSL."
            )
        super().__init__(code, name)
