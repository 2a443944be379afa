"""NumPy's functions that make indices: grids, triangles, diagonals, and C-order numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import ufuncs
from .._core.creation import array, as_device_array, asarray, empty, ones, operand_array
from .._core.ndarray import ndarray
from .._runtime import session
from .._runtime.calls import integers
from .gathering import nonzero

__all__ = [
    "diag_indices",
    "diag_indices_from",
    "indices",
    "ix_",
    "mask_indices",
    "ravel_multi_index",
    "tril_indices",
    "tril_indices_from",
    "triu_indices",
    "triu_indices_from",
    "unravel_index",
]

_MODES = ("raise", "wrap", "clip")


def ix_(*args: Any) -> tuple[ndarray, ...]:
    """Return an open mesh: one array for each sequence, which lies along an axis of its own.

    Parameters
    ----------
    args : ndarray or array_like
        Vectors. A vector of bools stands for the indices of its true elements.
    """
    made = []
    for number, given in enumerate(args):
        each = given if isinstance(given, ndarray) else np.asarray(given)
        if each.ndim != 1:
            raise ValueError("Cross index must be 1 dimensional")
        if not isinstance(each, ndarray):
            each = asarray(each.astype(np.intp) if each.size == 0 else each)
        if each.dtype.kind == "b":
            (each,) = nonzero(each)
        made.append(each.reshape([-1 if axis == number else 1 for axis in range(len(args))]))
    return tuple(made)


def indices(
    dimensions: Sequence[int], dtype: npt.DTypeLike = np.int64, sparse: bool = False
) -> Any:
    """Return the coordinates of a grid's points.

    The result is one array with one more axis than the grid, or with ``sparse`` a tuple of arrays.

    Parameters
    ----------
    dimensions : sequence of ints
        The grid's extents.
    dtype : dtype
        The dtype of the coordinates.
    sparse : bool
        Whether each axis's coordinates are an array of their own, of extent 1 along other axes.
    """
    shape = integers(tuple(dimensions))
    each = [
        array(np.arange(extent, dtype=dtype)).reshape(
            [-1 if axis == other else 1 for other in range(len(shape))]
        )
        for axis, extent in enumerate(shape)
    ]
    if sparse:
        return tuple(each)
    made = empty((len(shape), *shape), dtype)
    for place, coordinates in zip(made, each, strict=True):
        place[...] = coordinates
    return made


def _on_host(*arrays: Any) -> bool:
    return not any(isinstance(each, ndarray) for each in arrays)


def _steps(shape: tuple[int, ...], order: str) -> list[int]:
    if order not in ("C", "F"):
        raise ValueError("only 'C' or 'F' order is permitted")
    steps = [prod(shape[axis + 1 :]) for axis in range(len(shape))]
    return steps if order == "C" else [prod(shape[:axis]) for axis in range(len(shape))]


def _coordinate(given: Any, extent: int, mode: str) -> ndarray:
    """Return coordinates as an int64 array, after ``mode`` moved them into the axis's range."""
    given = as_device_array(given)
    if given.dtype.kind not in "iu":
        raise TypeError("only int indices permitted")
    wide: ndarray = given.astype(np.int64, copy=False)
    if mode == "wrap":
        return ufuncs.remainder(wide, extent)  # type: ignore[no-any-return]
    if mode == "clip":
        return ufuncs.minimum(ufuncs.maximum(wide, 0), extent - 1)  # type: ignore[no-any-return]
    if not session.is_on_device():
        values = wide.get()
        if values.size and (values.min() < 0 or values.max() >= extent):
            raise ValueError("invalid entry in coordinates array")
    return wide


def ravel_multi_index(
    multi_index: Any, dims: Any, mode: str | tuple[str, ...] = "raise", order: str = "C"
) -> ndarray:
    """Return the index (int64) in the flattened shape of each element with the given coordinates.

    Parameters
    ----------
    multi_index : sequence of ndarray or array_like, or ndarray
        One array of integers for each axis, or an array of them; they broadcast.
    dims : int or tuple of ints
        The shape.
    mode : {"raise", "wrap", "clip"}, or one for each axis
        How coordinates out of bounds are treated. "raise" raises an error, but coordinates in a
        device's array are not checked.
    order : {"C", "F"}
        The order in which the elements are flattened.
    """
    shape = integers(dims)
    each = list(multi_index)
    if len(each) != len(shape):
        raise ValueError(f"parameter multi_index must be a sequence of length {len(shape)}")
    modes = (mode,) * len(shape) if isinstance(mode, str) else mode
    for one in modes:
        if one not in _MODES:
            raise ValueError(f"clipmode must be one of 'clip', 'raise', or 'wrap' (got {one!r})")
    if _on_host(*each):
        return asarray(np.asarray(np.ravel_multi_index(each, shape, mode, order)))  # type: ignore[call-overload]
    total: Any = None
    for given, extent, one, step in zip(each, shape, modes, _steps(shape, order), strict=True):
        part = _coordinate(given, extent, one) * step
        total = part if total is None else total + part
    return total  # type: ignore[no-any-return]


