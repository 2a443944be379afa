"""Functions of scipy.special by series and continued fractions, each in one kernel.

Incomplete gamma and beta functions, the distributions made of them, exponential integrals,
modified Bessel functions and complete elliptic integrals. The methods are those of Abramowitz and
Stegun (numbers in comments) and of Lentz for continued fractions. The loops end when terms no
longer matter; a value that needs more than 100,000 terms is NaN.
"""

from __future__ import annotations

from .special_functions import Function

__all__ = [
    "bdtr",
    "bdtrc",
    "betainc",
    "betaincc",
    "chdtr",
    "chdtrc",
    "ellipk",
    "ellipkm1",
    "exp1",
    "expi",
    "expn",
    "fdtr",
    "fdtrc",
    "gammainc",
    "gammaincc",
    "gammasgn",
    "gdtr",
    "gdtrc",
    "i0e",
    "i1",
    "i1e",
    "log_ndtr",
    "nbdtr",
    "nbdtrc",
    "pdtr",
    "pdtrc",
    "rgamma",
]

#: The distance of 1 from the next number, for a kernel's T: 2**-23 or 2**-52.
_EPS = "T eps = T(1) + T(1e-9) == T(1) ? T(1.1920928955078125e-07) : T(2.220446049250313e-16);"


def _log_gamma(name: str, x: str) -> str:
    """Return the text of ``T name``, the logarithm of the gamma function of a positive ``x``.

    It is Stirling's series 6.1.41 at a number from 10 on. The dialect's ``lgamma`` also takes
    negative numbers, and a kernel with several of these takes a device long to compile.
    """
    return (
        f"T {name} = T(1), up_{name} = {x};"
        f"for (int k = 0; k < 12 && up_{name} < T(10); ++k)"
        f" {{ {name} *= up_{name}; up_{name} += T(1); }}"
        f"{name} = (up_{name} - T(0.5)) * log(up_{name}) - up_{name} + T(0.9189385332046727)"
        f" - log({name}) + _tail(up_{name});"
    ).replace(f"_tail(up_{name})", _tail(f"up_{name}"))


def _tail(z: str) -> str:
    square = f"({z} * {z})"
    text = "T(1) / T(1188)"
    for below, sign in ((1680, "-"), (1260, "+"), (360, "-"), (12, "+")):
        text = f"(T({sign}1) / T({below}) + ({text}) / {square})"
    return f"{text} / {z}"


# ---- incomplete gamma functions: the series 6.5.29, and the continued fraction 6.5.31

_GAMMAS = _EPS + (
    "T p = T(NAN), q = T(NAN);"
    "if (x >= T(0) && a >= T(0) && !isnan(a) && !isnan(x)) {"
    " if (a == T(0)) { p = x > T(0) ? T(1) : T(NAN); q = T(1) - p; }"
    " else if (x == T(0)) { p = T(0); q = T(1); }"
    " else if (isinf(a)) { p = isinf(x) ? T(NAN) : T(0); q = T(1) - p; }"
    " else if (isinf(x)) { p = T(1); q = T(0); }"
    " else {"
    # x^a e^-x / gamma(a); the logarithm of a ratio near 1 keeps its digits
    "  T d = (x - a) / a; {lg}"
    "  T scale = a > T(20) && d < T(1) && d > T(-0.5)"
    "   ? sqrt(a / T(6.283185307179586)) * exp(a * (log1p(d) - d) - T(1) / (T(12) * a)"
    "     + T(1) / (T(360) * a * a * a) - T(1) / (T(1260) * a * a * a * a * a))"
    "   : exp(a * log(x) - x - lg);"
    "  if (x <= T(1) || x <= a) {"
    "   T term = T(1) / a, sum = term;"
    "   for (int k = 1; k < {most} && term > sum * eps; ++k)"
    "    { term = term * x / (a + T(k)); sum += term; }"
    "   if (term > sum * eps) sum = T(NAN);"
    "   p = scale * sum; q = T(1) - p;"
    "  } else {"
    "   T b = x + T(1) - a, c = T(1e30), e = T(1) / b, h = e; bool ends = false;"
    "   for (int k = 1; k < {most}; ++k) {"
    "    T n = T(k) * (a - T(k)); b += T(2); e = T(1) / (n * e + b); c = b + n / c;"
    "    T step = c * e; h *= step; T off = step - T(1);"
    "    if (off < eps && -off < eps) { ends = true; break; } }"
    "   if (!ends) h = T(NAN);"
    "   q = scale * h; p = T(1) - q;"
    "  } } }"
)


