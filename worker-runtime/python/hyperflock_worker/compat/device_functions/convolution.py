"""Computes convolutions, transposed convolutions and gradients without unfolded copies of the data.

Chainer unfolds the data (``im2col``), multiplies, and folds gradients back. The methods that do so
are replaced. Before Chainer calls these methods, it checks types and stores its inputs. With
``cover_all`` the last window reaches further beyond the data, which equals more padding at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from types import ModuleType
from typing import Any, NamedTuple

from hyperflock_worker.compat._hooks import Patch
from hyperflock_worker.compat.device_functions._switch import nn, replace, takes

BOTH = ("7.8.1", "5.4.0")
#: The most axes of space that arraycore.nn supports.
_MOST_AXES = 3


Extents = tuple[int, ...]


class _Geometry(NamedTuple):
    """The strides, padding and dilations of a function, a number for each axis of space."""

    stride: Extents
    pad: Extents
    dilate: Extents
    groups: int
    cover_all: bool


def _geometry(function: Any) -> _Geometry:
    groups, cover_all = function.groups, bool(function.cover_all)
    if hasattr(function, "sy"):
        stride, pad = (function.sy, function.sx), (function.ph, function.pw)
        return _Geometry(stride, pad, (function.dy, function.dx), groups, cover_all)
    stride, pad = tuple(function.stride), tuple(function.pad)
    return _Geometry(stride, pad, tuple(function.dilate), groups, cover_all)


# The results are cached, because a network calls this with the same few arguments in every step.
@lru_cache(maxsize=1024)
def _places(geometry: _Geometry, space: Extents, window: Extents) -> Extents:
    """Return the number of positions of the window along each axis."""
    counts = []
    for extent, k, s, p, d in zip(
        space, window, geometry.stride, geometry.pad, geometry.dilate, strict=True
    ):
        free = extent + 2 * p - ((k - 1) * d + 1)
        counts.append((free + s - 1 if geometry.cover_all else free) // s + 1)
    return tuple(counts)


@lru_cache(maxsize=1024)
def _options(
    geometry: _Geometry, space: Extents, window: Extents, places: Extents
) -> dict[str, Any]:
    """Return the keyword arguments of ``arraycore.nn``'s convolutions, given the extents of the
    data, the window and the result.
    """
    padding = tuple(
        (p, max(p, (o - 1) * s + (k - 1) * d + 1 - extent - p))
        for extent, k, o, s, p, d in zip(
            space, window, places, geometry.stride, geometry.pad, geometry.dilate, strict=True
        )
    )
    return {
        "stride": geometry.stride,
        "padding": padding,
        "dilation": geometry.dilate,
        "groups": geometry.groups,
    }


def _forward(function: Any, x: Any, w: Any, b: Any, *_: Any) -> Any:
    """Compute a convolution: replaces ``_forward_gpu_core(x, W, b)`` and similar methods."""
    if not takes(x, w, b) or x.ndim - 2 > _MOST_AXES:
        return None
    geometry = _geometry(function)
    space, window = x.shape[2:], w.shape[2:]
    places = _places(geometry, space, window)
    if not _fits(x.shape[1], w.shape, geometry) or min(places) < 1:
        return None
    return (nn().conv(x, w, b, **_options(geometry, space, window, places)),)


def _transposed(function: Any, x: Any, w: Any, b: Any, *_: Any) -> Any:
    """Compute a transposed convolution, whose ``x`` has the shape of a convolution's result."""
    if not takes(x, w, b) or x.ndim - 2 > _MOST_AXES or w.shape[0] % function.groups:
        return None
    geometry = _geometry(function)
    space = tuple(function.outs) if hasattr(function, "outs") else (function.outh, function.outw)
    options = _options(geometry, space, w.shape[2:], x.shape[2:])
    y = nn().conv_data_gradient(x, w, space, **options)
    if b is not None:
        y += b.reshape((1, b.size, *(1,) * len(space)))
    return (y,)


def _weight_gradient(function: Any, x: Any, gy: Any, *_: Any) -> Any:
    """Compute the gradient with respect to the weights, as ``_forward_gpu_core(x, gy)`` does."""
    if not takes(x, gy) or function.W_dtype != x.dtype or x.ndim - 2 > _MOST_AXES:
        return None
    geometry = _geometry(function)
    window = tuple(function.ksize) if hasattr(function, "ksize") else (function.kh, function.kw)
    if x.shape[1] % geometry.groups or gy.shape[1] % geometry.groups:
        return None
    options = _options(geometry, x.shape[2:], window, gy.shape[2:])
    return (nn().conv_weight_gradient(x, gy, window, **options),)


def _fits(channels: int, weights: Sequence[int], geometry: _Geometry) -> bool:
    """Return whether the numbers of channels of data and weights fit. If not, Chainer raises its
    own error.
    """
    return channels == weights[1] * geometry.groups and weights[0] % geometry.groups == 0


def _replace_all(module: ModuleType, by_class: dict[str, Any]) -> None:
    for name, by in by_class.items():
        for method in ("_forward_gpu_core", "_forward_grouped_convolution", "_forward_xp"):
            replace(getattr(module, name), method, by)


def convolution_2d(module: ModuleType) -> None:
    """Patch ``F.convolution_2d`` and the gradient with respect to its weights."""
    by_class = {"Convolution2DFunction": _forward, "Convolution2DGradW": _weight_gradient}
    _replace_all(module, by_class)


def deconvolution_2d(module: ModuleType) -> None:
    """Patch ``F.deconvolution_2d``, also the gradient of a convolution with respect to its data."""
    _replace_all(module, {"Deconvolution2DFunction": _transposed})


def convolution_nd(module: ModuleType) -> None:
    """Patch ``F.convolution_nd`` for one to three axes of space."""
    _replace_all(module, {"ConvolutionND": _forward, "ConvolutionNDGradW": _weight_gradient})


def deconvolution_nd(module: ModuleType) -> None:
    """Patch ``F.deconvolution_nd`` for one to three axes of space."""
    _replace_all(module, {"DeconvolutionND": _transposed})


PATCHES = tuple(
    Patch(f"chainer.functions.connection.{apply.__name__}", apply, BOTH)
    for apply in (convolution_2d, deconvolution_2d, convolution_nd, deconvolution_nd)
)
