"""Pooling over windows of one to three axes of space, and its gradients: one launch each."""

from __future__ import annotations

from typing import Any

from .._core.ndarray import ndarray, require_array
from .._runtime import operations
from .._runtime.calls import call, int64s, integers
from .._runtime.opcodes import (
    KERNEL_RESULT,
    POOL_MAX,
    POOL_MAX_GRADIENT,
    POOL_MEAN,
    POOL_MEAN_GRADIENT,
)
from ._convolution import Each, each_axis


def _pool(
    what: int,
    array: ndarray,
    places: ndarray | None,
    window: Each,
    stride: Each | None,
    padding: Each,
    behind: Each | None,
    space: Each = (),
) -> Any:
    windows = integers(window)
    if len(windows) == 1:
        windows *= max(array.ndim - 2, 0)
    words = [len(windows), *int64s(windows)]
    for name, given in (
        ("stride", windows if stride is None else stride),
        ("padding", padding),
        ("behind", padding if behind is None else behind),
        ("space", space),
    ):
        each = () if name == "space" and given == () else each_axis(name, given, len(windows))
        words += (len(each), *int64s(each))
    return operations.pool(what, array, places, words)


def max_pool(
    x: ndarray,
    window: Each,
    *,
    stride: Each | None = None,
    padding: Each = 0,
    behind: Each | None = None,
) -> Any:
    """Return the largest element of each window, and where in its window it is.

    Parameters
    ----------
    x : ndarray
        Data of shape (N, C, *space); where ``window`` has several numbers, space is as many of the
        last axes, after any others.
    window : int or sequence of int
        Its extent along each axis of space.
    stride : int or sequence of int, optional
        From one place of the window to the next; the window where not given.
    padding : int or sequence of int
        How far the window reaches beyond the edge before the data. What is there is never the
        largest.
    behind : int or sequence of int, optional
        The same behind the data; ``padding`` where not given. A window that lies beyond the edge
        gives -infinity.

    Returns
    -------
    y, places : ndarray
        Both of shape (N, C, *places), where each axis has ``(space + padding + behind - window) //
        stride + 1``. ``places``, int32, numbers a window's elements in C order; of several that are
        the largest the first counts. NaN is larger than anything.

    Raises
    ------
    ValueError
        The window does not lie in the padded data, or an extent, a stride or a padding is none.
    NotImplementedError
        The dtype is no float.
    """
    x = require_array(x)
    y = type(x)(_pool(POOL_MAX, x, None, window, stride, padding, behind))
    return y, type(x)(call(KERNEL_RESULT, 1))


def max_pool_gradient(
    gy: ndarray,
    places: ndarray,
    space: Each,
    window: Each,
    *,
    stride: Each | None = None,
    padding: Each = 0,
    behind: Each | None = None,
) -> Any:
    """Return the gradient of :func:`max_pool` by its data.

    Parameters
    ----------
    gy : ndarray
        The gradient by the result, of its shape and dtype.
    places : ndarray
        As :func:`max_pool` gave them. Those that are in no window are nobody's.
    space : int or sequence of int
        The data's extents of space.
    window, stride, padding, behind
        As :func:`max_pool` was called with.

    Returns
    -------
    ndarray
        Of shape (N, C, *space).

    Raises
    ------
    ValueError
        ``gy`` or ``places`` have not the shape of the result, or as :func:`max_pool`.
    NotImplementedError
        The dtype is no float, or ``places`` are not int32.
    """
    gy, places = require_array(gy), require_array(places)
    made = _pool(POOL_MAX_GRADIENT, gy, places, window, stride, padding, behind, space)
    return type(gy)(made)


def mean_pool(
    x: ndarray,
    window: Each,
    *,
    stride: Each | None = None,
    padding: Each = 0,
    behind: Each | None = None,
) -> Any:
    """Return the mean of each window, in which what lies beyond the edge counts as 0.

    Parameters
    ----------
    x, window, stride, padding, behind
        As of :func:`max_pool`.

    Returns
    -------
    ndarray
        Of shape (N, C, *places). float16 is summed in float32 and rounded once.

    Raises
    ------
    ValueError, NotImplementedError
        As :func:`max_pool`.
    """
    x = require_array(x)
    return type(x)(_pool(POOL_MEAN, x, None, window, stride, padding, behind))


def mean_pool_gradient(
    gy: ndarray,
    space: Each,
    window: Each,
    *,
    stride: Each | None = None,
    padding: Each = 0,
    behind: Each | None = None,
) -> Any:
    """Return the gradient of :func:`mean_pool` by its data.

    Parameters
    ----------
    gy, space, window, stride, padding, behind
        As of :func:`max_pool_gradient`.

    Returns
    -------
    ndarray
        Of shape (N, C, *space).

    Raises
    ------
    ValueError, NotImplementedError
        As :func:`max_pool_gradient`.
    """
    gy = require_array(gy)
    return type(gy)(_pool(POOL_MEAN_GRADIENT, gy, None, window, stride, padding, behind, space))