def unravel_index(indices: Any, shape: Any, order: str = "C") -> tuple[ndarray, ...]:
    """Return the coordinates of elements, given their flat indices: an int64 array for each axis.

    Parameters
    ----------
    indices : ndarray or array_like
        Integers. A number out of bounds raises an error if ``indices`` is not an array of
        arraycore, or the back end is the CPU. In an array on a device it wraps around.
    shape : int or tuple of ints
        The shape whose elements are numbered.
    order : {"C", "F"}
        The order in which elements are numbered.
    """
    extents = integers(shape)
    if _on_host(indices):
        made = np.unravel_index(indices, extents, order)  # type: ignore[call-overload]
        return tuple(asarray(np.asarray(each)) for each in made)
    if indices.dtype.kind not in "iu":
        raise TypeError("only int indices permitted")
    steps = _steps(extents, order)
    wide = indices.astype(np.int64, copy=False)
    if not session.is_on_device():
        values = wide.get()
        size = prod(extents)
        wrong = values[(values < 0) | (values >= size)]
        if wrong.size:
            raise ValueError(f"index {wrong.flat[0]} is out of bounds for array with size {size}")
    return tuple(
        ufuncs.remainder(ufuncs.floor_divide(wide, step), extent)
        for step, extent in zip(steps, extents, strict=True)
    )


# ---- triangles and diagonals: computed by NumPy, then copied to the device


def _brought(made: Sequence[npt.NDArray[Any]]) -> tuple[ndarray, ...]:
    return tuple(asarray(each) for each in made)


def _matrix(arr: ndarray) -> tuple[int, ...]:
    extents = operand_array(arr).shape
    if len(extents) != 2:
        raise ValueError("input array must be 2-d")
    return extents


def diag_indices(n: int, ndim: int = 2) -> tuple[ndarray, ...]:
    """Return the coordinates of the main diagonal of ``ndim`` axes of extent ``n``."""
    return (array(np.arange(n)),) * ndim


def diag_indices_from(arr: ndarray) -> tuple[ndarray, ...]:
    """Return the coordinates of an array's main diagonal; all its axes have one extent."""
    arr = operand_array(arr)
    if arr.ndim < 2:
        raise ValueError("input array must be at least 2-d")
    if len(set(arr.shape)) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    return diag_indices(arr.shape[0], arr.ndim)


def tril_indices(n: int, k: int = 0, m: int | None = None) -> tuple[ndarray, ...]:
    """Return the coordinates on and below diagonal ``k`` of ``n`` rows and ``m`` columns."""
    return _brought(np.tril_indices(n, k, m))


def triu_indices(n: int, k: int = 0, m: int | None = None) -> tuple[ndarray, ...]:
    """Return the coordinates on and above diagonal ``k`` of ``n`` rows and ``m`` columns."""
    return _brought(np.triu_indices(n, k, m))


def tril_indices_from(arr: ndarray, k: int = 0) -> tuple[ndarray, ...]:
    """Return the coordinates on and below a matrix's diagonal ``k``."""
    rows, columns = _matrix(arr)
    return tril_indices(rows, k, columns)


def triu_indices_from(arr: ndarray, k: int = 0) -> tuple[ndarray, ...]:
    """Return the coordinates on and above a matrix's diagonal ``k``."""
    rows, columns = _matrix(arr)
    return triu_indices(rows, k, columns)


def mask_indices(
    n: int, mask_func: Callable[[ndarray, Any], ndarray], k: Any = 0
) -> tuple[ndarray, ...]:
    """Return the coordinates of the elements that a function such as ``triu`` does not set to 0."""
    return nonzero(mask_func(ones((n, n), np.int64), k))
