"""Batch normalization and its gradient: two launches each; the second one can be fused."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._core.ndarray import ndarray, require_array
from .._runtime import operations
from .._runtime.calls import integers
from ._results import made


def _axes(x: ndarray, axis: int | Sequence[int] | None) -> tuple[int, ...]:
    return integers(axis) if axis is not None else (0, *range(2, x.ndim))


def _results(x: ndarray, gamma: ndarray, first: int, one: int, other: int) -> Any:
    """Return three arrays for three ids: one of the shape of ``x``, and two of the shape of
    ``gamma``.
    """
    if x.dtype != gamma.dtype:  # the last two results have one of these dtypes
        kind = type(x)
        return made(first, x, x.shape), kind._adopt(one), kind._adopt(other)
    shape = gamma.shape
    return made(first, x, x.shape), made(one, gamma, shape), made(other, gamma, shape)


def batch_norm(
    x: ndarray,
    gamma: ndarray,
    beta: ndarray,
    *,
    axis: int | Sequence[int] | None = None,
    eps: float = 2e-5,
    running_mean: ndarray | None = None,
    running_var: ndarray | None = None,
    decay: float = 0.9,
) -> Any:
    """Return ``gamma * (x - mean) / sqrt(var + eps) + beta``, with the statistics of each channel.

    Mean and variance are computed in one pass, by pairwise combination (Chan, Golub and LeVeque
    1983), in float32, or in float64 if an operand is float64.

    Parameters
    ----------
    x : ndarray
        Data, of shape (N, C, *space) if ``axis`` is not given.
    gamma, beta : ndarray
        Scale and shift, of the shape of the axes that are not in ``axis``: by default (C,).
    axis : int or sequence of int, optional
        The axes that statistics are computed over, by default all but axis 1.
    eps : float
        A number that is added to the variance.
    running_mean, running_var : ndarray, optional
        Both or neither, of gamma's shape. The same launch sets them to
        ``old * decay + new * (1 - decay)``; the new variance is the unbiased one.
    decay : float
        The weight of the old running statistics.

    Returns
    -------
    y, mean, inv_std : ndarray
        The result, of the shape and dtype of ``x``; each channel's mean; and the inverse of each
        standard deviation, with ``eps``. The last two have the common dtype of ``x`` and ``gamma``;
        :func:`batch_norm_gradient` takes them.

    Raises
    ------
    ValueError
        The shapes do not fit, there is no such axis, or a channel has no elements.
    NotImplementedError
        A dtype is not a float; or gamma and beta, or the running statistics, differ in dtype.
    """
    x, gamma, beta = require_array(x), require_array(gamma), require_array(beta)
    if (running_mean is None) != (running_var is None):
        raise ValueError("running_mean and running_var come together.")
    ids = operations.batch_norm(
        x, gamma, beta, running_mean, running_var, _axes(x, axis), eps, decay
    )
    return _results(x, gamma, *ids)


def batch_norm_gradient(
    gy: ndarray,
    x: ndarray,
    gamma: ndarray,
    mean: ndarray,
    inv_std: ndarray,
    *,
    axis: int | Sequence[int] | None = None,
) -> Any:
    """Return the gradients of :func:`batch_norm` with respect to its data and parameters.

    Parameters
    ----------
    gy : ndarray
        The gradient with respect to the result, of its shape and dtype.
    x, gamma, axis
        The arguments of the call of :func:`batch_norm`.
    mean, inv_std : ndarray
        Two of its results.

    Returns
    -------
    gx, ggamma, gbeta : ndarray
        The gradients, of the shapes and dtypes of ``x``, ``gamma`` and ``gamma``.

    Raises
    ------
    ValueError
        The shapes do not fit, or :func:`batch_norm` raises ValueError for the arguments.
    NotImplementedError
        A dtype is not a float, or ``gy`` and ``x`` differ in dtype.
    """
    gy, x, gamma = require_array(gy), require_array(x), require_array(gamma)
    mean, inv_std = require_array(mean), require_array(inv_std)
    ids = operations.batch_norm_gradient(gy, x, gamma, mean, inv_std, _axes(x, axis))
    return _results(x, gamma, *ids)
