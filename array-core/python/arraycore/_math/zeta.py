"""Hurwitz's zeta function and the derivatives of digamma, by Euler and Maclaurin's sum.

The first terms are added one by one; the rest is an integral and corrections by Bernoulli's
numbers (Abramowitz and Stegun 23.1.30, with f(t) = (q + t)**-x).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core import ufuncs
from .._core.creation import as_device_array
from .._core.lazy_kernels import elementwise
from .._core.ndarray import ndarray
from .._manipulation.gathering import where

# The coefficients B_2j / (2j)! for j = 1, 2, ... Eight of them are exact enough for float64,
# because the kernel uses them for arguments of at least 9 only.
_BERNOULLI = (
    1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160,
    -691 / 1307674368000, 1 / 74724249600, -3617 / 10670622842880000,
)  # fmt: skip
_CORRECTIONS = "\n".join(
    f"t *= (x + {2 * j - 1}) * (x + {2 * j}) / (w * w); s += t * (T){b!r};"
    for j, b in enumerate(_BERNOULLI[1:], 1)
)
_zeta = elementwise(
    "T x, T q",
    "T z",
    f"""
    if (!(x > 1)) {{ z = x == 1 ? (T)INFINITY : (T)NAN; return; }}
    if (q <= 0) {{
      if (q == floor(q)) {{ z = INFINITY; return; }}
      if (x != floor(x)) {{ z = NAN; return; }}
    }}
    T w = q, s = 0;
    for (int k = 0; k < 9 || w <= 9; ++k) {{ s += pow(w, -x); w += 1; if (k > 10000) break; }}
    T p = pow(w, -x);
    s += p * w / (x - 1) + p / 2;
    T t = x * p / w;
    s += t * (T){_BERNOULLI[0]!r};
    {_CORRECTIONS}
    z = s;
    """,
    "zeta",
)
_polygamma = elementwise(
    "T n, T z",
    "T y",
    """
    T factorial = 1;
    for (int k = 2; k <= n; ++k) factorial *= k;
    y = ((int)n % 2 ? factorial : -factorial) * z;
    """,
    "polygamma",
)


def _floating(*arrays: Any) -> tuple[Any, ...]:
    """Return arrays in their common floating dtype, which is float64 if all are integers."""
    made = [as_device_array(each) for each in arrays]
    kinds = [each.dtype for each in made if each.dtype.kind == "f"]
    common = np.result_type(*kinds) if kinds else np.dtype(np.float64)
    return tuple(each.astype(common, copy=False) for each in made)


def zeta(x: Any, q: Any) -> ndarray:
    """Return Hurwitz's zeta function, the sum of ``(q + k)**-x`` over all k from 0 on.

    Parameters
    ----------
    x, q : array_like
        The exponents, and the numbers at which the sums start; they broadcast. The result is NaN if
        ``x < 1``, infinite if ``x == 1`` or if q is 0 or a negative integer, and NaN if q is
        negative and x no integer.

    Returns
    -------
    ndarray
        An array of the arguments' common floating dtype.
    """
    exponents, starts = _floating(x, q)
    return _zeta(exponents, starts)  # type: ignore[no-any-return]


def polygamma(n: Any, x: Any) -> ndarray:
    """Return the n-th derivative of :func:`arraycore.special.digamma`.

    It is computed as ``(-1)**(n + 1) * n! * zeta(n + 1, x)`` (Abramowitz and Stegun 6.4.10).

    Parameters
    ----------
    n : array_like
        The orders: integers from 0 on, of any dtype.
    x : array_like
        The points at which the function is computed.

    Returns
    -------
    ndarray
        An array of x's dtype if that is floating, else of float64.
    """
    (values,) = _floating(x)
    orders = as_device_array(n).astype(values.dtype, copy=False)
    derivatives = _polygamma(orders, zeta(orders + 1, values))
    made: ndarray = where(orders == 0, ufuncs.digamma(values), derivatives)
    return made
