"""Functions that write selected elements by indices or by masks, and updates that may change one
element several times.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core import ufuncs
from .._core.creation import asarray
from .._core.indexing import flat_words, value_words
from .._core.ndarray import ndarray, require_array
from .._core.updates import device_value, update
from .._runtime import operations
from .._runtime.dtypes import check_cast
from .._runtime.scalars import scalar_words
from .gathering import along_axis, bounded, flatnonzero

__all__ = [
    "fill_diagonal",
    "place",
    "put",
    "put_along_axis",
    "putmask",
    "scatter_add",
    "scatter_max",
    "scatter_min",
]


def _repeated(values: ndarray, count: int) -> ndarray:
    """Return ``count`` values in C order; after the last value, they start again with the first."""
    flat = values.reshape(-1)
    if flat.size >= count:
        cut: ndarray = flat[:count]
        return cut
    made: ndarray = flat[np.arange(count) % flat.size]
    return made


# ---- writing by indices


def put(a: ndarray, ind: Any, v: Any, mode: str = "raise") -> None:
    """Overwrite elements by their C-order numbers.

    Parameters
    ----------
    a : ndarray
        The array to write to.
    ind : int, array_like or ndarray
        Integers. If an element is named twice, the last value remains.
    v : scalar, array_like or ndarray
        The values, cast to the array's dtype. If there are fewer values than indices, they repeat.
    mode : {"raise", "wrap", "clip"}
        See :func:`take`.

    Raises
    ------
    IndexError
        An index is out of bounds.
    """
    where = bounded(ind, require_array(a).size, mode)
    value = device_value(v, a.dtype)
    if where.size == 0 or (isinstance(value, ndarray) and value.size == 0):
        return
    if a.size == 0:
        raise IndexError("cannot replace elements of an empty array")
    words, held = flat_words(where, a)
    if isinstance(value, ndarray):
        source = _repeated(value, where.size).reshape(where.shape)
        operations.key_write(a, source, words)
    else:
        operations.key_fill(a, _cast(value, a.dtype), words)
    del held  # the words contain its id up to here


def _cast(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a Python number cast to a dtype, as by ``astype``. Return a NumPy scalar unchanged."""
    return value if isinstance(value, np.generic) else np.asarray(value).astype(dtype)[()]


def put_along_axis(arr: ndarray, indices: Any, values: Any, axis: int | None) -> None:
    """Overwrite the elements at indices along an axis; each index names one element.

    Parameters
    ----------
    arr : ndarray
        The array to write to.
    indices : ndarray or array_like
        Integers, with as many dimensions as ``arr``; the other axes broadcast.
    values : scalar, array_like or ndarray
        The values, which broadcast to the indices.
    axis : int, optional
        The axis of the indices; None flattens the array.
    """
    if axis is None:
        given = indices if isinstance(indices, ndarray) else np.asarray(indices)
        along_axis(require_array(arr), given, None)  # for its errors
        words, held = flat_words(given, arr)
        value = device_value(values, arr.dtype)
        if isinstance(value, ndarray):
            operations.key_write(arr, value, words)
        else:
            operations.key_fill(arr, value, words)
        del held  # the words contain its id up to here
        return
    target, key = along_axis(arr, indices, axis)
    target[key] = device_value(values, arr.dtype)


def fill_diagonal(a: ndarray, val: Any, wrap: bool = False) -> None:
    """Overwrite the main diagonal: the elements whose coordinates are equal.

    Parameters
    ----------
    a : ndarray
        An array of two axes, or of more axes that have one extent.
    val : scalar, array_like or ndarray
        The values, repeated if there are fewer than the diagonal has elements.
    wrap : bool
        Whether the diagonal of a matrix with more rows than columns starts again below its end.
    """
    if require_array(a).ndim < 2:
        raise ValueError("array must be at least 2-d")
    end: int | None = None
    if a.ndim == 2:
        step = a.shape[1] + 1
        if not wrap:
            end = a.shape[1] * a.shape[1]
    else:
        if len(set(a.shape)) > 1:
            raise ValueError("All dimensions of input must be of equal length")
        step = 1 + int(np.cumprod(a.shape[:-1]).sum())
    put(a, np.arange(0, a.size if end is None else min(end, a.size), step), val)


