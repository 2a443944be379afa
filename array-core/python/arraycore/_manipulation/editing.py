"""Functions that insert elements, delete elements, and pad arrays.

The host computes the place of each element, with NumPy's own functions on indices. The device
gathers the elements, with one launch for each axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core import ufuncs
from .._core.creation import array, as_device_array, asarray, asnumpy, empty, operand_array
from .._core.lazy_kernels import reduction
from .._core.ndarray import ndarray
from .._runtime.calls import integers
from .joining import axis_key, axis_of, concatenate, take_axis
from .ranges import linspace
from .views import broadcast_to, flip, moveaxis

__all__ = [
    "delete",
    "insert",
    "pad",
    "trim_zeros",
]

_MOVED = ("edge", "reflect", "symmetric", "wrap")
#: The most elements of the matrix that says how odd reflections are made.
_MOST_UNITS = 1 << 22
_FROM_DATA = ("maximum", "mean", "median", "minimum")

_first_true = reduction(
    "bool x", "int32 y", "x ? _j : INT_MAX", "min(a, b)", "y = a", "2147483647", "first_true"
)
_last_true = reduction("bool x", "int32 y", "x ? _j : -1", "max(a, b)", "y = a", "-1", "last_true")


def _places(source: ndarray, axis: int | None) -> tuple[ndarray, int]:
    if axis is None:
        return source.ravel(), 0
    return source, axis_of(axis, source.ndim)


def delete(arr: ndarray, obj: Any, axis: int | None = None) -> ndarray:
    """Return a copy of an array without the slices at the given indices along an axis.

    Parameters
    ----------
    arr : array
        The array to remove slices from.
    obj : int, slice, sequence of ints or of bools
        The indices along the axis. Those of an array of arraycore are read, because the result's
        size depends on them.
    axis : int or None
        The axis of the indices; None flattens the array.
    """
    source, number = _places(operand_array(arr), axis)
    obj = asnumpy(obj) if isinstance(obj, ndarray) else obj
    kept = np.delete(np.arange(source.shape[number], dtype=np.int32), obj)
    return take_axis(source, array(kept), number)


def insert(arr: ndarray, obj: Any, values: Any, axis: int | None = None) -> ndarray:
    """Return an array with values inserted before the given indices.

    Parameters
    ----------
    arr : array
        The array to insert values into.
    obj : int, slice or sequence of ints
        The indices along the axis; see :func:`delete`.
    values : array_like
        The values, which are cast to the array's dtype and broadcast.
    axis : int or None
        The axis of the indices; None flattens the array.
    """
    source, number = _places(operand_array(arr), axis)
    obj = asnumpy(obj) if isinstance(obj, ndarray) else obj
    extent = source.shape[number]
    added = asarray(values).astype(source.dtype, copy=False)
    places = np.arange(*obj.indices(extent)) if isinstance(obj, slice) else np.asarray(obj)
    count = places.size
    if count == 1:  # all values go before that place
        added = added[(None,) * max(0, source.ndim - added.ndim)]
        if places.ndim == 0 and added.ndim > 1:
            added = moveaxis(added, 0, number)
        count, places = added.shape[number], places.reshape(())
    order = np.insert(np.arange(extent), places[()], extent + np.arange(count))
    shape = (*source.shape[:number], count, *source.shape[number + 1 :])
    joined = concatenate([source, broadcast_to(added, shape)], number)
    return take_axis(joined, array(order.astype(np.int32)), number)


def _first_and_last(flags: ndarray) -> tuple[int, int]:
    """Return the indices of a vector's first and last true element; the last is -1 if none is."""
    return int(_first_true(flags)), int(_last_true(flags))


def trim_zeros(filt: Any, trim: str = "fb", axis: Any = None) -> ndarray:
    """Return a view of an array without the zeros at its front ("f") and back ("b").

    Parameters
    ----------
    filt : array
        The array. The indices of the first and the last part along each axis that is not all
        zeros are read from the device.
    trim : str
        "f", "b" or both.
    axis : int or ints, optional
        The axes to trim, by default all.
    """
    source = as_device_array(filt)
    front, back = "f" in trim.lower(), "b" in trim.lower()
    if set(trim.lower()) - {"f", "b"} or not trim:
        raise ValueError(f"unexpected character(s) in `trim`: {trim!r}")
    axes = range(source.ndim) if axis is None else (
        axis_of(each, source.ndim) for each in integers(axis)
    )  # fmt: skip
    filled: Any = source != 0
    key: list[Any] = [slice(None)] * source.ndim
    for each in axes:
        others = tuple(other for other in range(source.ndim) if other != each)
        first, last = _first_and_last(filled.any(others) if others else filled)
        if last < 0:
            key[each] = slice(0, 0)
        else:
            key[each] = slice(first if front else 0, last + 1 if back else None)
    return source[tuple(key)]


