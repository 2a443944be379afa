"""Functions that insert elements, delete elements, and pad arrays.

The host computes the place of each element, with NumPy's own functions on indices. The device
gathers the elements, with one launch for each axis.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core.creation import array, as_device_array, asarray, empty
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
_FROM_DATA = ("maximum", "mean", "median", "minimum")

_first_true = reduction(
    "bool x", "int32 y", "x ? _j : INT_MAX", "min(a, b)", "y = a", "2147483647", "first_true"
)
_last_true = reduction("bool x", "int32 y", "x ? _j : -1", "max(a, b)", "y = a", "-1", "last_true")


def _places(source: ndarray, where: Any, axis: int | None) -> tuple[ndarray, int]:
    if isinstance(where, ndarray):
        raise NotImplementedError(
            "arraycore.insert and arraycore.delete take places from the host: pass obj.get()."
        )
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
        The indices along the axis; they must be on the host.
    axis : int or None
        The axis of the indices; None flattens the array.
    """
    source, number = _places(arr, obj, axis)
    kept = np.delete(np.arange(source.shape[number], dtype=np.int32), obj)
    return take_axis(source, array(kept), number)


def insert(arr: ndarray, obj: Any, values: Any, axis: int | None = None) -> ndarray:
    """Return an array with values inserted before the given indices.

    Parameters
    ----------
    arr : array
        The array to insert values into.
    obj : int, slice or sequence of ints
        The indices along the axis; they must be on the host.
    values : array_like
        The values, which are cast to the array's dtype and broadcast.
    axis : int or None
        The axis of the indices; None flattens the array.
    """
    source, number = _places(arr, obj, axis)
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


def pad(array: ndarray, pad_width: Any, mode: str = "constant", **kwargs: Any) -> ndarray:
    """Return an array with borders added around it.

    Parameters
    ----------
    array : array
        The array to pad.
    pad_width : int, pair, or pairs
        The widths before and after, for all axes or for each, as in :func:`numpy.pad`.
    mode : {"constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp", "empty"}
        NumPy's other modes raise NotImplementedError.
    **kwargs
        ``constant_values`` for "constant" and ``end_values`` for "linear_ramp" (a number, a pair or
        pairs), and ``reflect_type`` for "reflect" and "symmetric" (only "even").
    """
    known = {"constant": "constant_values", "linear_ramp": "end_values"}
    known |= dict.fromkeys(("reflect", "symmetric"), "reflect_type")
    unknown = set(kwargs) - {known.get(mode, "")}
    if mode in _FROM_DATA or callable(mode) or kwargs.get("reflect_type", "even") != "even":
        raise NotImplementedError(
            "arraycore.pad has the modes constant, edge, reflect (even), symmetric (even), wrap, "
            "linear_ramp and empty: take arraycore.concatenate with what the border holds."
        )
    if mode not in (*_MOVED, "constant", "linear_ramp", "empty"):
        raise ValueError(f"mode '{mode}' is not supported")
    if unknown:
        raise ValueError(f"unsupported keyword arguments for mode '{mode}': {unknown}")
    widths = _pairs(np.asarray(pad_width), array.ndim, int)
    if any(width < 0 for pair in widths for width in pair):
        raise ValueError("index can't contain negative values")
    if mode in _MOVED:
        return _moved(array, widths, mode)
    values: list[tuple[Any, Any]] = [(0, 0)] * array.ndim
    if mode != "empty" and kwargs:
        values = _pairs(np.asarray(kwargs[known[mode]]), array.ndim, None)
    made = empty(
        tuple(b + n + a for n, (b, a) in zip(array.shape, widths, strict=True)), array.dtype
    )
    inner = tuple(slice(b, b + n) for n, (b, _) in zip(array.shape, widths, strict=True))
    made[inner] = array
    if mode == "empty":
        return made
    # The borders along this axis also cover the borders of earlier axes, and so fill the corners.
    for axis, ((before, after), (low, high)) in enumerate(zip(widths, values, strict=True)):
        end = before + array.shape[axis]
        ends = ((slice(0, before), low, before), (slice(end, end + after), high, end - 1))
        for border, value, edge in ends:
            if border.start == border.stop:
                continue
            target = made[axis_key(axis, border) + inner[axis + 1 :]]
            if mode == "constant":
                target[...] = value
                continue
            outermost = made[axis_key(axis, edge) + inner[axis + 1 :]]
            count = border.stop - border.start
            ramp = linspace(value, outermost, count, False, dtype=array.dtype, axis=axis)
            target[...] = ramp if border.start == 0 else flip(ramp, axis)
    return made


def _pairs(given: Any, ndim: int, kind: Any) -> list[tuple[Any, Any]]:
    """Return a pair for each axis, broadcast as in NumPy. If ``kind`` is int, refuse floats."""
    if kind is int and given.dtype.kind not in "iu":
        raise TypeError("`pad_width` must be of integral type.")
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
