"""Functions along an axis: cumulative sums, integrals, unwrapping of phases, and calls of functions
that the caller passes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import ufuncs
from .._core.creation import array, as_device_array, asarray, empty, zeros
from .._core.lazy_kernels import elementwise
from .._core.ndarray import ndarray
from .._manipulation.joining import axis_key, axis_of, concatenate
from .._manipulation.ranges import arange, linspace
from .._manipulation.views import copyto, expand_dims, moveaxis
from .._runtime.calls import integers
from . import reductions
from .differences import diff
from .elements import as_inexact

__all__ = [
    "apply_along_axis",
    "apply_over_axes",
    "asarray_chkfinite",
    "c_",
    "cumulative_prod",
    "cumulative_sum",
    "i0",
    "piecewise",
    "r_",
    "real_if_close",
    "trapezoid",
    "unwrap",
]

# The kernel sums the power series. Its terms are positive, so no digits cancel. The number of terms
# that matter is about the argument's magnitude; beyond 800 the sum is infinite in every dtype.
_i0 = elementwise(
    "T x, T least",
    "T y",
    "T half = (x < T(0) ? -x : x) / T(2); T term = T(1); T sum = T(1);"
    "for (int k = 1; k < 2000 && term > sum * least; ++k)"
    " { T step = half / T(k); term = term * step * step; sum += term; }"
    "y = isnan(x) ? x : sum",
    "bessel_i0",
)


# ---- totals


def cumulative_sum(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: npt.DTypeLike | None = None,
    out: Any = None,
    include_initial: bool = False,
) -> Any:
    """Return the cumulative sums along an axis, preceded by 0 if ``include_initial`` is true.

    Parameters
    ----------
    x : array_like
        The array to sum.
    axis : int, optional
        The axis to sum along. It may be omitted if the array has only one.
    dtype, out
        See :func:`arraycore.cumsum`.
    include_initial : bool
        Whether the result begins with 0, the sum of no elements.
    """
    return _cumulative(reductions.cumsum, 0, x, axis, dtype, out, include_initial)


def cumulative_prod(
    x: Any,
    /,
    *,
    axis: int | None = None,
    dtype: npt.DTypeLike | None = None,
    out: Any = None,
    include_initial: bool = False,
) -> Any:
    """Return the cumulative products; the parameters are those of :func:`cumulative_sum`.

    With ``include_initial`` the result begins with 1, the product of no elements.
    """
    return _cumulative(reductions.cumprod, 1, x, axis, dtype, out, include_initial)


def _cumulative(
    running: Callable[..., Any], first: int, x: Any, axis: int | None, dtype: Any, out: Any,
    include_initial: bool,
) -> Any:  # fmt: skip
    values: Any = as_device_array(x)
    if values.ndim == 0:
        values = values.reshape(1)
    if axis is None:
        if values.ndim > 1:
            raise ValueError("For arrays which have more than one dimension ``axis`` is required.")
        axis = 0
    if not include_initial:
        return running(values, axis, dtype, out)
    at = axis_of(axis, values.ndim)
    totals = running(values, at, dtype)
    shape = list(totals.shape)
    shape[at] += 1
    made = empty(tuple(shape), totals.dtype) if out is None else out
    if made.shape != tuple(shape):
        raise ValueError(f"'out' has shape {made.shape}, the result {tuple(shape)}")
    made[axis_key(at, slice(0, 1))] = first
    made[axis_key(at, slice(1, None))] = totals
    return made


def trapezoid(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """Return the integral along an axis by the trapezoidal rule.

    Parameters
    ----------
    y : array_like
        The values to integrate.
    x : array_like, optional
        The points of the values: a vector along the axis, or an array of y's shape.
    dx : float
        The distance between neighbouring points if ``x`` is not given.
    axis : int
        The axis to work along.
    """
    values: Any = as_device_array(y)
    at = axis_of(axis, values.ndim)
    width: Any = dx
    if x is not None:
        points = as_device_array(x)
        width = diff(points) if points.ndim == 1 else diff(points, axis=at)
        if points.ndim == 1:
            width = width.reshape([-1 if each == at else 1 for each in range(values.ndim)])
    after, before = (values[axis_key(at, part)] for part in (slice(1, None), slice(None, -1)))
    return reductions.sum(width * (after + before) / 2.0, at)


def unwrap(
    p: Any, discont: float | None = None, axis: int = -1, *, period: float = 2 * math.pi
) -> ndarray:
    """Return phases without jumps: whole periods are added where a step exceeds half a period.

    Parameters
    ----------
    p : array_like
        The phases.
    discont : float, optional
        The smallest step that counts as a jump; at least half a period.
    axis : int
        The axis to work along.
    period : float
        The period of the phases. Integer phases stay integers if the period is an integer.
    """
    values: Any = as_device_array(p)
    at = axis_of(axis, values.ndim)
    steps: Any = diff(values, axis=at)
    least = period / 2 if discont is None else discont
    common = np.result_type(steps.dtype, period)
    if common.kind in "iu":
        high, odd = divmod(period, 2)
        ambiguous = odd == 0
    else:
        high, ambiguous = period / 2, True
    steps = steps.astype(common, copy=False)
    wrapped = ufuncs.remainder(steps + high, period) - high
    if ambiguous:
        copyto(wrapped, high, "unsafe", where=(wrapped == -high) & (steps > 0))
    change = wrapped - steps
    copyto(change, 0, "unsafe", where=ufuncs.absolute(steps) < least)
    made = values.astype(common)
    rest = axis_key(at, slice(1, None))
    made[rest] += reductions.cumsum(change, at, change.dtype)
    return made  # type: ignore[no-any-return]


# ---- functions of one element


def i0(x: Any) -> ndarray:
    """Return the modified Bessel function of the first kind of order 0, by its power series.

    Parameters
    ----------
    x
        An array of any shape, real.

    Returns
    -------
    ndarray
        An array of x's shape and dtype, or float64 for integers and booleans. float16 is computed
        in float32. The relative error is a few units in the last place. On a device, whose
        quotients are less exact, it is up to ``3 * abs(x)`` of these units.

    Raises
    ------
    TypeError
        ``x`` is complex.
    """
    values = as_inexact(x)
    if values.dtype.kind == "c":
        raise TypeError("i0 not supported for complex values")
    computed = values.astype(np.float32) if values.dtype == np.float16 else values
    made: ndarray = _i0(computed, float(np.finfo(computed.dtype).eps) / 8)
    return made.astype(values.dtype, copy=False)


def real_if_close(a: Any, tol: float = 100) -> ndarray:
    """Return the real parts if all imaginary parts are close to 0, else the array itself.

    One bool is read from the device. A ``tol`` above 1 is a multiple of the dtype's epsilon; up to
    1 it is an absolute bound.
    """
    values: Any = as_device_array(a)
    if values.dtype.kind != "c":
        return values  # type: ignore[no-any-return]
    bound = tol * float(np.finfo(values.dtype).eps) if tol > 1 else tol
    near = bool(reductions.all(ufuncs.absolute(values.imag) < bound))
    return values.real if near else values  # type: ignore[no-any-return]


def asarray_chkfinite(a: Any, dtype: npt.DTypeLike | None = None, order: str = "K") -> ndarray:
    """Return :func:`arraycore.asarray` of ``a``, and raise if an element is not finite.

    One bool is read from the device.

    Raises
    ------
    ValueError
        An element is infinite or NaN.
    """
    made: Any = asarray(a, dtype, order)
    if made.dtype.kind in "fc" and not bool(reductions.all(ufuncs.isfinite(made))):
        raise ValueError("array must not contain infs or NaNs")
    return made  # type: ignore[no-any-return]


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> ndarray:
    """Return, for each element, the result of the function of its last true condition.

    Parameters
    ----------
    x : array_like
        The argument of the functions. Unlike in NumPy each function gets the whole array.
    condlist : array of bools or sequence of them
        The conditions, each of x's shape.
    funclist : sequence of callables or numbers
        A function or number for each condition. One more may follow for the elements for which no
        condition is true; without it their results are 0.
    args, kw
        Further arguments of the functions.
    """
    values: Any = as_device_array(x)
    conditions = _conditions(condlist, values)
    pieces = list(funclist)
    if len(pieces) not in (len(conditions), len(conditions) + 1):
        raise ValueError(
            f"with {len(conditions)} condition(s), either {len(conditions)} or "
            f"{len(conditions) + 1} functions are expected"
        )
    made = zeros(values.shape, values.dtype)
    if len(pieces) > len(conditions):
        default = pieces.pop()
        copyto(made, default(values, *args, **kw) if callable(default) else default, "unsafe")
    for condition, piece in zip(conditions, pieces, strict=True):
        value = piece(values, *args, **kw) if callable(piece) else piece
        copyto(made, value, "unsafe", where=condition)
    return made


def _conditions(condlist: Any, values: Any) -> list[Any]:
    if isinstance(condlist, ndarray | np.ndarray):
        one = condlist.ndim < 2 and condlist.ndim == values.ndim
        listed: list[Any] = [condlist] if one else list(condlist)
    else:
        scalars = bool(condlist) and np.ndim(condlist[0]) == 0 and values.ndim > 0
        mine = bool(condlist) and isinstance(condlist[0], ndarray)
        listed = [condlist] if scalars and not mine else list(condlist)
    return [each if isinstance(each, ndarray) else array(np.asarray(each, bool)) for each in listed]


# ---- functions that the caller passes


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any
) -> ndarray:
    """Call a function of a vector once for each row along an axis, in a Python loop.

    Parameters
    ----------
    func1d : callable
        A function of a vector of arraycore; all its results must have one shape.
    axis : int
        The axis to work along; the results' axes take its place.
    arr : array_like
        The array whose rows are passed to the function.
    args, kwargs
        Further arguments of the function.

    Raises
    ------
    ValueError
        There is no row.
    """
    values = as_device_array(arr)
    at = axis_of(axis, values.ndim)
    turned = moveaxis(values, at, -1)
    outer = turned.shape[:-1]
    if 0 in outer:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    made: Any = None
    for place in np.ndindex(*outer):
        part: Any = func1d(turned[place], *args, **kwargs)
        part = as_device_array(part)
        if made is None:
            made = empty(outer + part.shape, part.dtype)
        made[place] = part
    for offset in range(made.ndim - len(outer)):
        made = moveaxis(made, len(outer) + offset, at + offset)
    return made  # type: ignore[no-any-return]


def apply_over_axes(func: Callable[[Any, int], Any], a: Any, axes: int | Iterable[int]) -> ndarray:
    """Apply a reduction along one axis after the other; each reduced axis stays, with extent 1."""
    values: Any = as_device_array(a)
    ndim = values.ndim
    for axis in integers(axes):
        at = axis_of(axis, ndim)
        made = func(values, at)
        if made.ndim != values.ndim:
            made = expand_dims(made, at)
            if made.ndim != values.ndim:
                raise ValueError("function is not returning an array of the correct shape")
        values = made
    return values  # type: ignore[no-any-return]


class _Joined:
    """An object whose brackets join slices (as ranges), numbers and arrays along an axis."""

    def __init__(self, columns: bool) -> None:
        self._columns = columns

    def __getitem__(self, key: Any) -> ndarray:
        parts: list[ndarray] = []
        kinds: list[Any] = []  # dtypes; Python's numbers themselves, as these are weak
        for item in key if isinstance(key, tuple) else (key,):
            if isinstance(item, str):
                raise NotImplementedError(
                    "arraycore.r_ and c_ take no directives: call concatenate or stack with an "
                    "axis."
                )
            if isinstance(item, slice):
                start, step = item.start or 0, 1 if item.step is None else item.step
                if isinstance(step, complex):
                    part = linspace(start, item.stop, int(abs(step)))
                else:
                    part = arange(start, item.stop, step)
            else:
                part = as_device_array(item)
            weak = isinstance(item, (bool, int, float, complex))
            kinds.append(item if weak else part.dtype)
            if part.ndim == 0:
                part = part[None]
            parts.append(part[:, None] if self._columns and part.ndim == 1 else part)
        common = np.result_type(*kinds)
        return concatenate(parts, -1 if self._columns else 0, dtype=common, casting="unsafe")


#: Joins the parts in its brackets along the first axis, as NumPy's ``r_`` without directives.
r_ = _Joined(False)
#: Joins the parts in its brackets as columns, as NumPy's ``c_``.
c_ = _Joined(True)
