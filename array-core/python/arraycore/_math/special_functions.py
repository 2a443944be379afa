"""Functions of scipy.special in one kernel each: sigmoids, entropies, transformations, degrees.

Each kernel's formula is that of the function's definition, arranged so that no digits cancel where
SciPy's functions keep them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._core import ufuncs
from .._core.creation import as_device_array
from .._core.lazy_kernels import elementwise
from .._core.ndarray import ndarray
from . import reductions

__all__ = [
    "boxcox",
    "boxcox1p",
    "cosdg",
    "cosm1",
    "cotdg",
    "entr",
    "exp10",
    "expit",
    "huber",
    "inv_boxcox",
    "inv_boxcox1p",
    "kl_div",
    "log_expit",
    "log_softmax",
    "logit",
    "logsumexp",
    "pseudo_huber",
    "radian",
    "rel_entr",
    "sindg",
    "softmax",
    "softplus",
    "tandg",
    "xlog1py",
    "xlogy",
]


def floats(*given: Any) -> list[Any]:
    """Return arrays in one real floating dtype, as SciPy's loops: float32, or float64.

    float16 is computed in float32, and integers in float64. Python's numbers do not widen it.

    Raises
    ------
    TypeError
        An array is complex.
    """
    arrays = [as_device_array(each) for each in given]
    if any(each.dtype.kind == "c" for each in arrays):
        raise TypeError("this function takes real numbers")
    weak = [type(each) in (bool, int, float) for each in given]
    kinds = [each.dtype for each, is_weak in zip(arrays, weak, strict=True) if not is_weak]
    narrow = bool(kinds) and all(each.kind == "f" and each.itemsize < 8 for each in kinds)
    common = np.dtype(np.float32 if narrow else np.float64)
    return [each.astype(common, copy=False) for each in arrays]


class Function:
    """A function of real numbers that a kernel computes; operands broadcast."""

    def __init__(self, name: str, parameters: str, text: str, what: str) -> None:
        self.__name__ = name
        self.nin = parameters.count(",") + 1
        self.__doc__ = f"Return {what}, for real numbers. Operands broadcast."
        typed = ", ".join(f"T {each.strip()}" for each in parameters.split(","))
        self._kernel = elementwise(typed, "T y", text, f"special_{name}")

    def __call__(self, *operands: Any, out: ndarray | None = None) -> ndarray:
        if len(operands) != self.nin:
            raise TypeError(f"{self.__name__}() takes {self.nin} operands, not {len(operands)}")
        made: ndarray = self._kernel(*floats(*operands))
        if out is None:
            return made
        out[...] = made
        return out

    def __repr__(self) -> str:
        return f"<arraycore.special.{self.__name__}>"


# ---- sigmoids

expit = Function(
    "expit", "x", "T e = exp(x < T(0) ? x : -x); y = (x < T(0) ? e : T(1)) / (T(1) + e)",
    "the logistic function, ``1 / (1 + exp(-x))``",
)  # fmt: skip
logit = Function(
    "logit", "x",
    "if (x < T(0.3) || x > T(0.65)) y = log(x / (T(1) - x));"
    "else { T s = T(2) * (x - T(0.5)); y = log1p(s) - log1p(-s); }",
    "the logarithm of ``x / (1 - x)``",
)  # fmt: skip
log_expit = Function(
    "log_expit", "x", "y = x < T(0) ? x - log1p(exp(x)) : -log1p(exp(-x))",
    "the logarithm of :func:`expit`",
)  # fmt: skip
softplus = Function(
    "softplus", "x", "y = x < T(0) ? log1p(exp(x)) : x + log1p(exp(-x))", "``log(1 + exp(x))``"
)

# ---- products with logarithms, and entropies

xlogy = Function(
    "xlogy", "a, b", "y = a == T(0) && !isnan(b) ? T(0) : a * log(b)",
    "``a * log(b)``, and 0 where a is 0",
)  # fmt: skip
xlog1py = Function(
    "xlog1py", "a, b", "y = a == T(0) && !isnan(b) ? T(0) : a * log1p(b)",
    "``a * log1p(b)``, and 0 where a is 0",
)  # fmt: skip
entr = Function(
    "entr", "x", "y = isnan(x) ? x : x > T(0) ? -x * log(x) : x == T(0) ? T(0) : T(-INFINITY)",
    "the entropy ``-x * log(x)``",
)  # fmt: skip
rel_entr = Function(
    "rel_entr", "a, b",
    "y = isnan(a) || isnan(b) ? T(NAN) : a > T(0) && b > T(0) ? a * log(a / b)"
    " : a == T(0) && b >= T(0) ? T(0) : T(INFINITY)",
    "the relative entropy ``a * log(a / b)``",
)  # fmt: skip
kl_div = Function(
    "kl_div", "a, b",
    "y = isnan(a) || isnan(b) ? T(NAN) : a > T(0) && b > T(0) ? a * log(a / b) - a + b"
    " : a == T(0) && b >= T(0) ? b : T(INFINITY)",
    "the term ``a * log(a / b) - a + b`` of Kullback and Leibler's divergence",
)  # fmt: skip
huber = Function(
    "huber", "delta, r",
    "T size = r < T(0) ? -r : r; y = isnan(delta) || isnan(r) ? T(NAN) : delta < T(0) ? T(INFINITY)"
    " : size <= delta ? r * r / T(2) : delta * (size - delta / T(2))",
    "Huber's loss",
)  # fmt: skip
pseudo_huber = Function(
    "pseudo_huber", "delta, r",
    "if (delta < T(0)) y = INFINITY; else if (delta == T(0) || r == T(0)) y = T(0);"
    # sqrt(1 + v^2) - 1 without the difference
    " else { T v = r / delta; y = delta * delta * (v * v / (sqrt(T(1) + v * v) + T(1))); }",
    "the smooth approximation of Huber's loss",
)  # fmt: skip

# ---- powers and Box and Cox's transformations

exp10 = Function("exp10", "x", "y = pow(T(10), x)", "``10 ** x``")
cosm1 = Function("cosm1", "x", "T s = sin(x / T(2)); y = T(-2) * s * s", "``cos(x) - 1``")
boxcox = Function(
    "boxcox", "x, p", "T l = log(x); y = p == T(0) ? l : expm1(p * l) / p",
    "``(x ** p - 1) / p``, and ``log(x)`` if p is 0",
)  # fmt: skip
boxcox1p = Function(
    "boxcox1p", "x, p", "T l = log1p(x); y = p == T(0) ? l : expm1(p * l) / p",
    ":func:`boxcox` of ``1 + x``",
)  # fmt: skip
inv_boxcox = Function(
    "inv_boxcox", "x, p", "y = p == T(0) ? exp(x) : exp(log1p(p * x) / p)",
    "the inverse of :func:`boxcox`",
)  # fmt: skip
inv_boxcox1p = Function(
    "inv_boxcox1p", "x, p", "y = p == T(0) ? expm1(x) : expm1(log1p(p * x) / p)",
    "the inverse of :func:`boxcox1p`",
)  # fmt: skip

# ---- angles in degrees: the rest of a quarter turn is computed exactly

_QUARTER = (
    "T turn = fmod(x, T(360)); T quarters = rint(turn / T(90));"
    "T r = (turn - T(90) * quarters) * T(0.017453292519943295);"
    "int k = ((int)quarters % 4 + 4) % 4;"
    "T s = sin(r), c = cos(r);"
    "T sine = k == 0 ? s : k == 1 ? c : k == 2 ? -s : -c;"
    "T cosine = k == 0 ? c : k == 1 ? -s : k == 2 ? -c : s;"
)
sindg = Function("sindg", "x", f"{_QUARTER} y = sine + T(0)", "the sine of an angle in degrees")
cosdg = Function("cosdg", "x", f"{_QUARTER} y = cosine + T(0)", "the cosine of an angle in degrees")
tandg = Function(
    "tandg", "x", f"{_QUARTER} y = cosine == T(0) ? T(INFINITY) : (sine + T(0)) / cosine",
    "the tangent of an angle in degrees",
)  # fmt: skip
cotdg = Function(
    "cotdg", "x", f"{_QUARTER} y = sine == T(0) ? T(INFINITY) : (cosine + T(0)) / sine",
    "the cotangent of an angle in degrees",
)  # fmt: skip
radian = Function(
    "radian", "d, m, s",
    "y = (d + m / T(60) + s / T(3600)) * T(0.017453292519943295)",
    "an angle of degrees, minutes and seconds in radians",
)  # fmt: skip

# ---- sums of exponentials


def logsumexp(
    a: Any, axis: Any = None, b: Any = None, keepdims: bool = False, return_sign: bool = False
) -> Any:
    """Return the logarithm of the sum of exponentials over axes.

    Parameters
    ----------
    a : array_like
        Real numbers; integers are computed in float64.
    axis : None, int or tuple of ints
        The axes to sum over; None is all axes.
    b : array_like, optional
        Factors of the exponentials.
    keepdims : bool
        Whether the reduced axes are kept, with extent 1.
    return_sign : bool
        Whether the sign of the sum is returned too; without it a negative sum gives NaN.
    """
    values = floats(a)[0] if b is None else floats(a, b)[0]
    factors = None if b is None else floats(a, b)[1]
    if factors is not None:
        values = ufuncs.add(values, (factors == 0) * np.float32(0))  # broadcast
        values[ufuncs.equal(factors, 0) & (values == values)] = -np.inf
    largest = reductions.max(values, axis, keepdims=True)
    finite = ufuncs.isfinite(largest)
    shift = ufuncs.multiply(largest, 1, where=finite)
    terms = ufuncs.exp(values - shift)
    if factors is not None:
        terms = terms * factors
    total = reductions.sum(terms, axis, keepdims=keepdims)
    sign = ufuncs.sign(total)
    made = ufuncs.log(ufuncs.absolute(total) if return_sign else total)
    made = made + (shift if keepdims else shift.reshape(made.shape))
    return (made, sign) if return_sign else made


def softmax(x: Any, axis: Any = None) -> Any:
    """Return exponentials, divided by their sum over axes, by default over all."""
    (values,) = floats(x)
    terms = ufuncs.exp(values - reductions.max(values, axis, keepdims=True))
    return terms / reductions.sum(terms, axis, keepdims=True)


def log_softmax(x: Any, axis: Any = None) -> Any:
    """Return the logarithm of :func:`softmax`."""
    (values,) = floats(x)
    values = values - reductions.max(values, axis, keepdims=True)
    return values - ufuncs.log(reductions.sum(ufuncs.exp(values), axis, keepdims=True))
