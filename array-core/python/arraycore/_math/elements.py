"""Elementwise functions that are not ufuncs in NumPy: clipping, rounding, tests, complex parts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._core import ufuncs
from .._core.creation import as_device_array, empty_like, zeros
from .._core.lazy_kernels import elementwise, reduction
from .._core.ndarray import ndarray
from .._runtime.scalars import is_scalar

__all__ = [
    "allclose",
    "angle",
    "around",
    "array_equal",
    "array_equiv",
    "clip",
    "fix",
    "imag",
    "isclose",
    "iscomplex",
    "iscomplexobj",
    "isneginf",
    "isposinf",
    "isreal",
    "isrealobj",
    "nan_to_num",
    "real",
    "round",
    "sinc",
]

# A NaN stays NaN, since no comparison with it is true.
_CLIPPED = "y = x < low ? low : x; y = y > high ? high : y;"
_clip = elementwise("T x, T low, T high", "T y", _CLIPPED, "clip")
# On a device, comparisons with NaN may have any result, so NaN is handled explicitly.
_clip_floats = elementwise(
    "T x, T low, T high", "T y", _CLIPPED + " y = isnan(x) ? x : y", "clip_floats"
)
_nan_to_num = elementwise(
    "T x, T nan, T positive, T negative",
    "T y",
    "y = isnan(x) ? nan : isinf(x) ? (x > T(0) ? positive : negative) : x",
    "nan_to_num",
)
_isclose = elementwise(
    "T a, T b, T rtol, T atol, bool equal_nan",
    "bool close",
    "close = a == b || (isfinite(b) && abs(a - b) <= atol + rtol * abs(b))"
    " || (equal_nan && isnan(a) && isnan(b))",
    "isclose",
)
_sinc = elementwise(
    "T x",
    "T y",
    "T angle = T(M_PI) * x; y = angle == T(0) ? T(1) : sin(angle) / angle",
    "sinc",
)
_all = reduction("bool x", "bool y", "x", "a && b", "y = a", "true", "all")
_any = reduction("bool x", "bool y", "x", "a || b", "y = a", "false", "any")


def as_inexact(a: Any) -> ndarray:
    """Return ``a`` as an array of floats or complex numbers: integers and bools as float64."""
    values = as_device_array(a)
    return values.astype(np.float64) if values.dtype.kind in "iub" else values


# ---- limits


def clip(
    a: Any,
    a_min: Any = None,
    a_max: Any = None,
    out: ndarray | None = None,
    *,
    min: Any = None,
    max: Any = None,
    **kwargs: Any,
) -> ndarray:
    """Return an array whose elements are limited to the interval from ``a_min`` to ``a_max``.

    One of the limits may be None. If the limits are numbers that fit the array's dtype, one kernel
    launch computes the result. ``kwargs`` are keywords of :class:`arraycore.ufunc`.
    """
    if min is not None or max is not None:
        if a_min is not None or a_max is not None:
            raise ValueError("`min` and `max` are other names of `a_min` and `a_max`: pass one.")
        a_min, a_max = min, max
    x = as_device_array(a)
    if a_min is None and a_max is None:
        return ufuncs.positive(x, out=out, **kwargs)  # type: ignore[no-any-return]
    if a_min is None:
        return ufuncs.minimum(x, a_max, out=out, **kwargs)  # type: ignore[no-any-return]
    if a_max is None:
        return ufuncs.maximum(x, a_min, out=out, **kwargs)  # type: ignore[no-any-return]
    if kwargs:
        wide = {each: kwargs[each] for each in ("dtype",) if each in kwargs}
        return ufuncs.minimum(ufuncs.maximum(x, a_min, **wide), a_max, out=out, **kwargs)  # type: ignore[no-any-return]
    if x.dtype.kind in "iuf" and is_scalar(a_min) and is_scalar(a_max):
        wanted = np.result_type(x.dtype, a_min, a_max)
        if wanted == x.dtype and (out is None or out.dtype == wanted):
            low, high = wanted.type(a_min), wanted.type(a_max)
            if low == low and high == high:
                args = (x, low, high) if out is None else (x, low, high, out)
                kernel = _clip_floats if wanted.kind == "f" else _clip
                return kernel(*args)  # type: ignore[no-any-return]
    return ufuncs.minimum(ufuncs.maximum(x, a_min), a_max, out=out)  # type: ignore[no-any-return]


def nan_to_num(
    x: Any,
    copy: bool = True,
    nan: float = 0.0,
    posinf: float | None = None,
    neginf: float | None = None,
) -> ndarray:
    """Return an array with NaN replaced by ``nan``, and infinities by ``posinf`` and ``neginf``.

    By default infinities become the largest and the lowest number of the dtype.
    """
    values = as_device_array(x)
    if values.dtype.kind not in "fc":
        return values.copy() if copy else values
    made = values.copy() if copy else values
    ends = np.finfo(made.dtype)
    highest = ends.max if posinf is None else posinf
    lowest = ends.min if neginf is None else neginf
    for part in (made.real, made.imag) if made.dtype.kind == "c" else (made,):
        _nan_to_num(part, nan, highest, lowest, part)
    return made


# ---- rounding


def around(a: Any, decimals: int = 0, out: ndarray | None = None) -> ndarray:
    """Return numbers rounded to ``decimals`` digits after the point, halves to the even digit.

    As in NumPy, a number is scaled by a power of ten, rounded, and scaled back. If ``decimals`` is
    negative, integers are rounded in float64. The divisions of a device may be off by 2.5 units in
    the last place.
    """
    x = as_device_array(a)
    if x.dtype.kind in "iu":
        if decimals >= 0:
            return ufuncs.positive(x, out=out)  # type: ignore[no-any-return]
        scaled = ufuncs.rint(x / 10.0**-decimals)
        target = x.dtype if out is None else out.dtype
        rounded = (scaled * 10.0**-decimals).astype(target)
        if out is None:
            return rounded  # type: ignore[no-any-return]
        out[...] = rounded
        return out
    if x.dtype.kind == "c":
        made = empty_like(x) if out is None else out
        made.real, made.imag = around(x.real, decimals), around(x.imag, decimals)
        return made
    if decimals == 0:
        return ufuncs.rint(x, out=out)  # type: ignore[no-any-return]
    to, back = (ufuncs.multiply, ufuncs.divide)
    if decimals < 0:
        to, back = back, to
    scale = 10.0 ** abs(decimals)
    return back(ufuncs.rint(to(x, scale)), scale, out=out)  # type: ignore[no-any-return]


round = around


def fix(x: Any, out: ndarray | None = None) -> ndarray:
    """Return numbers rounded towards zero."""
    return ufuncs.trunc(as_device_array(x), out=out)  # type: ignore[no-any-return]


# ---- tests


def isclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> ndarray:
    """Return where ``|a - b| <= atol + rtol |b|``; equal infinities are close.

    Both sides are computed in the operands' common floating dtype, which is float64 for integers.
    """
    x, y = as_device_array(a), as_device_array(b)
    common = np.result_type(_weak(a, x), _weak(b, y), 1.0)
    x, y = x.astype(common, copy=False), y.astype(common, copy=False)
    if common.kind != "c":
        return _isclose(x, y, rtol, atol, equal_nan)  # type: ignore[no-any-return]
    near = ufuncs.absolute(x - y) <= ufuncs.absolute(y) * rtol + atol
    close: ndarray = near & ufuncs.isfinite(y) | (x == y)
    if equal_nan:
        close |= ufuncs.isnan(x) & ufuncs.isnan(y)
    return close


def _weak(given: Any, made: ndarray) -> Any:
    return given if isinstance(given, (bool, int, float, complex)) else made.dtype


def allclose(
    a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> ndarray:
    """Return whether all elements are close, as a 0-dimensional array; nothing is read back."""
    return _all(isclose(a, b, rtol, atol, equal_nan))  # type: ignore[no-any-return]


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> ndarray:
    """Return whether shapes and elements are equal, as a 0-dimensional array."""
    x, y = as_device_array(a1), as_device_array(a2)
    if x.shape != y.shape:
        return zeros((), bool)
    same = x == y
    if equal_nan and x.dtype.kind in "fc" and y.dtype.kind in "fc":
        same |= ufuncs.isnan(x) & ufuncs.isnan(y)
    return _all(same)  # type: ignore[no-any-return]


def array_equiv(a1: Any, a2: Any) -> ndarray:
    """Return whether two arrays are equal after broadcasting, as a 0-dimensional array."""
    x, y = as_device_array(a1), as_device_array(a2)
    try:
        np.broadcast_shapes(x.shape, y.shape)
    except ValueError:
        return zeros((), bool)
    return _all(x == y)  # type: ignore[no-any-return]


def isposinf(x: Any, out: ndarray | None = None) -> ndarray:
    """Return where elements are positive infinity."""
    values = _real(x, "isposinf")
    return ufuncs.logical_and(ufuncs.isinf(values), values > 0, out=out)  # type: ignore[no-any-return]


def isneginf(x: Any, out: ndarray | None = None) -> ndarray:
    """Return where elements are negative infinity."""
    values = _real(x, "isneginf")
    return ufuncs.logical_and(ufuncs.isinf(values), values < 0, out=out)  # type: ignore[no-any-return]


def _real(x: Any, function: str) -> ndarray:
    values = as_device_array(x)
    if values.dtype.kind == "c":
        raise TypeError(
            f"This operation is not supported for {values.dtype} values because it would be "
            f"ambiguous: {function} of the real or imaginary part."
        )
    return values


def iscomplex(x: Any) -> ndarray:
    """Return which elements have an imaginary part that is not 0."""
    values = as_device_array(x)
    if values.dtype.kind != "c":
        return zeros(values.shape, bool)
    return values.imag != 0  # type: ignore[no-any-return]


def isreal(x: Any) -> ndarray:
    """Return which elements have no imaginary part, or one that is 0."""
    values = as_device_array(x)
    return values.imag == 0  # type: ignore[no-any-return]


def iscomplexobj(x: Any) -> bool:
    """Return whether the dtype is complex, whatever the values."""
    return bool(x.dtype.kind == "c") if isinstance(x, ndarray) else np.iscomplexobj(x)


def isrealobj(x: Any) -> bool:
    """Return whether the dtype is not complex."""
    return not iscomplexobj(x)


# ---- real and imaginary parts, angle, sinc


def real(val: Any) -> ndarray:
    """Return a view of the real parts; of a real array a view of all its elements."""
    return as_device_array(val).real


def imag(val: Any) -> ndarray:
    """Return a view of the imaginary parts; of a real array a new array of zeros."""
    return as_device_array(val).imag


def angle(z: Any, deg: bool = False) -> ndarray:
    """Return the angles of complex numbers in radians, or in degrees if ``deg`` is true."""
    values = as_device_array(z)
    if values.dtype.kind == "b":
        values = values.astype(np.float64)
    turned = ufuncs.arctan2(values.imag, values.real)
    return turned * (180 / math.pi) if deg else turned  # type: ignore[no-any-return]


def sinc(x: Any) -> ndarray:
    """Return ``sin(pi x) / (pi x)``, 1 at 0; integers are computed in float64."""
    values = as_inexact(x)
    if values.dtype.kind == "c":
        turns: Any = values * math.pi
        at_zero: Any = values == 0
        turns = turns + at_zero.astype(turns.dtype)  # no 0 is divided by
        made: ndarray = ufuncs.sin(turns) / turns
        made[at_zero] = 1
        return made
    return _sinc(values)  # type: ignore[no-any-return]
