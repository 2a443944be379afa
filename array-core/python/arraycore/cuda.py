"""The names of ``numba.cuda`` that mean the same here, so that simple kernels need another import
only: ``from arraycore import cuda`` (``docs/jit.md``).
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy.typing as npt

from ._core.creation import array, empty, empty_like
from ._core.ndarray import ndarray
from ._jit import positions as _positions
from ._jit.decorators import jit
from ._jit.positions import (
    atomic,
    blockDim,
    blockIdx,
    grid,
    gridDim,
    gridsize,
    syncthreads,
    threadIdx,
)
from ._runtime.devices import Device

__all__ = [
    "atomic",
    "blockDim",
    "blockIdx",
    "device_array",
    "device_array_like",
    "grid",
    "gridDim",
    "gridsize",
    "jit",
    "local",
    "shared",
    "synchronize",
    "syncthreads",
    "threadIdx",
    "to_device",
]

#: Arrays of one thread's own: ``local.array(length, dtype)``.
local = SimpleNamespace(array=_positions.local_array)
#: Arrays that a block's threads share, which kernels are refused.
shared = SimpleNamespace(array=_positions.shared_array)


def to_device(obj: Any) -> ndarray:
    """Return a new array of arraycore with the elements of an array."""
    return array(obj)


def device_array(shape: Any, dtype: npt.DTypeLike = float) -> ndarray:
    """Return a new array whose elements are not set."""
    return empty(shape, dtype)


def device_array_like(ary: Any) -> ndarray:
    """Return a new array of the shape and dtype of another one."""
    return empty_like(ary)


def synchronize() -> None:
    """Wait until the device has finished."""
    Device().synchronize()
