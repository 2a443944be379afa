"""Functions of rows and of neighbours: totals, integrals, phases, and functions of one's own."""

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

# The power series: its terms are positive, so that nothing cancels. Those that count are as many as
# the argument's size, about; beyond 800 the sum is infinite in every type.
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
    """Return the sums of the elements up to each along an axis, with 0 before all if asked for.

    Parameters
    ----------
    x : array_like
        What is summed.
    axis : int, optional
        May be left out where there is one alone.
    dtype, out
        As for :func:`arraycore.cumsum`.
    include_initial : bool
        Whether the sum of nothing comes first.
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
    """Return the products of the elements up to each, as :func:`cumulative_sum`, from 1 on."""
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
        What is integrated.
    x : array_like, optional
        Where: a vector along the axis, or of y's shape.
    dx : float
        The distance of neighbours where there is no ``x``.
    axis : int
        Along which axis.
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
    """Return phases without jumps: whole periods are added where a step is over half of one.

    Parameters
    ----------
    p : array_like
        The phases.
    discont : float, optional
        The least step that is a jump; half a period at least.
    axis : int
        Along which axis.
    period : float
        What the phases wrap round at; a whole one leaves integers integers.
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
        Of x's shape, in its dtype (float16 is computed in float32); of integers and booleans, in
        float64. Its relative error is a few units in the last place; on a device, whose quotients
        may err more, up to 3 for each unit of ``abs(x)``.

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
    """Return the real parts where all imaginary parts are about 0, else the array itself.

    Whether they are is read from the device. ``tol`` counts in the dtype's epsilons, or, up to 1,
    as it is.
    """
    values: Any = as_device_array(a)
    if values.dtype.kind != "c":
        return values  # type: ignore[no-any-return]
    bound = tol * float(np.finfo(values.dtype).eps) if tol > 1 else tol
    near = bool(reductions.all(ufuncs.absolute(values.imag) < bound))
    return values.real if near else values  # type: ignore[no-any-return]


def asarray_chkfinite(a: Any, dtype: npt.DTypeLike | None = None, order: str = "K") -> ndarray:
    """Return :func:`arraycore.asarray` of what is finite; whether it is is read from the device.

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
    """Return, for each element, what the function (or number) of its last true condition gives.

    Parameters
    ----------
    x : array_like
        What the functions take, whole: unlike NumPy's they see the elements of other pieces too.
    condlist : array of bools or sequence of them
        Of x's shape.
    funclist : sequence of callables or numbers
        One more than the conditions gives the default, else 0.
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


# ---- functions of one's own


def apply_along_axis(
    func1d: Callable[..., Any], axis: int, arr: Any, *args: Any, **kwargs: Any
) -> ndarray:
    """Call a function of vectors with each row along an axis, one call a row, in Python.

    Parameters
    ----------
    func1d : callable
        Of a vector of arraycore's; all its results have one shape.
    axis : int
        Along which axis; the results' axes take its place.
    arr : array_like
        What the rows are of.
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
    """Call a reduction with one axis after the other; those that it drops stay, of extent 1."""
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
    """What brackets of parts give: slices as ranges, numbers and arrays, joined along an axis."""

    def __init__(self, columns: bool) -> None:
        self._columns = columns

    def __getitem__(self, key: Any) -> ndarray:
        parts: list[ndarray] = []
        kinds: list[Any] = []  # Python's numbers have no dtype of their own
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


#: Parts between brackets joined along the first axis, as NumPy's ``r_`` without directives.
r_ = _Joined(False)
#: Parts between brackets joined as columns, as NumPy's ``c_``.
c_ = _Joined(True)
