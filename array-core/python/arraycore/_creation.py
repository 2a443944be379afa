"""Arrays from Python's and NumPy's, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library
from ._ndarray import ndarray


def array(source: npt.ArrayLike | ndarray, dtype: npt.DTypeLike | None = None) -> ndarray:
    """Return a new array that holds a copy of ``source``.

    Parameters
    ----------
    source : array_like
        Whatever NumPy takes, or an array of arraycore's.
    dtype : dtype, optional
        As for :func:`numpy.array`.

    Raises
    ------
    TypeError
        arraycore has no such dtype.
    MemoryError
        The array does not fit the budget.
    """
    if isinstance(source, ndarray):
        source = source.get()
    elements = np.array(source, dtype, order="C", copy=None)
    if elements.dtype.byteorder not in "=|<":
        elements = elements.astype(elements.dtype.newbyteorder("="))
    return ndarray(_library.create(elements.shape, elements, elements.dtype))


def zeros(shape: int | Sequence[int], dtype: npt.DTypeLike = float) -> ndarray:
    """Return a new array of zeros."""
    extents = (shape,) if isinstance(shape, int) else tuple(shape)
    return ndarray(_library.create(extents, None, np.dtype(dtype)))


def asnumpy(source: Any) -> npt.NDArray[Any]:
    """Return an array of arraycore's, or whatever NumPy takes, as a NumPy array."""
    return source.get() if isinstance(source, ndarray) else np.asarray(source)
