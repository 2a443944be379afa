"""Convolutions, forward and both gradients, and dense layers.

As in PyTorch and ONNX a "convolution" is a correlation: the window is not flipped::

    y[n, o, p] = sum over c and k of w[o, c, k] * x[n, c, p * stride + k * dilation - padding]

Data beyond the edge are 0. The dtypes are float16 (summed in float32), float32 and float64.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from operator import index
from typing import Any

from .._core.ndarray import ndarray, require_array
from .._runtime import operations
from .._runtime.calls import int64, int64s, integers
from .._runtime.opcodes import (
    CONVOLUTION_DATA_GRADIENT,
    CONVOLUTION_FORWARD,
    CONVOLUTION_WEIGHT_GRADIENT,
)
from ._results import made

#: An integer for all axes of space, or one for each.
Each = int | Sequence[int]
#: An integer for all axes of space, an integer or a pair (before, after) for each axis, or "valid"
#: or "same".
Padding = Each | Sequence[tuple[int, int]] | str

#: The activations, in the order of their numbers in ``src/runtime/stage_kernels.h``.
_ACTIVATIONS = (None, "relu", "sigmoid", "tanh", "gelu")


def _activation(name: str | None) -> int:
    try:
        return _ACTIVATIONS.index(name)
    except ValueError:
        raise ValueError(f"activation is one of {_ACTIVATIONS}, not {name!r}.") from None


def each_axis(name: str, value: Each, axes: int) -> tuple[int, ...]:
    """Return a number for each axis of space; one number counts for all of them.

    Raises
    ------
    ValueError
        There are several numbers, but not one for each axis.
    """
    given = integers(value)
    if len(given) == 1:
        return given * axes
    if len(given) != axes:
        raise ValueError(f"{name} has {len(given)} numbers for {axes} axes of space.")
    return given


def _pairs(
    padding: Padding,
    axes: int,
    window: Sequence[int],
    stride: tuple[int, ...],
    dilation: tuple[int, ...],
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the numbers of zeros before and after the data along each axis."""
    if isinstance(padding, str):
        if padding == "valid":
            return (0,) * axes, (0,) * axes
        if padding != "same":
            raise ValueError(f"padding is 'same', 'valid' or numbers, not {padding!r}.")
        if any(step != 1 for step in stride):
            raise ValueError("padding='same' needs strides of 1.")
        total = [(k - 1) * d for k, d in zip(window, dilation, strict=True)]
        before = tuple(each // 2 for each in total)
        return before, tuple(each - half for each, half in zip(total, before, strict=True))
    if not isinstance(padding, Sequence):
        padding = index(padding)
    elif len(padding) == axes and all(isinstance(each, Sequence) for each in padding):
        pairs = [integers(each) for each in padding]
        if any(len(pair) != 2 for pair in pairs):
            raise ValueError("padding has a pair (before, behind) for each axis of space.")
        return tuple(pair[0] for pair in pairs), tuple(pair[1] for pair in pairs)
    both = each_axis("padding", padding, axes)  # type: ignore[arg-type]
    return both, both


def _words(
    window: Sequence[int],
    space: Sequence[int],
    stride: Each,
    padding: Padding,
    dilation: Each,
    groups: int,
) -> tuple[int, ...]:
    axes = len(window)
    steps, spread = each_axis("stride", stride, axes), each_axis("dilation", dilation, axes)
    before, behind = _pairs(padding, axes, window, steps, spread)
    words: list[int] = []
    for each in (steps, before, behind, spread):
        words += (len(each), *int64s(each))
    return (*words, *int64(groups), len(space), *int64s(space))


#: Caches the results of `_words`, because a network uses the same few geometries in every step.
_kept_words = lru_cache(maxsize=1024)(_words)


@lru_cache(maxsize=1024)
def _places(
    data: tuple[int, ...],
    window: tuple[int, ...],
    stride: Each,
    padding: Padding,
    dilation: Each,
) -> tuple[int, ...]:
    """Return the number of places of the window along each axis."""
    axes = len(window)
    steps, spread = each_axis("stride", stride, axes), each_axis("dilation", dilation, axes)
    before, behind = _pairs(padding, axes, window, steps, spread)
    along = zip(data, window, steps, before, behind, spread, strict=True)
    return tuple((n + p + q - (k - 1) * d - 1) // s + 1 for n, k, s, p, q, d in along)


def _call(
    what: int,
    a: Any,
    b: Any,
    geometry: tuple[Any, ...],
    extras: tuple[Any, Any, Any, int] = (None, None, None, 0),
) -> Any:
    try:
        words = _kept_words(*geometry)
    except TypeError:  # a list cannot be a key; anything that is no number raises now
        words = _words(*geometry)
    window, space, stride, padding, dilation, groups = geometry
    made_id = operations.conv(what, a, b, *extras, words)
    if a.dtype != b.dtype:
        return type(a)._adopt(made_id)
    if what == CONVOLUTION_DATA_GRADIENT:
        return made(made_id, a, (a.shape[0], b.shape[1] * groups, *space))
    if what == CONVOLUTION_WEIGHT_GRADIENT:
        return made(made_id, a, (b.shape[1], a.shape[1] // groups, *window))
    try:
        places = _places(a.shape[2:], window, stride, padding, dilation)
    except TypeError:  # as above
        return type(a)._adopt(made_id)
    return made(made_id, a, (a.shape[0], b.shape[0], *places))


def conv(
    x: ndarray,
    w: ndarray,
    b: ndarray | None = None,
    *,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: int = 1,
    activation: str | None = None,
    scale: ndarray | None = None,
    shift: ndarray | None = None,
) -> Any:
    """Return the convolution of data with weights.

    Bias, activation, scale and shift are computed in the same kernel.

    Parameters
    ----------
    x : ndarray
        Data of shape (N, C, *space).
    w : ndarray
        Weights of shape (O, C / groups, *window).
    b : ndarray, optional
        The bias of each channel of the result, of shape (O,).
    stride : int or sequence of int
        The distance from one place of the window to the next, along each axis of space.
    padding : int, sequence of int or of pairs, "valid" or "same"
        The number of zeros on each side of the data, or pairs (before, after). "valid" is 0.
        "same" keeps the extents and needs strides of 1; if it adds an odd number of zeros, one
        more is after the data than before it.
    dilation : int or sequence of int
        The distance from one element of the window to the next.
    groups : int
        The number of groups that channels are divided into. Each group has its own weights.
    activation : {None, "relu", "sigmoid", "tanh", "gelu"}
        The function that is applied to the result last.
    scale, shift : ndarray, optional
        Both or neither, of shape (C,): ``x * scale + shift`` is convolved in place of ``x``. Zeros
        around the data stay zeros.

    Returns
    -------
    ndarray
        An array of shape (N, O, *places) and the common dtype of ``x`` and ``w``. Along each axis
        there are ``(space + before + after - (window - 1) * dilation - 1) // stride + 1`` places.

    Raises
    ------
    ValueError
        The shapes do not fit, the window is larger than the padded data, or a stride, dilation,
        padding or number of groups is invalid.
    NotImplementedError
        The dtype is not a float.
    """
    x, w = require_array(x), require_array(w)
    if (scale is None) != (shift is None):
        raise ValueError("scale and shift come together.")
    for each in (b, scale, shift):
        if each is not None:
            require_array(each)
    extras = (b, scale, shift, _activation(activation))
    geometry = (w.shape[2:], (), stride, padding, dilation, groups)
    return _call(CONVOLUTION_FORWARD, x, w, geometry, extras)


def dense(
    x: ndarray,
    w: ndarray,
    b: ndarray | None = None,
    *,
    activation: str | None = None,
) -> Any:
    """Return ``activation(x @ w.T + b)``, in one kernel.

    Parameters
    ----------
    x : ndarray
        Data of shape (..., K).
    w : ndarray
        Weights of shape (O, K).
    b : ndarray, optional
        The bias, of shape (O,).
    activation : {None, "relu", "sigmoid", "tanh", "gelu"}
        The function that is applied to the result last.

    Returns
    -------
    ndarray
        An array of shape (..., O) and the common dtype of ``x`` and ``w``.

    Raises
    ------
    ValueError
        The shapes do not fit.
    NotImplementedError
        The dtype is not a float.
    """
    x, w = require_array(x), require_array(w)
    rows = x if x.ndim == 2 else x.reshape((prod(x.shape[:-1]), *x.shape[-1:]))
    bias = None if b is None else require_array(b)
    y = type(x)._adopt(operations.dense(rows, w, bias, _activation(activation)))
    return y if x.ndim == 2 else y.reshape((*x.shape[:-1], y.shape[-1]))


def conv_data_gradient(
    gy: ndarray,
    w: ndarray,
    space: Each,
    *,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: int = 1,
) -> Any:
    """Return the gradient of a convolution with respect to its data.

    It is also the transposed convolution of ``gy``.

    Parameters
    ----------
    gy : ndarray
        The gradient with respect to the result, of the result's shape (N, O, *places).
    w : ndarray
        The weights, of shape (O, C / groups, *window).
    space : int or sequence of int
        The data's extents along the axes of space. With strides above 1 they do not follow from the
        shape of ``gy``.
    stride, padding, dilation, groups
        The arguments of the call of :func:`conv`.

    Returns
    -------
    ndarray
        The gradient, of shape (N, C, *space).

    Raises
    ------
    ValueError
        ``gy`` does not have the result's shape, or :func:`conv` raises ValueError for the
        arguments.
    NotImplementedError
        The dtype is not a float.
    """
    gy, w = require_array(gy), require_array(w)
    window = w.shape[2:]
    extents = each_axis("space", space, len(window))
    return _call(
        CONVOLUTION_DATA_GRADIENT, gy, w, (window, extents, stride, padding, dilation, groups)
    )


def conv_weight_gradient(
    x: ndarray,
    gy: ndarray,
    window: Each,
    *,
    stride: Each = 1,
    padding: Padding = 0,
    dilation: Each = 1,
    groups: int = 1,
) -> Any:
    """Return the gradient of a convolution with respect to its weights.

    Parameters
    ----------
    x : ndarray
        The data, of shape (N, C, *space).
    gy : ndarray
        The gradient with respect to the result, of the result's shape (N, O, *places).
    window : int or sequence of int
        The weights' extents along the axes of space.
    stride, padding, dilation, groups
        The arguments of the call of :func:`conv`.

    Returns
    -------
    ndarray
        The gradient, of shape (O, C / groups, *window).

    Raises
    ------
    ValueError
        ``gy`` does not have the result's shape, or :func:`conv` raises ValueError for the
        arguments.
    NotImplementedError
        The dtype is not a float.
    """
    x, gy = require_array(x), require_array(gy)
    extents = each_axis("window", window, max(x.ndim - 2, 0))
    return _call(
        CONVOLUTION_WEIGHT_GRADIENT, x, gy, (extents, extents, stride, padding, dilation, groups)
    )
