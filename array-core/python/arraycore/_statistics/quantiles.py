"""Computes quantiles: sorts each row, selects two neighbours by a table, and interpolates between
them.

Sorting, selection and interpolation run where the array lives. The host computes the table of the
neighbours' places in float64, as NumPy does. It has one entry for each ``q``. If NaNs are ignored,
it has one for each ``q`` and each possible number of other elements in a row, so that no number is
read back. The formulas are those of Hyndman and Fan, "Sample quantiles in statistical packages",
The American Statistician 50 (4), 1996.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from .._compat.host_fallback import by_numpy
from .._core import ufuncs
from .._core.creation import array, as_device_array, empty
from .._core.lazy_kernels import elementwise
from .._core.ndarray import ndarray
from .._manipulation.joining import axis_of
from .._manipulation.views import copyto
from .._math.reductions import count_nonzero, nanmean
from .._runtime.calls import integers
from .sorting import sort

__all__ = ["median", "nanmedian", "nanpercentile", "nanquantile", "percentile", "quantile"]

Host = npt.NDArray[Any]

#: Selects two elements for each quantile and row; the table has their places in the sorted row. The
#: row is the result's last index. NaN is sorted to the end: a row that ends with NaN gives NaN.
_PICKED = (
    "int row = i % rows; int first = row * extent;"
    "int entry = i / rows * entries + (int)counts[entries == 1 ? 0 : row];"
    "low = sorted[first + places[2 * entry]]; high = sorted[first + places[2 * entry + 1]];"
)
_PARAMETERS = "raw T sorted, raw int32 places, raw int64 counts, int32 extent, int32 rows"
_PARAMETERS += ", int32 entries"
_pick = elementwise(_PARAMETERS, "T low, T high", _PICKED, "pick_neighbours")
_pick_floats = elementwise(
    _PARAMETERS + ", bool skips_nan",
    "T low, T high",
    _PICKED + "T last = sorted[first + extent - 1];"
    "if (!skips_nan && isnan(last)) { low = last; high = last; }",
    "pick_neighbours_of_floats",
)
# As in NumPy, the interpolation starts from the nearer neighbour.
_between = elementwise(
    "T low, T high, R share",
    "R y",
    "R a = low, b = high; y = share < R(0.5) ? a + (b - a) * share : b - (b - a) * (R(1) - share)",
    "between",
)
_middle = elementwise(
    "T low, T high, R share",
    "R y",
    "R a = low, b = high; y = share == R(0) ? a : (a + b) / R(2)",
    "middle",
)


# ---- where a quantile lies


def _floored(index: Host, keeps: Host) -> Host:
    """Round ``index`` down where ``keeps`` is true, otherwise to the next place above; the result
    is at least 0.
    """
    down = np.floor(index)
    return np.maximum(np.where(keeps, down, down + 1), 0)


def _closest(n: Host, q: Host) -> Host:
    index = n * q - 1.5
    down = np.floor(index)
    return _floored(index, (index == down) & (down % 2 == 1))


def _inverted(n: Host, q: Host) -> Host:
    index = n * q - 1
    return _floored(index, index == np.floor(index))


def _continuous(alpha: float, beta: float) -> Callable[[Host, Host], Host]:
    return lambda n, q: n * q + (alpha + q * (1 - alpha - beta)) - 1


#: The methods that return an element, and those that interpolate between two.
_DISCRETE: dict[str, Callable[[Host, Host], Host]] = {
    "inverted_cdf": _inverted,
    "closest_observation": _closest,
    "lower": lambda n, q: np.floor((n - 1) * q),
    "higher": lambda n, q: np.ceil((n - 1) * q),
    "nearest": lambda n, q: np.around((n - 1) * q),
}
_DRAWN: dict[str, Callable[[Host, Host], Host]] = {
    "averaged_inverted_cdf": lambda n, q: n * q - 1,
    "interpolated_inverted_cdf": _continuous(0, 1),
    "hazen": _continuous(0.5, 0.5),
    "weibull": _continuous(0, 0),
    "linear": lambda n, q: (n - 1) * q,
    "median_unbiased": _continuous(1 / 3, 1 / 3),
    "normal_unbiased": _continuous(3 / 8, 3 / 8),
    "midpoint": lambda n, q: (np.floor((n - 1) * q) + np.ceil((n - 1) * q)) / 2,
}


def _table(method: str, counts: Host, q: Host) -> tuple[Host, Host]:
    """Return the places of the two neighbours for each q and count (int32, in the last axis), and
    the weight of the second neighbour, from 0 to 1.
    """
    index = (_DISCRETE.get(method) or _DRAWN[method])(counts[None, :], q[:, None])
    last = counts[None, :] - 1
    low = np.floor(index)
    share = index - low
    if method == "averaged_inverted_cdf":
        share = np.where(share == 0, 0.5, 1.0)
    high = low + 1
    above, below = index >= last, index < 0
    low, high = (np.where(above, last, np.where(below, 0, each)) for each in (low, high))
    # A row in which all elements are NaN has the count 0. Its first element, a NaN, is the result.
    places = np.maximum(np.stack([low, high], -1), 0).astype(np.int32)
    return places, share


# ---- the functions


def _quantiles(
    a: Any, q: Any, axis: Any, out: Any, method: str, keepdims: bool, weights: Any, skips_nan: bool,
    name: str, scale: float = 1.0,
) -> Any:  # fmt: skip
    x = as_device_array(a)
    if x.dtype.kind == "c":
        raise TypeError("a must be an array of real numbers")
    if isinstance(q, ndarray):
        q = q.get()
    if weights is not None:
        made = by_numpy(
            getattr(np, name), x, q, axis, method=method, keepdims=keepdims, weights=weights
        )
        return _given(made, out)
    if method not in _DISCRETE and method not in _DRAWN:
        raise ValueError(
            f"{method!r} is not a valid method. Use one of: {', '.join((*_DISCRETE, *_DRAWN))}"
        )
    weak = type(q) in (int, float)
    shares = np.true_divide(q, scale) if scale != 1.0 else np.asarray(q)
    if shares.ndim > 2:
        raise ValueError("q must be a scalar or 1d")
    if not ((shares >= 0) & (shares <= 1)).all():
        what = "Percentiles must be in the range [0, 100]" if scale != 1.0 else (
            "Quantiles must be in the range [0, 1]"
        )  # fmt: skip
        raise ValueError(what)
    if method in _DRAWN and x.dtype.kind == "b":
        raise TypeError("booleans have no difference to draw by: pass a discrete method.")
    if skips_nan and not x.size:
        return nanmean(x, axis, out=out, keepdims=keepdims)  # as NumPy: without the axes of q
    wanted = _drawn_dtype(x.dtype, shares.dtype, weak) if method in _DRAWN else x.dtype
    return _of_rows(x, shares, axis, out, method, keepdims, skips_nan, wanted, _between)


def _drawn_dtype(dtype: np.dtype[Any], q: np.dtype[Any], weak: bool) -> np.dtype[Any]:
    """Return the dtype of an interpolated result, by NumPy's rules; Python numbers do not widen
    it.
    """
    if weak or q.kind != "f":
        return dtype if dtype.kind == "f" else np.dtype(np.float64)
    return np.result_type(dtype, q)


def _of_rows(
    x: ndarray, q: Host, axis: Any, out: Any, method: str, keepdims: bool, skips_nan: bool,
    wanted: np.dtype[Any], draw: Any,
) -> Any:  # fmt: skip
    axes = range(x.ndim) if axis is None else [axis_of(each, x.ndim) for each in integers(axis)]
    reduced = sorted(set(axes))
    if len(reduced) != len(axes):
        raise ValueError("repeated axis")
    kept = [each for each in range(x.ndim) if each not in reduced]
    shape = tuple(x.shape[each] for each in kept)
    shown = tuple(1 if each in reduced else x.shape[each] for each in range(x.ndim))
    shape = q.shape + (shown if keepdims else shape)
    rows = int(np.prod([x.shape[each] for each in kept], dtype=np.int64))
    extent = x.size // rows if rows else 0
    skips_nan = skips_nan and x.dtype.kind == "f"
    if rows and not extent:
        raise IndexError("a quantile of no element: axis of extent 0")
    flat = q.ravel().astype(np.float64)
    if not rows or not flat.size:
        made = empty((flat.size, rows), wanted)
    else:
        order = (*kept, *reduced)
        values = (x.transpose(order) if order else x).reshape(rows, extent)
        low, high, share = _neighbours(sort(values), flat, method, skips_nan, wanted)
        if share is None:
            made = low
        else:
            made = empty(low.shape, wanted)
            draw(low, high, share, made)
    return _given(made.reshape(*shape), out)


def _neighbours(
    ordered: ndarray, q: Host, method: str, skips_nan: bool, wanted: np.dtype[Any]
) -> tuple[ndarray, ndarray, ndarray | None]:
    """Return the two neighbours of each quantile, of shape (q, rows), and the second one's weight.

    For a method that does not interpolate, the first neighbour is the quantile, and the weight is
    None.
    """
    rows, extent = ordered.shape
    if skips_nan:
        counts = count_nonzero(ufuncs.logical_not(ufuncs.isnan(ordered)), 1)
        places, shares = _table(method, np.arange(extent + 1, dtype=np.float64), q)
    else:
        counts = array(np.zeros(1, np.int64))
        places, shares = _table(method, np.array([extent], np.float64), q)
    entries = places.shape[1]
    low, high = (empty((q.size, rows), ordered.dtype) for _ in range(2))
    words: tuple[Any, ...] = (ordered, array(places.ravel()), counts, extent, rows, entries)
    if ordered.dtype.kind == "f":
        _pick_floats(*words, skips_nan, low, high)
    else:
        _pick(*words, low, high)
    if method in _DISCRETE:
        return low, high, None
    share = array(shares.astype(wanted))
    return low, high, share[:, counts] if skips_nan else share


def _given(made: ndarray, out: Any) -> Any:
    if out is None:
        return made
    if out.shape != made.shape:
        raise ValueError(f"output parameter has shape {out.shape}, the result {made.shape}")
    copyto(out, made, "unsafe")
    return out


def quantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Return quantiles over axes; NaN if an element is NaN.

    Parameters
    ----------
    a : array_like
        Real numbers.
    q : float or array_like of floats
        The shares, from 0 to 1. An array of arraycore is read, because the host finds the places of
        the quantiles. Their axes come first in the result's shape. A float32
        array gives float32 with a Python number or a float32 ``q``. With a list or a float64 ``q``
        it gives float64, as in NumPy; then the CPU computes.
    axis : None, int or tuple of ints
        The axes to reduce; None reduces all axes.
    out : ndarray, optional
        Receives the result; it is returned.
    overwrite_input : bool
        Accepted for compatibility with NumPy; the input is never changed.
    method : str
        One of NumPy's 13 methods.
    keepdims : bool
        Whether the reduced axes are kept, with extent 1.
    weights : array_like, optional
        The elements' weights, of a's shape or of its axes ``axis``, for the method "inverted_cdf".
        NumPy computes on the CPU.

    Raises
    ------
    TypeError
        ``a`` is complex, or has booleans and the method interpolates.
    ValueError
        ``q`` is out of range, or there is no such method.
    IndexError
        There is no element.
    NotImplementedError
        There are weights, or ``q`` is an array of arraycore.
    """
    return _quantiles(a, q, axis, out, method, keepdims, weights, False, "quantile")


def percentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Return :func:`quantile` with ``q`` from 0 to 100."""
    return _quantiles(a, q, axis, out, method, keepdims, weights, False, "percentile", 100.0)


def nanquantile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Return :func:`quantile` of the elements that are not NaN; NaN, without a warning, if all are.

    A table of 12 bytes for each ``q`` and each element of a row is uploaded, so that the numbers of
    elements that are not NaN need not be read.
    """
    return _quantiles(a, q, axis, out, method, keepdims, weights, True, "nanquantile")


def nanpercentile(
    a: Any, q: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False,
    method: str = "linear", keepdims: bool = False, *, weights: Any = None,
) -> Any:  # fmt: skip
    """Return :func:`nanquantile` with ``q`` from 0 to 100."""
    return _quantiles(a, q, axis, out, method, keepdims, weights, True, "nanpercentile", 100.0)


def _median(a: Any, axis: Any, out: Any, keepdims: bool, skips_nan: bool) -> Any:
    x = as_device_array(a)
    if x.dtype.kind == "c":
        raise NotImplementedError(
            "arraycore.median takes real numbers: order complex ones by abs() or a part of them."
        )
    if not x.size:
        return nanmean(x, axis, out=out, keepdims=keepdims)
    wanted = x.dtype if x.dtype.kind == "f" else np.dtype(np.float64)
    if x.dtype.kind == "b":
        x = x.astype(np.uint8)
    half = np.array(0.5)
    return _of_rows(x, half, axis, out, "linear", keepdims, skips_nan, wanted, _middle)


def median(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    """Return the middle element over axes, or the mean of the two middle ones.

    The result is NaN if an element is NaN, and also, without a warning, if there are no elements.
    Integers give float64. The parameters are those of :func:`quantile`.
    """
    return _median(a, axis, out, keepdims, False)


def nanmedian(
    a: Any, axis: Any = None, out: Any = None, overwrite_input: bool = False, keepdims: bool = False
) -> Any:
    """Return :func:`median` of the elements that are not NaN; NaN if all are."""
    return _median(a, axis, out, keepdims, True)
