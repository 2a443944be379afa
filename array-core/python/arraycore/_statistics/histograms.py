"""Functions that search sorted arrays and count values: histograms, bincount."""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from .._core.creation import array, as_device_array, empty, zeros
from .._core.lazy_kernels import elementwise, reduction
from .._core.ndarray import ndarray
from .._manipulation.joining import take_axis
from .._runtime import operations

__all__ = [
    "bincount",
    "digitize",
    "histogram",
    "histogram_bin_edges",
    "searchsorted",
]

# Finds the first place whose element is not below v or, if `right`, the first one whose element is
# above v. NaN is above all numbers. `turned` means that digitize has bins in descending order. As
# in NumPy the first two that differ decide, and NaN is not less than any number.
_search = elementwise(
    "raw T a, T v, bool right, bool may_turn",
    "int64 place",
    "int count = a.size(); int low = 0; int high = count;"
    "bool turned = false;"
    "if (may_turn) { int k = 1; while (k < count && a[k] == a[0]) ++k;"
    " turned = k < count && !(a[0] < a[k]); }"
    "while (low < high) {"
    " int mid = (low + high) / 2; T x = a[turned ? count - 1 - mid : mid];"
    " bool below = x < v || (v != v && x == x); bool above = v < x || (x != x && v == v);"
    " if (right ? !above : below) low = mid + 1; else high = mid; }"
    "place = turned ? count - low : low",
    "search_sorted",
)
count_at = elementwise(
    "T x", "raw int64 y", "if (x >= T(0) && x < T(y.size())) atomicAdd(&y[(int)x], 1)", "count_at"
)
add_at = elementwise(
    "int64 x, T weight",
    "raw T y",
    "if (x >= 0 && x < y.size()) atomicAdd(&y[(int)x], weight)",
    "add_at",
)
_in_bins = elementwise(
    "int64 place, T x, raw T edges",
    "int64 y",
    "int last = edges.size() - 1;"
    "y = x == edges[last] ? last - 1 : x > edges[last] ? -1 : place - 1",
    "in_bins",
)
_least = reduction("T x", "T y", "x", "min(a, b)", "y = a", None, "least")
_most = reduction("T x", "T y", "x", "max(a, b)", "y = a", None, "most")


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> ndarray:
    """Return the places (int64) at which values would be inserted into a sorted vector.

    Parameters
    ----------
    a : array
        A vector in ascending order, or in the order of ``sorter``; the order is not checked.
    v : array or number
        The values, of any shape; the result has the same shape.
    side : {"left", "right"}
        Whether a value's place is before or after equal elements.
    sorter : array of ints, optional
        The indices that sort ``a``.
    """
    if side not in ("left", "right"):
        raise ValueError(f"side must be one of 'left' or 'right' (got {side!r})")
    values = as_device_array(a)
    if values.ndim != 1:
        raise ValueError("object too deep for desired array")
    if sorter is not None:
        values = take_axis(values, as_device_array(sorter), 0)
    return _found(values, as_device_array(v), side == "right", False)


def _found(values: ndarray, wanted: ndarray, right: bool, may_turn: bool) -> ndarray:
    common = np.result_type(values.dtype, wanted.dtype)
    if common.kind == "c":
        raise NotImplementedError(
            "arraycore.searchsorted takes real numbers: search for the parts of complex ones."
        )
    made = empty(wanted.shape, np.int64)
    if made.size:
        if common == np.bool_:
            common = np.dtype(np.int8)
        values = values.astype(common, copy=False)
        _search(values, wanted.astype(common, copy=False), right, may_turn, made)
    return made


def digitize(x: Any, bins: Any, right: bool = False) -> ndarray:
    """Return the number of each value's bin (int64); 0 and len(bins) mean outside of all bins.

    Parameters
    ----------
    x : array_like
        The values.
    bins : array or sequence
        The edges, ascending or descending. The order of a device's array is not checked.
    right : bool
        Whether a bin includes its right edge, not its left one.
    """
    values = as_device_array(x)
    if values.dtype.kind == "c":
        raise TypeError("x may not be complex")
    if not isinstance(bins, ndarray):
        np.digitize(np.empty(0), bins)  # raises NumPy's error
    edges = as_device_array(bins)
    if edges.ndim != 1:
        deep = "too deep" if edges.ndim else "of too small depth"
        raise ValueError(f"object {deep} for desired array")
    return _found(edges, values, not right, True)


