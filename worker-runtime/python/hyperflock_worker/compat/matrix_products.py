"""Makes ``numpy.tensordot`` faster in a browser, where NumPy has no BLAS.

Without BLAS ``dot`` reads the columns of a C-ordered right operand with a large stride, and
convolutions spend most of their time there. ``einsum`` of two operands that are contiguous along
the summed axis uses SIMD: a training step of a CNN with 64 channels takes 0.4 s instead of 1.2 s.
The order of the sums, and so the rounding, differs. Outside of a browser nothing changes.
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

try:
    import numpy._core.numeric as numeric
except ImportError:  # NumPy 1
    import numpy.core.numeric as numeric

# With fewer multiplications than this, parsing einsum's subscripts takes longer than it saves.
MIN_PRODUCTS = 32_768
# einsum cannot do 2**31 steps if sizes have 32 bits; larger products are split into rows.
MAX_PRODUCTS = 2**30

_plain_dot = numeric.dot


def dot(a: Any, b: Any, out: Any = None) -> Any:
    """Return ``numpy.dot(a, b, out)``, computed by ``einsum`` for large float matrices."""
    if not (
        out is None
        and isinstance(a, np.ndarray)
        and isinstance(b, np.ndarray)
        and a.ndim == b.ndim == 2
        and a.dtype == b.dtype
        and a.dtype in (np.float32, np.float64)
        and a.shape[1] == b.shape[0]
    ):
        return _plain_dot(a, b, out)
    rows, products_per_row = a.shape[0], a.shape[1] * b.shape[1]
    if rows * products_per_row < MIN_PRODUCTS or products_per_row > MAX_PRODUCTS:
        return _plain_dot(a, b)
    left, right = np.ascontiguousarray(a), np.ascontiguousarray(b.T)
    result = np.empty((rows, b.shape[1]), a.dtype)
    slab = MAX_PRODUCTS // products_per_row
    for start in range(0, rows, slab):
        part = slice(start, start + slab)
        np.einsum("ij,kj->ik", left[part], right, out=result[part])
    return result


def remove() -> None:
    """Make ``numpy.tensordot`` use NumPy's own ``dot`` again, for comparisons."""
    numeric.dot = _plain_dot


def install(platform: str = sys.platform) -> None:
    """Make ``numpy.tensordot`` use :func:`dot`, in a browser."""
    if platform == "emscripten":
        numeric.dot = dot
