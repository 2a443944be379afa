"""Random numbers on the device, with one launch for each call.

The generator is Philox4x32-10 (Salmon, Moraes, Dror, Shaw, 2011; ``src/ops/random.h``). Its state,
a key and the number of calls, is in Python, so nothing is read back. A seed gives the same 32-bit
words on every back end. Integers and floats of [0, 1) have equal bits everywhere. Scaled floats and
distributions that need logarithms, sines or powers may differ between devices in their rounding, as
``arraycore.log`` does. The streams are not NumPy's.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core import ufuncs
from .._core.creation import asarray, full
from .._core.lazy_kernels import reduction
from .._core.ndarray import ndarray
from .._runtime import operations
from .._runtime.calls import float64, int64, int64s, integers
from .._runtime.dtypes import number_of, supported
from .._runtime.scalars import is_scalar

(
    _BITS, _UNIFORM, _NORMAL, _EXPONENTIAL, _LOGNORMAL, _GUMBEL, _LAPLACE, _GAMMA, _POISSON,
    _INTEGERS, _INTEGERS_WIDE, _BERNOULLI, _BINOMIAL,
) = range(13)  # fmt: skip
_TWO_32, _TWO_64 = 1 << 32, 1 << 64
#: The largest ``n`` of a binomial distribution, whose draws are made one by one.
_MOST_TRIALS = 1 << 16

_row_sums = reduction("T x", "T y", "x", "a + b", "y = a", "0", "row_sums")

Size = int | tuple[int, ...] | None


def _signed(word: int) -> int:
    return word - _TWO_32 if word >= _TWO_32 >> 1 else word


def _key_of(seed: Any) -> tuple[int, int]:
    """Return a key of two words that a seed gives; None uses the system's entropy."""
    words = np.random.SeedSequence(seed).generate_state(2, np.uint32)
    return int(words[0]), int(words[1])


#: A list that notes which stream draws while a step is recorded (``capture``), else None.
drawing: list[Source] | None = None


class Source:
    """A stream of random numbers: a key and a count of calls, with the methods for all
    distributions.
    """

    __slots__ = ("_calls", "_key")

    def __init__(self, seed: Any = None) -> None:
        self._key = _key_of(seed)
        self._calls = 0

    # ---- draws

    def _draw(
        self,
        distribution: int,
        dtype: np.dtype[Any],
        a: Sequence[int],
        b: Sequence[int],
        size: Size,
        each: ndarray | None = None,
    ) -> ndarray:
        """Return an array of random numbers from one launch; 0-dimensional if ``size`` is None."""
        shape = () if size is None else integers(size)
        number, self._calls = self._calls, self._calls + 1
        if drawing is not None:
            drawing.append(self)
        words = [*self._key, 0, number % _TWO_32, number >> 32, 0]
        return ndarray._adopt(operations.random((
            distribution, number_of(dtype), *(_signed(word) for word in words), *a, *b,
            0 if each is None else each._id, len(shape), *int64s(shape),
        )))  # fmt: skip

    def _floats(
        self, distribution: int, a: float, b: float, size: Size, dtype: npt.DTypeLike
    ) -> ndarray:
        wanted, drawn = _floating(dtype)
        made = self._draw(distribution, drawn, float64(a), float64(b), size)
        return made if drawn == wanted else made.astype(wanted)

    def _located(
        self, distribution: int, loc: Any, scale: Any, size: Size, dtype: npt.DTypeLike
    ) -> ndarray:
        """Return ``loc + scale * X`` for draws ``X``, which broadcast with ``loc`` and
        ``scale``.
        """
        if is_scalar(loc) and is_scalar(scale):
            return self._floats(distribution, float(loc), float(scale), size, dtype)
        shape = np.broadcast_shapes(_shape(loc), _shape(scale)) if size is None else integers(size)
        drawn = self._floats(distribution, 0.0, 1.0, shape, dtype)
        drawn *= _on_device(scale)
        drawn += _on_device(loc)
        return drawn

    def _shaped(
        self, distribution: int, each: Any, scale: Any, size: Size, dtype: npt.DTypeLike
    ) -> ndarray:
        """Return ``scale * X`` for draws ``X``, whose shape parameter or mean is ``each``."""
        wanted, drawn = _floating(dtype)
        if size is None:
            size = np.broadcast_shapes(_shape(each), _shape(scale))
        given = (
            full((), each, drawn) if is_scalar(each) else asarray(each).astype(drawn, copy=False)
        )
        factor = float(scale) if is_scalar(scale) else 1.0
        made = self._draw(distribution, drawn, float64(0), float64(factor), size, given)
        if not is_scalar(scale):
            made *= _on_device(scale)
        return made if drawn == wanted else made.astype(wanted)

    def _integers(self, low: int, span: int, dtype: np.dtype[Any], size: Size) -> ndarray:
        """Return integers of [low, low + span); a span of 2**64 is encoded as 0."""
        wide = span > _TWO_32
        kind = _INTEGERS_WIDE if wide else _INTEGERS
        return self._draw(kind, dtype, _word64(low), _word64(span), size)


