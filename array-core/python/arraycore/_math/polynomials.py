"""Functions of polynomials under NumPy's names. A polynomial is a vector of coefficients, the
highest power first.

As in NumPy, only products are without leading zeros. To count the zeros of a device's operand, the
index of its first element that is not zero is read.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np

from .._compat.host_fallback import by_numpy
from .._core import ufuncs
from .._core.creation import as_device_array, asarray, zeros
from .._core.lazy_kernels import elementwise
from .._core.ndarray import ndarray
from .._manipulation.editing import trim_zeros
from .._manipulation.joining import concatenate
from .._manipulation.ranges import arange
from .._manipulation.views import atleast_1d
from .._runtime.dtypes import supported
from .differences import convolve

__all__ = [
    "poly",
    "poly1d",
    "polyadd",
    "polyder",
    "polydiv",
    "polyfit",
    "polyint",
    "polymul",
    "polysub",
    "polyval",
    "roots",
]

_horner = elementwise(
    "raw T p, T x",
    "T y",
    "T sum = T(0); for (int k = 0; k < p.size(); ++k) sum = sum * x + p[k]; y = sum",
    "polyval",
)


def _vector(p: Any) -> ndarray:
    if isinstance(p, poly1d):
        return p.coeffs
    made: ndarray = atleast_1d(as_device_array(p))
    if made.ndim != 1:
        raise ValueError("coefficients are a vector, the highest power first")
    return made


class poly1d:
    """A polynomial of one variable, which is called, added, multiplied and derived.

    Its coefficients are an array of arraycore without leading zeros; to cut these, the index of the
    first element that is not zero is read from the device.

    Parameters
    ----------
    c_or_r : array_like
        The coefficients, the highest power first; or the roots.
    r : bool
        Whether the first parameter has the roots.
    variable : str, optional
        The variable's name in texts, by default "x".
    """

    __slots__ = ("_coeffs", "variable")

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, c_or_r: Any, r: bool = False, variable: str | None = None) -> None:
        if variable is None:
            variable = c_or_r.variable if isinstance(c_or_r, poly1d) else "x"
        self.variable: str = variable
        self._coeffs = _trimmed(poly(c_or_r) if r else c_or_r)

    @property
    def coeffs(self) -> ndarray:
        """The coefficients, the highest power first."""
        return self._coeffs

    c = coef = coefficients = coeffs

    @property
    def order(self) -> int:
        """The highest power."""
        return self._coeffs.size - 1

    o = order

    @property
    def roots(self) -> ndarray:
        """The roots, by NumPy on the CPU."""
        return roots(self)

    r = roots

    def get(self) -> Any:
        """Return NumPy's polynomial of the same coefficients."""
        return np.poly1d(self._coeffs.get(), variable=self.variable)

    def __call__(self, val: Any) -> Any:
        return polyval(self, val)

    def __len__(self) -> int:
        return self.order

    def __iter__(self) -> Any:
        return iter(self._coeffs)

    def __getitem__(self, power: int) -> Any:
        if not 0 <= power <= self.order:
            return zeros((), self._coeffs.dtype)
        return self._coeffs[self.order - power]

    def __setitem__(self, power: int, value: Any) -> None:
        if power < 0:
            raise ValueError("Does not support negative powers.")
        if power > self.order:
            more = zeros(power - self.order, self._coeffs.dtype)
            self._coeffs = concatenate([more, self._coeffs])
        self._coeffs[self.order - power] = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, poly1d):
            return NotImplemented
        mine, others = self._coeffs, other._coeffs
        return mine.shape == others.shape and bool((mine == others).all())

    def __neg__(self) -> poly1d:
        return poly1d(-self._coeffs)

    def __pos__(self) -> poly1d:
        return self

    def __add__(self, other: Any) -> Any:
        return polyadd(self, other)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        return polysub(self, other)

    def __rsub__(self, other: Any) -> Any:
        return polysub(poly1d(other), self)

    def __mul__(self, other: Any) -> Any:
        return polymul(self, other)

    __rmul__ = __mul__

    def __pow__(self, power: int) -> poly1d:
        if index(power) < 0:
            raise ValueError("Power to non-negative integers only.")
        made = poly1d([1])
        for _ in range(power):
            made = polymul(self, made)
        return made

    def __truediv__(self, other: Any) -> Any:
        if np.isscalar(other):
            return poly1d(self._coeffs / other)
        return polydiv(self, other)

    def __rtruediv__(self, other: Any) -> Any:
        return polydiv(poly1d(other), self)

    def deriv(self, m: int = 1) -> poly1d:
        """Return the ``m``-th derivative; see :func:`polyder`."""
        return poly1d(polyder(self._coeffs, m))

    def integ(self, m: int = 1, k: Any = 0) -> poly1d:
        """Return the ``m``-th integral; see :func:`polyint`."""
        return poly1d(polyint(self._coeffs, m, k))

    def __repr__(self) -> str:
        return repr(self.get())

    def __str__(self) -> str:
        return str(self.get())


