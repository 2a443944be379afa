"""Products of vectors, matrices and tensors with NumPy's names, shapes, dtypes and errors.

``matmul`` and ``dot`` are in ``products.py``, ``einsum`` in ``einsum.py``.
"""

from __future__ import annotations

from math import prod
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import ufuncs
from .._core.creation import empty, operand_array
from .._core.ndarray import ndarray, require_array
from .._core.operators import PRODUCTS
from .._runtime import operations
from .._runtime.calls import integers
from .gufuncs import moved, product
from .products import dot, matmul, ndim_of, scalar_or_array, sum_axes

__all__ = [
    "cross",
    "inner",
    "kron",
    "matrix_transpose",
    "matvec",
    "outer",
    "tensordot",
    "trace",
    "vdot",
    "vecdot",
    "vecmat",
]


def vdot(a: Any, b: Any) -> Any:
    """Return the dot product of all elements; those of the first operand are conjugated.

    Raises
    ------
    ValueError
        The operands have different numbers of elements.
    """
    a, b = operand_array(a), operand_array(b)
    if a.size != b.size:
        raise ValueError(f"cannot reshape array of size {b.size} into shape ({a.size},)")
    left = a.ravel()
    return dot(ufuncs.conjugate(left) if left.dtype.kind == "c" else left, b.ravel())


def vecdot_along(x1: ndarray, x2: ndarray, axis: int) -> Any:
    """Return the dot products of the vectors along one axis of both arrays."""
    return _vecdot(moved(x1, (axis,), (-1,)), moved(x2, (axis,), (-1,)))


def _vecdot(x1: ndarray, x2: ndarray) -> Any:
    x1, x2 = _core("vecdot", "(n),(n)->()", x1, 0, 1), _core("vecdot", "(n),(n)->()", x2, 1, 1)
    if x1.shape[-1] != x2.shape[-1]:
        raise ValueError(
            "vecdot: Input operand 1 has a mismatch in its core dimension 0, with gufunc signature "
            f"(n),(n)->() (size {x2.shape[-1]} is different from {x1.shape[-1]})"
        )
    left = ufuncs.conjugate(x1) if x1.dtype.kind == "c" else x1
    return matmul(left[..., None, :], x2[..., None])[..., 0, 0]


def _core(name: str, signature: str, operand: Any, place: int, least: int) -> Any:
    """Return the operand; raise if it has fewer dimensions than a gufunc's signature needs."""
    operand = scalar_or_array(operand)
    ndim = ndim_of(operand)
    if ndim < least:
        raise ValueError(
            f"{name}: Input operand {place} does not have enough dimensions (has {ndim}, gufunc "
            f"core with signature {signature} requires {least})"
        )
    return operand


def inner(a: Any, b: Any) -> Any:
    """Return the sum of products over the last axes of both operands.

    Raises
    ------
    ValueError
        The last axes differ in extent.
    """
    a, b = scalar_or_array(a), scalar_or_array(b)
    if ndim_of(a) == 0 or ndim_of(b) == 0:
        return ufuncs.multiply(a, b)
    return dot(a, b if b.ndim < 2 else b.swapaxes(-1, -2))


def outer(a: Any, b: Any, out: ndarray | None = None) -> Any:
    """Return the products of all pairs of elements; the shape is ``(a.size, b.size)``."""
    left, right = operand_array(a).ravel()[:, None], operand_array(b).ravel()[None, :]
    return ufuncs.multiply(left, right) if out is None else ufuncs.multiply(left, right, out=out)


def tensordot(a: Any, b: Any, axes: Any = 2) -> Any:
    """Return the sum of products over axes of two tensors.

    Parameters
    ----------
    a, b : ndarray
        The tensors.
    axes : int or pair
        The number of axes to sum: the last ones of ``a`` and the first ones of ``b``. Or a pair:
        the axes of ``a`` and those of ``b``.

    Returns
    -------
    ndarray
        The sums; the other axes of ``a`` come first, then those of ``b``.

    Raises
    ------
    ValueError
        The axes do not fit each other.
    """
    a, b = operand_array(a), operand_array(b)
    try:
        first, second = axes
    except TypeError:
        count = index(axes)
        left, right = tuple(range(-count, 0)), tuple(range(count))
    else:
        left, right = integers(first), integers(second)
    fits = len(left) == len(right) and all(
        _extent(a, i) == _extent(b, j) for i, j in zip(left, right, strict=True)
    )
    if not fits:
        raise ValueError("shape-mismatch for sum")
    left, right = tuple(i % a.ndim for i in left), tuple(j % b.ndim for j in right)
    if len(set(left)) < len(left) or len(set(right)) < len(right):
        raise ValueError("shape-mismatch for sum: an axis is summed twice")
    keep_a = tuple(i for i in range(a.ndim) if i not in left)
    keep_b = tuple(j for j in range(b.ndim) if j not in right)
    shape_a, shape_b = tuple(a.shape[i] for i in keep_a), tuple(b.shape[j] for j in keep_b)
    terms = prod(tuple(a.shape[i] for i in left))
    rows = a.transpose((*keep_a, *left)).reshape(prod(shape_a), terms)
    columns = b.transpose((*right, *keep_b)).reshape(terms, prod(shape_b))
    return matmul(rows, columns).reshape(shape_a + shape_b)


def _extent(a: Any, axis: int) -> int:
    if not -a.ndim <= axis < a.ndim:
        raise IndexError("tuple index out of range")
    extent: int = a.shape[axis]
    return extent


