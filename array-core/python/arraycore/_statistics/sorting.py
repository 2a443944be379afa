"""Sorting, and functions that sort: orders, partitions, distinct values, sets.

A sort is stable, puts NaN last, and runs where the array lives (``src/operations/sorter.h``).
``unique`` and the functions of sets wait for the device, because they read back the size of their
result, a number of 4 bytes.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .._core.creation import as_device_array, asarray, empty, full, zeros
from .._core.lazy_kernels import elementwise, reduction
from .._core.ndarray import ndarray
from .._manipulation.joining import axis_of, concatenate, take_axis
from .._manipulation.ranges import arange
from .._manipulation.views import flip, moveaxis
from .._runtime import operations
from .._runtime.calls import integers
from .._runtime.dtypes import supported
from .._runtime.opcodes import SORT_ELEMENTS, SORT_PLACES
from .histograms import searchsorted

__all__ = [
    "argpartition",
    "argsort",
    "intersect1d",
    "isin",
    "lexsort",
    "partition",
    "setdiff1d",
    "setxor1d",
    "sort",
    "sort_complex",
    "union1d",
    "unique",
    "unique_all",
    "unique_counts",
    "unique_inverse",
    "unique_values",
]

_first_of_each = elementwise(
    "raw T x, bool one_nan",
    "bool first",
    "first = i == 0 || !(x[i] == x[i - 1] || (one_nan && x[i] != x[i] && x[i - 1] != x[i - 1]))",
    "first_of_each",
)
_count = reduction("bool x", "int32 y", "x ? 1 : 0", "a + b", "y = a", "0", "count_true")
_along_last = elementwise(
    "raw T source, int64 at, int32 extent", "T y", "y = source[i / extent * extent + (int)at]",
    "take_along_last",
)  # fmt: skip


def _check_order(order: Any) -> None:
    """Raise NumPy's error for names of fields, which no array of arraycore has."""
    if order is not None:
        raise ValueError("Cannot specify order when the array has no fields.")


def _sorted(a: Any, axis: int | None, kind: Any, what: int) -> ndarray:
    if kind not in (None, "quicksort", "heapsort", "mergesort", "stable"):
        raise ValueError(f"sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})")
    values = as_device_array(a)
    if axis is None:
        values, axis = values.ravel(), 0
    return ndarray._adopt(operations.sort(values, axis, what))


def sort(
    a: Any,
    axis: int | None = -1,
    kind: str | None = None,
    order: Any = None,
    *,
    stable: bool | None = None,
    descending: bool = False,
) -> ndarray:
    """Return the elements in ascending order along an axis; None sorts the flattened array.

    ``kind`` and ``stable`` are accepted for compatibility with NumPy and the array API standard:
    every sort is stable. With ``descending`` the largest element is the first one, after NaN.
    ``order`` names fields, which no array has: ValueError.
    """
    _check_order(order)
    made = _sorted(a, axis, kind, SORT_ELEMENTS)
    return flip(made, _along(axis)).copy() if descending else made


def argsort(
    a: Any,
    axis: int | None = -1,
    kind: str | None = None,
    order: Any = None,
    *,
    stable: bool | None = None,
    descending: bool = False,
) -> ndarray:
    """Return the indices (int64) that sort an array; those of equal elements are ascending.

    The parameters are those of :func:`sort`.
    """
    _check_order(order)
    values = as_device_array(a)
    if descending and values.ndim:
        # A stable sort of the reversed elements, reversed, has equal ones in descending order.
        if axis is None:
            values = values.ravel()
        along = _along(axis)
        places = argsort(flip(values, along), along, kind)
        return values.shape[along] - 1 - flip(places, along)  # type: ignore[no-any-return]
    if values.ndim == 0 and axis in (0, -1, None):
        return zeros(1, np.int64)  # as NumPy, which returns a vector here
    return _sorted(values, axis, kind, SORT_PLACES)


def _along(axis: int | None) -> int:
    """Return the axis of a sorted array that was sorted along an axis of the given one."""
    return -1 if axis is None else axis


