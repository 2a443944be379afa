"""The softmax cross entropy and its gradient: two launches, and one."""

from __future__ import annotations

from typing import Any

from .._core.ndarray import ndarray, require_array
from .._runtime import operations
from ._results import made


def softmax_cross_entropy(
    x: ndarray, t: ndarray, *, ignore_label: int = -1, normalize: bool = True
) -> Any:
    """Return the cross entropy of the softmax of scores, over labels.

    That is the mean, over labels that count, of ``log(sum(exp(x))) - x[t]`` along axis 1.

    Parameters
    ----------
    x : ndarray
        Scores of shape (N, classes, ...).
    t : ndarray
        Labels of shape (N, ...), signed integers: those in ``range(classes)``, and
        ``ignore_label``. Others read some score of the array.
    ignore_label : int
        The label that does not count.
    normalize : bool
        Whether the sum is divided by how many labels count, or else by N.

    Returns
    -------
    loss, lse, coeff : ndarray
        The loss, of no dimensions and the dtype of ``x``; the logarithm of the sum of exponentials,
        of the shape of ``t``, and what the sum was multiplied with, both of float32 (float64 where
        ``x`` is): what :func:`softmax_cross_entropy_gradient` takes.

    Raises
    ------
    ValueError
        The shapes do not fit, or there are no scores.
    NotImplementedError
        Scores of no float dtype, or labels of no signed integer one.
    """
    x, t = require_array(x), require_array(t)
    loss, lse, coeff = operations.cross_entropy(x, t, ignore_label, normalize)
    return made(loss, x, ()), type(x)(lse), type(x)(coeff)


def softmax_cross_entropy_gradient(
    gloss: ndarray,
    x: ndarray,
    t: ndarray,
    lse: ndarray,
    coeff: ndarray,
    *,
    ignore_label: int = -1,
) -> Any:
    """Return the gradient of :func:`softmax_cross_entropy` by its scores.

    Parameters
    ----------
    gloss : ndarray
        The gradient by the loss, of no dimensions and the dtype of ``x``.
    x, t, ignore_label
        As :func:`softmax_cross_entropy` was called with.
    lse, coeff : ndarray
        As it gave them.

    Returns
    -------
    ndarray
        ``(softmax(x) - onehot(t)) * gloss * coeff``, of the shape and dtype of ``x``; 0 where a
        label does not count.

    Raises
    ------
    ValueError
        The shapes do not fit.
    NotImplementedError
        Dtypes that :func:`softmax_cross_entropy` neither takes nor gives.
    """
    gloss, x, t = require_array(gloss), require_array(x), require_array(t)
    lse, coeff = require_array(lse), require_array(coeff)
    gx = operations.cross_entropy_gradient(gloss, x, t, lse, coeff, ignore_label)
    return made(gx, x, x.shape)
