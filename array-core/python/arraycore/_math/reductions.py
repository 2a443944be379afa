"""NumPy's reductions and running totals: the functions, and the methods of arrays.

Each function calls array-core once (``src/abi/calls/reductions.h``). Results stay on the device. A
result without dimensions is an array too, as in CuPy.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import ufuncs
from .._core.creation import full_like, operand_array
from .._core.reduction_calls import NO_VALUE, accumulated, one_axis, reduced, table_row
from .._core.ufuncs import ufunc
from .._manipulation.joining import axis_of
from .._manipulation.views import broadcast_to
from .._runtime.calls import integers

__all__ = [
    "all",
    "amax",
    "amin",
    "any",
    "argmax",
    "argmin",
    "average",
    "count_nonzero",
    "cumprod",
    "cumsum",
    "max",
    "mean",
    "min",
    "nanargmax",
    "nanargmin",
    "nancumprod",
    "nancumsum",
    "nanmax",
    "nanmean",
    "nanmin",
    "nanprod",
    "nanstd",
    "nansum",
    "nanvar",
    "prod",
    "ptp",
    "std",
    "sum",
    "var",
]

# ---- folds


def sum(
    a: Any,
    axis: Any = None,
    dtype: npt.DTypeLike | None = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    """Return the sum over axes.

    Parameters
    ----------
    a : ndarray
        The array to sum.
    axis : None, int or tuple of ints
        The axes to reduce; None reduces all axes.
    dtype : dtype, optional
        The dtype to compute in. By default bools and integers are summed in 64 bits.
    out : ndarray, optional
        Receives the result instead of a new array; it is returned.
    keepdims : bool
        Whether the reduced axes are kept, with extent 1.
    initial : scalar, optional
        The value that the reduction starts with.
    where : bool or ndarray of bool
        Which elements are reduced.

    Raises
    ------
    AxisError
        The array does not have the axis.
    ValueError
        An axis is named twice, or ``out`` has another shape.
    """
    return reduced(table_row("sum"), a, axis, dtype, out, keepdims, initial, where)


def prod(
    a: Any,
    axis: Any = None,
    dtype: npt.DTypeLike | None = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    """Return the product over axes; the parameters are those of :func:`sum`."""
    return reduced(table_row("prod"), a, axis, dtype, out, keepdims, initial, where)


def max(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    """Return the largest element over axes, or NaN if an element is NaN.

    The parameters are those of :func:`sum`.

    Raises
    ------
    ValueError
        There is no element, or there is a ``where`` without ``initial``.
    """
    return reduced(table_row("max"), a, axis, None, out, keepdims, initial, where)


def min(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    """Return the smallest element over axes; the parameters are those of :func:`max`."""
    return reduced(table_row("min"), a, axis, None, out, keepdims, initial, where)


amax, amin = max, min


def any(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, where: Any = True
) -> Any:
    """Return whether any element is not zero; the parameters are those of :func:`sum`."""
    return reduced(table_row("any"), a, axis, None, out, keepdims, where=where)


def all(
    a: Any, axis: Any = None, out: Any = None, keepdims: bool = False, where: Any = True
) -> Any:
    """Return whether all elements are not zero; the parameters are those of :func:`sum`."""
    return reduced(table_row("all"), a, axis, None, out, keepdims, where=where)


def count_nonzero(a: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return how many elements are not zero, as an int64 array."""
    return reduced(table_row("count_nonzero"), a, axis, keepdims=keepdims)


# ---- statistics


def mean(
    a: Any,
    axis: Any = None,
    dtype: npt.DTypeLike | None = None,
    out: Any = None,
    keepdims: bool = False,
    where: Any = True,
) -> Any:
    """Return the mean over axes. The mean of no elements is NaN; integers are averaged in float64.

    The parameters are those of :func:`sum`.
    """
    return reduced(table_row("mean"), a, axis, dtype, out, keepdims, where=where)


