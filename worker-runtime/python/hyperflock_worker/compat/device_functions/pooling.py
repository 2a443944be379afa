"""Computes maximum and average pooling and their gradients by one kernel each, as Chainer does.

The kernels are faster than Chainer's on the CPU, where ``arraycore.nn`` has its own loops:
Chainer's kernels compute the coordinates of the window anew for each element. With ``cover_all``
the last window reaches further beyond the data, which equals more padding at the end.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any

from hyperflock_worker.compat._hooks import Patch
from hyperflock_worker.compat.device_functions._switch import nn, replace, takes

BOTH = ("7.8.1", "5.4.0")
#: The most axes of space that arraycore.nn supports.
_MOST_AXES = 3


class _Geometry:
    """The window, stride and padding of a function, a number for each axis of space."""

    def __init__(self, function: Any) -> None:
        if hasattr(function, "kh"):
            self.window = (function.kh, function.kw)
            self.stride = (function.sy, function.sx)
            self.pad = (function.ph, function.pw)
        else:
            self.window = tuple(function.ksize)
            self.stride, self.pad = tuple(function.stride), tuple(function.pad)

    def places(self, space: Sequence[int], cover_all: bool) -> tuple[int, ...]:
        """Return the number of positions of the window along each axis."""
        counts = []
        for extent, k, s, p in zip(space, self.window, self.stride, self.pad, strict=True):
            free = extent + 2 * p - k
            counts.append((free + s - 1 if cover_all else free) // s + 1)
        return tuple(counts)

    def options(self, space: Sequence[int], places: Sequence[int]) -> dict[str, Any]:
        """Return the keyword arguments of ``arraycore.nn``'s pooling functions, given the extents
        of the data and of the result.
        """
        behind = [
            max(p, (o - 1) * s + k - extent - p)
            for extent, k, o, s, p in zip(
                space, self.window, places, self.stride, self.pad, strict=True
            )
        ]
        return {
            "window": self.window,
            "stride": self.stride,
            "padding": self.pad,
            "behind": behind,
        }


def _options(function: Any, x: Any, cover_all: bool) -> dict[str, Any] | None:
    """Return the keyword arguments of ``arraycore.nn``'s pooling functions for the data ``x``.
    Return None if Chainer's own kernel has to run.
    """
    if not takes(x) or not 3 <= x.ndim <= 2 + _MOST_AXES or x.size == 0:
        return None
    geometry = _Geometry(function)
    space = x.shape[2:]
    places = geometry.places(space, cover_all)
    fits = all(e + 2 * p >= k for e, k, p in zip(space, geometry.window, geometry.pad, strict=True))
    return geometry.options(space, places) if fits and min(places) > 0 else None


def _max(function: Any, inputs: Any) -> Any:
    (x,) = inputs
    options = _options(function, x, bool(function.cover_all))
    if options is None:
        return None
    function._in_shape, function._in_dtype = x.shape, x.dtype
    y, function.indexes = nn().max_pool(x, **options)
    return (y,)


def _average(function: Any, inputs: Any) -> Any:
    (x,) = inputs
    options = _options(function, x, False)
    if options is None:
        return None
    function._in_shape, function._in_dtype = x.shape, x.dtype
    return (nn().mean_pool(x, **options),)


def _gradient_options(function: Any, gy: Any) -> dict[str, Any] | None:
    shape = function._in_shape
    if not takes(gy) or gy.dtype != function._in_dtype or not 3 <= gy.ndim <= 2 + _MOST_AXES:
        return None
    if gy.size == 0:
        return None
    space = shape[2:]
    return {"space": space, **_Geometry(function).options(space, gy.shape[2:])}


def _max_gradient(function: Any, inputs: Any) -> Any:
    # In 7.8.1, the gradient over several axes refers to the forward function, which has the
    # indices. The other gradients have the indices themselves.
    source = getattr(function, "func", function)
    (gy,) = inputs
    if getattr(source, "indexes", None) is None or source.indexes.dtype != "int32":
        return None
    options = _gradient_options(source, gy)
    if options is None:
        return None
    return (nn().max_pool_gradient(gy, source.indexes, **options),)


def _average_gradient(function: Any, inputs: Any) -> Any:
    (gy,) = inputs
    options = _gradient_options(function, gy)
    return None if options is None else (nn().mean_pool_gradient(gy, **options),)


def largest(module: ModuleType) -> None:
    """Patch max pooling; the classes' names follow from the modules' names."""
    for suffix in ("2D", "ND"):
        for name, by in ((f"MaxPooling{suffix}", _max), (f"MaxPooling{suffix}Grad", _max_gradient)):
            if hasattr(module, name):
                replace(getattr(module, name), "forward_gpu", by)


def average(module: ModuleType) -> None:
    """Patch average pooling over images."""
    replace(module.AveragePooling2D, "forward_gpu", _average)
    replace(module.AveragePooling2DGrad, "forward_gpu", _average_gradient)


PATCHES = (
    Patch("chainer.functions.pooling.max_pooling_2d", largest, ("5.4.0",)),
    Patch("chainer.functions.pooling.max_pooling_nd", largest, BOTH),
    Patch("chainer.functions.pooling.average_pooling_2d", average, BOTH),
)
