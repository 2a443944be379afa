"""Makes random keys that contain arrays, encodes them as words, and decodes them.

A key's words are the number of its items, then the items: those of ``StepOp.INDEX``, or

    INTEGERS, host, dtype, number of axes, extents, values
    MASK, host, number of axes, extents, values (0 or 1)

where ``host`` is 1 for an index that stays a NumPy array, 0 for one that becomes arraycore's.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from array_core_fuzz.steps import DTYPES, Array, IndexKind

Key = tuple[Any, ...]

_INTEGERS = [number for number, dtype in enumerate(DTYPES) if dtype.kind in "iu"]
_MAX_MASK = 200
_SHAPES = ((), (1,), (2,), (3,), (5,), (2, 1), (1, 3), (2, 3), (3, 1), (0,), (2, 0))


class KeyMaker:
    """Makes keys from a program's random numbers."""

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng

    def make(self, shape: tuple[int, ...]) -> tuple[list[int], Key]:
        """Return the words of a key, and the key, which contains an array."""
        rng = self._rng
        common = _SHAPES[int(rng.random() * len(_SHAPES))]
        words: list[int] = []
        items: list[Any] = []
        axis, ndim = 0, len(shape)
        has_ellipsis = False
        while axis < ndim:
            r = rng.random()
            extent = shape[axis]
            if r < 0.2:
                step = (None, 1, -1, 2, -2)[int(rng.random() * 5)]
                start = None if rng.random() < 0.5 else int(rng.random() * (extent + 1))
                given = (start is not None) + 4 * (step is not None)
                words += (IndexKind.SLICE, given, start or 0, 0, step or 0)
                items.append(slice(start, None, step))
                axis += 1
            elif r < 0.3 and extent:
                at = int(rng.random() * 2 * extent) - extent
                words += (IndexKind.INTEGER, at)
                items.append(at)
                axis += 1
            elif r < 0.36:
                words.append(IndexKind.NEWAXIS)
                items.append(None)
            elif r < 0.42 and not has_ellipsis:
                has_ellipsis = True
                words.append(IndexKind.ELLIPSIS)
                items.append(Ellipsis)
                axis += int(rng.random() * (ndim - axis + 1))
            elif r < 0.7:
                self._integers(words, items, common, extent)
                axis += 1
            elif r < 0.92 and not (has_ellipsis and 0 in shape):
                # After an ellipsis, a mask may apply to other axes than those it was made for. If
                # one of them has extent 0, NumPy (2.4) does not check the mask's extent.
                axis += self._mask(words, items, shape[axis:])
            else:
                # If there is an ellipsis, slices fill the axes that are left. Otherwise the
                # ellipsis would cover them, and the indices after it would apply to other axes.
                # They could be out of bounds there, which a device does not check.
                for _ in range(ndim - axis if has_ellipsis else 0):
                    words += (IndexKind.SLICE, 0, 0, 0, 0)
                    items.append(slice(None))
                break
        if rng.random() < 0.03 or not any(isinstance(item, np.ndarray) for item in items):
            if rng.random() < 0.3 or not ndim or items:
                self._mask(words, items, ())
            else:
                self._integers(words, items, common, shape[0])
        return [len(items), *words], tuple(items)

    def _integers(
        self, words: list[int], items: list[Any], common: tuple[int, ...], extent: int
    ) -> None:
        rng = self._rng
        r = rng.random()
        shape = common if r < 0.7 else common[-1:] if r < 0.85 else ()
        if r > 0.98:
            shape = (4,)  # which may not broadcast with the others
        number = _INTEGERS[int(rng.random() * len(_INTEGERS))]
        dtype = DTYPES[number]
        host = int(rng.random() < 0.3)
        ends = np.iinfo(dtype)
        low, high = max(-extent, ends.min), min(extent - 1, ends.max)
        count = int(np.prod(shape, dtype=int))
        if extent == 0:
            # No index is in the bounds of an axis of extent 0, so 0 is as wrong as any other.
            low, high = 0, 0
        values = [low + int(rng.random() * (high - low + 1)) for _ in range(count)]
        if host and count and rng.random() < 0.04:  # a device's are not checked
            values[-1] = min(extent, ends.max)
        words += (IndexKind.INTEGERS, host, number, len(shape), *shape, *values)
        items.append(np.array(values, dtype).reshape(shape))

    def _mask(self, words: list[int], items: list[Any], rest: tuple[int, ...]) -> int:
        rng = self._rng
        axes = 1 + int(rng.random() * len(rest)) if rest else 0
        while axes > 1 and np.prod(rest[:axes]) > _MAX_MASK:
            axes -= 1
        shape = list(rest[:axes])
        if axes and rng.random() < 0.02:
            shape[-1] += 1
        host = int(rng.random() < 0.3)
        share = (0.5, 0.5, 0.1, 0.9, 0.0)[int(rng.random() * 5)]
        values = [int(rng.random() < share) for _ in range(int(np.prod(shape, dtype=int)))]
        words += (IndexKind.MASK, host, axes, *shape, *values)
        items.append(np.array(values, bool).reshape(shape))
        return axes


def read_key(words: Iterator[int], made: Callable[[Array, bool], Any]) -> Key:
    """Return the key of some words; ``made(array, host)`` gives the key's item for an array."""
    items: list[Any] = []
    for _ in range(next(words)):
        kind = next(words)
        if kind == IndexKind.INTEGER:
            items.append(next(words))
        elif kind == IndexKind.SLICE:
            given, *bounds = (next(words) for _ in range(4))
            items.append(slice(*(b if given >> n & 1 else None for n, b in enumerate(bounds))))
        elif kind in (IndexKind.INTEGERS, IndexKind.MASK):
            host = bool(next(words))
            dtype = DTYPES[next(words)] if kind == IndexKind.INTEGERS else np.dtype(bool)
            shape = [next(words) for _ in range(next(words))]
            values = [next(words) for _ in range(int(np.prod(shape, dtype=int)))]
            items.append(made(np.array(values, dtype).reshape(shape), host))
        else:
            items.append(None if kind == IndexKind.NEWAXIS else Ellipsis)
    return tuple(items)


def key_text(words: Iterator[int]) -> str:
    """Return a key as NumPy code."""

    def text(array: Array, host: bool) -> Any:
        name = "host" if host else "device"
        return _Text(f"{name}({array.tolist()}, {array.dtype.name!r}, {array.shape})")

    parts = []
    for item in read_key(words, text):
        if isinstance(item, slice):
            parts.append(f"slice({item.start}, {item.stop}, {item.step})")
        else:
            parts.append("..." if item is Ellipsis else str(item))
    return f"({', '.join(parts)},)"


class _Text(str):
    """The code of an array in a key's text."""
