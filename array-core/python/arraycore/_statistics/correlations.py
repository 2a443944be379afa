"""Covariances, correlations and histograms of several variables, under NumPy's names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import ufuncs
from .._core.creation import array, as_device_array, zeros
from .._core.lazy_kernels import elementwise
from .._core.ndarray import ndarray
from .._linalg.products import dot
from .._manipulation.joining import concatenate
from .._manipulation.views import atleast_2d
from .._math import reductions
from .._math.elements import clip
from .._runtime.dtypes import supported
from .histograms import add_at, bins_of, count_at, edges_of

__all__ = ["corrcoef", "cov", "histogram2d", "histogramdd"]

#: Adds one variable's bin to the C-order number of an observation's bin. The number is -1 if any
#: variable is in none of its bins.
_combined = elementwise(
    "int64 so_far, int64 place, int32 bins", "int64 y",
    "y = so_far < 0 || place < 0 ? (long long)-1 : so_far * bins + place", "combined_bins",
)  # fmt: skip


def cov(
    m: Any,
    y: Any = None,
    rowvar: bool = True,
    bias: bool = False,
    ddof: int | None = None,
    fweights: Any = None,
    aweights: Any = None,
    *,
    dtype: npt.DTypeLike | None = None,
) -> Any:
    """Return the covariance matrix of variables.

    Parameters
    ----------
    m : array_like
        The observations: each row is a variable, or each column if ``rowvar`` is false. A vector
        is one variable.
    y : array_like, optional
        More variables.
    rowvar : bool
        Whether a row, not a column, is a variable.
    bias, ddof
        Sums are divided by the number of observations minus ``ddof``. If ``ddof`` is None, it is 1,
        or 0 if ``bias`` is true.
    fweights, aweights : array_like, optional
        How many times each observation is repeated, and its weight.
    dtype : dtype, optional
        The dtype to compute in. By default it is at least float64, as in NumPy; then the CPU
        computes.

    Raises
    ------
    ValueError
        The number of weights is not that of the observations.
    """
    x = as_device_array(m)
    if ddof is not None and ddof != int(ddof):
        raise ValueError("ddof must be integer")
    if x.ndim > 2:
        raise ValueError("m has more than 2 dimensions")
    parts = [x] if y is None else [x, as_device_array(y)]
    common = np.result_type(*(part.dtype for part in parts), np.float64) if dtype is None else dtype
    rows = []
    for part in parts:
        if part.ndim > 2:
            raise ValueError("y has more than 2 dimensions")
        wide = atleast_2d(part.astype(common, copy=False))
        # A row of `y` stays one variable, as in NumPy, and so does a vector.
        one = part.ndim < 2 if part is x else wide.shape[0] == 1
        rows.append(wide if rowvar or one else wide.T)
    if rows[0].shape[0] == 0:
        return zeros((0, 0))
    values: Any = concatenate(rows) if len(rows) > 1 else rows[0]
    less = (0 if bias else 1) if ddof is None else ddof
    weights, total = _weights(fweights, aweights, values)
    if weights is None:
        count: Any = values.shape[1] - less
        centred = values - reductions.mean(values, 1, keepdims=True)
        scaled = centred
    else:
        mean = reductions.sum(values * weights, 1, keepdims=True) / total
        count = total if less == 0 else total - less
        if less and aweights is not None:
            squares = reductions.sum(weights * as_device_array(aweights).astype(weights.dtype))
            count = total - less * squares / total
        centred = values - mean
        scaled = centred * weights
    other = scaled.T.conj() if scaled.dtype.kind == "c" else scaled.T
    made = dot(centred, other)
    # As in NumPy, too few observations give infinity, not a negative number.
    share = (1.0 / count if count > 0 else np.inf) if isinstance(count, int) else 1.0 / count
    return (made * share).squeeze()


def _weights(fweights: Any, aweights: Any, values: Any) -> tuple[Any, Any]:
    """Return the observations' weights and their sum; (None, None) without weights."""
    made: Any = None
    for given, name in ((fweights, "fweights"), (aweights, "aweights")):
        if given is None:
            continue
        each = as_device_array(given)
        if each.ndim != 1:
            raise RuntimeError(f"cannot handle multidimensional {name}")
        if each.shape[0] != values.shape[1]:
            raise ValueError(f"incompatible numbers of samples and {name}")
        if name == "fweights" and each.dtype.kind not in "iub":
            raise TypeError("fweights must be integer")
        real = values.real.dtype
        made = each.astype(real) if made is None else made * each.astype(real)
    return made, None if made is None else reductions.sum(made)


