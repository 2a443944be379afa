"""Draws arguments: arrays of all dtypes, shapes and layouts, axes, keys and numbers."""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")

BOOLS = ("bool",)
INTEGERS = ("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64")
FLOATS = ("float16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
REAL = BOOLS + INTEGERS + FLOATS
ALL = REAL + COMPLEX
#: Values of floats that are drawn now and then.
ODD = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, 0.5, 1e-30, 1e30)


class Draw:
    """A seeded source of arguments for one case."""

    def __init__(self, seed: str) -> None:
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(self.random.getrandbits(64))

    def one(self, values: Sequence[T]) -> T:
        return self.random.choice(values)

    def maybe(self, value: T, otherwise: Any = None, share: float = 0.5) -> Any:
        return value if self.random.random() < share else otherwise

    def integer(self, low: int, high: int) -> int:
        """Return an int from ``low`` to ``high``."""
        return self.random.randint(low, high)

    def some(self, **options: Sequence[Any]) -> dict[str, Any]:
        """Return keyword arguments: each option with one of its values, or not at all."""
        return {name: self.one(values) for name, values in options.items() if self.maybe(True)}

    def shape(self, least: int = 0, most: int = 3, longest: int = 5) -> tuple[int, ...]:
        ndim = self.integer(least, most)
        lowest = 0 if self.random.random() < 0.08 else 1
        return tuple(self.integer(lowest, longest) for _ in range(ndim))

    def array(
        self,
        kinds: Sequence[str] = ALL,
        shape: tuple[int, ...] | None = None,
        least: int = 0,
        most: int = 3,
        odd: float = 0.1,
        span: float = 10.0,
    ) -> Any:
        """Return an array of one of some dtypes, in any layout.

        It has ``shape``, or from ``least`` to ``most`` axes. ``odd`` is the probability that floats
        hold NaN, infinities and zeros. Numbers are drawn up to the magnitude ``span``.
        """
        dtype = np.dtype(self.one(kinds))
        extents = self.shape(least, most) if shape is None else shape
        made = self.elements(dtype, extents, odd, span)
        layout = self.random.random()
        if layout < 0.2:
            made = np.asfortranarray(made)
        elif layout < 0.35 and made.ndim:
            wide = self.elements(dtype, (*extents[:-1], extents[-1] * 2), odd, span)
            made = wide[..., ::2]
        elif layout < 0.5 and made.ndim:
            made = made[::-1]
        return made

    def elements(
        self, dtype: np.dtype[Any], shape: tuple[int, ...], odd: float, span: float
    ) -> Any:
        if dtype.kind == "b":
            return self.numbers.random(shape) < 0.5
        low = 0 if dtype.kind == "u" else -span
        if dtype.kind in "iu":
            high = min(span, np.iinfo(dtype).max)
            return self.numbers.integers(int(low), int(high), shape, endpoint=True).astype(dtype)
        made: Any = self.numbers.uniform(low, span, shape)
        if self.random.random() < 0.5:
            made = np.round(made)
        if dtype.kind == "c":
            made = made + 1j * self.numbers.uniform(low, span, shape)
        elif self.random.random() < odd:
            made = np.where(self.numbers.random(shape) < 0.3, self.numbers.choice(ODD, shape), made)
        with np.errstate(all="ignore"):
            return np.asarray(made).astype(dtype)

    def like(self, a: Any, kinds: Sequence[str] = ALL, **options: Any) -> Any:
        """Return an array that broadcasts with ``a``, or now and then one that does not."""
        shape = tuple(self.maybe(extent, 1, 0.8) for extent in a.shape)
        shape = shape[self.integer(0, len(shape)) if self.maybe(True, share=0.3) else 0 :]
        if self.random.random() < 0.04:
            shape = (*shape, 7)
        return self.array(kinds, shape, **options)

    def number(self) -> Any:
        """Return a number of Python's or a scalar of NumPy's."""
        value = self.integer(-4, 9)
        return self.one(
            [
                value,
                float(value),
                value / 4,
                np.float32(value),
                np.int64(value),
                np.float64(value / 2),
                True,
                np.int8(value % 7),
                np.array(value),
            ]
        )

    def axis(self, ndim: int, none: bool = True, wrong: float = 0.04) -> Any:
        if none and self.random.random() < 0.3:
            return None
        if self.random.random() < wrong:
            return ndim + 1
        return self.integer(-ndim, ndim - 1) if ndim else self.one([0, -1])

    def axes(self, ndim: int) -> Any:
        """Return None, one axis, or several."""
        if ndim > 1 and self.random.random() < 0.35:
            count = self.integer(1, ndim)
            return tuple(self.random.sample(range(ndim), count))
        return self.axis(ndim)

    def sizes(self, size: int) -> tuple[int, ...]:
        """Return a shape of a number of elements."""
        divisors = [each for each in range(1, size + 1) if size % each == 0] or [0]
        first = self.one(divisors)
        return self.one([(first, size // first if first else 0), (size,), (-1, max(first, 1))])
