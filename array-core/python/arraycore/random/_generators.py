"""Seeded streams with the methods of NumPy's two classes: RandomState and Generator."""

from __future__ import annotations

from math import prod
from operator import index
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from .._core.creation import array, as_device_array
from .._core.ndarray import ndarray
from .._manipulation.joining import axis_of, take_axis
from .._manipulation.views import copyto, moveaxis
from .._runtime.calls import integers as _integers
from .._statistics.histograms import searchsorted
from .._statistics.sorting import argsort, order_rows
from ._distributions import _BITS, _UNIFORM, Size, integer_span
from ._more_distributions import MoreDistributions

State = tuple[tuple[int, int], int]


class _Drawing(MoreDistributions):
    """The methods of `RandomState` and `Generator` that choose and shuffle."""

    __slots__ = ()

    def _uniform(self, size: Size, dtype: npt.DTypeLike, out: ndarray | None = None) -> ndarray:
        if out is None:
            return self._floats(_UNIFORM, 0.0, 1.0, size, dtype)
        return _placed(self._floats(_UNIFORM, 0.0, 1.0, _shape_of(out, size), out.dtype), out)

    def _between(
        self, low: Any, high: Any, dtype: npt.DTypeLike, endpoint: bool, size: Size
    ) -> ndarray:
        wanted = np.dtype(dtype)
        if any(isinstance(each, ndarray | np.ndarray | list | tuple) for each in (low, high)):
            return self._integers_between(low, high, wanted, endpoint, size)
        return self._integers(*integer_span(low, high, wanted, endpoint), wanted, size)

    def _order(self, count: int) -> ndarray:
        """Return the numbers below ``count`` in random order, by a stable sort of random words.

        Equal words keep their order, so the probability that a pair is not swapped is 2**-33 too
        high.
        """
        return argsort(self._draw(_BITS, np.dtype(np.uint32), [0, 0], [0, 0], count))

    def permutation(self, x: Any, axis: int = 0) -> ndarray:
        """Return an array's parts along an axis, or the numbers below an int, in random order."""
        if not isinstance(x, ndarray) and np.ndim(x) == 0:
            return self._order(index(x))
        values = as_device_array(x)
        along = axis_of(axis, values.ndim)
        return take_axis(values, self._order(values.shape[along]), along)

    def shuffle(self, x: ndarray, axis: int = 0) -> None:
        """Put an array's parts along an axis in random order, in place."""
        if not isinstance(x, ndarray):
            raise TypeError("The array must be arraycore.ndarray")
        if x.ndim == 0:
            raise TypeError("An array whose ndim is 0 is not supported")
        x[...] = self.permutation(x, axis)

    def _choice(self, a: Any, size: Size, replace: bool, p: Any, axis: int) -> ndarray:
        shape = () if size is None else _integers(size)
        wanted = prod(shape)
        if not isinstance(a, ndarray) and np.ndim(a) == 0:
            count, values = index(a), None
            if count <= 0 and wanted:
                raise ValueError("a must be a positive integer unless no samples are taken")
        else:
            values = as_device_array(a)
            axis = axis_of(axis, values.ndim)
            count = values.shape[axis]
            if count == 0 and wanted:
                raise ValueError("a cannot be empty unless no samples are taken")
        if p is not None:
            places = self._weighted(p, count, wanted, replace)
        elif replace:
            places = self._integers(0, count, np.dtype(np.int64), wanted)
        else:
            if wanted > count:
                raise ValueError(
                    "Cannot take a larger sample than population when replace is False"
                )
            places = self._order(count)[:wanted]
        if values is None:
            return places.reshape(*shape)
        made = take_axis(values, places, axis)
        return made.reshape(*values.shape[:axis], *shape, *values.shape[axis + 1 :])

    def _weighted(self, p: Any, count: int, wanted: int, replace: bool) -> ndarray:
        """Return indices that are drawn with the given probabilities, which are read.

        With replacement, uniform numbers are searched in the cumulative probabilities. Without it,
        the smallest values of ``E / p`` are taken, where ``E`` is exponentially distributed
        (Efraimidis and Spirakis, 2006).
        """
        if isinstance(p, ndarray):
            p = p.get()
        chances = np.asarray(p, np.float64)
        if chances.ndim != 1 or chances.size != count:
            raise ValueError("a and p must have same size")
        if (chances < 0).any() or not np.isfinite(chances).all():
            raise ValueError("Probabilities are not non-negative")
        if abs(chances.sum() - 1) > 1e-8:
            raise ValueError("Probabilities do not sum to 1")
        if replace:
            sums = np.cumsum(chances)
            drawn = self._floats(_UNIFORM, 0.0, 1.0, wanted, np.float64)
            return searchsorted(array(sums / sums[-1]), drawn, "right")
        if wanted > np.count_nonzero(chances):
            raise ValueError("Fewer non-zero entries in p than size")
        waits = self.standard_exponential(count)
        with np.errstate(divide="ignore"):
            waits *= array(1 / chances)
        return argsort(waits)[:wanted]


