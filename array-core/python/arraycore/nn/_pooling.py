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
    """Return the largest element of each window, and its number in the window.

    Parameters
    ----------
    x : ndarray
        Data of shape (N, C, *space). If ``window`` has several numbers, that many last axes are
        space, and there may be any axes before them.
    window : int or sequence of int
        The window's extent along each axis of space.
    stride : int or sequence of int, optional
        The distance from one place of the window to the next, by default the window's extent.
    padding : int or sequence of int
        How far windows reach beyond the edge before the data. An element beyond the edge is never
        the largest.
    behind : int or sequence of int, optional
        How far windows reach beyond the edge after the data, by default ``padding``. A window that
        is entirely beyond the edge gives -infinity.

    Returns
    -------
    y, places : ndarray
        Two arrays of shape (N, C, *places); along each axis there are
        ``(space + padding + behind - window) // stride + 1`` places. ``places`` (int32) has the
        number, in C order, of the window's first largest element. NaN is larger than any number.

    Raises
    ------
    ValueError
        The window is larger than the padded data, or an extent, a stride or a padding is invalid.
    NotImplementedError
        The dtype is not a float.
    """
    x = require_array(x)
    y = type(x)._adopt(_pool(POOL_MAX, x, None, window, stride, padding, behind))
    return y, type(x)._adopt(call(KERNEL_RESULT, 1))


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
    """Return the gradient of :func:`max_pool` with respect to its data.

    Parameters
    ----------
    gy : ndarray
        The gradient with respect to the result, of its shape and dtype.
    places : ndarray
        The places that :func:`max_pool` returned. A place outside of its window is ignored.
    space : int or sequence of int
        The data's extents along the axes of space.
    window, stride, padding, behind
        The arguments of the call of :func:`max_pool`.

    Returns
    -------
    ndarray
        The gradient, of shape (N, C, *space).

    Raises
    ------
    ValueError
        ``gy`` or ``places`` do not have the result's shape, or :func:`max_pool` raises ValueError
        for the arguments.
    NotImplementedError
        The dtype is not a float, or ``places`` are not int32.
    """
    gy, places = require_array(gy), require_array(places)
    made = _pool(POOL_MAX_GRADIENT, gy, places, window, stride, padding, behind, space)
    return type(gy)._adopt(made)


def mean_pool(
    x: ndarray,
    window: Each,
    *,
    stride: Each | None = None,
    padding: Each = 0,
    behind: Each | None = None,
) -> Any:
    """Return the mean of each window; elements beyond the edge count as 0.

    Parameters
    ----------
    x, window, stride, padding, behind
        See :func:`max_pool`.

    Returns
    -------
    ndarray
        An array of shape (N, C, *places). float16 is summed in float32 and rounded once.

    Raises
    ------
    ValueError, NotImplementedError
        See :func:`max_pool`.
    """
    x = require_array(x)
    return type(x)._adopt(_pool(POOL_MEAN, x, None, window, stride, padding, behind))


def mean_pool_gradient(
    gy: ndarray,
    space: Each,
    window: Each,
    *,
    stride: Each | None = None,
    padding: Each = 0,
    behind: Each | None = None,
) -> Any:
    """Return the gradient of :func:`mean_pool` with respect to its data.

    Parameters
    ----------
    gy, space, window, stride, padding, behind
        See :func:`max_pool_gradient`.

    Returns
    -------
    ndarray
        The gradient, of shape (N, C, *space).

    Raises
    ------
    ValueError, NotImplementedError
        See :func:`max_pool_gradient`.
    """
    gy = require_array(gy)
    return type(gy)._adopt(
        _pool(POOL_MEAN_GRADIENT, gy, None, window, stride, padding, behind, space)
    )
