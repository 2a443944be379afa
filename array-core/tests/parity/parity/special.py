"""Computes the functions of scipy.special that array-core has, in 60 decimal digits, as a
reference.

They share nothing with array-core: they use series, continued fractions and Newton's method in
Python's decimal arithmetic. Formulas: Abramowitz and Stegun 6.1.41, 6.3.18, 7.1.6, 7.1.14.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Context, Decimal, localcontext
from fractions import Fraction
from functools import cache
from statistics import NormalDist

_CONTEXT = Context(prec=60, traps=[])
#: An exponential with an exponent of this size is outside a double's range and is not computed.
_BEYOND = 30000

_INF, _NAN = float("inf"), float("nan")


@cache
def _pi() -> Decimal:
    """Return pi by Machin's formula."""

    def arctan_inverse(n: int) -> Decimal:
        total, power, k = Decimal(0), Decimal(1) / n, 1
        while power > Decimal(10) ** -65:
            total += power / k if k % 4 == 1 else -power / k
            power /= n * n
            k += 2
        return total

    return 4 * (4 * arctan_inverse(5) - arctan_inverse(239))


def _exp(x: Decimal) -> Decimal:
    return Decimal(0) if x < -_BEYOND else x.exp()


def _erf(x: Decimal) -> Decimal:
    """Return erf(x) by a series of positive terms, for 0 <= x < 6."""
    term = total = x
    n = 0
    while term > total * Decimal(10) ** -62:
        n += 1
        term *= 2 * x * x / (2 * n + 1)
        total += term
    return 2 / _pi().sqrt() * _exp(-x * x) * total


def _scaled_erfc(x: Decimal) -> Decimal:
    """Return exp(x * x) * erfc(x) by Laplace's continued fraction, for x >= 6."""
    value = x
    for k in range(120, 0, -1):
        value = x + Decimal(k) / 2 / value
    return 1 / (_pi().sqrt() * value)


def _erfc(x: Decimal) -> Decimal:
    if x < 0:
        return 2 - _erfc(-x)
    return 1 - _erf(x) if x < 6 else _exp(-x * x) * _scaled_erfc(x)


def _newton(x: Decimal, target: Decimal, function: Callable[[Decimal], Decimal]) -> Decimal:
    """Solve function(x) = target, where the function's slope is +-2 / sqrt(pi) exp(-x * x)."""
    rising = function(Decimal(1)) > function(Decimal(0))
    for _ in range(60):
        slope = 2 / _pi().sqrt() * _exp(-x * x)
        step = (function(x) - target) / (slope if rising else -slope)
        x -= step
        if abs(step) <= abs(x) * Decimal(10) ** -30:
            return x
    raise ArithmeticError(f"Newton's method found no end for {target}.")


def _erfinv(y: Decimal) -> Decimal:
    if y < 0:
        return -_erfinv(-y)
    if y > Decimal("0.9"):
        return _erfcinv(1 - y)
    return _newton(y * _pi().sqrt() / 2, y, _erf)


def _erfcinv(y: Decimal) -> Decimal:
    if y > 1:
        return -_erfcinv(2 - y)
    if y > Decimal("0.1"):
        return _erfinv(1 - y)
    near = float(y) / 2
    if near > 1e-300:
        return _newton(Decimal(-NormalDist().inv_cdf(near) / math.sqrt(2)), y, _erfc)
    start = (-y.ln()).sqrt()
    for _ in range(4):  # y = exp(-x * x) / (x sqrt(pi)), nearly
        start = (-(y * _pi().sqrt() * start).ln()).sqrt()
    return _newton(start, y, _erfc)


@cache
def _bernoulli(n: int) -> Decimal:
    """Return B(2n), by the recurrence over all Bernoulli numbers."""
    numbers = [Fraction(1)]
    for m in range(1, 2 * n + 1):
        known = sum((math.comb(m + 1, k) * numbers[k] for k in range(m)), Fraction(0))
        numbers.append(-known / (m + 1))
    last = numbers[-1]
    return Decimal(last.numerator) / Decimal(last.denominator)


def _lgamma(x: Decimal) -> Decimal:
    """Return log(gamma(x)) for x > 0 by Stirling's series, after a recurrence to x >= 40."""
    shift = Decimal(1)
    while x < 40:
        shift *= x
        x += 1
    value = (x - Decimal("0.5")) * x.ln() - x + (2 * _pi()).ln() / 2
    for n in range(1, 25):
        value += _bernoulli(n) / (2 * n * (2 * n - 1) * x ** (2 * n - 1))
    return value - shift.ln()


