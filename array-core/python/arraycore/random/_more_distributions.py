"""Distributions that are made from those of ``_distributions.py``, or drawn by NumPy.

NumPy draws on the CPU where a distribution needs loops of unknown length (``zipf``, ``vonmises``,
...) or counts of many draws. Then the seed of NumPy's generator comes from this stream, so that the
numbers depend on the stream's seed alone, and ``cpu_ops`` counts the call.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from .._compat.host_fallback import by_numpy
from .._core import ufuncs
from .._core.creation import array, asarray
from .._core.ndarray import ndarray
from .._linalg.products import matmul
from .._manipulation.gathering import where
from .._runtime import operations
from .._runtime.calls import integers
from .._runtime.dtypes import supported
from .._runtime.scalars import is_scalar
from . import _distributions as base
from ._distributions import Distributions, Size


def _size_for(parameter: ndarray, size: Size) -> tuple[int, ...]:
    """Return the shape of what is drawn.

    Raises
    ------
    ValueError
        A parameter has more elements than that.
    """
    if size is None:
        return parameter.shape
    shape = integers(size)
    if np.broadcast_shapes(shape, parameter.shape) != shape:
        raise ValueError(f"size {shape} does not match a parameter of shape {parameter.shape}")
    return shape


class MoreDistributions(Distributions):
    """Distributions under NumPy's names, in addition to those of :class:`Distributions`."""

    __slots__ = ()

    def _by_numpy(self, name: str, *args: Any, size: Size = None) -> ndarray:
        """Return numbers that NumPy draws on the CPU, from a generator that this stream seeds.

        Raises
        ------
        NotImplementedError
            A step is recorded: played again, it would repeat the numbers.
        """
        if base.drawing is not None:
            raise NotImplementedError(
                f"arraycore.random.{name} draws on the CPU, which a captured step cannot repeat: "
                "draw before the step, and pass the numbers."
            )
        number, self._calls = self._calls, self._calls + 1
        seed = np.random.SeedSequence([*self._key, number])
        generator = np.random.Generator(np.random.Philox(seed))
        host = [each.get() if isinstance(each, ndarray) else each for each in args]
        operations.helped()
        shape = None if size is None else integers(size)
        return array(np.asarray(getattr(generator, name)(*host, shape)))

    # ---- counts

    def binomial(
        self, n: Any, p: Any, size: Size = None, dtype: npt.DTypeLike = np.int64
    ) -> ndarray:
        """Return how many of ``n`` draws succeeded, each with probability ``p``.

        One number ``p`` is rounded to a multiple of 2**-32, and up to 65,536 draws are made one by
        one where the arrays live. If ``n`` is 1, ``p`` may be an array there. NumPy draws on the
        CPU if ``n`` is larger or another parameter is an array.
        """
        if is_scalar(n) and is_scalar(p) and index(n) <= base._MOST_TRIALS:
            return super().binomial(n, p, size, dtype)
        base._not_negative("n", n)
        if not isinstance(p, ndarray) and not np.all((np.asarray(p) >= 0) & (np.asarray(p) <= 1)):
            raise ValueError("p < 0, p > 1 or p is NaN")
        if not (is_scalar(n) and n == 1):
            return self._by_numpy("binomial", n, p, size=size).astype(dtype, copy=False)
        chances = base._on_device(p)
        kind = np.float32 if chances.dtype == np.float32 else np.float64
        drawn = self._floats(base._UNIFORM, 0.0, 1.0, _size_for(chances, size), kind)
        made: ndarray = (drawn < chances).astype(supported(dtype))
        return made

    def geometric(self, p: Any, size: Size = None, dtype: npt.DTypeLike = np.int64) -> ndarray:
        """Return the number of draws of probability ``p``, which may be an array, until the first
        success: ``ceil(E / -log1p(-p))`` with an exponential ``E``.
        """
        if is_scalar(p):
            return super().geometric(p, size, dtype)
        if not isinstance(p, ndarray) and not np.all((np.asarray(p) > 0) & (np.asarray(p) <= 1)):
            raise ValueError("p <= 0, p > 1 or p contains NaNs")
        wanted = supported(dtype)
        kind = np.dtype(np.float64 if wanted.itemsize > 4 else np.float32)
        rate = ufuncs.negative(ufuncs.log1p(-base._on_device(p).astype(kind)))
        waited = self._floats(base._EXPONENTIAL, 0.0, 1.0, _size_for(rate, size), kind)
        waited /= rate
        ufuncs.ceil(waited, out=waited)
        return ufuncs.maximum(waited, 1, out=waited).astype(wanted)  # type: ignore[no-any-return]

    def negative_binomial(
        self, n: Any, p: Any, size: Size = None, dtype: npt.DTypeLike = np.int64
    ) -> ndarray:
        """Return the number of failures before ``n`` successes of probability ``p``.

        They are Poisson-distributed, with a gamma-distributed mean. Parameters may be arrays.
        """
        base._positive("n", n)
        chances = base._on_device(p)
        if not isinstance(p, ndarray) and not np.all((np.asarray(p) > 0) & (np.asarray(p) <= 1)):
            raise ValueError("p <= 0, p > 1 or p contains NaNs")
        shape = np.broadcast_shapes(base._shape(n), base._shape(p)) if size is None else size
        mean = self.gamma(n, (1 - chances) / chances, shape)
        return self.poisson(mean, None, dtype)

    def hypergeometric(self, ngood: Any, nbad: Any, nsample: Any, size: Size = None) -> ndarray:
        """Return how many of ``nsample`` drawn elements are good, without replacement; by NumPy."""
        return self._by_numpy("hypergeometric", ngood, nbad, nsample, size=size)

    def logseries(self, p: Any, size: Size = None) -> ndarray:
        """Return integers of the logarithmic series distribution; by NumPy on the CPU."""
        return self._by_numpy("logseries", p, size=size)

    def zipf(self, a: Any, size: Size = None) -> ndarray:
        """Return integers of Zipf's distribution, of probability ``k ** -a``; by NumPy."""
        return self._by_numpy("zipf", a, size=size)

    def multinomial(self, n: Any, pvals: Any, size: Size = None) -> ndarray:
        """Return how often each outcome occurs in ``n`` draws; by NumPy on the CPU.

        ``pvals`` has the outcomes' probabilities in its last axis.
        """
        return self._by_numpy("multinomial", n, pvals, size=size)

    # ---- floats

    def triangular(
        self, left: Any, mode: Any, right: Any, size: Size = None, dtype: npt.DTypeLike = float
    ) -> ndarray:
        """Return floats of [left, right] whose density rises to ``mode`` and falls from there.

        Parameters may be arrays.
        """
        ends = [base._on_device(each) for each in (left, mode, right)]
        if not any(isinstance(each, ndarray) for each in (left, mode, right)):
            if np.any(np.greater(left, mode)):
                raise ValueError("left > mode")
            if np.any(np.greater(mode, right)):
                raise ValueError("mode > right")
            if np.any(np.equal(left, right)):
                raise ValueError("left == right")
        low, top, high = ends
        if size is None:
            size = np.broadcast_shapes(*(base._shape(each) for each in ends))
        u: Any = self._floats(base._UNIFORM, 0.0, 1.0, size, dtype)
        width, rise, fall = high - low, top - low, high - top
        rising = ufuncs.sqrt(u * (width * rise)) + low
        falling = high - ufuncs.sqrt((1 - u) * (width * fall))
        return where(u * width <= rise, rising, falling)  # type: ignore[no-any-return]

    def noncentral_chisquare(
        self, df: Any, nonc: Any, size: Size = None, dtype: npt.DTypeLike = float
    ) -> ndarray:
        """Return floats of the noncentral chi-square distribution: chi-square numbers with ``df``
        and twice a Poisson number of mean ``nonc / 2`` degrees of freedom. Parameters may be
        arrays.
        """
        base._positive("df", df)
        base._not_negative("nonc", nonc)
        shape = np.broadcast_shapes(base._shape(df), base._shape(nonc)) if size is None else size
        kind = np.int64 if supported(dtype).itemsize > 4 else np.int32
        added: Any = self.poisson(base._on_device(nonc) / 2, shape, kind)
        return self.gamma(added.astype(_drawn(dtype)) + base._on_device(df) / 2, 2.0, shape, dtype)

    def noncentral_f(
        self, dfnum: Any, dfden: Any, nonc: Any, size: Size = None, dtype: npt.DTypeLike = float
    ) -> ndarray:
        """Return floats of the noncentral F distribution: the ratio of a noncentral chi-square and
        a chi-square number, each divided by its degrees of freedom. Parameters may be arrays.
        """
        base._positive("dfden", dfden)
        given = (dfnum, dfden, nonc)
        shape = np.broadcast_shapes(*map(base._shape, given)) if size is None else size
        drawn = self.noncentral_chisquare(dfnum, nonc, shape, dtype)
        drawn /= base._on_device(dfnum)
        below = base._on_device(dfden) / 2
        drawn /= self.gamma(below, 1 / below, shape, dtype)
        return drawn

    def wald(
        self, mean: Any, scale: Any, size: Size = None, dtype: npt.DTypeLike = float
    ) -> ndarray:
        """Return floats of the inverse Gaussian distribution, by Michael, Schucany and Haas (1976).

        Parameters may be arrays.
        """
        base._positive("mean", mean)
        base._positive("scale", scale)
        shape = np.broadcast_shapes(base._shape(mean), base._shape(scale)) if size is None else size
        centre: Any = base._on_device(mean)
        w: Any = ufuncs.square(self._floats(base._NORMAL, 0.0, 1.0, shape, dtype))
        w *= centre
        w /= 2 * base._on_device(scale)
        # The quadratic equation's smaller root, without the difference that would cancel.
        x = centre / (1 + w + ufuncs.sqrt(w * (w + 2)))
        u: Any = self._floats(base._UNIFORM, 0.0, 1.0, shape, dtype)
        return where(u * (x + centre) <= centre, x, centre * centre / x)  # type: ignore[no-any-return]

    def vonmises(self, mu: Any, kappa: Any, size: Size = None) -> ndarray:
        """Return angles of von Mises' distribution, in [-pi, pi]; by NumPy on the CPU."""
        return self._by_numpy("vonmises", mu, kappa, size=size)

    def multivariate_normal(
        self,
        mean: Any,
        cov: Any,
        size: Size = None,
        check_valid: str = "warn",
        tol: float = 1e-8,
        *,
        method: str = "svd",
        dtype: npt.DTypeLike = float,
    ) -> ndarray:
        """Return vectors of a normal distribution with a mean and a covariance matrix.

        Parameters
        ----------
        mean : array_like
            The mean, of shape (n,).
        cov : array_like
            The covariance matrix, of shape (n, n).
        size : int or ints, optional
            The result's shape without its last axis.
        check_valid : {"warn", "raise", "ignore"}
            "raise" raises ValueError if ``cov`` is not symmetric and positive semidefinite. "warn"
            does nothing: no operation warns.
        tol : float
            The tolerance of this check.
        method : {"svd", "eigh", "cholesky"}
            How the matrix is factored, by NumPy on the CPU.
        dtype : dtype
            The dtype of the numbers.
        """
        centre, matrix = asarray(mean), asarray(cov)
        if centre.ndim != 1:
            raise ValueError("mean must be 1 dimensional")
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1]:
            raise ValueError("cov must be 2 dimensional and square")
        if matrix.shape[0] != centre.shape[0]:
            raise ValueError("mean and cov must have same length")
        if check_valid not in ("warn", "raise", "ignore"):
            raise ValueError("check_valid must equal 'warn', 'raise', or 'ignore'")
        if method not in ("svd", "eigh", "cholesky"):
            raise ValueError("method must be one of {'eigh', 'svd', 'cholesky'}")
        matrix = matrix.astype(np.float64)
        if method == "cholesky":
            factor: Any = by_numpy(np.linalg.cholesky, matrix).T
        else:
            values, vectors = tuple(by_numpy(np.linalg.eigh, matrix))
            if check_valid == "raise" and bool((values < -tol).any()):
                raise ValueError("covariance is not symmetric positive-semidefinite.")
            factor = (vectors * ufuncs.sqrt(ufuncs.maximum(values, 0))).T
        shape = () if size is None else integers(size)
        drawn = self._floats(base._NORMAL, 0.0, 1.0, (*shape, centre.shape[0]), dtype)
        made: Any = matmul(drawn, factor.astype(drawn.dtype))
        made += centre.astype(drawn.dtype)
        return made  # type: ignore[no-any-return]

    # ---- integers and bytes

    def _integers_between(
        self, low: Any, high: Any, dtype: np.dtype[Any], endpoint: bool, size: Size
    ) -> ndarray:
        """Return integers of [low, high) or [low, high], where an end is an array.

        Raises
        ------
        ValueError
            An interval of the host's is empty, or the dtype does not hold one of its integers.
        """
        if high is None:
            low, high = 0, low
        if dtype.kind not in "iub":
            raise TypeError(f"Unsupported dtype {dtype!r} for integers")
        host = not isinstance(low, ndarray) and not isinstance(high, ndarray)
        if host:
            last = np.asarray(high).astype(object) - (0 if endpoint else 1)
            first = np.asarray(low).astype(object)
            least, most = (0, 1) if dtype.kind == "b" else (
                int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
            )  # fmt: skip
            if np.any(first < least):
                raise ValueError(f"low is out of bounds for {dtype}")
            if np.any(last > most):
                raise ValueError(f"high is out of bounds for {dtype}")
            if np.any(first > last):
                raise ValueError("low > high" if endpoint else "low >= high")
        shape = np.broadcast_shapes(base._shape(low), base._shape(high)) if size is None else size
        first, last = (base._on_device(each if isinstance(each, ndarray) else np.asarray(each))
                       for each in (low, high))  # fmt: skip
        # In unsigned numbers of 64 bits, differences and sums wrap to the right ones.
        start: Any = first.astype(np.uint64)
        span: Any = last.astype(np.uint64) - start + np.uint64(endpoint)
        words: Any = self._draw(base._BITS, np.dtype(np.uint32), [0, 0], [0, 0], shape)
        words = words.astype(np.uint64)
        if dtype.itemsize <= 4:  # spans up to 2**32
            return (((words * span) >> 32) + start).astype(dtype)  # type: ignore[no-any-return]
        more: Any = self._draw(base._BITS, np.dtype(np.uint32), [0, 0], [0, 0], shape)
        more = more.astype(np.uint64)
        made = where(span == 0, (words << 32) | more, _high_half(words, more, span))
        return (made + start).astype(dtype)  # type: ignore[no-any-return]

    def bytes(self, length: int) -> bytes:
        """Return random bytes; they are read from the device."""
        count = index(length)
        return base.bits(self, -(-count // 4)).get().tobytes()[:count] if count else b""


def _high_half(high: Any, low: Any, span: Any) -> Any:
    """Return the upper 64 bits of ``(high * 2**32 + low) * span``."""
    span_high, span_low = span >> 32, span & 0xFFFFFFFF
    one, other = high * span_low, low * span_high
    carried = (one & 0xFFFFFFFF) + (other & 0xFFFFFFFF) + ((low * span_low) >> 32)
    return high * span_high + (one >> 32) + (other >> 32) + (carried >> 32)


def _drawn(dtype: npt.DTypeLike) -> np.dtype[Any]:
    return base._floating(dtype)[1]
