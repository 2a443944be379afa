"""Functions that make matrices with a pattern: diagonals, triangles, powers of a vector."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core.creation import as_device_array, check_like, empty, zeros
from .._core.lazy_kernels import elementwise
from .._core.ndarray import ndarray
from .._runtime.dtypes import supported
from .ranges import arange
from .views import broadcast_to

__all__ = [
    "diag",
    "diagflat",
    "eye",
    "identity",
    "tri",
    "tril",
    "triu",
    "vander",
]

_tri = elementwise("int32 columns, int32 k", "T y", "y = i % columns <= i / columns + k", "tri")
_TRIANGLE = "(i % columns - i / columns % rows {} k) ? x : T(0)"
_tril = elementwise(
    "T x, int32 rows, int32 columns, int32 k", "T y", f"y = {_TRIANGLE.format('<=')}", "tril"
)
_triu = elementwise(
    "T x, int32 rows, int32 columns, int32 k", "T y", f"y = {_TRIANGLE.format('>=')}", "triu"
)


def eye(
    N: int,
    M: int | None = None,
    k: int = 0,
    dtype: npt.DTypeLike = float,
    order: str | None = "C",
    *,
    device: Any = None,
    like: Any = None,
) -> ndarray:
    """Return an ``N`` by ``M`` matrix with ones on the ``k``-th diagonal, zeros elsewhere."""
    # NumPy's unsigned integers have no negative ones, so all become Python's.
    rows, k = index(N), index(k)
    columns = rows if M is None else index(M)
    made = zeros((rows, columns), dtype, order, device=device, like=like)
    if -rows < k < columns:
        made.diagonal(k)[...] = 1
    return made


def identity(n: int, dtype: npt.DTypeLike = float, *, like: Any = None) -> ndarray:
    """Return the ``n`` by ``n`` identity matrix."""
    return eye(n, dtype=dtype, like=like)


def tri(
    N: int, M: int | None = None, k: int = 0, dtype: npt.DTypeLike = float, *, like: Any = None
) -> ndarray:
    """Return an ``N`` by ``M`` matrix with ones at and below the ``k``-th diagonal."""
    check_like(like)
    rows, k = index(N), index(k)
    columns = rows if M is None else index(M)
    made = empty((rows, columns), dtype)
    if made.size:
        _tri(columns, k, made)
    return made


def tril(m: ndarray, k: int = 0) -> ndarray:
    """Return a copy of matrices (the last two axes) with zeros above the ``k``-th diagonal."""
    return _triangle(_tril, m, k)


def triu(m: ndarray, k: int = 0) -> ndarray:
    """Return a copy of matrices (the last two axes) with zeros below the ``k``-th diagonal."""
    return _triangle(_triu, m, k)


def _triangle(kernel: Any, m: Any, k: int) -> ndarray:
    m = as_device_array(m)
    if m.ndim == 0:
        raise TypeError("a triangle is taken of arrays of one dimension or more")
    if m.ndim < 2:  # as in NumPy the vector becomes each row of a square matrix
        m = broadcast_to(m, (m.size, m.size))
    rows, columns = m.shape[-2:]
    bound = rows + columns  # beyond it nothing changes, and the kernel's numbers have 32 bits
    return kernel(m, rows, columns, max(-bound, min(bound, index(k))))  # type: ignore[no-any-return]


def diag(v: Any, k: int = 0) -> ndarray:
    """Return a view of a matrix's ``k``-th diagonal, or a matrix with a vector as this diagonal."""
    values = as_device_array(v)
    if values.ndim == 2:
        return values.diagonal(k)
    if values.ndim != 1:
        raise ValueError("Input must be 1- or 2-d.")
    k = index(k)
    side = values.shape[0] + abs(k)
    made = zeros((side, side), values.dtype)
    if values.shape[0]:
        made.diagonal(k)[...] = values
    return made


def diagflat(v: Any, k: int = 0) -> ndarray:
    """Return a matrix with all elements of an array on its ``k``-th diagonal."""
    return diag(as_device_array(v).ravel(), k)


def vander(x: Any, N: int | None = None, increasing: bool = False) -> ndarray:
    """Return Vandermonde's matrix: powers of a vector in its columns, the highest first.

    Powers are computed by ``power``. NumPy multiplies step by step, so floats may be rounded
    differently.
    """
    values = as_device_array(x)
    if values.ndim != 1:
        raise ValueError("x must be a one-dimensional array or sequence.")
    count = values.shape[0] if N is None else N
    wanted = np.promote_types(values.dtype, int)
    powers = arange(count, dtype=supported(wanted))
    made: ndarray = values.astype(wanted, copy=False)[:, None] ** powers
    return made if increasing else made[:, ::-1]