def _sine(x: Decimal) -> Decimal:
    term = total = x
    n = 1
    while abs(term) > Decimal(10) ** -64:
        term *= -x * x / ((n + 1) * (n + 2))
        n += 2
        total += term
    return total


def _sine_pi(x: Decimal) -> Decimal:
    """Return |sin(pi x)| of a number that is not whole."""
    return abs(_sine(_pi() * (x - x.to_integral_value())))


def _log_abs_gamma(x: Decimal) -> Decimal:
    if x > 0:
        return _lgamma(x)
    return (_pi() / _sine_pi(x)).ln() - _lgamma(1 - x)


def _gamma(x: Decimal) -> Decimal:
    if x > 200:
        return Decimal("Infinity")
    size = _exp(_log_abs_gamma(x))
    return -size if x < 0 and math.floor(x) % 2 else size


def _digamma(x: Decimal) -> Decimal:
    value = Decimal(0)
    if x < 0:
        turn = _pi() * (x - x.to_integral_value())
        value = -_pi() * _sine(_pi() / 2 - turn) / _sine(turn)
        x = 1 - x
    while x < 40:
        value -= 1 / x
        x += 1
    value += x.ln() - 1 / (2 * x)
    for n in range(1, 25):
        value -= _bernoulli(n) / (2 * n * x ** (2 * n))
    return value


def _ends(at: dict[float, float], low: float, high: float) -> Callable[[float], float | None]:
    """Return a function that knows a function's value without a computation: the value that ``at``
    holds for a point, NaN outside of [low, high], and None at other points.
    """

    def answer(x: float) -> float | None:
        if math.isnan(x) or not low <= x <= high:
            return _NAN
        return at.get(x)

    return answer


def _gamma_ends(function: str) -> Callable[[float], float | None]:
    def answer(x: float) -> float | None:
        if math.isnan(x) or (x == -_INF and function != "gammaln"):
            return _NAN
        if math.isinf(x):
            return _INF
        if x > 0 or x != math.floor(x):
            return None
        if function == "gammaln":
            return _INF
        sign = 1.0 if function == "gamma" else -1.0
        return math.copysign(_INF, sign * math.copysign(1.0, x)) if x == 0 else _NAN

    return answer


_SQRT2 = _CONTEXT.sqrt(Decimal(2))
_Rule = tuple[Callable[[float], "float | None"], Callable[[Decimal], Decimal]]
_FUNCTIONS: dict[str, _Rule] = {
    "erf": (
        _ends({0.0: 0.0, _INF: 1.0, -_INF: -1.0}, -_INF, _INF),
        lambda x: (1 - _erfc(abs(x)) if abs(x) >= 6 else _erf(abs(x))).copy_sign(x),
    ),
    "erfc": (_ends({_INF: 0.0, -_INF: 2.0}, -_INF, _INF), _erfc),
    "erfcx": (
        _ends({_INF: 0.0, -_INF: _INF}, -_INF, _INF),
        lambda x: _scaled_erfc(x) if x >= 6 else _limited(x * x) * _erfc(x),
    ),
    "erfinv": (_ends({0.0: 0.0, 1.0: _INF, -1.0: -_INF}, -1.0, 1.0), _erfinv),
    "erfcinv": (_ends({0.0: _INF, 1.0: 0.0, 2.0: -_INF}, 0.0, 2.0), _erfcinv),
    "ndtr": (_ends({_INF: 1.0, -_INF: 0.0}, -_INF, _INF), lambda x: _erfc(-x / _SQRT2) / 2),
    "ndtri": (
        _ends({0.0: -_INF, 1.0: _INF, 0.5: 0.0}, 0.0, 1.0),
        lambda y: -_SQRT2 * _erfcinv(2 * y),
    ),
    "gammaln": (_gamma_ends("gammaln"), _log_abs_gamma),
    "gamma": (_gamma_ends("gamma"), _gamma),
    "digamma": (_gamma_ends("digamma"), _digamma),
}
NAMES = tuple(_FUNCTIONS)


def _limited(x: Decimal) -> Decimal:
    return Decimal("Infinity") if x > _BEYOND else x.exp()


def evaluate(name: str, x: float) -> float:
    """Return the function's value at a double, rounded to a double."""
    return _evaluate(name, x, math.copysign(1.0, x))


@cache  # 0 and -0 are one key without the sign
def _evaluate(name: str, x: float, sign: float) -> float:
    ends, digits = _FUNCTIONS[name]
    with localcontext(_CONTEXT):
        known = ends(x)
        if known is not None:
            return math.copysign(known, x) if known == 0 and name in ("erf", "erfinv") else known
        return float(digits(Decimal(x)))