# ---- writing by masks


def _same_size(a: ndarray, mask: Any, name: str) -> ndarray:
    given = mask if isinstance(mask, ndarray) else asarray(np.asarray(mask))
    if given.size != require_array(a).size:
        raise ValueError(f"{name}: mask and data must be the same size")
    return (given if given.dtype.kind == "b" else given != 0).reshape(a.shape)


def _safe(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return the result of :func:`device_value` for a value that can be cast safely.

    Raises
    ------
    TypeError
        The value's dtype has no safe cast to the array's.
    """
    made = device_value(value, dtype)
    if isinstance(made, ndarray):
        check_cast(made.dtype, dtype, "safe")
    return made


def place(arr: ndarray, mask: Any, vals: Any) -> None:
    """Overwrite the elements where a mask is true: the first by the first value, and so on.

    Parameters
    ----------
    arr : ndarray
        The array to write to.
    mask : ndarray or array_like
        A mask with as many elements as ``arr``.
    vals : scalar, array_like or ndarray
        The values. If there are fewer values than true elements, they repeat. With several values
        the number of true elements is read from the device.

    Raises
    ------
    TypeError
        The values' dtype has no safe cast to the array's.
    """
    where = _same_size(arr, mask, "place")
    value = _safe(vals, arr.dtype)
    if isinstance(value, ndarray) and value.size != 1:
        found = flatnonzero(where)
        if value.size == 0 and found.size:
            raise ValueError("Cannot insert from an empty array!")
        put(arr, found, value)
    elif isinstance(value, ndarray):
        source = value.reshape(())
        operations.write_where(arr, where, value_words(source))
    else:
        operations.write_where(arr, where, scalar_words(_cast(value, arr.dtype)))


def putmask(a: ndarray, mask: Any, values: Any) -> None:
    """Overwrite the elements where a mask is true by the values at the same C-order positions.

    Parameters
    ----------
    a : ndarray
        The array to write to.
    mask : ndarray or array_like
        A mask with as many elements as ``a``.
    values : scalar, array_like or ndarray
        The values. If there are fewer values than elements, they repeat.

    Raises
    ------
    TypeError
        The values' dtype has no safe cast to the array's.
    """
    where = _same_size(a, mask, "putmask")
    value = _safe(values, a.dtype)
    if isinstance(value, ndarray):
        if value.size == 0:
            return
        one = value.size == 1
        source = value.reshape(()) if one else _repeated(value, a.size).reshape(a.shape)
        operations.write_where(a, where, value_words(source))
    else:
        operations.write_where(a, where, scalar_words(_cast(value, a.dtype)))


# ---- updates


def scatter_add(a: ndarray, slices: Any, value: Any) -> None:
    """Add to ``a[slices]`` in place, once for each time that an element is selected.

    It is cupyx.scatter_add. Unlike ``add.at`` it casts the value to the array's dtype. A device
    adds in any order, so floats may differ in the last place.

    Parameters
    ----------
    a : ndarray
        The array to write to.
    slices : key
        Any key that indexing accepts.
    value : scalar, array_like or ndarray
        The value, broadcast to ``a[slices]``.
    """
    update(ufuncs.add, a, slices, value, cast=True)


def scatter_max(a: ndarray, slices: Any, value: Any) -> None:
    """Set ``a[slices]`` in place to the maximum of each element and the values for it."""
    update(ufuncs.maximum, a, slices, value, cast=True)


def scatter_min(a: ndarray, slices: Any, value: Any) -> None:
    """Set ``a[slices]`` in place to the minimum of each element and the values for it."""
    update(ufuncs.minimum, a, slices, value, cast=True)