# Some square roots of `a` are enough. A sum that has not ended then is NaN, and not a wrong number.
_MOST_TERMS = 100_000
_GAMMAS = _GAMMAS.replace("{lg}", _log_gamma("lg", "a")).replace("{most}", str(_MOST_TERMS))


def _of_gammas(name: str, parameters: str, given: str, result: str, what: str) -> Function:
    return Function(name, parameters, f"{given}{_GAMMAS} y = {result}", what)


gammainc = _of_gammas(
    "gammainc", "a, x", "", "p", "the regularized lower incomplete gamma function"
)
gammaincc = _of_gammas(
    "gammaincc", "a, x", "", "q", "the regularized upper incomplete gamma function"
)
chdtr = _of_gammas(
    "chdtr", "v, t", "T a = v / T(2), x = t / T(2);", "t < T(0) ? T(0) : p",
    "the chi-square distribution up to t, of v degrees of freedom",
)  # fmt: skip
chdtrc = _of_gammas(
    "chdtrc", "v, t", "T a = v / T(2), x = t / T(2);", "t < T(0) ? T(1) : q",
    "the chi-square distribution above t",
)  # fmt: skip
gdtr = _of_gammas(
    "gdtr", "rate, b, t", "T a = b, x = rate * t;", "t < T(0) ? T(NAN) : p",
    "the gamma distribution of a rate and a shape up to t",
)  # fmt: skip
gdtrc = _of_gammas(
    "gdtrc", "rate, b, t", "T a = b, x = rate * t;", "t < T(0) ? T(NAN) : q",
    "the gamma distribution of a rate and a shape above t",
)  # fmt: skip
pdtr = _of_gammas(
    "pdtr", "k, m", "T a = floor(k) + T(1), x = m;", "k < T(0) || m < T(0) ? T(NAN) : q",
    "the Poisson distribution of mean m up to k",
)  # fmt: skip
pdtrc = _of_gammas(
    "pdtrc", "k, m", "T a = floor(k) + T(1), x = m;", "k < T(0) || m < T(0) ? T(NAN) : p",
    "the Poisson distribution of mean m above k",
)  # fmt: skip

# ---- incomplete beta functions: the continued fraction 26.5.8

_BETAS = _EPS + (
    "T p = T(NAN), q = T(NAN);"
    "if (a > T(0) && b > T(0) && x >= T(0) && x <= T(1)) {"
    " if (x == T(0)) { p = T(0); q = T(1); } else if (w == T(0)) { p = T(1); q = T(0); }"
    " else {"
    "  bool turned = x > (a + T(1)) / (a + b + T(2)), ends = false;"
    "  T m = turned ? b : a, n = turned ? a : b, z = turned ? w : x, rest = turned ? x : w;"
    "  {both}{one}{other}"
    "  T front = exp(both - one - other + m * log(z)"
    "   + n * (z < T(0.5) ? log1p(-z) : log(rest))) / m;"
    "  T tiny = T(1e-30), c = T(1), e = T(1) - (m + n) * z / (m + T(1));"
    "  if (e < tiny && -e < tiny) e = tiny; e = T(1) / e; T h = e;"
    "  for (int k = 1; k < {most}; ++k) {"
    "   T j = T(k), t = j * (n - j) * z / ((m + T(2) * j - T(1)) * (m + T(2) * j));"
    "   e = T(1) + t * e; if (e < tiny && -e < tiny) e = tiny;"
    "   c = T(1) + t / c; if (c < tiny && -c < tiny) c = tiny; e = T(1) / e; h *= e * c;"
    "   t = -(m + j) * (m + n + j) * z / ((m + T(2) * j) * (m + T(2) * j + T(1)));"
    "   e = T(1) + t * e; if (e < tiny && -e < tiny) e = tiny;"
    "   c = T(1) + t / c; if (c < tiny && -c < tiny) c = tiny; e = T(1) / e;"
    "   T step = e * c; h *= step; T off = step - T(1);"
    "   if (off < eps && -off < eps) { ends = true; break; } }"
    "  if (!ends) h = T(NAN);"
    "  T made = front * h; p = turned ? T(1) - made : made; q = turned ? made : T(1) - made;"
    " } }"
)


_BETAS = _BETAS.replace("{most}", str(_MOST_TERMS))
for _name, _operand in (("both", "m + n"), ("one", "m"), ("other", "n")):
    _BETAS = _BETAS.replace(f"{{{_name}}}", _log_gamma(_name, _operand))


