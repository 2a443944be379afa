"""The softmax cross entropy, in two launches, and its gradient, in one."""

from __future__ import annotations

from typing import Any

from .._core.ndarray import ndarray, require_array
from .._runtime import operations
from ._results import made


def softmax_cross_entropy(
    x: ndarray, t: ndarray, *, ignore_label: int = -1, normalize: bool = True
) -> Any:
    """Return the softmax cross entropy of scores and labels.

    It is the mean of ``log(sum(exp(x))) - x[t]`` along axis 1, over the labels that count.

    Parameters
    ----------
    x : ndarray
        Scores of shape (N, classes, ...).
    t : ndarray
        Labels of shape (N, ...), signed integers in ``range(classes)`` or ``ignore_label``. They
        are not checked: another label reads some other score.
    ignore_label : int
        The label of elements that are ignored.
    normalize : bool
        Whether the sum is divided by the number of labels that are not ignored, else by N.

    Returns
    -------
    loss, lse, coeff : ndarray
        The loss, 0-dimensional and of the dtype of ``x``; the logarithms of the sums of
        exponentials, of the shape of ``t``; and the number by which the sum of the labels' losses
        was multiplied. The last two are float32, or float64 if ``x`` is.
        :func:`softmax_cross_entropy_gradient` takes them.

    Raises
    ------
    ValueError
        The shapes do not fit, or there are no scores.
    NotImplementedError
        The scores are not floats, or the labels are not signed integers.
    """
    x, t = require_array(x), require_array(t)
    loss, lse, coeff = operations.cross_entropy(x, t, ignore_label, normalize)
    return made(loss, x, ()), type(x)._adopt(lse), type(x)._adopt(coeff)


def softmax_cross_entropy_gradient(
    gloss: ndarray,
    x: ndarray,
    t: ndarray,
    lse: ndarray,
    coeff: ndarray,
    *,
    ignore_label: int = -1,
) -> Any:
    """Return the gradient of :func:`softmax_cross_entropy` with respect to its scores.

    Parameters
    ----------
    gloss : ndarray
        The gradient with respect to the loss, 0-dimensional and of the dtype of ``x``.
    x, t, ignore_label
        The arguments of the call of :func:`softmax_cross_entropy`.
    lse, coeff : ndarray
        Two of its results.

    Returns
    -------
    ndarray
        ``(softmax(x) - onehot(t)) * gloss * coeff``, of the shape and dtype of ``x``; 0 where the
        label is ignored.

    Raises
    ------
    ValueError
        The shapes do not fit.
    NotImplementedError
        A dtype is not one that :func:`softmax_cross_entropy` takes or returns.
    """
    gloss, x, t = require_array(gloss), require_array(x), require_array(t)
    lse, coeff = require_array(lse), require_array(coeff)
    gx = operations.cross_entropy_gradient(gloss, x, t, lse, coeff, ignore_label)
    return made(gx, x, x.shape)
