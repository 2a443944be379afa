"""Functions of polynomials under NumPy's names. A polynomial is a vector of coefficients, the
highest power first.

As in NumPy, only products are without leading zeros. To count the zeros of a device's operand, the
index of its first element that is not zero is read.
"""

from __future__ import annotations

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
    made: ndarray = atleast_1d(as_device_array(p))
    if made.ndim != 1:
        raise ValueError("coefficients are a vector, the highest power first")
    return made


def polyval(p: Any, x: Any) -> ndarray:
    """Return a polynomial's values at ``x``, by Horner's rule in one launch.

    The result has the shape of ``x``.

    Parameters
    ----------
    p : array_like
        A vector of coefficients, the highest power first.
    x : array_like
        The points. The result has the common dtype of ``p`` and ``x``.
    """
    coefficients, points = _vector(p), as_device_array(x)
    common = supported(np.result_type(coefficients.dtype, points.dtype))
    if common == np.bool_:
        raise TypeError("a polynomial of bools has no values: pass integers.")
    if not coefficients.size:
        return zeros(points.shape, points.dtype)
    return _horner(  # type: ignore[no-any-return]
        coefficients.astype(common, copy=False), points.astype(common, copy=False)
    )


def polyadd(a1: Any, a2: Any) -> ndarray:
    """Return the sum of two polynomials."""
    return ufuncs.add(*_of_one_length(a1, a2))  # type: ignore[no-any-return]


def polysub(a1: Any, a2: Any) -> ndarray:
    """Return the difference of two polynomials."""
    return ufuncs.subtract(*_of_one_length(a1, a2))  # type: ignore[no-any-return]


def _of_one_length(a1: Any, a2: Any) -> list[ndarray]:
    both = [_vector(each) for each in (a1, a2)]
    length = max(each.size for each in both)
    return [
        concatenate([zeros(length - each.size, each.dtype), each]) if each.size < length else each
        for each in both
    ]


def polymul(a1: Any, a2: Any) -> ndarray:
    """Return the product of two polynomials: the convolution of their coefficients, without the
    leading zeros of the operands.
    """
    return convolve(_trimmed(a1), _trimmed(a2))


def _trimmed(p: Any) -> ndarray:
    """Return coefficients without leading zeros; a polynomial of none is 0."""
    if not isinstance(p, ndarray):
        p = np.trim_zeros(np.atleast_1d(np.asarray(p)), "f")
    made = _vector(p)
    if made.size > 1:
        made = trim_zeros(made, "f")
    return made if made.size else zeros(1, made.dtype)


def polydiv(u: Any, v: Any) -> tuple[ndarray, ndarray]:
    """Return quotient and remainder of two polynomials, by NumPy on the CPU."""
    return by_numpy(np.polydiv, _vector(u), _vector(v))  # type: ignore[no-any-return]


def polyder(p: Any, m: int = 1) -> ndarray:
    """Return the ``m``-th derivative of a polynomial."""
    if m < 0:
        raise ValueError("Order of derivative must be positive (see polyint)")
    made = _vector(p)
    for _ in range(m):
        made = made[:-1] * arange(made.size - 1, 0, -1)
    return made


def polyint(p: Any, m: int = 1, k: Any = None) -> ndarray:
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
    return made


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
