"""NumPy's functions that reshape, transpose, slice and broadcast: views where NumPy gives views."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._core.creation import operand_array
from .._core.ndarray import ndarray, require_array
from .._runtime import operations
from .._runtime.calls import integers
from .._runtime.devices import check_device
from .._runtime.dtypes import check_cast
from .._runtime.scalars import is_scalar, scalar_words

__all__ = [
    "astype",
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_to",
    "copy",
    "copyto",
    "diagonal",
    "expand_dims",
    "flip",
    "fliplr",
    "flipud",
    "moveaxis",
    "permute_dims",
    "ravel",
    "reshape",
    "rollaxis",
    "squeeze",
    "swapaxes",
    "transpose",
]

_ARRAY = -1  # a value that is an array's id (src/abi/calls/indexing.h)


# ---- shapes


def reshape(
    a: ndarray, shape: int | tuple[int, ...], order: str = "C", *, copy: bool | None = None
) -> ndarray:
    """Return the elements in another shape; see :meth:`ndarray.reshape`."""
    return operand_array(a).reshape(shape, order=order, copy=copy)


def ravel(a: ndarray, order: str | None = "C") -> ndarray:
    """Return all elements as a vector: a view if the array is contiguous, else a copy."""
    return operand_array(a).ravel(order)


def squeeze(a: ndarray, axis: int | tuple[int, ...] | None = None) -> ndarray:
    """Return a view without the given (or all) axes of extent 1."""
    return operand_array(a).squeeze(axis)


def expand_dims(a: ndarray, axis: int | tuple[int, ...]) -> ndarray:
    """Return a view with new axes of extent 1; ``axis`` has their positions in the result."""
    return ndarray._adopt(operations.expand_dims(operand_array(a), integers(axis)))


def broadcast_to(array: Any, shape: int | tuple[int, ...], subok: bool = False) -> ndarray:
    """Return a view of the array, broadcast to a shape; the view cannot be written to.

    ``subok`` is ignored: there are no subclasses.
    """
    return ndarray._adopt(operations.broadcast_to(operand_array(array), integers(shape)))


def broadcast_arrays(*args: Any, subok: bool = False) -> tuple[ndarray, ...]:
    """Return the arrays, broadcast to a common shape; an array of this shape is returned itself.

    ``subok`` is ignored: there are no subclasses.
    """
    arrays = [operand_array(a) for a in args]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    return tuple(a if a.shape == shape else broadcast_to(a, shape) for a in arrays)


def atleast_1d(*arys: ndarray) -> Any:
    """Return arrays of at least one dimension: one array itself, several as a tuple."""
    return _each(arys, lambda a: a if a.ndim >= 1 else a[None])


def atleast_2d(*arys: ndarray) -> Any:
    """Return arrays of at least two dimensions; new axes come first."""
    return _each(arys, lambda a: a if a.ndim >= 2 else a[(None,) * (2 - a.ndim)])


def atleast_3d(*arys: ndarray) -> Any:
    """Return arrays of at least three dimensions; (n,) becomes (1, n, 1), and (m, n) (m, n, 1)."""
    whole = slice(None)
    added = {0: (None, None, None), 1: (None, whole, None), 2: (whole, whole, None)}
    return _each(arys, lambda a: a if a.ndim >= 3 else a[added[a.ndim]])


def _each(arrays: tuple[ndarray, ...], function: Any) -> Any:
    results = tuple(function(operand_array(a)) for a in arrays)
    return results[0] if len(results) == 1 else results


# ---- the order of axes


def transpose(a: ndarray, axes: int | tuple[int, ...] | None = None) -> ndarray:
    """Return a view with its axes in another order; by default they are reversed."""
    return operand_array(a).transpose(axes)


def swapaxes(a: ndarray, axis1: int, axis2: int) -> ndarray:
    """Return a view with two axes exchanged."""
    return operand_array(a).swapaxes(axis1, axis2)


def moveaxis(
    a: ndarray, source: int | tuple[int, ...], destination: int | tuple[int, ...]
) -> ndarray:
    """Return a view with some axes moved; the other axes keep their order."""
    from_ = integers(source)
    axes = (*from_, *integers(destination))
    return ndarray._adopt(operations.move_axes(operand_array(a), len(from_), axes))


def rollaxis(a: Any, axis: int, start: int = 0) -> ndarray:
    """Return a view with one axis moved before another."""
    a = operand_array(a)
    ndim = a.ndim
    if not -ndim <= axis < ndim:
        raise np.exceptions.AxisError(axis, ndim)
    if not -ndim <= start <= ndim:
        raise np.exceptions.AxisError(
            f"'start' arg requires {-ndim} <= start < {ndim + 1}, but {start} was passed in"
        )
    axis %= ndim
    start = start + ndim if start < 0 else start
    return moveaxis(a, axis, start - 1 if axis < start else start)


def flip(m: ndarray, axis: int | tuple[int, ...] | None = None) -> ndarray:
    """Return a view that is reversed along the given axes, or along all."""
    return ndarray._adopt(operations.flip(operand_array(m), axis))


def flipud(m: ndarray) -> ndarray:
    """Return a view that is reversed along the first axis."""
    m = operand_array(m)
    if m.ndim < 1:
        raise ValueError("Input must be >= 1-d.")
    return flip(m, 0)


def fliplr(m: ndarray) -> ndarray:
    """Return a view that is reversed along the second axis."""
    m = operand_array(m)
    if m.ndim < 2:
        raise ValueError("Input must be >= 2-d.")
    return flip(m, 1)


def diagonal(a: ndarray, offset: int = 0, axis1: int = 0, axis2: int = 1) -> ndarray:
    """Return a view whose last axis is the diagonal; unlike NumPy's it can be written to."""
    return operand_array(a).diagonal(offset, axis1, axis2)


# ---- elements


def copyto(dst: ndarray, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    """Overwrite ``dst`` with an array that broadcasts to it, or with a scalar.

    Parameters
    ----------
    dst : ndarray
        The array to write to.
    src : ndarray or scalar
        The values, broadcast to ``dst``.
    casting : {"no", "equiv", "safe", "same_kind", "unsafe"}
        The rule for the cast to the dtype of ``dst``.
    where : ndarray of bool, or bool
        Which elements are overwritten; broadcast to ``dst``.

    Raises
    ------
    TypeError
        The casting rule does not allow the cast.
    """
    target = require_array(dst)
    src = src if is_scalar(src) else operand_array(src)
    if is_scalar(src):
        # For the casting rule, a Python number has the smallest dtype that holds it.
        given = src.dtype if isinstance(src, np.ndarray | np.generic) else np.min_scalar_type(src)
    else:
        given = src.dtype
    check_cast(given, target.dtype, casting)
    if where is not True and not isinstance(where, np.bool_ | bool):
        value = scalar_words(src) if is_scalar(src) else (_ARRAY, src._id)
        operations.write_where(target, operand_array(where), value)
    elif not where:
        return
    elif is_scalar(src):
        operations.fill(target, src, ())
    else:
        operations.assign(target, src, ())


def copy(a: Any, order: str | None = "K", subok: bool = False) -> ndarray:
    """Return a copy with memory of its own, by default in the array's layout.

    ``subok`` is ignored: there are no subclasses.
    """
    return operand_array(a).copy(order)


def astype(
    x: ndarray, dtype: npt.DTypeLike, /, *, copy: bool = True, device: Any = None
) -> ndarray:
    """Return an array as another dtype. If ``copy`` is False, an equal dtype gives ``x`` itself."""
    check_device(device)
    return operand_array(x).astype(dtype, copy=copy)


permute_dims = transpose
