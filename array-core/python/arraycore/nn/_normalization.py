"""Batch normalization and its gradient: two launches each, of which the second fuses."""

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
    """Return the three results, of the shapes of data and parameters."""
    if x.dtype != gamma.dtype:  # of which one the last two have
        kind = type(x)
        return made(first, x, x.shape), kind(one), kind(other)
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

    Mean and variance are taken in one pass, by pairwise combination (Chan, Golub and LeVeque 1983),
    in float32 or, where an operand is float64, in float64.

    Parameters
    ----------
    x : ndarray
        Data, of shape (N, C, *space) where ``axis`` is not given.
    gamma, beta : ndarray
        Of the shape of the axes that are not in ``axis``: (C,).
    axis : int or sequence of int, optional
        The axes that statistics are taken over; all but axis 1 where not given.
    eps : float
        Added to the variance.
    running_mean, running_var : ndarray, optional
        Both or none, of gamma's shape. They become ``old * decay + new * (1 - decay)``, where the
        new variance is the unbiased one, in the same launch.
    decay : float
        How much of the running statistics stays.

    Returns
    -------
    y, mean, inv_std : ndarray
        The result, of the shape and dtype of ``x``; each channel's mean, and 1 over its standard
        deviation with ``eps``, of the dtype that ``x`` and ``gamma`` meet in: what
        :func:`batch_norm_gradient` takes.

    Raises
    ------
    ValueError
        Shapes do not fit, there is no such axis, or a channel has no elements.
    NotImplementedError
        A dtype is no float, or those of gamma and beta, or of the running statistics, differ.
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
    """Return the gradients of :func:`batch_norm` by its data and parameters.

    Parameters
    ----------
    gy : ndarray
        The gradient by the result, of its shape and dtype.
    x, gamma
        As :func:`batch_norm` was called with.
    mean, inv_std : ndarray
        As it gave them.
    axis
        As it was called with.

    Returns
    -------
    gx, ggamma, gbeta : ndarray
        Of the shapes and dtypes of ``x`` and ``gamma``.

    Raises
    ------
    ValueError
        Shapes do not fit, or as :func:`batch_norm`.
    NotImplementedError
        A dtype is no float, or those of ``gy`` and ``x`` differ.
    """
    gy, x, gamma = require_array(gy), require_array(x), require_array(gamma)
    mean, inv_std = require_array(mean), require_array(inv_std)
    ids = operations.batch_norm_gradient(gy, x, gamma, mean, inv_std, _axes(x, axis))
    return _results(x, gamma, *ids)