def corrcoef(
    x: Any, y: Any = None, rowvar: bool = True, *, dtype: npt.DTypeLike | None = None
) -> Any:
    """Return the correlation matrix of variables; the parameters are those of :func:`cov`."""
    made = cov(x, y, rowvar, dtype=dtype)
    if made.ndim == 0:
        return made / made
    spread = ufuncs.sqrt(made.diagonal().real)
    made = made / spread[:, None] / spread[None, :]
    # Rounding may give numbers slightly outside of [-1, 1].
    if made.dtype.kind == "c":
        for part in (made.real, made.imag):
            clip(part, -1, 1, out=part)
        return made
    return clip(made, -1, 1)


def histogramdd(
    sample: Any,
    bins: Any = 10,
    range: Sequence[Any] | None = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[ndarray, tuple[ndarray, ...]]:
    """Return the number of points in each bin of several variables, and the bins' edges.

    Parameters
    ----------
    sample : ndarray or sequence
        An array in which each row is an observation, or a sequence of one vector for each variable.
    bins : int, or a sequence of ints or edges
        The number of bins of all variables; or, for each variable, the number or the edges.
    range : sequence of pairs or None, optional
        The first and last edge of each variable's bins. Those that are missing are the smallest and
        the largest value, which are read from the device.
    density : bool
        Whether counts are divided by their sum and the bins' volumes.
    weights : array_like, optional
        The weight of each observation.

    Returns
    -------
    counts : ndarray
        The counts, float64 as in NumPy.
    edges : tuple of ndarray
        The edges of each variable's bins.
    """
    columns = _columns(sample)
    number = len(columns)
    try:
        asked = list(bins)
    except TypeError:
        asked = [bins] * number
    if len(asked) != number:
        raise ValueError("The dimension of bins must be equal to the dimension of the sample x.")
    limits = [None] * number if range is None else list(range)
    if len(limits) != number:
        raise ValueError("range argument must have one entry per dimension")
    edges = []
    flat: Any = None
    for values, wanted, ends in zip(columns, asked, limits, strict=True):
        host_edges = edges_of(values, wanted, ends)
        if np.ndim(wanted) == 0 and ends is not None:  # as NumPy: in the ends' dtype alone
            host_edges = np.linspace(ends[0], ends[1], host_edges.size)
        places = bins_of(values, host_edges)
        edges.append(host_edges)
        flat = places if flat is None else _combined(flat, places, host_edges.size - 1)
    shape = tuple(each.size - 1 for each in edges)
    size = int(np.prod(shape))
    if weights is None:
        whole = zeros(size, np.int64)
        if flat.size:
            count_at(flat, whole)
        counts = whole.astype(np.float64)
    else:
        counts = zeros(size, np.float64)
        if flat.size:
            add_at(flat, as_device_array(weights).astype(np.float64, copy=False), counts)
    counts = counts.reshape(*shape)
    if density:
        volumes = np.ones(shape)
        for axis, each in enumerate(edges):
            volumes *= np.diff(each).reshape([-1] + [1] * (number - axis - 1))
        counts = counts / array(volumes) / reductions.sum(counts)
    return counts, tuple(array(each) for each in edges)


def _columns(sample: Any) -> list[ndarray]:
    """Return the variables of a sample: an array's columns, or the vectors of a sequence."""
    if isinstance(sample, ndarray | np.ndarray):
        whole = as_device_array(sample)
        if whole.ndim == 1:
            return [whole]
        return list(whole.T)
    parts = [as_device_array(each) for each in sample]
    if not parts or not parts[0].ndim:
        return [as_device_array(sample)]
    common = supported(np.result_type(*(part.dtype for part in parts)))
    return [part.astype(common, copy=False) for part in parts]


def histogram2d(
    x: Any,
    y: Any,
    bins: Any = 10,
    range: Sequence[Any] | None = None,
    density: bool | None = None,
    weights: Any = None,
) -> tuple[ndarray, ndarray, ndarray]:
    """Return the number of points in each bin of two variables, and both variables' edges.

    If ``bins`` is a sequence of more than two numbers, these are the edges for both variables. The
    other parameters are those of :func:`histogramdd`.
    """
    both = [as_device_array(x).ravel(), as_device_array(y).ravel()]
    if both[0].size != both[1].size:
        raise ValueError("x and y must have the same length.")
    if hasattr(bins, "__len__") and len(bins) > 2:
        bins = [bins, bins]
    counts, edges = histogramdd(both, bins, range, density, weights)
    return counts, edges[0], edges[1]
