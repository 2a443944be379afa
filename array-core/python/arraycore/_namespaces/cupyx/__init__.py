"""``cupyx``: CuPy's functions that NumPy does not have, computed by arraycore."""

from __future__ import annotations

from typing import Any

import arraycore
import numpy as np
import numpy.typing as npt
from arraycore import ElementwiseKernel, scatter_add, scatter_max, scatter_min

from . import scipy

__all__ = ["get_runtime_info", "rsqrt", "scatter_add", "scatter_max", "scatter_min", "scipy"]

_RSQRT = ElementwiseKernel("T x", "T y", "y = rsqrt(x)", "rsqrt")


def rsqrt(x: Any, dtype: npt.DTypeLike | None = None) -> Any:
    """Return the reciprocal of the square root of each element.

    Parameters
    ----------
    x : ndarray
        An array of a floating dtype; integers are cast as by NumPy's ``sqrt``.
    dtype : dtype, optional
        The dtype of the computation and of the result.
    """
    wanted = np.result_type(x.dtype, np.float16) if dtype is None else np.dtype(dtype)
    return _RSQRT(x.astype(wanted, copy=False))


class _RuntimeInfo:
    """The device that computes; ``str`` describes it."""

    def __str__(self) -> str:
        device = arraycore.device_info()
        return f"arraycore on {device.name}{' (software)' if device.is_software else ''}"


def get_runtime_info(full: bool = True) -> _RuntimeInfo:
    """Return an object that, when it is printed, describes the device that computes.

    Parameters
    ----------
    full : bool
        Accepted for compatibility with CuPy; without effect.
    """
    return _RuntimeInfo()