def _like_operands(made: Any, *operands: Any) -> Any:
    """Return a result as a poly1d if an operand is one, as NumPy does."""
    return poly1d(made) if any(isinstance(each, poly1d) for each in operands) else made


def polyval(p: Any, x: Any) -> Any:
    """Return a polynomial's values at ``x``, by Horner's rule in one launch.

    The result has the shape of ``x``; if ``x`` is a poly1d, it is the composition of both.

    Parameters
    ----------
    p : array_like
        A vector of coefficients, the highest power first.
    x : array_like
        The points. The result has the common dtype of ``p`` and ``x``.
    """
    if isinstance(x, poly1d):
        composed = poly1d([0])
        for coefficient in _vector(p):
            composed = composed * x + coefficient
        return composed
    coefficients, points = _vector(p), as_device_array(x)
    common = supported(np.result_type(coefficients.dtype, points.dtype))
    if common == np.bool_:
        raise TypeError("a polynomial of bools has no values: pass integers.")
    if not coefficients.size:
        return zeros(points.shape, points.dtype)
    return _horner(coefficients.astype(common, copy=False), points.astype(common, copy=False))


def polyadd(a1: Any, a2: Any) -> Any:
    """Return the sum of two polynomials."""
    return _like_operands(ufuncs.add(*_of_one_length(a1, a2)), a1, a2)


def polysub(a1: Any, a2: Any) -> Any:
    """Return the difference of two polynomials."""
    return _like_operands(ufuncs.subtract(*_of_one_length(a1, a2)), a1, a2)


def _of_one_length(a1: Any, a2: Any) -> list[ndarray]:
    both = [_vector(each) for each in (a1, a2)]
    length = max(each.size for each in both)
    return [
        concatenate([zeros(length - each.size, each.dtype), each]) if each.size < length else each
        for each in both
    ]


def polymul(a1: Any, a2: Any) -> Any:
    """Return the product of two polynomials: the convolution of their coefficients, without the
    leading zeros of the operands.
    """
    return _like_operands(convolve(_trimmed(a1), _trimmed(a2)), a1, a2)


def _trimmed(p: Any) -> ndarray:
    """Return coefficients without leading zeros; a polynomial of none is 0."""
    if not isinstance(p, ndarray | poly1d):
        p = np.trim_zeros(np.atleast_1d(np.asarray(p)), "f")
    made = _vector(p)
    if made.size > 1:
        made = trim_zeros(made, "f")
    return made if made.size else zeros(1, made.dtype)


def polydiv(u: Any, v: Any) -> tuple[Any, Any]:
    """Return quotient and remainder of two polynomials, by NumPy on the CPU."""
    first, second = by_numpy(np.polydiv, _vector(u), _vector(v))
    return _like_operands(first, u, v), _like_operands(second, u, v)


def polyder(p: Any, m: int = 1) -> Any:
    """Return the ``m``-th derivative of a polynomial."""
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    made = _vector(p)
    for _ in range(m):
        made = made[:-1] * arange(made.size - 1, 0, -1)
    return _like_operands(made, p)


def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """Return the ``m``-th integral of a polynomial; ``k`` has the constants, by default 0."""
    if m < 0:
        raise ValueError("Order of integral must be positive (see polyder)")
    constants = np.zeros(m) if k is None else np.atleast_1d(np.asarray(k))
    if constants.size == 1 and m > 1:
        constants = np.full(m, constants[0])
    if constants.size < m:
        raise ValueError("k must be a scalar or a rank-1 array of length 1 or >m.")
    made = _vector(p)
    for constant in constants[:m]:
        divided = made / arange(made.size, 0, -1)
        made = concatenate([divided, asarray(constant.reshape(1)).astype(divided.dtype)])
    return _like_operands(made, p)


def polyfit(x: Any, y: Any, deg: int, *args: Any, **kwargs: Any) -> Any:
    """Return the polynomial of a degree that fits points best, by NumPy on the CPU."""
    return by_numpy(np.polyfit, x, y, deg, *args, **kwargs)


def roots(p: Any) -> ndarray:
    """Return a polynomial's roots, by NumPy on the CPU; they are complex if one of them is."""
    return by_numpy(np.roots, _vector(p))  # type: ignore[no-any-return]


def poly(seq_of_zeros: Any) -> ndarray:
    """Return the polynomial whose roots are a vector's elements or a matrix's eigenvalues.

    NumPy computes it on the CPU.
    """
    return by_numpy(np.poly, seq_of_zeros)  # type: ignore[no-any-return]