class RandomState(_Drawing):
    """A seeded stream with the methods of :class:`numpy.random.RandomState`.

    Parameters
    ----------
    seed : int or sequence of ints, optional
        The seed. The same seed gives the same numbers; None uses the system's entropy.
    """

    __slots__ = ()

    def seed(self, seed: Any = None) -> None:
        """Restart the stream with a seed."""
        self.__init__(seed)  # type: ignore[misc]

    def get_state(self, legacy: bool = True) -> State:
        """Return the state for :meth:`set_state`: the key and the number of calls.

        ``legacy`` is accepted for compatibility with NumPy.
        """
        return self._key, self._calls

    def set_state(self, state: State) -> None:
        """Continue from a state of :meth:`get_state`."""
        (first, second), calls = state
        self._key, self._calls = (index(first), index(second)), index(calls)

    def random_sample(self, size: Size = None, dtype: npt.DTypeLike = float) -> ndarray:
        """Return floats of [0, 1): multiples of 2**-24 (float32) or 2**-53."""
        return self._uniform(size, dtype)

    random = random_sample

    def rand(self, *size: int, dtype: npt.DTypeLike = float) -> ndarray:
        """Return floats of [0, 1); the shape's extents are the arguments."""
        return self._uniform(size, dtype)

    def randn(self, *size: int, dtype: npt.DTypeLike = float) -> ndarray:
        """Return floats of mean 0 and variance 1; the shape's extents are the arguments."""
        return self.standard_normal(size, dtype)

    def randint(
        self, low: Any, high: Any = None, size: Size = None, dtype: npt.DTypeLike = np.int64
    ) -> ndarray:
        """Return integers of [low, high), or of [0, low) if ``high`` is None. Both may be arrays.

        The probability of an integer is wrong by at most 2**-32 for spans up to 2**32, and by at
        most 2**-64 for longer spans.
        """
        return self._between(low, high, dtype, False, size)

    def tomaxint(self, size: Size = None) -> ndarray:
        """Return integers from 0 to the largest number of int64."""
        return self._integers(0, 1 << 63, np.dtype(np.int64), size)

    def random_integers(self, low: int, high: int | None = None, size: Size = None) -> ndarray:
        """Return integers of [low, high], or of [1, low] if ``high`` is None."""
        if high is None:
            low, high = 1, low
        return self.randint(low, high + 1, size)

    def choice(self, a: Any, size: Size = None, replace: bool = True, p: Any = None) -> ndarray:
        """Return random elements of a vector, or numbers below an int.

        Parameters
        ----------
        a : array of one axis, or int
            The array to choose from, or the number of integers to choose from.
        size : int or ints, optional
            The result's shape.
        replace : bool
            Whether an element may be chosen again.
        p : sequence of floats, optional
            The probability of each element. An array of arraycore is read.
        """
        if isinstance(a, ndarray) and a.ndim != 1:
            raise ValueError("a must be 1-dimensional")
        return self._choice(a, size, replace, p, 0)