def _of_betas(name: str, parameters: str, given: str, result: str, what: str) -> Function:
    # The caller gives 1 - x itself where the difference would lose digits.
    rest = "" if " w = " in given else "T w = T(1) - x;"
    return Function(name, parameters, f"{given}{rest}{_BETAS} y = {result}", what)


betainc = _of_betas("betainc", "a, b, x", "", "p", "the regularized incomplete beta function")
betaincc = _of_betas("betaincc", "a, b, x", "", "q", "one minus :func:`betainc`")
_RATIO = "T a = m / T(2), b = n / T(2), all = n + m * t, x = m * t / all, w = n / all;"
fdtr = _of_betas(
    "fdtr", "m, n, t", _RATIO, "p",
    "the F distribution of m and n degrees of freedom up to t",
)  # fmt: skip
fdtrc = _of_betas(
    "fdtrc", "m, n, t", _RATIO, "q",
    "the F distribution of m and n degrees of freedom above t",
)  # fmt: skip
_TRIALS = "T f = floor(k), a = f + T(1), b = n - f, x = s;"
_OUTSIDE = "isnan(k) || s < T(0) || s > T(1) || n < f ? T(NAN)"
bdtr = _of_betas(
    "bdtr", "k, n, s", _TRIALS,
    f"{_OUTSIDE} : f < T(0) ? T(NAN) : f == n ? T(1) : q",
    "the binomial distribution of n trials of chance s up to k",
)  # fmt: skip
bdtrc = _of_betas(
    "bdtrc", "k, n, s", _TRIALS,
    f"{_OUTSIDE} : f < T(0) ? T(1) : f == n ? T(0) : p",
    "the binomial distribution of n trials of chance s above k",
)  # fmt: skip
nbdtr = _of_betas(
    "nbdtr", "k, n, s", "T a = n, b = floor(k) + T(1), x = s;", "k < T(0) ? T(NAN) : p",
    "the negative binomial distribution up to k",
)  # fmt: skip
nbdtrc = _of_betas(
    "nbdtrc", "k, n, s", "T a = n, b = floor(k) + T(1), x = s;", "k < T(0) ? T(NAN) : q",
    "the negative binomial distribution above k",
)  # fmt: skip

# ---- what else belongs to the gamma function

gammasgn = Function(
    "gammasgn", "x",
    "T low = floor(x); y = isnan(x) ? x : x > T(0) ? T(1) : x == T(0) ? copysign(T(1), x)"
    " : isinf(x) || low == x ? T(NAN) : low / T(2) == floor(low / T(2)) ? T(1) : T(-1)",
    "the sign of the gamma function",
)  # fmt: skip
rgamma = Function(
    "rgamma", "x", "y = x <= T(0) && x == floor(x) ? T(0) : T(1) / tgamma(x)",
    "one divided by the gamma function",
)  # fmt: skip

# ---- exponential integrals: the series 5.1.11 and the continued fraction 5.1.22

