"""Calls NumPy on the CPU for functions without a kernel.

The arrays are copied to the host, and the results back. Each call waits for the device and
increases the counter ``cpu_ops``, so that a program can find out what is slow.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core.creation import array
from .._core.ndarray import ndarray
from .._runtime import operations


def by_numpy(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function of NumPy with arrays of arraycore, and return its result as arrays.

    Parameters
    ----------
    function : callable
        NumPy's function.
    args, kwargs
        Its arguments; arrays of arraycore, also in tuples and lists, are copied to the host.

    Returns
    -------
    ndarray, or what the function returns
        The result. NumPy's arrays and scalars in it, also in tuples, become arrays of arraycore.
    """
    host_args = [_to_host(each) for each in args]
    host_kwargs = {name: _to_host(each) for name, each in kwargs.items()}
    operations.helped()
    return _to_device(function(*host_args, **host_kwargs))


def _to_host(value: Any) -> Any:
    if isinstance(value, ndarray):
        return value.get()
    return type(value)(map(_to_host, value)) if type(value) in (tuple, list) else value


def _to_device(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return array(value)
    if not isinstance(value, tuple):
        return value
    parts = [_to_device(each) for each in value]
    made: Any = type(value)
    return made(*parts) if hasattr(value, "_fields") else made(parts)