def kron(a: Any, b: Any) -> Any:
    """Return the Kronecker product: each element of ``a`` becomes a block, the element times
    ``b``.
    """
    a, b = operand_array(a), operand_array(b)
    ndim = max(a.ndim, b.ndim)
    shape_a = (1,) * (ndim - a.ndim) + a.shape
    shape_b = (1,) * (ndim - b.ndim) + b.shape
    left = a.reshape(tuple(extent for each in shape_a for extent in (each, 1)))
    right = b.reshape(tuple(extent for each in shape_b for extent in (1, each)))
    both = tuple(i * j for i, j in zip(shape_a, shape_b, strict=True))
    return ufuncs.multiply(left, right).reshape(both)


def cross(
    a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None
) -> Any:
    """Return the cross products of vectors of 3 (or 2) components.

    Parameters
    ----------
    a, b : ndarray
        The vectors. All axes except the axes of the components are broadcast together.
    axisa, axisb, axisc : int
        The axes of the components of ``a``, ``b`` and the result. If both have 2 components, the
        result has only the third component and no axis for it.
    axis : int, optional
        A value for ``axisa``, ``axisb`` and ``axisc`` together.

    Raises
    ------
    ValueError
        The vectors do not have 2 or 3 components.
    """
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = operand_array(a), operand_array(b)
    left, right = _components(a, axisa), _components(b, axisb)
    x1, y1, x2, y2 = left[0], left[1], right[0], right[1]
    last = x1 * y2 - y1 * x2
    if len(left) == len(right) == 2:
        return last
    z1 = left[2] if len(left) == 3 else None
    z2 = right[2] if len(right) == 3 else None
    if z1 is None:
        first, second = y1 * z2, -(x1 * z2)
    elif z2 is None:
        first, second = -(z1 * y2), z1 * x2
    else:
        first, second = y1 * z2 - z1 * y2, z1 * x2 - x1 * z2
    result = empty((*last.shape, 3), last.dtype)
    for place, component in enumerate((first, second, last)):
        result[..., place] = component
    return type(result)._adopt(operations.move_axes(result, 1, (result.ndim - 1, axisc)))


def _components(a: Any, axis: int) -> list[Any]:
    if not -a.ndim <= axis < a.ndim:
        raise np.exceptions.AxisError(axis, a.ndim)
    extent = a.shape[axis]
    if extent not in (2, 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    first = type(a)._adopt(operations.move_axes(a, 1, (axis, 0)))
    return [first[place] for place in range(extent)]


def trace(
    a: Any,
    offset: int = 0,
    axis1: int = 0,
    axis2: int = 1,
    dtype: npt.DTypeLike | None = None,
    out: Any = None,
) -> Any:
    """Return the sums of a diagonal of the matrices that two axes form.

    Integers are summed with 64 bits, unless ``dtype`` says otherwise.
    """
    a = operand_array(a)
    if a.ndim < 2:
        raise ValueError("diag requires an array of at least two dimensions")
    if dtype is None:
        wide = {"b": "int64", "i": "int64", "u": "uint64"}.get(a.dtype.kind)
        dtype = a.dtype if wide is None else np.dtype(wide)
    total = sum_axes(a.diagonal(offset, axis1, axis2).astype(dtype, copy=False), (-1,))
    if out is None:
        return total
    require_array(out)[...] = total
    return out


def _matvec(x1: ndarray, x2: ndarray) -> Any:
    x1 = _core("matvec", "(m,n),(n)->(m)", x1, 0, 2)
    vectors = _core("matvec", "(m,n),(n)->(m)", x2, 1, 1)
    return matmul(x1, vectors[..., None])[..., 0]


def _vecmat(x1: ndarray, x2: ndarray) -> Any:
    vectors = _core("vecmat", "(n),(n,m)->(m)", x1, 0, 1)
    x2 = _core("vecmat", "(n),(n,m)->(m)", x2, 1, 2)
    left = ufuncs.conjugate(vectors) if vectors.dtype.kind == "c" else vectors
    return matmul(left[..., None, :], x2)[..., 0, :]


def vecdot(
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
    """Return the dot products of the vectors along the last axis; ``x1`` is conjugated.

    Parameters
    ----------
    x1, x2 : ndarray
        The operands. Their other axes broadcast.
    out : ndarray, optional
        Receives the result; it is returned.
    axes, axis : lists of axes, int
        The axes to work on, of both operands and of the result, in place of the last ones.
    keepdims : bool
        Whether the summed axis is kept, with extent 1; only for ``vecdot``.
    casting : str
        The rule for casts to ``dtype`` and to ``out``.
    order : {"K", "A", "C", "F"}
        The result's layout.
    dtype : dtype, optional
        The dtype to compute in.
    subok : bool
        Ignored: there are no subclasses.
    signature : None
        Refused: pass ``dtype``.

    Raises
    ------
    ValueError
        The shapes do not fit.
    """
    options = (out, axes, axis, keepdims, casting, order, dtype, signature)
    return product("vecdot", _vecdot, x1, x2, *options)


def matvec(
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
    """Return the products of matrices (the last two axes) and vectors (the last axis).

    The keywords are those of :func:`vecdot`.
    """
    options = (out, axes, axis, keepdims, casting, order, dtype, signature)
    return product("matvec", _matvec, x1, x2, *options)


def vecmat(
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
    """Return products of conjugated vectors (the last axis) and matrices (the last two axes).

    The keywords are those of :func:`vecdot`.
    """
    options = (out, axes, axis, keepdims, casting, order, dtype, signature)
    return product("vecmat", _vecmat, x1, x2, *options)


def matrix_transpose(x: ndarray, /) -> ndarray:
    """Return a view in which the last two axes are swapped."""
    return operand_array(x).mT


PRODUCTS.update(matmul=matmul, matvec=matvec, vecdot=vecdot, vecmat=vecmat)
