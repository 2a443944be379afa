"""Views with given strides, under the names that they have in ``numpy.lib.stride_tricks``."""

from __future__ import annotations

from typing import Any

from .._core.creation import operand_array
from .._core.ndarray import ndarray
from .._manipulation.views import broadcast_arrays, broadcast_to
from .._runtime import operations
from .._runtime.calls import integers

__all__ = ["as_strided", "broadcast_arrays", "broadcast_to", "sliding_window_view"]

_MOST_AXES = 32


def as_strided(x: ndarray, shape: Any = None, strides: Any = None) -> ndarray:
    """Return a view of an array's memory with a shape and strides, from its first element on.

    Unlike in NumPy a view outside of the array's memory raises an error. If several elements of the
    view share memory, any of the values written to them remains.

    Parameters
    ----------
    x : ndarray
        The array whose memory the view shows.
    shape : int or sequence of int, optional
        The view's shape, by default the array's.
    strides : int or sequence of int, optional
        The view's strides in bytes, multiples of the element size; by default the array's.

    Raises
    ------
    ValueError
        The view leaves the memory, the strides are not multiples of the element size, or there are
        more or fewer strides than axes.
    """
    x = operand_array(x)
    extents = x.shape if shape is None else integers(shape)
    steps = x.strides if strides is None else integers(strides)
    if max(len(extents), len(steps)) > _MOST_AXES:
        raise ValueError(f"maximum supported dimension for an ndarray is {_MOST_AXES}")
    return ndarray._adopt(operations.as_strided(x, extents, steps))


def sliding_window_view(x: ndarray, window_shape: Any, axis: Any = None) -> ndarray:
    """Return a view of all places of a window in an array; the window's axes come last.

    Parameters
    ----------
    x : ndarray
        The array that the windows slide over.
    window_shape : int or sequence of int
        The window's extents along ``axis``.
    axis : int or sequence of int, optional
        The axes that the window slides along, by default all.

    Raises
    ------
    ValueError
        The window is larger than an axis, or there are more or fewer extents than axes.
    """
    x = operand_array(x)
    window = integers(window_shape)
    if any(extent < 0 for extent in window):
        raise ValueError("`window_shape` cannot contain negative values")
    axes = tuple(range(x.ndim)) if axis is None else integers(axis)
    if len(window) != len(axes):
        raise ValueError(
            f"Must provide matching length window_shape and axis; got {len(window)} window_shape "
            f"elements and {len(axes)} axes elements."
        )
    shape = list(x.shape)
    for along, extent in zip(axes, window, strict=True):
        shape[along] -= extent - 1
        if shape[along] < 0 or extent > x.shape[along]:
            raise ValueError("window shape cannot be larger than input array shape")
    strides = x.strides + tuple(x.strides[along] for along in axes)
    return as_strided(x, (*shape, *window), strides)