def var(
    a: Any,
    axis: Any = None,
    dtype: npt.DTypeLike | None = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    where: Any = True,
    *,
    mean: Any = np._NoValue,
    correction: Any = np._NoValue,
) -> Any:
    """Return the variance over axes, in two passes: the mean, then the squared distances from it.

    The sum of the squares is divided by the number of elements minus ``ddof``, which the array API
    standard calls ``correction``. ``mean`` is the mean, where it is known, with the reduced axes
    kept. The other parameters are those of :func:`mean`.
    """
    less = _less(ddof, correction)
    return _spread("var", a, axis, dtype, out, less, keepdims, where, mean)


def std(
    a: Any,
    axis: Any = None,
    dtype: npt.DTypeLike | None = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    where: Any = True,
    *,
    mean: Any = np._NoValue,
    correction: Any = np._NoValue,
) -> Any:
    """Return the square root of :func:`var`."""
    less = _less(ddof, correction)
    return _spread("std", a, axis, dtype, out, less, keepdims, where, mean)


def _spread(
    name: str, a: Any, axis: Any, dtype: Any, out: Any, less: float, keepdims: bool, where: Any,
    mean: Any,
) -> Any:  # fmt: skip
    """Return the variance, or its root, by the name of the function."""
    if mean is np._NoValue:
        mean = _real_mean(a, name, axis, dtype, where)
    if mean is not np._NoValue:
        return _about(mean, name, a, axis, dtype, out, less, keepdims, where)
    return reduced(table_row(name), a, axis, dtype, out, keepdims, where=where, ddof=less)


def _real_mean(a: Any, name: str, axis: Any, dtype: Any, where: Any) -> Any:
    """Return the mean of the real parts if complex numbers are reduced in a real dtype, as NumPy
    does; else NumPy's mark for no value.
    """
    if dtype is None or np.dtype(dtype).kind == "c" or operand_array(a).dtype.kind != "c":
        return np._NoValue
    function = nanmean if name.startswith("nan") else mean
    return function(operand_array(a).real, axis, dtype, keepdims=True, where=where)


def _about(
    centre: Any, name: str, a: Any, axis: Any, dtype: Any, out: Any, less: float, keepdims: bool,
    where: Any,
) -> Any:  # fmt: skip
    """Return the variance (or its root) about a mean that the caller knows."""
    array = operand_array(a)
    wanted = dtype or (np.dtype(np.float64) if array.dtype.kind in "biu" else array.dtype)
    if array.dtype.kind == "c":
        wanted = np.result_type(array.dtype, wanted)
    apart: Any = ufuncs.subtract(array, centre, dtype=wanted)
    if apart.dtype.kind == "c":
        squares = ufuncs.square(apart.real) + ufuncs.square(apart.imag)
        squares = squares.astype(dtype or squares.dtype, copy=False)
    else:
        squares = ufuncs.square(apart)
    if name.startswith("nan"):
        total = nansum(squares, axis, keepdims=keepdims, where=where)
        counted = ufuncs.logical_not(ufuncs.isnan(squares))
    else:
        total = sum(squares, axis, keepdims=keepdims, where=where)
        counted = full_like(squares, True, bool)
    count = sum(counted, axis, np.float64, keepdims=keepdims, where=where)
    left = ufuncs.maximum(count - less, 0).astype(total.dtype)
    if name.startswith("nan"):
        # NumPy gives NaN where too few numbers are there, unlike var: 0 / 0.
        total = ufuncs.multiply(total, (left > 0).astype(total.dtype))
    made = ufuncs.divide(total, left)
    if name.endswith("std"):
        made = ufuncs.sqrt(made)
    if out is None:
        return made
    out[...] = made
    return out


def _less(ddof: float, correction: Any) -> float:
    """Return what is subtracted from the number of elements, by either of its names."""
    if correction is np._NoValue:
        return ddof
    if ddof != 0:
        raise ValueError("ddof and correction can't be provided simultaneously.")
    return float(correction)