def _floating(dtype: npt.DTypeLike) -> tuple[np.dtype[Any], np.dtype[Any]]:
    """Return a dtype and the dtype to draw in: float16 is drawn in float32, then rounded."""
    wanted = supported(dtype)
    if wanted.kind != "f":
        raise TypeError(f"Random numbers of this distribution are floats, not {wanted}.")
    return wanted, np.dtype(np.float32) if wanted.itemsize < 4 else wanted


def _word64(value: int) -> tuple[int, int]:
    value %= _TWO_64
    return int64(value - _TWO_64 if value >= _TWO_64 >> 1 else value)


def _shape(value: Any) -> tuple[int, ...]:
    return value.shape if isinstance(value, ndarray) else np.shape(value)


def _on_device(value: Any) -> Any:
    return value if isinstance(value, ndarray) or is_scalar(value) else asarray(value)


def _not_negative(name: str, value: Any) -> None:
    """Raise NumPy's ValueError if a parameter is negative; arrays on the device are not checked."""
    if not isinstance(value, ndarray) and np.any(np.less(value, 0)):
        raise ValueError(f"{name} < 0")


class Distributions(Source):
    """The distributions, under NumPy's names.

    Every method returns a new array of shape ``size``, by default the broadcast shape of the
    parameters. In formulas, ``E`` is an exponentially distributed number of mean 1. ``dtype`` is a
    floating dtype, by default float64, which lives on the CPU: pass float32 for a device.
    """

    __slots__ = ()

    def uniform(
        self, low: Any = 0.0, high: Any = 1.0, size: Size = None, dtype: npt.DTypeLike = float
    ) -> ndarray:
        """Return floats of [low, high), in steps of 2**-24 (float32) or 2**-53 of the span.

        Rounding ``low + (high - low) * u`` may give ``high`` itself, as in NumPy. Parameters may be
        arrays.
        """
        return self._located(_UNIFORM, low, high - low, size, dtype)

    def normal(
        self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, dtype: npt.DTypeLike = float
    ) -> ndarray:
        """Return normally distributed floats, by Box and Muller's transform. Parameters may be
        arrays.

        The tails end at 6.8 standard deviations in float32 and at 8.6 in float64. An exact normal
        number lies beyond these limits with a probability of 2**-36 and 2**-57.
        """
        _not_negative("scale", scale)
        return self._located(_NORMAL, loc, scale, size, dtype)

    def lognormal(
        self, mean: Any = 0.0, sigma: Any = 1.0, size: Size = None, dtype: npt.DTypeLike = float
    ) -> ndarray:
        """Return ``exp`` of normally distributed floats. Parameters may be arrays."""
        _not_negative("sigma", sigma)
        if is_scalar(mean) and is_scalar(sigma):
            return self._floats(_LOGNORMAL, float(mean), float(sigma), size, dtype)
        drawn = self._located(_NORMAL, mean, sigma, size, dtype)
        return ufuncs.exp(drawn, out=drawn)  # type: ignore[no-any-return]

    def exponential(
        self, scale: Any = 1.0, size: Size = None, dtype: npt.DTypeLike = float
    ) -> ndarray:
        """Return exponentially distributed floats of the given mean. The mean may be an array."""
        _not_negative("scale", scale)
        return self._located(_EXPONENTIAL, 0.0, scale, size, dtype)

    def gumbel(
        self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, dtype: npt.DTypeLike = float
    ) -> ndarray:
        """Return floats of Gumbel's distribution, ``loc - scale log(E)`` with an exponential ``E``.

        Parameters may be arrays.
        """
        _not_negative("scale", scale)
        return self._located(_GUMBEL, loc, scale, size, dtype)

    def laplace(
        self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, dtype: npt.DTypeLike = float
    ) -> ndarray:
        """Return floats of Laplace's double exponential distribution. Parameters may be arrays."""
        _not_negative("scale", scale)
        return self._located(_LAPLACE, loc, scale, size, dtype)

    def gamma(
        self, shape: Any, scale: Any = 1.0, size: Size = None, dtype: npt.DTypeLike = float
    ) -> ndarray:
        """Return gamma-distributed floats, by Marsaglia and Tsang (2000). Parameters may be
        arrays.
        """
        _not_negative("shape", shape)
        _not_negative("scale", scale)
        return self._shaped(_GAMMA, shape, scale, size, dtype)

    def poisson(
        self, lam: Any = 1.0, size: Size = None, dtype: npt.DTypeLike = np.int64
    ) -> ndarray:
        """Return Poisson-distributed integers of mean ``lam``, which may be an array.

        They are drawn by waiting times if ``lam`` is below 12, else by Hoermann's rejection (1993),
        in float64 for a 64-bit dtype, else in float32. The rounding of float32 shows in the tails
        from a ``lam`` of 1e4 on.
        """
        _not_negative("lam", lam)
        wanted = supported(dtype)
        drawn = np.float64 if wanted.itemsize > 4 else np.float32
        return self._shaped(_POISSON, lam, 1.0, size, drawn).astype(wanted, copy=False)

    def binomial(
        self, n: int, p: float, size: Size = None, dtype: npt.DTypeLike = np.int64
    ) -> ndarray:
        """Return how many of ``n`` draws succeeded, each with probability ``p``.

        ``p`` is rounded to a multiple of 2**-32. Draws are made one by one, at most 65,536.
        """
        trials, chance = index(n), float(p)
        if trials < 0:
            raise ValueError("n < 0")
        if not 0 <= chance <= 1:
            raise ValueError("p < 0, p > 1 or p is NaN")
        threshold = _word64(round(chance * _TWO_32))
        kind = _BERNOULLI if trials == 1 else _BINOMIAL
        return self._draw(kind, supported(dtype), threshold, _word64(trials), size)

    # ---- distributions that are computed from those above

    def standard_normal(self, size: Size = None, dtype: npt.DTypeLike = float) -> ndarray:
        """Return floats of mean 0 and variance 1; see :meth:`normal`."""
        return self._floats(_NORMAL, 0.0, 1.0, size, dtype)

    def standard_exponential(self, size: Size = None, dtype: npt.DTypeLike = float) -> ndarray:
        """Return exponentially distributed floats of mean 1."""
        return self._floats(_EXPONENTIAL, 0.0, 1.0, size, dtype)

    def standard_gamma(
        self, shape: Any, size: Size = None, dtype: npt.DTypeLike = float
    ) -> ndarray:
        """Return gamma-distributed floats of scale 1; see :meth:`gamma`."""
        return self.gamma(shape, 1.0, size, dtype)

    def standard_cauchy(self, size: Size = None, dtype: npt.DTypeLike = float) -> ndarray:
        """Return floats of Cauchy's distribution: the tangent of a uniformly distributed angle."""
        angle = self._floats(_UNIFORM, -math.pi / 2, math.pi, size, dtype)
        return ufuncs.tan(angle, out=angle)  # type: ignore[no-any-return]

    def logistic(
        self, loc: Any = 0.0, scale: Any = 1.0, size: Size = None, dtype: npt.DTypeLike = float
    ) -> ndarray:
        """Return floats of the logistic distribution: the difference of two numbers of Gumbel's
        distribution.

        Parameters may be arrays.
        """
        _not_negative("scale", scale)
        if size is None:
            size = np.broadcast_shapes(_shape(loc), _shape(scale))
        drawn = self._floats(_GUMBEL, 0.0, 1.0, size, dtype)
        drawn -= self._floats(_GUMBEL, 0.0, 1.0, size, dtype)
        drawn *= _on_device(scale)
        drawn += _on_device(loc)
        return drawn

    def rayleigh(
        self, scale: Any = 1.0, size: Size = None, dtype: npt.DTypeLike = float
    ) -> ndarray:
        """Return floats of Rayleigh's distribution, ``scale sqrt(2 E)`` with an exponential ``E``.

        ``scale`` may be an array.
        """
        _not_negative("scale", scale)
        return self._power_of_exponential(0.5, math.sqrt(2), scale, size, dtype)

    def weibull(self, a: Any, size: Size = None, dtype: npt.DTypeLike = float) -> ndarray:
        """Return floats of Weibull's distribution, ``E ** (1 / a)`` with an exponential ``E``.

        ``a`` may be an array.
        """
        _not_negative("a", a)
        return self._power_of_exponential(1 / _on_device(a), 1.0, 1.0, size, dtype)

    def power(self, a: Any, size: Size = None, dtype: npt.DTypeLike = float) -> ndarray:
        """Return floats of [0, 1] with density ``a x ** (a - 1)``. ``a`` may be an array."""
        _positive("a", a)
        drawn = self._floats(_EXPONENTIAL, 0.0, 1.0, _shape(a) if size is None else size, dtype)
        drawn *= -1 / _on_device(a)
        return ufuncs.exp(drawn, out=drawn)  # type: ignore[no-any-return]

    def pareto(self, a: Any, size: Size = None, dtype: npt.DTypeLike = float) -> ndarray:
        """Return floats of Pareto's second distribution, ``expm1(E / a)`` with an exponential
        ``E``.

        ``a`` may be an array.
        """
        _positive("a", a)
        drawn = self._floats(_EXPONENTIAL, 0.0, 1.0, _shape(a) if size is None else size, dtype)
        drawn /= _on_device(a)
        return ufuncs.expm1(drawn, out=drawn)  # type: ignore[no-any-return]

    def chisquare(self, df: Any, size: Size = None, dtype: npt.DTypeLike = float) -> ndarray:
        """Return floats of the chi-square distribution with ``df`` degrees of freedom.

        They are twice gamma-distributed numbers of shape ``df / 2``. ``df`` may be an array.
        """
        _positive("df", df)
        return self.gamma(_on_device(df) / 2, 2.0, size, dtype)

    def beta(self, a: Any, b: Any, size: Size = None, dtype: npt.DTypeLike = float) -> ndarray:
        """Return floats of the beta distribution: ``x / (x + y)`` for gamma-distributed ``x`` and
        ``y``.

        Parameters may be arrays.
        """
        _positive("a", a)
        _positive("b", b)
        shape = np.broadcast_shapes(_shape(a), _shape(b)) if size is None else size
        x, y = self.gamma(a, 1.0, shape, dtype), self.gamma(b, 1.0, shape, dtype)
        y += x
        x /= y
        return x

    def dirichlet(self, alpha: Any, size: Size = None, dtype: npt.DTypeLike = float) -> ndarray:
        """Return rows of shares that sum to 1: gamma-distributed numbers, divided by their sum.

        ``alpha`` is an array; its last axis is the row.
        """
        _positive("alpha", alpha)
        shape = _shape(alpha) if size is None else (*integers(size), *_shape(alpha)[-1:])
        x = self.gamma(alpha, 1.0, shape, dtype)
        x /= _row_sums(x, axis=-1)[..., None]
        return x

    def f(self, dfnum: Any, dfden: Any, size: Size = None, dtype: npt.DTypeLike = float) -> ndarray:
        """Return floats of the F distribution: the ratio of two chi-square numbers, each divided by
        its degrees of freedom. Parameters may be arrays.
        """
        _positive("dfnum", dfnum)
        _positive("dfden", dfden)
        shape = np.broadcast_shapes(_shape(dfnum), _shape(dfden)) if size is None else size
        above, below = _on_device(dfnum) / 2, _on_device(dfden) / 2
        drawn = self.gamma(above, 1 / above, shape, dtype)
        drawn /= self.gamma(below, 1 / below, shape, dtype)
        return drawn

    def standard_t(self, df: Any, size: Size = None, dtype: npt.DTypeLike = float) -> ndarray:
        """Return floats of Student's distribution: a normal number, divided by the root of a
        chi-square number over ``df``. ``df`` may be an array.
        """
        _positive("df", df)
        half = _on_device(df) / 2
        root = self.gamma(half, 1 / half, _shape(df) if size is None else size, dtype)
        drawn = self.standard_normal(root.shape, dtype)
        drawn /= ufuncs.sqrt(root, out=root)
        return drawn

    def geometric(self, p: float, size: Size = None, dtype: npt.DTypeLike = np.int64) -> ndarray:
        """Return the number of draws of probability ``p`` until the first success.

        It is ``ceil(E / -log1p(-p))`` with an exponential ``E``, computed in float64 for a 64-bit
        dtype, else in float32.
        """
        chance = float(p)
        if not 0 < chance <= 1:
            raise ValueError("p <= 0, p > 1 or p contains NaNs")
        wanted = supported(dtype)
        drawn = np.float64 if wanted.itemsize > 4 else np.float32
        rate = -math.log1p(-chance) if chance < 1 else math.inf
        waited = self._floats(_EXPONENTIAL, 0.0, 1 / rate, size, drawn)
        ufuncs.ceil(waited, out=waited)
        return ufuncs.maximum(waited, 1, out=waited).astype(wanted)  # type: ignore[no-any-return]

    def _power_of_exponential(
        self, exponent: Any, factor: float, scale: Any, size: Size, dtype: npt.DTypeLike
    ) -> ndarray:
        shape = np.broadcast_shapes(_shape(exponent), _shape(scale)) if size is None else size
        drawn = self._floats(_EXPONENTIAL, 0.0, 1.0, shape, dtype)
        drawn **= exponent
        drawn *= factor
        drawn *= _on_device(scale)
        return drawn


def _positive(name: str, value: Any) -> None:
    """Raise NumPy's ValueError unless a parameter is above 0; a device's arrays are not checked."""
    if not isinstance(value, ndarray) and not np.all(np.greater(value, 0)):
        raise ValueError(f"{name} <= 0")


def integer_span(low: Any, high: Any, dtype: np.dtype[Any], endpoint: bool) -> tuple[int, int]:
    """Return the first integer to draw from, and the number of integers.

    Raises
    ------
    ValueError
        The interval is empty, or the dtype does not hold one of its integers.
    """
    if dtype.kind not in "iub":
        raise TypeError(f"Unsupported dtype {dtype!r} for integers")
    if high is None:
        low, high = 0, low
    first, last = index(low), index(high) - (0 if endpoint else 1)
    least, most = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if first < least:
        raise ValueError(f"low is out of bounds for {dtype}")
    if last > most:
        raise ValueError(f"high is out of bounds for {dtype}")
    if first > last:
        raise ValueError("low > high" if endpoint else "low >= high")
    return first, last - first + 1


def bits(source: Source, count: int) -> ndarray:
    """Return the generator's words themselves, uint32."""
    return source._draw(_BITS, np.dtype(np.uint32), [0, 0], [0, 0], count)
