"""NumPy's functions that select elements: by indices, by masks, by conditions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core import ufuncs
from .._core.creation import array, empty, full, operand_array
from .._core.indexing import flat_words, value_words
from .._core.ndarray import ndarray, require_array
from .._runtime import operations
from .._runtime.scalars import is_scalar
from .joining import axis_of
from .views import broadcast_to, copyto

__all__ = [
    "argwhere",
    "choose",
    "compress",
    "extract",
    "flatnonzero",
    "nonzero",
    "select",
    "take",
    "take_along_axis",
    "where",
]

_MODES = ("raise", "wrap", "clip")


def bounded(indices: Any, extent: int, mode: str) -> Any:
    """Return indices that ``mode`` "wrap" or "clip" has moved into the axis's range.

    With the mode "raise" the indices stay as they are, and are not checked here.

    Raises
    ------
    TypeError
        The indices are not integers.
    ValueError
        There is no such mode.
    """
    if mode not in _MODES:
        raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {mode!r})")
    if not isinstance(indices, ndarray):
        made = np.asarray(indices)
        indices = made.astype(np.intp) if made.size == 0 and made.dtype.kind == "f" else made
    if indices.dtype.kind == "b":
        indices = indices.astype(np.int32)
    if indices.dtype.kind not in "iu":
        raise TypeError(
            f"Cannot cast array data from {indices.dtype!r} to {np.dtype(np.int64)!r} according "
            "to the rule 'safe'"
        )
    if mode == "raise" or not extent:
        return indices
    if not isinstance(indices, ndarray):
        wide = indices.astype(np.int64)  # a short dtype may not hold the extent
        return wide % extent if mode == "wrap" else np.clip(wide, 0, extent - 1)
    if extent - 1 > np.iinfo(indices.dtype).max:
        indices = indices.astype(np.int64)
    if mode == "wrap":
        return ufuncs.remainder(indices, extent)
    return ufuncs.minimum(ufuncs.maximum(indices, 0), extent - 1)


def _given(made: ndarray, out: ndarray | None) -> ndarray:
    """Return the result ``made``. If ``out`` is given, copy the result to it and return it."""
    if out is None:
        return made
    if require_array(out).shape != made.shape:
        raise ValueError(
            f"output array does not match result of the function: shape {out.shape}, "
            f"not {made.shape}"
        )
    copyto(out, made)
    return out


# ---- selecting by indices


def take(
    a: ndarray,
    indices: Any,
    axis: int | None = None,
    out: ndarray | None = None,
    mode: str = "raise",
) -> ndarray:
    """Return a copy of the elements, or of the slices along an axis, at the given indices.

    Parameters
    ----------
    a : ndarray
        The array to take from.
    indices : int, array_like or ndarray
        Integers of any shape. In the result's shape, the shape of the indices replaces the axis.
    axis : int, optional
        The axis of the indices; None selects elements by their C-order numbers.
    out : ndarray, optional
        Receives the result and is returned; it has the result's shape.
    mode : {"raise", "wrap", "clip"}
        How indices out of bounds are treated. "raise" raises an error if the indices are on the
        host or the back end is the CPU; in an array on a device they wrap around.

    Raises
    ------
    IndexError
        An index is out of bounds, or there are indices but ``a`` has no elements.
    TypeError
        The indices are not integers.
    """
    whole = axis is None
    a = operand_array(a)
    at = 0 if axis is None else axis_of(axis, a.ndim)
    extent = a.size if whole else a.shape[at]
    where = bounded(indices, extent, mode)
    if extent == 0 and where.size:
        raise IndexError("cannot do a non-empty take from an empty axes.")
    if whole:
        words, held = flat_words(where, a)
        made = ndarray._adopt(operations.key_read(a, words))
        del held  # the words contain its id up to here
        return _given(made, out)
    return _given(a[(slice(None),) * at + (where,)], out)


def along_axis(arr: ndarray, indices: Any, axis: int | None) -> tuple[ndarray, tuple[Any, ...]]:
    """Return the array that ``take_along_axis`` indexes, and the key.

    Raises
    ------
    IndexError
        The indices are not integers.
    ValueError
        The indices and the array differ in their number of dimensions.
    """
    given = indices if isinstance(indices, ndarray) else np.asarray(indices)
    if axis is None:
        if given.ndim != 1:
            raise ValueError("when axis=None, `indices` must have a single dimension.")
        arr, at = operand_array(arr).reshape(-1), 0
    else:
        arr = operand_array(arr)
        at = axis_of(axis, arr.ndim)
    if given.dtype.kind not in "iu":
        raise IndexError("`indices` must be an integer array")
    if arr.ndim != given.ndim:
        raise ValueError("`indices` and `arr` must have the same number of dimensions")
    key: list[Any] = []
    for other, extent in enumerate(arr.shape):
        shape = [-1 if each == other else 1 for each in range(arr.ndim)]
        key.append(given if other == at else np.arange(extent).reshape(shape))
    return arr, tuple(key)


def take_along_axis(arr: ndarray, indices: Any, axis: int | None = -1) -> ndarray:
    """Return the elements at indices along an axis; each index selects one element.

    Parameters
    ----------
    arr : ndarray
        The array to take from.
    indices : ndarray or array_like
        Integers, with as many dimensions as ``arr``; the other axes broadcast.
    axis : int, optional
        The axis of the indices; None flattens the array.
    """
    source, key = along_axis(arr, indices, axis)
    made: ndarray = source[key]
    return made


def choose(
    a: ndarray, choices: Sequence[Any] | ndarray, out: ndarray | None = None, mode: str = "raise"
) -> ndarray:
    """Return an array that takes each element from one of several choices: ``a`` has the index of
    the choice.

    Parameters
    ----------
    a : ndarray
        The index of the choice for each element; integers.
    choices : sequence of ndarray or scalars, or ndarray
        The choices, which broadcast with ``a``. If it is an array, its parts along the first axis
        are the choices.
    out : ndarray, optional
        Receives the result; it is returned.
    mode : {"raise", "wrap", "clip"}
        See :func:`take`.

    Raises
    ------
    ValueError
        A choice does not exist, or the shapes do not broadcast.
    """
    a = operand_array(a)
    if not isinstance(choices, ndarray):
        choices = [operand_array(np.asarray(each)) if isinstance(each, list | tuple) else each
                   for each in choices]  # fmt: skip
    numbers = bounded(a, len(choices), mode)
    shapes = [each.shape if isinstance(each, ndarray) else np.shape(each) for each in choices]
    shape = np.broadcast_shapes(a.shape, *shapes)
    kinds = [
        each.dtype if isinstance(each, ndarray | np.generic | np.ndarray) else each
        for each in choices
    ]
    stack = empty((len(shapes), *shape), np.result_type(*kinds))
    for place, choice in zip(stack, choices, strict=True):
        place[...] = choice
    grid = np.ix_(*(np.arange(extent) for extent in shape))
    key = (broadcast_to(numbers, shape), *grid)
    try:
        made = stack[key]
    except IndexError:
        raise ValueError("invalid entry in choice array") from None
    return _given(made, out)


# ---- selecting by masks


def nonzero(a: ndarray) -> tuple[ndarray, ...]:
    """Return the coordinates of the elements that are not 0, an int64 array for each axis.

    The number of these elements is read from the device.

    Raises
    ------
    ValueError
        The array has no dimensions.
    """
    a = operand_array(a)
    if a.ndim == 0:
        raise ValueError(
            "Calling nonzero on 0d arrays is not allowed. "
            "Use np.atleast_1d(scalar).nonzero() instead."
        )
    found = ndarray._adopt(operations.nonzero(a))
    return tuple(found[:, axis] for axis in range(a.ndim))


def flatnonzero(a: ndarray) -> ndarray:
    """Return the C-order numbers of the elements that are not 0."""
    return nonzero(operand_array(a).reshape(-1))[0]


def argwhere(a: ndarray) -> ndarray:
    """Return the coordinates of the elements that are not 0: one int64 row for each element."""
    a = operand_array(a)
    source = a if a.ndim else a[None]
    found = ndarray._adopt(operations.nonzero(source))
    return found if a.ndim else found[:, :0]


def compress(
    condition: Any, a: ndarray, axis: int | None = None, out: ndarray | None = None
) -> ndarray:
    """Return the parts along an axis whose condition is true.

    Parameters
    ----------
    condition : ndarray or array_like
        A condition for each part, of one dimension. If it is shorter than the axis, the parts after
        its end are left out.
    a : ndarray
        The array to take from.
    axis : int, optional
        The axis of the parts; None flattens the array.
    out : ndarray, optional
        Receives the result; it is returned.
    """
    given = condition if isinstance(condition, ndarray) else np.asarray(condition)
    if given.ndim != 1:
        raise ValueError("condition must be a 1-d array")
    a = operand_array(a)
    source = a.reshape(-1) if axis is None else a
    at = 0 if axis is None else axis_of(axis, source.ndim)
    if given.shape[0] > source.shape[at]:
        return take(source, given.nonzero()[0], at, out)
    mask = given if given.dtype.kind == "b" else given != 0
    cut = source[(slice(None),) * at + (slice(given.shape[0]),)]
    return _given(cut[(slice(None),) * at + (mask,)], out)


def extract(condition: Any, arr: ndarray) -> ndarray:
    """Return the elements, in C order, whose condition is true."""
    given = condition if isinstance(condition, ndarray) else np.asarray(condition)
    return compress(given.reshape(-1), arr)


# ---- selecting by conditions


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Return elements of ``x`` where a condition is true, else of ``y``.

    Parameters
    ----------
    condition : ndarray or bool
        The condition; every element that is not 0 is true.
    x, y : ndarray or scalar
        The values, which broadcast with the condition. If both are left out, the result is
        :func:`nonzero` of the condition.
    """
    mask = condition if isinstance(condition, ndarray) else array(condition)
    if x is None and y is None:
        return nonzero(mask)
    if x is None or y is None:
        raise ValueError("either both or neither of x and y should be given")
    x, y = (each if is_scalar(each) else operand_array(each) for each in (x, y))
    return ndarray._adopt(operations.select(mask, value_words(x), value_words(y)))