def pad(array: Any, pad_width: Any, mode: Any = "constant", **kwargs: Any) -> ndarray:
    """Return an array with borders added around it.

    Parameters
    ----------
    array : array_like
        The array to pad.
    pad_width : int, pair, pairs, or dict of axes
        The widths before and after, for all axes or for each, as in :func:`numpy.pad`.
    mode : str or callable
        One of NumPy's 11 modes, or a function of a vector with its borders, the widths of these,
        the axis and ``kwargs``, which fills the borders in place. It is called with an array of
        arraycore for each row along each axis.
    **kwargs
        ``constant_values`` for "constant", ``end_values`` for "linear_ramp" and ``stat_length`` for
        "maximum", "mean", "median" and "minimum" (a number, a pair or pairs); ``reflect_type``,
        "even" or "odd", for "reflect" and "symmetric".

    Raises
    ------
    ValueError
        There is no such mode, or it has no such keyword, or a width is negative.
    """
    source = operand_array(array)
    widths = _widths(pad_width, source.ndim)
    if callable(mode):
        return _filled_by(mode, source, widths, kwargs)
    known = {"constant": "constant_values", "linear_ramp": "end_values"}
    known |= dict.fromkeys(("reflect", "symmetric"), "reflect_type")
    known |= dict.fromkeys(_FROM_DATA, "stat_length")
    if mode not in (*_MOVED, *known, "empty"):
        raise ValueError(f"mode '{mode}' is not supported")
    unknown = set(kwargs) - {known.get(mode, "")}
    if unknown:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {unknown}")
    if mode not in ("constant", "empty"):
        for axis, (extent, pair) in enumerate(zip(source.shape, widths, strict=True)):
            if not extent and any(pair):
                raise ValueError(
                    f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'"
                )
    if mode in _MOVED:
        if kwargs.get("reflect_type", "even") == "odd":
            return _reflected(source, widths, mode)
        return _moved(source, widths, mode)
    values: list[tuple[Any, Any]] = [(0, 0)] * source.ndim
    if mode in _FROM_DATA:
        values = [(None, None)] * source.ndim
        if kwargs.get("stat_length") is not None:
            values = _pairs(np.asarray(kwargs["stat_length"]), source.ndim)
        if any(length is not None and length < 0 for pair in values for length in pair):
            raise ValueError("index can't contain negative values")
    elif kwargs and mode != "empty":
        values = _pairs(np.asarray(asnumpy(kwargs[known[mode]])), source.ndim)
    made, inner = _framed(source, widths)
    if mode == "empty":
        return made
    # The borders along this axis also cover the borders of earlier axes, and so fill the corners.
    for axis, ((before, after), (low, high)) in enumerate(zip(widths, values, strict=True)):
        end = before + source.shape[axis]
        ends = ((slice(0, before), low, before), (slice(end, end + after), high, end - 1))
        rest = inner[axis + 1 :]
        for border, value, edge in ends:
            if border.start == border.stop:
                continue
            target = made[axis_key(axis, border) + rest]
            if mode == "constant":
                target[...] = value
            elif mode == "linear_ramp":
                outermost = made[axis_key(axis, edge) + rest]
                count = border.stop - border.start
                ramp = linspace(value, outermost, count, False, dtype=source.dtype, axis=axis)
                target[...] = ramp if border.start == 0 else flip(ramp, axis)
            else:
                whole = made[axis_key(axis, slice(before, end)) + rest]
                target[...] = _statistic(whole, axis, mode, value, border.start == 0)
    return made


def _statistic(whole: Any, axis: int, mode: str, length: int | None, first: bool) -> ndarray:
    """Return a statistic of the first or the last elements along an axis, which stays."""
    extent = whole.shape[axis]
    count = extent if length is None else min(length, extent)
    if count == 0:
        if mode in ("maximum", "minimum"):
            raise ValueError("stat_length of 0 yields no value for padding")
        return empty((*whole.shape[:axis], 1, *whole.shape[axis + 1 :]), whole.dtype)
    part = whole[axis_key(axis, slice(0, count) if first else slice(extent - count, None))]
    if mode in ("maximum", "minimum"):
        chosen: ndarray = (part.max if mode == "maximum" else part.min)(axis, keepdims=True)
        return chosen
    middle: Any = _median_of(part, axis) if mode == "median" else part.mean(axis, keepdims=True)
    return ufuncs.rint(middle) if whole.dtype.kind in "iu" else middle  # type: ignore[no-any-return]


