"""Arrays of evenly spaced values, grids of such values, and window functions.

The device computes ``arange``. The host computes ``linspace`` and windows by calling NumPy, which
uses float64 whatever the result's dtype is, and copies the values to the device.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import ufuncs
from .._core.creation import array, asarray, check_like, empty, operand_array
from .._core.lazy_kernels import elementwise
from .._core.ndarray import ndarray
from .._runtime.devices import check_device
from .._runtime.dtypes import supported
from .views import broadcast_to, moveaxis

__all__ = [
    "arange",
    "bartlett",
    "blackman",
    "fromfunction",
    "geomspace",
    "hamming",
    "hanning",
    "kaiser",
    "linspace",
    "logspace",
    "meshgrid",
    "mgrid",
    "ogrid",
]

# As in NumPy, the values are computed in the result's dtype, and the step is the difference of the
# first two values.
_arange = elementwise("T start, T step", "T y", "y = start + (T)i * step", "arange")


def arange(
    start: Any,
    stop: Any = None,
    step: Any = 1,
    dtype: npt.DTypeLike | None = None,
    *,
    device: Any = None,
    like: Any = None,
) -> Any:
    """Return evenly spaced values of [start, stop), as :func:`numpy.arange`.

    Raises
    ------
    ZeroDivisionError
        The step is 0.
    ValueError
        There are more than two values of dtype bool.
    """
    check_device(device)
    check_like(like)
    if stop is None:
        start, stop = 0, start
    if step is None:
        step = 1
    wanted = supported(
        np.result_type(*map(_typed, (start, stop, step))) if dtype is None else dtype
    )
    count = (stop - start) / step
    if not math.isfinite(count.real):
        raise ValueError("arange: cannot compute length")
    length = max(0, math.ceil(count.real))
    if wanted.kind in "bc" or length <= 2:
        return array(np.arange(start, stop, step, dtype=wanted))
    made = empty(length, wanted)
    first = np.asarray(start).astype(wanted)[()]
    second = np.asarray(start + step).astype(wanted)[()]
    with np.errstate(over="ignore"):  # integers wrap, as NumPy's
        difference = np.subtract(second, first, dtype=wanted)
    _arange(first, difference, made)
    return made


def _typed(value: Any) -> Any:
    return np.asarray(value).dtype


def linspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: npt.DTypeLike | None = None,
    axis: int = 0,
    *,
    device: Any = None,
) -> Any:
    """Return ``num`` evenly spaced values over an interval, as :func:`numpy.linspace`.

    If an end is an array of arraycore, the values are computed on the device, in the ends' common
    floating dtype.
    """
    check_device(device)
    if not isinstance(start, ndarray) and not isinstance(stop, ndarray):
        values, step = np.linspace(start, stop, num, endpoint, retstep=True, dtype=dtype, axis=axis)
        return (array(values), step) if retstep else array(values)
    start, stop = (operand_array(each) if isinstance(each, list | tuple | np.ndarray) else each
                   for each in (start, stop))  # fmt: skip
    if num < 0:
        raise ValueError(f"Number of samples, {num}, must be non-negative.")
    # A Python number does not widen the dtype (it is "weak" in NumPy's promotion), as in every
    # operation.
    ends = (each.dtype if isinstance(each, ndarray) else each for each in (start, stop))
    computed = np.result_type(*ends, 1.0)
    first, last = asarray(start), asarray(stop)
    divisor = num - 1 if endpoint else num
    first, span = first.astype(computed), last.astype(computed) - first.astype(computed)
    step = span / (divisor or math.nan)
    counted = arange(0, num, dtype=computed).reshape(-1, *(1,) * span.ndim)
    made = counted * step + first if divisor > 0 else counted * span + first
    if endpoint and num > 1:
        made[-1] = last
    if dtype is not None:
        wanted = supported(dtype)
        if wanted.kind in "iu":
            ufuncs.floor(made, out=made)
        made = made.astype(wanted)
    made = moveaxis(made, 0, axis)
    return (made, step) if retstep else made


def logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: float = 10.0,
    dtype: npt.DTypeLike | None = None,
    axis: int = 0,
) -> ndarray:
    """Return ``base`` to evenly spaced powers, as :func:`numpy.logspace`; arguments are NumPy's."""
    _on_host("logspace", start, stop, base)
    return array(np.logspace(start, stop, num, endpoint, base, dtype, axis))


def geomspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    dtype: npt.DTypeLike | None = None,
    axis: int = 0,
) -> ndarray:
    """Return values of constant ratio, as :func:`numpy.geomspace`; arguments are NumPy's."""
    _on_host("geomspace", start, stop)
    return array(np.geomspace(start, stop, num, endpoint, dtype, axis))


def _on_host(function: str, *values: Any) -> None:
    if any(isinstance(value, ndarray) for value in values):
        raise NotImplementedError(
            f"arraycore.{function} takes numbers: of arrays, take arraycore.exp of "
            "arraycore.linspace."
        )


# ---- grids


def meshgrid(
    *xi: ndarray, copy: bool = True, sparse: bool = False, indexing: str = "xy"
) -> tuple[ndarray, ...]:
    """Return one array of coordinates for each axis of the grid that vectors span.

    Parameters
    ----------
    *xi : arrays of 0 or 1 dimensions
        The coordinates along each axis.
    copy : bool
        False returns broadcast views, which cannot be written to.
    sparse : bool
        Whether every array has extent 1 along the other axes.
    indexing : {"xy", "ij"}
        "xy" exchanges the first two axes, as plots do.
    """
    if indexing not in ("xy", "ij"):
        raise ValueError("Valid values for `indexing` are 'xy' and 'ij'.")
    count = len(xi)
    grids = []
    for axis, x in enumerate(xi):
        along = 1 - axis if indexing == "xy" and axis < 2 and count > 1 else axis
        grids.append(
            operand_array(x).reshape(*(-1 if each == along else 1 for each in range(count)))
        )
    if not sparse and grids:
        shape = np.broadcast_shapes(*(grid.shape for grid in grids))
        grids = [broadcast_to(grid, shape) for grid in grids]
    return tuple(grid.copy() for grid in grids) if copy else tuple(grids)


class _Grid:
    """The class of ``mgrid`` and ``ogrid``, which make grids from slices.

    A complex step such as ``5j`` gives the number of points.
    """

    __slots__ = ("_sparse",)

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        # NumPy computes the open grid, which is small. The device broadcasts it to the full grid.
        if not isinstance(key, tuple):
            return array(np.ogrid[key])
        axes = tuple(array(axis) for axis in np.ogrid[key])
        if self._sparse:
            return axes
        shape = np.broadcast_shapes(*(axis.shape for axis in axes))
        made = empty((len(axes), *shape), axes[0].dtype if axes else int)
        for place, axis in enumerate(axes):
            made[place] = axis
        return made


#: ``mgrid[0:3, 0:1:5j]`` returns the coordinates of all points of a grid, ``ogrid`` those along
#: each axis.
mgrid, ogrid = _Grid(False), _Grid(True)


def fromfunction(
    function: Any, shape: Any, *, dtype: npt.DTypeLike = float, like: Any = None, **kwargs: Any
) -> Any:
    """Return ``function(*coordinates)``, with an array of coordinates for each axis of a shape."""
    check_like(like)
    axes = [arange(extent, dtype=dtype) for extent in shape]
    return function(*meshgrid(*axes, indexing="ij"), **kwargs)


# ---- windows, of float64


def bartlett(M: int) -> ndarray:
    """Return the triangular window of ``M`` points that ends in zeros."""
    return array(np.bartlett(M))


def blackman(M: int) -> ndarray:
    """Return Blackman's window of ``M`` points."""
    return array(np.blackman(M))


def hamming(M: int) -> ndarray:
    """Return Hamming's window of ``M`` points."""
    return array(np.hamming(M))


def hanning(M: int) -> ndarray:
    """Return von Hann's window of ``M`` points."""
    return array(np.hanning(M))


def kaiser(M: int, beta: float) -> ndarray:
    """Return Kaiser's window of ``M`` points."""
    return array(np.kaiser(M, beta))