def sort_complex(a: Any) -> ndarray:
    """Return the elements sorted along the last axis, real parts first, as complex numbers."""
    values = as_device_array(a)
    if values.dtype.kind != "c":
        narrow = values.dtype.kind in "iu" and values.dtype.itemsize < 4
        return sort(values).astype(np.complex64 if narrow else np.complex128)
    return sort(values)


def lexsort(keys: Any, axis: int = -1) -> ndarray:
    """Return the indices that sort by several keys, of which the last is the primary key.

    There is one stable sort for each key.
    """
    parts = [as_device_array(key) for key in keys]
    if not parts:
        raise TypeError("need sequence of keys with len > 0 in lexsort")
    shape = parts[0].shape
    if any(part.shape != shape for part in parts):
        raise ValueError("all keys need to be the same shape")
    if not shape:
        raise np.exceptions.AxisError(axis, 0)
    along = axis_of(axis, len(shape))
    turned = [moveaxis(part, along, -1) for part in parts]
    order = argsort(turned[0])
    for key in turned[1:]:
        order = order_rows(order, argsort(order_rows(key, order)))
    return moveaxis(order, -1, along)


def order_rows(values: ndarray, places: ndarray) -> ndarray:
    """Return each row's values (the last axis) in the order of that row's indices ``places``."""
    made = empty(places.shape, values.dtype)
    if made.size:
        _along_last(values, places, values.shape[-1], made)
    return made


def partition(
    a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
) -> ndarray:
    """Return the elements, reordered so that element ``kth`` is the one that sorting would put
    there.

    This implementation sorts all elements. ``order`` is that of :func:`sort`.
    """
    _check_order(order)
    _check_kth(a, kth, axis, kind)
    return sort(a, axis)


def argpartition(
    a: Any, kth: Any, axis: int | None = -1, kind: str = "introselect", order: Any = None
) -> ndarray:
    """Return the indices (int64) that partition an array; see :func:`partition`."""
    _check_order(order)
    _check_kth(a, kth, axis, kind)
    return argsort(a, axis)


def _check_kth(a: Any, kth: Any, axis: int | None, kind: str) -> None:
    if kind != "introselect":
        raise ValueError(f"select kind must be 'introselect' (got {kind!r})")
    values = as_device_array(a)
    extent = values.size if axis is None else values.shape[axis_of(axis, values.ndim)]
    for number in integers(kth):
        if not -extent <= number < extent:
            raise ValueError(f"kth(={number}) out of bounds ({extent})")


# ---- distinct values


def kept_places(flags: ndarray) -> ndarray:
    """Return the indices of a vector's true elements, ascending.

    Their number (4 bytes) is read from the device.
    """
    count = int(_count(flags))
    return argsort(~flags)[:count]


def _distinct(values: ndarray, equal_nan: bool) -> tuple[ndarray, ndarray, ndarray]:
    """Return the distinct values, the indices that sort ``values``, and the place of each distinct
    value's first occurrence in the sorted vector.
    """
    order = argsort(values)
    ordered = take_axis(values, order, 0)
    flags = empty(values.shape, bool)
    if values.size:
        _first_of_each(ordered, equal_nan, flags)
    begins = kept_places(flags)
    return take_axis(ordered, begins, 0), order, begins


