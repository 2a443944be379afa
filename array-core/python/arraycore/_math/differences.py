"""Differences, slopes and sums of neighbours: diff, gradient, interp, convolve."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core import ufuncs
from .._core.creation import as_device_array, empty
from .._core.lazy_kernels import elementwise
from .._core.ndarray import ndarray
from .._manipulation.joining import axis_key, axis_of, concatenate, take_axis
from .._manipulation.views import broadcast_to
from .._runtime import operations
from .._runtime.calls import integers
from .._runtime.opcodes import SORT_PLACES
from .elements import as_inexact

__all__ = [
    "convolve",
    "correlate",
    "diff",
    "ediff1d",
    "gradient",
    "interp",
]

# Finds by bisection the last point that is not above x. NaN is above all points, as in NumPy; where
# the first point is NaN, x lies between it and the next one, and the value is NaN.
_interp = elementwise(
    "T x, raw T xp, raw F fp, F left, F right, bool own_ends",
    "F y",
    "int count = xp.size(); int low = 0; int high = count;"
    "while (low < high) { int mid = (low + high) / 2;"
    " if (xp[mid] <= x) low = mid + 1; else high = mid; }"
    "if (isnan(x) && count > 1) y = F(x);"
    "else if (count == 1 && !(x < xp[0] || x > xp[0])) y = fp[0];"
    "else if (x > xp[count - 1]) y = own_ends ? right : fp[count - 1];"
    "else if (x < xp[0]) y = own_ends ? left : fp[0];"
    "else if (low == count) y = fp[count - 1];"
    "else if (low > 0 && xp[low - 1] == x) y = fp[low - 1];"
    "else { if (low == 0) low = 1; F slope = (fp[low] - fp[low - 1]) / F(xp[low] - xp[low - 1]);"
    " y = slope * F(x - xp[low - 1]) + fp[low - 1];"
    " if (isnan(y)) { y = slope * F(x - xp[low]) + fp[low];"
    "  if (isnan(y) && fp[low] == fp[low - 1]) y = fp[low]; } }",
    "interp",
)
_convolve = elementwise(
    "raw T a, raw T v, int32 first",
    "T y",
    "int at = i + first; T sum = T(0);"
    "int low = at - v.size() + 1; if (low < 0) low = 0;"
    "int high = at; if (high > a.size() - 1) high = a.size() - 1;"
    "for (int k = low; k <= high; ++k) sum += a[k] * v[at - k];"
    "y = sum",
    "convolve",
)


def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> ndarray:
    """Return the ``n``-th differences of neighbours along an axis.

    For bools a difference says whether neighbours differ. ``prepend`` and ``append`` are arrays or
    numbers that are joined to the ends first.
    """
    if n < 0:
        raise ValueError(f"order must be non-negative but got {n!r}")
    values = as_device_array(a)
    if values.ndim == 0:
        raise ValueError("diff requires input that is at least one dimensional")
    along = axis_of(axis, values.ndim)
    if n == 0:
        return values
    parts = []
    for each in (prepend, values, append):
        if each is None:
            continue
        part = as_device_array(each)
        if part.ndim == 0:
            part = broadcast_to(part, (*values.shape[:along], 1, *values.shape[along + 1 :]))
        parts.append(part)
    made = concatenate(parts, along) if len(parts) > 1 else values
    function = ufuncs.not_equal if made.dtype == np.bool_ else ufuncs.subtract
    for _ in range(n):
        made = function(
            made[axis_key(along, slice(1, None))], made[axis_key(along, slice(None, -1))]
        )
    return made


def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> ndarray:
    """Return the differences of neighbours of the flattened array.

    ``to_begin`` and ``to_end`` are values that are put before and after the differences.
    """
    values = as_device_array(ary).ravel()
    parts: list[ndarray] = []
    for each, what in ((to_begin, "to_begin"), (None, ""), (to_end, "to_end")):
        if not what:
            parts.append(values[1:] - values[:-1])
        elif each is not None:
            ends = as_device_array(each).ravel()
            if not np.can_cast(ends.dtype, values.dtype, "same_kind"):
                raise TypeError(
                    f"dtype of `{what}` must be compatible with input `ary` under the `same_kind` "
                    "rule."
                )
            parts.append(ends.astype(values.dtype, copy=False))
    return concatenate(parts) if len(parts) > 1 else parts[0]


def gradient(
    f: Any, *varargs: Any, axis: int | tuple[int, ...] | None = None, edge_order: int = 1
) -> Any:
    """Return the slopes along each axis: central differences inside, one-sided ones at the ends.

    Parameters
    ----------
    f : array_like
        The function's values.
    *varargs : number or array
        One spacing for all axes, or one for each. An array has the coordinates along an axis.
    axis : int or ints, optional
        The axes, by default all. With several axes the result is a tuple of arrays.
    edge_order : {1, 2}
        The order of the differences at the ends.

    Notes
    -----
    For uneven spacing, with ``h`` before and ``d`` after a point, the formula of second order is
    ``(h^2 f(x+d) + (d^2 - h^2) f(x) - d^2 f(x-h)) / (h d (d + h))``.
    """
    values = as_inexact(f)
    ndim = values.ndim
    axes = tuple(range(ndim)) if axis is None else tuple(
        axis_of(each, ndim) for each in integers(axis)
    )  # fmt: skip
    if len(varargs) not in (0, 1, len(axes)):
        raise TypeError("invalid number of arguments")
    spacings = list(varargs) or [1.0]
    if len(spacings) == 1 and len(axes) != 1:
        if np.ndim(spacings[0]) if not isinstance(spacings[0], ndarray) else spacings[0].ndim:
            raise TypeError("invalid number of arguments")
        spacings *= len(axes)
    if edge_order not in (1, 2):
        raise ValueError("'edge_order' greater than 2 not supported")
    slopes = tuple(
        _slope(values, along, spacing, edge_order)
        for along, spacing in zip(axes, spacings, strict=True)
    )
    return slopes[0] if len(slopes) == 1 else slopes


def _slope(f: ndarray, along: int, spacing: Any, edge_order: int) -> ndarray:
    extent = f.shape[along]
    if extent < edge_order + 1:
        raise ValueError(
            "Shape of array too small to calculate a numerical gradient, at least "
            "(edge_order + 1) elements are required."
        )

    def at(begin: Any, end: Any = None) -> ndarray:
        return f[axis_key(along, slice(begin, end))]

    made = empty(f.shape, f.dtype)
    inner, first, last = (
        made[axis_key(along, slice(*bounds))] for bounds in ((1, -1), (0, 1), (extent - 1, None))
    )
    if isinstance(spacing, ndarray) or np.ndim(spacing):
        points = as_inexact(spacing)
        if points.ndim != 1 or points.shape[0] != extent:
            raise ValueError(
                "when 1d, distances must match the length of the corresponding dimension"
            )
        steps = diff(points).reshape(-1, *(1,) * (f.ndim - along - 1))
        h, d = steps[:-1], steps[1:]
        inner[...] = (
            at(None, -2) * (-d / (h * (h + d))) + at(1, -1) * ((d - h) / (h * d))
            + at(2) * (h / (d * (h + d)))
        )  # fmt: skip
        ends = ((first, steps[0], steps[1] if extent > 2 else None, 1),
                (last, steps[-1], steps[-2] if extent > 2 else None, -1))  # fmt: skip
    else:
        inner[...] = (at(2) - at(None, -2)) / (2.0 * spacing)
        ends = ((first, spacing, spacing, 1), (last, spacing, spacing, -1))
    for target, near, far, sign in ends:
        # `one` is the value at this end of the axis, and `two` is its neighbour.
        one, two = (at(0, 1), at(1, 2)) if sign > 0 else (at(-1), at(-2, -1))
        if edge_order == 1:
            target[...] = ((two - one) if sign > 0 else (one - two)) / near
            continue
        three = at(2, 3) if sign > 0 else at(-3, -2)
        both = near + far
        terms = [
            one * (-sign * (near + both) / (near * both)),
            two * (sign * both / (near * far)),
            three * (-sign * near / (far * both)),
        ]
        # NumPy adds them in the order of the axis, which decides the sign of a sum that is 0.
        begin, middle, end = terms[::sign]
        target[...] = begin + middle + end
    return made


def interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: float | None = None
) -> ndarray:
    """Return the values at ``x`` of the piecewise linear function through the points (xp, fp).

    The result is float64, or complex128 if ``fp`` is complex.

    ``left`` and ``right`` are the values outside the points, by default those of the end points.
    ``xp`` must be ascending, which is not checked. With a ``period`` the points are sorted, and the
    function repeats.
    """
    at, points, values = (as_device_array(each) for each in (x, xp, fp))
    if points.ndim != 1 or values.ndim != 1:
        raise ValueError("Data points must be 1-D sequences")
    if points.shape != values.shape:
        raise ValueError("fp and xp are not of the same length.")
    if points.shape[0] == 0:
        raise ValueError("array of sample points is empty")
    if period is not None:
        if period == 0:
            raise ValueError("period must be a non-zero value")
        return interp(*_of_one_period(at, points, values, float(abs(period))))
    wanted = np.dtype(np.complex128 if values.dtype.kind == "c" else np.float64)
    if wanted.kind == "c":
        made = empty(at.shape, wanted)
        for part, target in (("real", made.real), ("imag", made.imag)):
            ends = (end if end is None else getattr(complex(end), part) for end in (left, right))
            target[...] = interp(at, points, getattr(values, part), *ends)
        return made
    own = left is not None or right is not None
    low = values[0] if own and left is None else 0.0 if left is None else float(left)
    high = values[-1] if own and right is None else 0.0 if right is None else float(right)
    at, points, values = (each.astype(wanted, copy=False) for each in (at, points, values))
    ends_words = [
        each.astype(wanted, copy=False) if isinstance(each, ndarray) else each
        for each in (low, high)
    ]
    return _interp(at, points, values, *ends_words, own)  # type: ignore[no-any-return]


def _of_one_period(at: Any, points: Any, values: Any, period: float) -> tuple[Any, Any, Any]:
    """Return the arguments of :func:`interp` for a function that repeats."""
    at, points = (
        ufuncs.remainder(each.astype(np.float64, copy=False), period) for each in (at, points)
    )
    order = ndarray._adopt(operations.sort(points, 0, SORT_PLACES))
    points, values = take_axis(points, order, 0), take_axis(values, order, 0)
    points = concatenate([points[-1:] - period, points, points[:1] + period])
    return at, points, concatenate([values[-1:], values, values[:1]])


# ---- sums of products of neighbours


def convolve(a: Any, v: Any, mode: str = "full") -> ndarray:
    """Return the discrete convolution of two vectors; ``mode`` is "full", "same" or "valid".

    Each element is computed as one sum, so the time grows with the product of both lengths.
    """
    x, y = _vector(a, "a"), _vector(v, "v")
    longer, shorter = (x, y) if x.size >= y.size else (y, x)
    return _products(longer, shorter, mode, (shorter.size - 1) // 2)


def correlate(a: Any, v: Any, mode: str = "valid") -> ndarray:
    """Return the cross-correlation of two vectors: ``c[k] = sum(a[n + k] * conj(v[n]))``."""
    x, y = _vector(a, "a"), _vector(v, "v")
    turned = (ufuncs.conjugate(y) if y.dtype.kind == "c" else y)[::-1]
    if x.size >= y.size:
        return _products(x, turned, mode, (y.size - 1) // 2)
    # The vectors are exchanged. So if the shorter one has an even length, "same" begins one element
    # later than above.
    return _products(turned, x, mode, x.size // 2)


def _vector(given: Any, name: str) -> ndarray:
    made = as_device_array(given)
    if made.ndim > 1:
        raise ValueError("object too deep for desired array")
    if made.size == 0:
        raise ValueError(f"{name} cannot be empty")
    return made.ravel()


def _products(longer: ndarray, shorter: ndarray, mode: str, middle: int) -> ndarray:
    """Return a mode's part of the full convolution; "same" begins at element `middle`."""
    parts = {
        "full": (0, longer.size + shorter.size - 1),
        "same": (middle, longer.size),
        "valid": (shorter.size - 1, longer.size - shorter.size + 1),
    }
    if mode not in parts:
        raise ValueError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    first, length = parts[mode]
    common = np.result_type(longer.dtype, shorter.dtype)
    if common == np.bool_:  # any product in the sum
        counted = _products(longer.astype(np.int32), shorter.astype(np.int32), mode, middle)
        return counted != 0  # type: ignore[no-any-return]
    made = empty(length, common)
    _convolve(longer.astype(common, copy=False), shorter.astype(common, copy=False), first, made)
    return made