def select(condlist: Sequence[Any], choicelist: Sequence[Any], default: Any = 0) -> ndarray:
    """Return an array that takes each element from the first choice whose condition is true there.

    Parameters
    ----------
    condlist : sequence of ndarray
        The conditions, arrays of bool.
    choicelist : sequence of ndarray or scalars
        One choice for each condition. All conditions and choices broadcast together.
    default : scalar or ndarray
        The value of elements for which no condition is true.
    """
    if len(condlist) != len(choicelist):
        raise ValueError("list of cases must be same length as list of conditions")
    if not condlist:
        raise ValueError("select with an empty condition list is not possible")
    condlist = [operand_array(condition) for condition in condlist]
    choicelist = [each if is_scalar(each) else operand_array(each) for each in choicelist]
    for number, condition in enumerate(condlist):
        if condition.dtype.kind != "b":
            raise TypeError(f"invalid entry {number} in condlist: should be boolean ndarray")
    values = [*choicelist, default]
    kinds = [each.dtype if hasattr(each, "dtype") else each for each in values]
    arrays = [each for each in (*condlist, *values) if isinstance(each, ndarray)]
    shape = np.broadcast_shapes(*(each.shape for each in arrays))
    made = full(shape, default, np.result_type(*kinds))
    for condition, choice in zip(condlist[::-1], choicelist[::-1], strict=True):
        copyto(made, choice, "unsafe", where=condition)
    return made
