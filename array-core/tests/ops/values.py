"""Values that find faults: NaN, infinities, -0, the ends of each type, and what lies between."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

_REALS = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 2.0, 3.0, -3.0, 0.1, -0.7, 7.25, -9.75, 100.0,
    1e-3, -1e-3, 12345.0, 3.14159265, float("inf"), float("-inf"), float("nan"),
)  # fmt: skip


def edge_values(dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    """Return the value set of a dtype, 1-dimensional."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        values = {ends.min, ends.min + 1, ends.max, ends.max - 1, 0, 1, 2, 3, 5, 7, 31, 33, 64, 100}
        if dtype.kind == "i":
            values |= {-1, -2, -3, -7, -64, -100}
        return np.array(sorted(values), dtype)
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        extra = [limits.max, -limits.max, limits.tiny, limits.smallest_subnormal, 1 + limits.eps]
        return np.concatenate([np.array(_REALS, dtype), np.array(extra, dtype)])
    parts = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.25, 3.0, np.inf, -np.inf, np.nan])
    real, imaginary = np.meshgrid(parts, parts)
    values = np.empty(real.size, dtype)
    values.real, values.imag = real.ravel(), imaginary.ravel()
    return values


def operands(dtypes: str) -> list[npt.NDArray[Any]]:
    """Return arrays of these dtypes (letters) that together hold every combination."""
    sets = [edge_values(letter) for letter in dtypes]
    return [array.ravel().copy() for array in np.meshgrid(*sets, indexing="ij")]