def bincount(x: Any, weights: Any = None, minlength: int = 0) -> ndarray:
    """Return how often each of the numbers 0, 1, ... occurs (int64), or the sum of its weights.

    The largest and the smallest number are read from the device. Weights are summed in float64, on
    a device in any order.
    """
    values = as_device_array(x)
    if values.ndim != 1:
        raise ValueError("object too deep for desired array" if values.ndim else
                         "object of too small depth for desired array")  # fmt: skip
    if values.dtype.kind not in "iub" or not np.can_cast(values.dtype, np.int64):
        raise TypeError(
            f"Cannot cast array data from {values.dtype!r} to dtype('int64') according to the "
            "rule 'safe'"
        )
    least = index(minlength)
    if least < 0:
        raise ValueError("'minlength' must not be negative")
    if values.dtype.kind == "b":
        values = values.astype(np.uint8)
    length = least
    if values.size:
        if values.dtype.kind == "i" and int(_least(values)) < 0:
            raise ValueError("'list' argument must have no negative elements")
        length = max(least, int(_most(values)) + 1)
    if weights is None:
        made = zeros(length, np.int64)
        count_at(values, made)
        return made
    shares = as_device_array(weights)
    if shares.shape != values.shape:
        raise ValueError("The weights and list don't have the same length.")
    sums = zeros(length, np.float64)
    add_at(values.astype(np.int64, copy=False), shares.astype(np.float64, copy=False), sums)
    return sums


def histogram_bin_edges(a: Any, bins: Any = 10, range: Any = None, weights: Any = None) -> ndarray:
    """Return the edges of the bins of :func:`histogram`."""
    return array(edges_of(as_device_array(a), bins, range))


def edges_of(values: ndarray, bins: Any, limits: Any) -> Any:
    """Return NumPy's edges, on the host; if needed the smallest and largest value are read."""
    if isinstance(bins, str):
        operations.helped()
        return np.histogram_bin_edges(values.get(), bins, limits)
    if isinstance(bins, ndarray):
        bins = bins.get()
    if np.ndim(bins) == 0 and limits is None and values.size:
        # Scalars of the values' dtype, in which NumPy computes the edges.
        limits = (_least(values.ravel()).get()[()], _most(values.ravel()).get()[()])
    # NumPy's edges depend only on the smallest and largest value and on the dtype.
    return np.histogram_bin_edges(np.empty(0, values.dtype), bins, limits)


def bins_of(values: ndarray, host: Any) -> ndarray:
    """Return the bin number of each value, given the edges on the host; -1 means no bin."""
    common = np.result_type(values.dtype, host.dtype)
    values, bounds = values.astype(common, copy=False), array(host).astype(common, copy=False)
    places = _found(bounds, values, True, False)
    if values.size:
        _in_bins(places, values, bounds, places)
    return places


def histogram(
    a: Any, bins: Any = 10, range: Any = None, density: bool | None = None, weights: Any = None
) -> tuple[ndarray, ndarray]:
    """Return the number of values in each bin, and the bins' edges.

    Parameters
    ----------
    a : array_like
        The values.
    bins : int, edges or str
        The number of bins of equal width, or their edges, ascending. Edges on a device are copied
        to the CPU. Without a ``range`` the smallest and the largest value are read from the device,
        and for the name of one of NumPy's estimators all values.
    range : pair, optional
        The first and the last edge.
    density : bool
        Whether counts are divided by their sum and the bins' widths (float64).
    weights : array, optional
        The weight of each value, of the shape of ``a``; the sums have the dtype of the weights.
    """
    values = as_device_array(a).ravel()
    if values.dtype.kind == "b":
        values = values.astype(np.uint8)
    if values.dtype.kind == "c":
        raise NotImplementedError("arraycore.histogram takes real numbers.")
    host = edges_of(values, bins, range)
    edges = array(host)
    places = bins_of(values, host)
    if weights is None:
        counts = zeros(host.size - 1, np.int64)
        if values.size:
            count_at(places, counts)
    else:
        shares = as_device_array(weights).ravel()
        if shares.size != values.size:
            raise ValueError("weights should have the same shape as a.")
        if shares.dtype.kind not in "iuf":
            raise NotImplementedError("arraycore.histogram takes weights that are real numbers.")
        counts = zeros(host.size - 1, shares.dtype)
        if values.size:
            add_at(places, shares, counts)
    if not density:
        return counts, edges
    widths = array(np.array(np.diff(host), float))
    total = reduction("T x", "float64 y", "x", "a + b", "y = a", "0", "total")(counts)
    return counts / widths / total, edges