_EULER = "T(0.5772156649015329)"
_FALLING = (
    "T b = x + T(n), c = T(1e30), e = T(1) / b, h = e;"
    "for (int k = 1; k < 4000; ++k) { T m = -T(k) * (T(n) - T(1) + T(k)); b += T(2);"
    " e = T(1) / (m * e + b); c = b + m / c; T step = c * e; h *= step; T off = step - T(1);"
    " if (off < eps && -off < eps) break; }"
)
_E1 = (
    "if (x == T(0)) y = INFINITY; else if (x <= T(1)) { T term = T(1), sum = T(0);"
    " for (int k = 1; k < 40; ++k) { term = -term * x / T(k); sum -= term / T(k); }"
    f" y = sum - log(x) - {_EULER}; }} else {{ int n = 1; {_FALLING} y = h * exp(-x); }}"
)
exp1 = Function(
    "exp1", "x",
    f"{_EPS} if (isnan(x) || x < T(0)) y = NAN; else if (isinf(x)) y = T(0); else {{ {_E1} }}",
    "the exponential integral E1",
)  # fmt: skip
expi = Function(
    "expi", "z",
    f"{_EPS} T x = -z; if (isnan(z)) y = z; else if (z == T(0)) y = -INFINITY;"
    f" else if (z < T(0)) {{ if (isinf(z)) y = T(0); else {{ {_E1} y = -y; }} }}"
    " else if (isinf(z)) y = INFINITY;"
    " else if (z < T(40)) { T term = T(1), sum = T(0);"
    "  for (int k = 1; k < 200; ++k) { term = term * z / T(k); sum += term / T(k); }"
    f"  y = sum + log(z) + {_EULER}; }}"
    " else { T term = T(1), sum = T(1);"
    "  for (int k = 1; k < 40; ++k) { term = term * T(k) / z; sum += term; }"
    "  T root = exp(z / T(2)); y = root / z * sum * root; }",
    "the exponential integral Ei",
)  # fmt: skip
expn = Function(
    "expn", "order, x",
    f"{_EPS} int n = (int)order; int below = n - 1;"
    "if (isnan(x) || n < 0 || x < T(0)) y = NAN;"
    "else if (isinf(x)) y = T(0);"
    "else if (x == T(0) && n < 2) y = INFINITY;"
    "else if (n == 0) y = exp(-x) / x;"
    "else if (x == T(0)) y = T(1) / T(below);"
    f"else if (x > T(1)) {{ {_FALLING} y = h * exp(-x); }}"
    "else { T sum = below == 0 ? -log(x) - " + _EULER + " : T(1) / T(below), term = T(1);"
    " for (int k = 1; k < 60; ++k) { term = -term * x / T(k);"
    "  if (k != below) sum -= term / T(k - below);"
    "  else { T psi = -" + _EULER + "; for (int j = 1; j <= below; ++j) psi += T(1) / T(j);"
    "   sum += term * (psi - log(x)); } }"
    " y = sum; }",
    "the exponential integral of an order",
)  # fmt: skip

# ---- Bessel functions: the series 9.6.10, and beyond 30 the expansion 9.7.1

_BESSEL = (
    "T size = x < T(0) ? -x : x; T large = T(0), part = T(0);"
    "if (size > T(30)) { T term = T(1), sum = T(1);"
    " for (int k = 1; k < 30; ++k) {{ T odd = T(2 * k - 1);"
    "  term = -term * (T({mu}) - odd * odd) / (T(8 * k) * size); sum += term; }}"
    " part = sum / sqrt(T(6.283185307179586) * size); large = T(1); }"
    "else { T half = size / T(2), term = {first}; part = term;"
    " for (int k = 1; k < 200; ++k) { T step = half * half / (T(k) * T(k + {order})); term *= step;"
    "  part += term; } }"
)


def _bessel(order: int) -> str:
    text = _BESSEL.replace("{{", "{").replace("}}", "}")
    text = text.replace("{mu}", str(4 * order * order)).replace("{order}", str(order))
    return text.replace("{first}", "half" if order else "T(1)")


i0e = Function(
    "i0e", "x", f"{_bessel(0)} y = large == T(1) ? part : part * exp(-size)",
    "the modified Bessel function of order 0, times ``exp(-abs(x))``",
)  # fmt: skip
i1e = Function(
    "i1e", "x",
    f"{_bessel(1)} y = (large == T(1) ? part : part * exp(-size)) * (x < T(0) ? T(-1) : T(1))",
    "the modified Bessel function of order 1, times ``exp(-abs(x))``",
)  # fmt: skip
i1 = Function(
    "i1", "x",
    f"{_bessel(1)} T root = exp(size / T(2));"
    "y = (large == T(1) ? root * part * root : part) * (x < T(0) ? T(-1) : T(1))",
    "the modified Bessel function of the first kind of order 1",
)  # fmt: skip

# ---- elliptic integrals by the arithmetic-geometric mean (17.6), and the normal distribution

_AGM = (
    "if (isnan(m) || m < T(0)) y = NAN; else if (m == T(0)) y = INFINITY;"
    "else { T a = T(1), g = sqrt(m); for (int k = 0; k < 40; ++k)"
    " { T next = (a + g) / T(2); if (next == a) break; g = sqrt(a * g); a = next; }"
    " y = T(1.5707963267948966) / a; }"
)
ellipkm1 = Function(
    "ellipkm1", "m", _AGM, "the complete elliptic integral of the first kind at ``1 - m``"
)
ellipk = Function(
    "ellipk", "x", f"T m = T(1) - x; {_AGM}",
    "the complete elliptic integral of the first kind",
)  # fmt: skip
log_ndtr = Function(
    "log_ndtr", "x",
    "T z = x * T(0.7071067811865476);"
    "y = x < T(-1) ? log(erfcx(-z) / T(2)) - z * z : log1p(-erfc(z) / T(2))",
    "the logarithm of the normal distribution up to x",
)  # fmt: skip