def unique(
    ar: Any,
    return_index: bool = False,
    return_inverse: bool = False,
    return_counts: bool = False,
    axis: int | None = None,
    *,
    equal_nan: bool = True,
    sorted: bool = True,
) -> Any:
    """Return the distinct values of an array, or its distinct parts along an axis, ascending.

    Parameters
    ----------
    ar : array
        The array, which is flattened if no axis is given.
    return_index : bool
        Whether to return also the index of each value's first occurrence.
    return_inverse : bool
        Whether to return also, for each element, the index of its value among the distinct values.
        These indices have the array's shape, or are one for each part along the axis.
    return_counts : bool
        Whether to return also how often each value occurs.
    axis : int, optional
        The axis of the parts that are compared. They are sorted by their elements in C order, by
        one stable sort for each element of a part. NaNs differ from each other, as in NumPy.
    equal_nan : bool
        Whether all NaNs are one value.
    sorted : bool
        Accepted for compatibility with NumPy: the values are always ascending.
    """
    whole = as_device_array(ar)
    if axis is not None:
        return _unique_parts(whole, axis, (return_index, return_inverse, return_counts))
    values = whole.ravel()
    if return_inverse and not equal_nan and values.dtype.kind in "fc":
        raise NotImplementedError(
            "arraycore.unique gives no inverse with equal_nan=False: NaNs have no order."
        )
    distinct, order, begins = _distinct(values, equal_nan)
    asked = (return_index, return_inverse, return_counts)
    return _with_places(distinct, order, begins, asked, whole.shape)


def _with_places(
    distinct: ndarray,
    order: ndarray,
    begins: ndarray,
    asked: tuple[bool, bool, bool],
    shape: tuple[int, ...],
) -> Any:
    """Return the distinct values alone, or a tuple with what else was asked for.

    ``order`` sorts the elements, ``begins`` are the sorted places of first occurrences, and
    ``shape`` is that of the inverse.
    """
    size = order.size
    results = [distinct]
    if asked[0]:
        results.append(take_axis(order, begins, 0))
    if asked[1]:
        inverse = empty(size, np.int64)
        if size:
            _scatter(order, _ranks(begins, size), inverse)
        results.append(inverse.reshape(*shape))
    if asked[2]:
        bounds = concatenate([begins, asarray(np.array([size]))])
        results.append(bounds[1:] - bounds[:-1])
    return results[0] if len(results) == 1 else tuple(results)


def _unique_parts(whole: ndarray, axis: int, asked: tuple[bool, bool, bool]) -> Any:
    """Return the distinct parts along an axis, and what else of :func:`unique` was asked for."""
    along = axis_of(axis, whole.ndim)
    turned = moveaxis(whole, along, 0)
    count = turned.shape[0]
    rows = turned.reshape(count, int(np.prod(turned.shape[1:], dtype=np.int64)))
    columns = rows.shape[1]
    order = arange(count, dtype=np.int64)
    for column in range(columns - 1, -1, -1):
        order = take_axis(order, argsort(take_axis(rows[:, column], order, 0)), 0)
    ordered = take_axis(rows, order, 0)
    flags = full(count, columns > 0, bool)
    if count:
        flags[0] = True
    if count > 1 and columns:
        flags[1:] = (ordered[1:] != ordered[:-1]).any(1)
    begins = kept_places(flags) if count else zeros(0, np.int64)
    kept = take_axis(ordered, begins, 0).reshape(begins.size, *turned.shape[1:])
    return _with_places(moveaxis(kept, 0, along), order, begins, asked, (count,))


_scatter = elementwise("int64 to, int64 value", "raw int64 y", "y[to] = value", "scatter")


def _ranks(begins: ndarray, size: int) -> ndarray:
    """Return, for each element of a sorted vector, the index of its distinct value."""
    return searchsorted(begins, arange(size, dtype=np.int64), "right") - 1  # type: ignore[no-any-return]


class UniqueAllResult(NamedTuple):
    """The result of :func:`unique_all`."""

    values: ndarray
    indices: ndarray
    inverse_indices: ndarray
    counts: ndarray


class UniqueCountsResult(NamedTuple):
    """The result of :func:`unique_counts`."""

    values: ndarray
    counts: ndarray


class UniqueInverseResult(NamedTuple):
    """The result of :func:`unique_inverse`."""

    values: ndarray
    inverse_indices: ndarray


def unique_values(x: Any) -> ndarray:
    """Return the distinct values; every NaN counts as a distinct value."""
    return unique(x, equal_nan=False)  # type: ignore[no-any-return]