def ptp(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Return the difference of the largest and the smallest element over axes."""
    return reduced(table_row("ptp"), a, axis, None, out, keepdims)


def average(
    a: Any, axis: Any = None, weights: Any = None, returned: bool = False, *, keepdims: bool = False
) -> Any:
    """Return the mean over axes, weighted if weights are given.

    Parameters
    ----------
    a : ndarray
        The array to average.
    axis : None, int or tuple of ints
        The axes to reduce; None reduces all axes.
    weights : ndarray, optional
        An array of a's shape, or of the shape of its axes ``axis``.
    returned : bool
        Whether the sum of the weights is returned too.
    keepdims : bool
        Whether the reduced axes are kept, with extent 1.

    Raises
    ------
    TypeError
        The weights have another shape, and no axis is given.
    ValueError
        The weights do not fit the axis.
    """
    array: Any = operand_array(a)
    if weights is None:
        result = mean(array, axis, keepdims=keepdims)
        if not returned:
            return result
        return result, full_like(result, array.size / result.size)
    weight: Any = operand_array(weights)
    dtype = np.result_type(array.dtype, weight.dtype)
    if array.dtype.kind in "biu":
        dtype = np.result_type(dtype, np.float64)
    if weight.shape != array.shape:
        weight = _along(weight, array, axis)
    scale = sum(weight, axis, dtype, keepdims=keepdims)
    total = sum(ufuncs.multiply(array, weight, dtype=dtype), axis, keepdims=keepdims)
    result = total / scale
    return (result, scale) if returned else result


def _along(weight: Any, array: Any, axis: Any) -> Any:
    """Return weights of the axes ``axis``, broadcast to an array."""
    if axis is None:
        raise TypeError("Axis must be specified when shapes of a and weights differ.")
    axes = [axis_of(each, array.ndim) for each in integers(axis)]
    if len(set(axes)) != len(axes):
        raise ValueError("repeated axis")
    if weight.shape != tuple(array.shape[each] for each in axes):
        raise ValueError(
            "Shape of weights must be consistent with shape of a along specified axis."
        )
    # The weights' axes are in the order of ``axis``, those of the result in the array's order.
    turned = weight.transpose(sorted(range(len(axes)), key=axes.__getitem__)) if axes else weight
    shape = [extent if each in axes else 1 for each, extent in enumerate(array.shape)]
    return broadcast_to(turned.reshape(shape), array.shape)


# ---- places


def argmax(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Return the index of the largest element: the first of several, or that of the first NaN.

    Parameters
    ----------
    a : ndarray
        The array to search.
    axis : int, optional
        The axis to search along; None flattens the array.
    out : ndarray, optional
        Receives the result instead of a new array; it is returned.
    keepdims : bool
        Whether the reduced axis is kept, with extent 1.

    Returns
    -------
    ndarray
        The indices, int64.

    Raises
    ------
    ValueError
        There is no element.
    """
    return reduced(table_row("argmax"), a, one_axis(axis), None, out, keepdims)


def argmin(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Return the index of the smallest element; the parameters are those of :func:`argmax`."""
    return reduced(table_row("argmin"), a, one_axis(axis), None, out, keepdims)


# ---- without NaN


def nansum(
    a: Any,
    axis: Any = None,
    dtype: npt.DTypeLike | None = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    """Return the sum over axes as :func:`sum` does, but NaN counts as 0."""
    return reduced(table_row("nansum"), a, axis, dtype, out, keepdims, initial, where)


def nanprod(
    a: Any,
    axis: Any = None,
    dtype: npt.DTypeLike | None = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    """Return the product over axes as :func:`prod` does, but NaN counts as 1."""
    return reduced(table_row("nanprod"), a, axis, dtype, out, keepdims, initial, where)


def nanmax(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    """Return the largest element that is not NaN; NaN, without a warning, if all are."""
    return reduced(table_row("nanmax"), a, axis, None, out, keepdims, initial, where)


def nanmin(
    a: Any,
    axis: Any = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = NO_VALUE,
    where: Any = True,
) -> Any:
    """Return the smallest element that is not NaN; NaN, without a warning, if all are."""
    return reduced(table_row("nanmin"), a, axis, None, out, keepdims, initial, where)


def nanmean(
    a: Any,
    axis: Any = None,
    dtype: npt.DTypeLike | None = None,
    out: Any = None,
    keepdims: bool = False,
    where: Any = True,
) -> Any:
    """Return :func:`mean` of the elements that are not NaN."""
    return reduced(table_row("nanmean"), a, axis, dtype, out, keepdims, where=where)


def nanvar(
    a: Any,
    axis: Any = None,
    dtype: npt.DTypeLike | None = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    where: Any = True,
    *,
    mean: Any = np._NoValue,
    correction: Any = np._NoValue,
) -> Any:
    """Return :func:`var` of the elements that are not NaN; NaN if at most ``ddof`` are not NaN."""
    if operand_array(a).dtype.kind not in "fc":
        return var(a, axis, dtype, out, ddof, keepdims, where, mean=mean, correction=correction)
    less = _less(ddof, correction)
    return _spread("nanvar", a, axis, dtype, out, less, keepdims, where, mean)


def nanstd(
    a: Any,
    axis: Any = None,
    dtype: npt.DTypeLike | None = None,
    out: Any = None,
    ddof: float = 0,
    keepdims: bool = False,
    where: Any = True,
    *,
    mean: Any = np._NoValue,
    correction: Any = np._NoValue,
) -> Any:
    """Return the square root of :func:`nanvar`."""
    if operand_array(a).dtype.kind not in "fc":
        return std(a, axis, dtype, out, ddof, keepdims, where, mean=mean, correction=correction)
    less = _less(ddof, correction)
    return _spread("nanstd", a, axis, dtype, out, less, keepdims, where, mean)


def nanargmax(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Return the index of the largest element that is not NaN; -1 if all are NaN, as in CuPy.

    NumPy raises in that case. To raise, a device's result would have to be read.
    """
    return reduced(table_row("nanargmax"), a, one_axis(axis), None, out, keepdims)


def nanargmin(a: Any, axis: Any = None, out: Any = None, keepdims: bool = False) -> Any:
    """Return the index of the smallest element that is not NaN; see :func:`nanargmax`."""
    return reduced(table_row("nanargmin"), a, one_axis(axis), None, out, keepdims)


# ---- running totals


def cumsum(a: Any, axis: Any = None, dtype: npt.DTypeLike | None = None, out: Any = None) -> Any:
    """Return the cumulative sums.

    Parameters
    ----------
    a : ndarray
        The array to sum.
    axis : int, optional
        The axis to work along; None flattens the array.
    dtype : dtype, optional
        The dtype to compute in. By default bools and integers are summed in 64 bits.
    out : ndarray, optional
        Receives the result instead of a new array; it is returned.
    """
    return _running(ufuncs.add, a, axis, dtype, out)


def cumprod(a: Any, axis: Any = None, dtype: npt.DTypeLike | None = None, out: Any = None) -> Any:
    """Return the cumulative products; the parameters are those of :func:`cumsum`."""
    return _running(ufuncs.multiply, a, axis, dtype, out)


def nancumsum(a: Any, axis: Any = None, dtype: npt.DTypeLike | None = None, out: Any = None) -> Any:
    """Return the cumulative sums as :func:`cumsum` does, but NaN counts as 0."""
    return _running(ufuncs.add, a, axis, dtype, out, skips_nan=True)


def nancumprod(
    a: Any, axis: Any = None, dtype: npt.DTypeLike | None = None, out: Any = None
) -> Any:
    """Return the cumulative products as :func:`cumprod` does, but NaN counts as 1."""
    return _running(ufuncs.multiply, a, axis, dtype, out, skips_nan=True)


def _running(
    function: ufunc, a: Any, axis: Any, dtype: Any, out: Any, skips_nan: bool = False
) -> Any:
    array: Any = operand_array(a)
    if axis is None:
        array, axis = array.ravel(), 0
    elif array.ndim == 0:
        array = array.reshape(1)
    return accumulated(function, array, axis, dtype, out, skips_nan)