class Generator(_Drawing):
    """A seeded stream with the methods of :class:`numpy.random.Generator`; see `default_rng`."""

    __slots__ = ()

    def random(
        self, size: Size = None, dtype: npt.DTypeLike = np.float64, out: ndarray | None = None
    ) -> ndarray:
        """Return floats of [0, 1), written to ``out`` where it is given."""
        return self._uniform(size, dtype, out)

    def integers(
        self,
        low: Any,
        high: Any = None,
        size: Size = None,
        dtype: npt.DTypeLike = np.int64,
        endpoint: bool = False,
    ) -> ndarray:
        """Return integers of [low, high), or of [low, high] with ``endpoint``.

        Both ends may be arrays. See :meth:`RandomState.randint`.
        """
        return self._between(low, high, dtype, endpoint, size)

    def choice(
        self,
        a: Any,
        size: Size = None,
        replace: bool = True,
        p: Any = None,
        axis: int = 0,
        shuffle: bool = True,
    ) -> ndarray:
        """Return random parts of an array along an axis, or numbers below an int.

        ``shuffle`` is accepted for compatibility with NumPy: the parts always have random order.
        """
        return self._choice(a, size, replace, p, axis)

    def permuted(self, x: Any, axis: int | None = None, *, out: ndarray | None = None) -> ndarray:
        """Return an array with each row along an axis shuffled independently.

        None as the axis shuffles all elements. The result is written to ``out`` where it is given.
        """
        values = as_device_array(x)
        if axis is None:
            made = self.permutation(values.ravel()).reshape(*values.shape)
        else:
            turned = moveaxis(values, axis, -1)
            keys = self._draw(_BITS, np.dtype(np.uint32), [0, 0], [0, 0], turned.shape)
            made = moveaxis(order_rows(turned, argsort(keys)), -1, axis)
        return made if out is None else _placed(made, out)

    def standard_normal(
        self, size: Size = None, dtype: npt.DTypeLike = np.float64, out: ndarray | None = None
    ) -> ndarray:
        """Return floats of mean 0 and variance 1, written to ``out`` where it is given."""
        if out is None:
            return super().standard_normal(size, dtype)
        return _placed(super().standard_normal(_shape_of(out, size), out.dtype), out)

    def standard_exponential(
        self,
        size: Size = None,
        dtype: npt.DTypeLike = np.float64,
        method: str = "zig",
        out: ndarray | None = None,
    ) -> ndarray:
        """Return exponentially distributed floats of mean 1, written to ``out`` where it is given.

        ``method`` is accepted for compatibility with NumPy.
        """
        if method not in ("zig", "inv"):
            raise ValueError(f"method must be 'zig' or 'inv', not {method!r}")
        if out is None:
            return super().standard_exponential(size, dtype)
        return _placed(super().standard_exponential(_shape_of(out, size), out.dtype), out)

    def standard_gamma(
        self,
        shape: Any,
        size: Size = None,
        dtype: npt.DTypeLike = np.float64,
        out: ndarray | None = None,
    ) -> ndarray:
        """Return gamma-distributed floats of scale 1, written to ``out`` where it is given."""
        if out is None:
            return super().standard_gamma(shape, size, dtype)
        return _placed(super().standard_gamma(shape, _shape_of(out, size), out.dtype), out)

    def multivariate_hypergeometric(
        self, colors: Any, nsample: int, size: Size = None, method: str = "marginals"
    ) -> ndarray:
        """Return how many elements of each color are drawn without replacement; by NumPy on the
        CPU.

        ``method`` is accepted for compatibility with NumPy.
        """
        if method not in ("marginals", "count"):
            raise ValueError('method must be "count" or "marginals".')
        return self._by_numpy("multivariate_hypergeometric", colors, nsample, size=size)

    @property
    def bit_generator(self) -> NoReturn:
        """Raise NotImplementedError: the stream's state is a key and a number of calls."""
        raise NotImplementedError(
            "arraycore's streams have no bit_generator: pickle the stream, or take get_state() of "
            "a RandomState."
        )

    def spawn(self, n_children: int) -> list[Generator]:
        """Return independent streams, seeded by this stream's key and number of calls."""
        number, self._calls = self._calls, self._calls + 1
        return [Generator([*self._key, number, child]) for child in range(n_children)]


def _shape_of(out: ndarray, size: Size) -> tuple[int, ...]:
    """Return the shape of ``out``; raise ValueError if ``size`` is another one."""
    if size is not None and _integers(size) != out.shape:
        raise ValueError("size must match out.shape when used together")
    return out.shape


def _placed(made: ndarray, out: ndarray) -> ndarray:
    if made.shape != out.shape:
        raise ValueError("out must have the same shape as x")
    copyto(out, made)
    return out


def default_rng(seed: Any = None) -> Generator:
    """Return a seeded stream; a :class:`Generator` is returned itself."""
    return seed if isinstance(seed, Generator) else Generator(seed)