def _median_of(part: Any, axis: int) -> Any:
    """Return the medians along an axis, which stays; NaN if an element is NaN."""
    ordered: Any = part.copy()
    ordered.sort(axis)
    count = part.shape[axis]
    places = ((count - 1) // 2, count // 2)
    low, high = (ordered[axis_key(axis, slice(each, each + 1))] for each in places)
    made = (low + high) / 2 if part.dtype.kind in "fc" else (low.astype(float) + high) / 2
    if part.dtype.kind == "f":
        made = made + 0 * ordered[axis_key(axis, slice(count - 1, count))]
    return made


def _framed(source: ndarray, widths: list[tuple[int, int]]) -> tuple[ndarray, tuple[slice, ...]]:
    """Return an array with room for borders, and the key of its inner part, which is set."""
    shape = tuple(b + n + a for n, (b, a) in zip(source.shape, widths, strict=True))
    made = empty(shape, source.dtype)
    inner = tuple(slice(b, b + n) for n, (b, _) in zip(source.shape, widths, strict=True))
    made[inner] = source
    return made, inner


def _filled_by(
    function: Any, source: ndarray, widths: list[tuple[int, int]], kwargs: dict[str, Any]
) -> ndarray:
    """Return an array whose borders a function of rows fills, in a Python loop."""
    made, inner = _framed(source, widths)
    if source.ndim:
        made[...] = 0
        made[inner] = source
    for axis, pair in enumerate(widths):
        rows = moveaxis(made, axis, -1)
        for place in np.ndindex(*rows.shape[:-1]):
            row = rows[place]
            function(row, pair, axis, kwargs)
    return made


def _reflected(source: ndarray, widths: list[tuple[int, int]], mode: Any) -> ndarray:
    """Return an array whose borders are reflected about its ends in position and in value.

    Where borders are as wide as the axis, they are reflected several times. Then each element of a
    border is a sum of elements times whole numbers, which NumPy finds: it pads a matrix whose
    columns are unit vectors. Only three numbers are not 0: those of both ends and of one other
    element.
    """
    made: Any = source
    for axis, pair in enumerate(widths):
        extent = source.shape[axis]
        if not any(pair):
            continue
        if max(pair) < extent:
            made = _reflected_once(made, pair, axis, int(mode == "reflect"))
            continue
        if extent * (extent + sum(pair)) > _MOST_UNITS:
            raise NotImplementedError(
                "arraycore.pad reflects a long axis in value by less than its length only: take "
                "several steps."
            )
        units = np.pad(np.eye(extent, dtype=np.int64), (pair, (0, 0)), mode, reflect_type="odd")
        shape = [-1 if each == axis else 1 for each in range(source.ndim)]
        ends = {0: units[:, 0].copy(), extent - 1: units[:, extent - 1].copy()}
        units[:, [0, extent - 1]] = 0
        other = np.abs(units).argmax(1)
        total: Any = take_axis(made, asarray(other.astype(np.int32)), axis)
        total = total * _times(np.take_along_axis(units, other[:, None], 1), shape, source.dtype)
        for place, times in ends.items():
            part = made[axis_key(axis, slice(place, place + 1))]
            total = total + part * _times(times, shape, source.dtype)
        made = total
    return made.copy() if made is source else made


def _reflected_once(made: Any, pair: tuple[int, int], axis: int, skipped: int) -> Any:
    """Return an array with borders that are narrower than the axis; ``skipped`` is 1 if the ends
    themselves are not repeated.
    """
    extent, (before, after) = made.shape[axis], pair

    def part(begin: int, end: int) -> Any:
        return made[axis_key(axis, slice(begin, end))]

    low = flip(part(skipped, before + skipped), axis)
    high = flip(part(extent - after - skipped, extent - skipped), axis)
    return concatenate(
        [2 * part(0, 1) - low, made, 2 * part(extent - 1, extent) - high], axis, dtype=made.dtype,
        casting="unsafe",
    )  # fmt: skip


def _times(numbers: Any, shape: list[int], dtype: np.dtype[Any]) -> ndarray:
    return asarray(numbers.reshape(shape).astype(dtype))


def _widths(pad_width: Any, ndim: int) -> list[tuple[int, int]]:
    """Return the widths before and after for each axis."""
    if isinstance(pad_width, dict):
        widths = [(0, 0)] * ndim
        for axis, each in pad_width.items():
            widths[axis] = (each, each) if np.ndim(each) == 0 else tuple(each)
        return widths
    given = np.asarray(asnumpy(pad_width))
    if given.dtype.kind not in "iu":
        raise TypeError("`pad_width` must be of integral type.")
    pairs = _pairs(given, ndim)
    if any(width < 0 for pair in pairs for width in pair):
        raise ValueError("index can't contain negative values")
    return pairs


def _pairs(given: Any, ndim: int) -> list[tuple[Any, Any]]:
    """Return a pair for each axis, broadcast as in NumPy."""
    pairs = np.broadcast_to(given, (ndim, 2)).tolist()
    return [(first, last) for first, last in pairs]


def _moved(source: ndarray, widths: list[tuple[Any, Any]], mode: Any) -> ndarray:
    """Return an array with borders that repeat its elements; if there are no borders, a copy."""
    made = source
    for axis, pair in enumerate(widths):
        if any(pair):
            places = np.pad(np.arange(source.shape[axis], dtype=np.int32), pair, mode)
            made = take_axis(made, array(places), axis)
    return made.copy() if made is source else made
