"""The products that arrays have as operators and methods: ``@``, ``matmul`` and ``dot``.

Sums of products run in array-core's kernels for matrices (``src/abi/calls/linear.h``). Sums of
float16 are computed in float32 and rounded once. Shapes, dtypes and errors are NumPy's.
"""

from __future__ import annotations

from functools import cache
from math import prod
from typing import Any

import numpy as np

from .._core import ufuncs
from .._core.creation import array, operand_array
from .._core.kernels import ReductionKernel
from .._core.ndarray import ndarray, require_array
from .._runtime import operations, session
from .._runtime.opcodes import PRODUCT_DOT, PRODUCT_MATMUL
from .._runtime.scalars import is_scalar
from .gufuncs import product

__all__ = [
    "dot",
    "matmul",
]


class Products:
    """The operator ``@`` of :class:`arraycore.ndarray`."""

    def __matmul__(self: Any, other: Any) -> Any:
        if isinstance(other, ndarray):
            return type(self)._adopt(operations.matmul(self, other, None, PRODUCT_MATMUL))
        return matmul(self, array(other)) if _taken(other) else _refused(other, 1)

    def __rmatmul__(self: Any, other: Any) -> Any:
        return matmul(array(other), self) if _taken(other) else _refused(other, 0)

    def __imatmul__(self: Any, other: Any) -> Any:
        if not isinstance(other, ndarray):
            if not _taken(other):
                return _refused(other, 1)
            other = array(other)
        return _in_place(self, other)


def _taken(other: Any) -> bool:
    """Return whether an operand of ``@`` is an array of NumPy's or a list, and is taken."""
    is_array = isinstance(other, np.ndarray) and other.ndim > 0
    return (is_array or isinstance(other, list | tuple)) and session.takes_numpys()


def _refused(other: Any, place: int) -> Any:
    """Raise NumPy's error for an operand that is a number, or CuPy's for an array of NumPy's."""
    if isinstance(other, np.ndarray) and other.ndim > 0:
        raise TypeError(f"Unsupported type {type(other)}")
    if is_scalar(other):
        raise ValueError(
            f"matmul: Input operand {place} does not have enough dimensions (has 0, gufunc core "
            "with signature (n?,k),(k,m?)->(n?,m?) requires 1)"
        )
    return NotImplemented


def _in_place(a: Any, b: Any) -> Any:
    if a.ndim < 1 or b.ndim < 2:
        raise ValueError(
            "inplace matrix multiplication requires the first operand to have at least one and "
            "the second at least two dimensions."
        )
    operations.matmul(a, b, a, PRODUCT_MATMUL)
    return a


def scalar_or_array(a: Any) -> Any:
    return a if is_scalar(a) else operand_array(a)


def ndim_of(a: Any) -> int:
    """Return the number of dimensions of an array, 0 for a number."""
    return len(a.shape) if hasattr(a, "shape") else 0


def matmul(
    x1: Any,
    x2: Any,
    /,
    out: Any = None,
    *,
    axes: Any = np._NoValue,
    axis: Any = np._NoValue,
    keepdims: bool = False,
    casting: str = "same_kind",
    order: str | None = "K",
    dtype: Any = None,
    subok: bool = True,
    signature: Any = None,
) -> Any:
    """Return the matrix products over the last two axes; all axes before them are batch axes.

    Parameters
    ----------
    x1, x2 : ndarray
        Arrays of shapes (..., n, k) and (..., k, m); a 1-dimensional one is a vector. Batch axes
        broadcast.
    out : ndarray, optional
        Receives the result instead of a new array. ``casting`` must allow the cast to its dtype.
    axes, axis, keepdims, casting, order, dtype, subok, signature
        See :func:`arraycore.vecdot`.

    Raises
    ------
    ValueError
        The shapes do not fit, or an operand has no dimension.
    """
    for place, operand in enumerate((x1, x2)):
        if not isinstance(operand, ndarray) and is_scalar(operand):
            _refused(operand, place)
    plain = casting == "same_kind" and order == "K" and dtype is None and signature is None
    if not plain or axes is not np._NoValue or axis is not np._NoValue or keepdims:
        options = (out, axes, axis, keepdims, casting, order, dtype, signature)
        return product("matmul", matmul, x1, x2, *options)
    x1, x2 = operand_array(x1), operand_array(x2)
    target = out[0] if isinstance(out, tuple) else out
    if target is not None:
        require_array(target)
    made = operations.matmul(x1, x2, target, PRODUCT_MATMUL)
    return type(x1)._adopt(made) if target is None else target


def dot(a: Any, b: Any, out: ndarray | None = None) -> Any:
    """Return the sums of products over the last axis of ``a`` and the second to last of ``b``.

    A vector ``b`` is summed over its only axis. The result has the other axes of ``a``, then those
    of ``b``. Numbers and arrays without dimensions are multiplied.

    Raises
    ------
    ValueError
        The summed axes differ in extent, or ``out`` does not have the result's shape and dtype.
    """
    a, b = scalar_or_array(a), scalar_or_array(b)
    if ndim_of(a) == 0 or ndim_of(b) == 0:
        return ufuncs.multiply(a, b) if out is None else ufuncs.multiply(a, b, out=out)
    if a.ndim <= 2 and b.ndim <= 2:
        target = None if out is None else require_array(out)
        made = operations.matmul(a, b, target, PRODUCT_DOT)
        return type(a)._adopt(made) if out is None else out
    terms = a.shape[-1]
    if b.ndim == 1 or b.shape[-2] != terms:
        return _with_vector(a, b, out)
    rows = a.reshape(prod(a.shape[:-1]), terms)
    product = matmul(rows, b)
    if b.ndim > 2:
        product = type(product)._adopt(operations.move_axes(product, 1, (product.ndim - 2, 0)))
    result = product.reshape(a.shape[:-1] + b.shape[:-2] + b.shape[-1:])
    return _placed(result, out)


def _with_vector(a: Any, b: Any, out: Any) -> Any:
    """Return ``dot(a, b)`` for a vector ``b``. Raise an error if the summed axes differ."""
    axis = max(b.ndim - 2, 0)
    if a.shape[-1] != b.shape[axis]:
        shapes = [str(x.shape).replace(" ", "") for x in (a, b)]
        raise ValueError(
            f"shapes {shapes[0]} and {shapes[1]} not aligned: {a.shape[-1]} (dim {a.ndim - 1}) != "
            f"{b.shape[axis]} (dim {axis})"
        )
    return _placed(matmul(a, b), out)


def _placed(result: Any, out: Any) -> Any:
    if out is None:
        return result
    if (
        require_array(out).dtype != result.dtype
        or out.shape != result.shape
        or not out.flags.c_contiguous
    ):
        raise ValueError(
            "output array is not acceptable (must have the right datatype, number of dimensions, "
            "and be a C-Array)"
        )
    out[...] = result
    return out


@cache
def _kernel(combined: str) -> ReductionKernel:
    return ReductionKernel("T x", "T y", "x", combined, "y = a", "T()", "sum")


def sum_axes(a: Any, axes: tuple[int, ...]) -> Any:
    """Return the sum over axes in the array's dtype. For bools, return whether any is true.

    float16 is summed in float32 and rounded once.
    """
    if not axes:
        return a
    if a.dtype == "float16":
        return sum_axes(a.astype("float32"), axes).astype("float16")
    return _kernel("a || b" if a.dtype == bool else "a + b")(a, axis=axes)