def unique_counts(x: Any) -> UniqueCountsResult:
    """Return the distinct values and their counts; every NaN counts as a distinct value."""
    return UniqueCountsResult(*unique(x, return_counts=True, equal_nan=False))


def unique_inverse(x: Any) -> UniqueInverseResult:
    """Return the distinct values and the index of each element's value; NaNs are one value."""
    return UniqueInverseResult(*unique(x, return_inverse=True))


def unique_all(x: Any) -> UniqueAllResult:
    """Return all four results of :func:`unique`; all NaNs are one value."""
    return UniqueAllResult(*unique(x, return_index=True, return_inverse=True, return_counts=True))


# ---- sets


def isin(
    element: Any,
    test_elements: Any,
    assume_unique: bool = False,
    invert: bool = False,
    *,
    kind: str | None = None,
) -> Any:
    """Return which elements are among ``test_elements``. These are sorted and then searched.

    ``assume_unique`` and ``kind`` are accepted for compatibility with NumPy: a result is the same
    whichever way it is found. NaN equals nothing, so it is never found.
    """
    if kind not in (None, "sort", "table"):
        raise ValueError(f"Invalid kind: '{kind}'. Please use None, 'sort' or 'table'.")
    values, others = as_device_array(element), as_device_array(test_elements).ravel()
    common = supported(np.result_type(values.dtype, others.dtype))
    if common.kind == "c":
        raise NotImplementedError(
            "arraycore.isin takes real numbers: compare parts of complex ones."
        )
    if others.size == 0:
        return full(values.shape, invert, bool)
    ordered = sort(others.astype(common, copy=False))
    whole = values.astype(common, copy=False)
    flat = whole.ravel()
    places = searchsorted(ordered, flat)
    found = empty(flat.shape, bool)
    if flat.size:
        _found(ordered, places, flat, found)
    found = found.reshape(*values.shape)
    return ~found if invert else found


_found = elementwise(
    "raw T ordered, int64 at, T x", "bool found",
    "found = at < ordered.size() && ordered[(int)at] == x", "found_at",
)  # fmt: skip


def union1d(ar1: Any, ar2: Any) -> ndarray:
    """Return the distinct values of two arrays."""
    return unique(concatenate([as_device_array(ar1), as_device_array(ar2)], None))  # type: ignore[no-any-return]


def intersect1d(
    ar1: Any, ar2: Any, assume_unique: bool = False, return_indices: bool = False
) -> Any:
    """Return the distinct values that are in both arrays.

    With ``return_indices`` the places of their first occurrences in both arrays follow.
    """
    if not return_indices:
        first, second = _sets(ar1, ar2)
        return _chosen(first, isin(first, second))
    at, other_at = (unique(each, return_index=True)[1] for each in (ar1, ar2))
    first, second = _sets(ar1, ar2)
    found = kept_places(isin(first, second))
    other_found = kept_places(isin(second, first))
    return (
        take_axis(first, found, 0),
        take_axis(at, found, 0),
        take_axis(other_at, other_found, 0),
    )


def setdiff1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> ndarray:
    """Return the distinct values of the first array that are not in the second.

    With ``assume_unique`` the values keep their order, as in NumPy.
    """
    first = as_device_array(ar1).ravel() if assume_unique else unique(ar1)
    return _chosen(first, isin(first, ar2, invert=True))


def setxor1d(ar1: Any, ar2: Any, assume_unique: bool = False) -> ndarray:
    """Return the distinct values that are in exactly one of two arrays."""
    first, second = _sets(ar1, ar2)
    alone = [
        _chosen(one, isin(one, other, invert=True))
        for one, other in ((first, second), (second, first))
    ]
    return sort(concatenate(alone))


def _sets(ar1: Any, ar2: Any) -> tuple[ndarray, ndarray]:
    first, second = unique(ar1), unique(ar2)
    common = supported(np.result_type(first.dtype, second.dtype))
    return first.astype(common, copy=False), second.astype(common, copy=False)


def _chosen(values: ndarray, flags: ndarray) -> ndarray:
    return take_axis(values, kept_places(flags), 0)
