"""The functions of the comparison, by families: each builds a call's path and arguments.

A builder gets a :class:`differential.arguments.Draw` and returns positional and keyword arguments.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .arguments import ALL, BOOLS, COMPLEX, FLOATS, INTEGERS, REAL, Draw

Call = tuple[list[Any], dict[str, Any]]
Builder = Callable[[Draw], Call]

#: Builders by the family's name and the function's path.
FAMILIES: dict[str, dict[str, Builder]] = {}


def family(name: str, **builders: Builder) -> None:
    """Add functions to a family; two underscores in a name stand for a dot."""
    entries = {path.replace("__", "."): builder for path, builder in builders.items()}
    FAMILIES.setdefault(name, {}).update(entries)


def unary(kinds: Any = ALL, **options: Any) -> Builder:
    return lambda g: ([g.array(kinds, **options)], {})


def binary(kinds: Any = ALL, **options: Any) -> Builder:
    def build(g: Draw) -> Call:
        a = g.array(kinds, **options)
        other = g.number() if g.maybe(True, share=0.25) else g.like(a, kinds, **options)
        pair = (
            [a, other]
            if g.maybe(True, share=0.7) or not isinstance(other, np.ndarray)
            else [other, a]
        )
        return pair, {}

    return build


def with_axis(kinds: Any = ALL, many: bool = False, least: int = 0, **options: Any) -> Builder:
    """Build an array and an axis (or axes), and options with one of their values."""

    def build(g: Draw) -> Call:
        a = g.array(kinds, least=least)
        axis = g.axes(a.ndim) if many else g.axis(a.ndim)
        return [a], {**g.maybe({"axis": axis}, {}, 0.8), **g.some(**options)}

    return build


# ---- elementwise

_ALL_KINDS = [
    "absolute",
    "add",
    "conjugate",
    "cos",
    "exp",
    "negative",
    "positive",
    "reciprocal",
    "sin",
    "sqrt",
    "square",
    "tan",
    "tanh",
    "sinh",
    "cosh",
    "log",
    "log2",
    "log10",
    "log1p",
    "expm1",
    "exp2",
    "arcsin",
    "arccos",
    "arctan",
    "arcsinh",
    "arccosh",
    "arctanh",
    "sign",
    "isfinite",
    "isinf",
    "isnan",
    "logical_not",
    "rint",
]
_REALS = [
    "floor",
    "ceil",
    "trunc",
    "fabs",
    "cbrt",
    "degrees",
    "radians",
    "deg2rad",
    "rad2deg",
    "signbit",
    "spacing",
]
_PAIRS = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "power",
    "float_power",
    "equal",
    "not_equal",
    "less",
    "less_equal",
    "greater",
    "greater_equal",
    "logical_and",
    "logical_or",
    "logical_xor",
    "maximum",
    "minimum",
    "fmax",
    "fmin",
]
_REAL_PAIRS = [
    "floor_divide",
    "remainder",
    "fmod",
    "arctan2",
    "hypot",
    "copysign",
    "heaviside",
    "logaddexp",
    "logaddexp2",
    "nextafter",
    "divmod",
]
_WHOLE_PAIRS = [
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "gcd",
    "lcm",
    "left_shift",
    "right_shift",
]

# Not compared, because arraycore differs on purpose (docs/surface.md): reciprocals of integers,
# integers to negative powers, and orders that NumPy leaves open (unique_values, partition).
family("ufuncs", **{name: unary() for name in _ALL_KINDS if name not in ("add", "reciprocal")})
family("ufuncs", reciprocal=unary(FLOATS + COMPLEX), power=binary(FLOATS + COMPLEX, span=4))
family("ufuncs", **{name: unary(REAL) for name in (*_REALS, "modf", "frexp")})
family("ufuncs", **{name: binary() for name in _PAIRS if name != "power"})
family("ufuncs", **{name: binary(REAL) for name in _REAL_PAIRS})
family("ufuncs", **{name: binary(BOOLS + INTEGERS, span=6) for name in _WHOLE_PAIRS})
family(
    "ufuncs",
    invert=unary(BOOLS + INTEGERS),
    bitwise_count=unary(INTEGERS),
    ldexp=lambda g: ((lambda a: [a, g.like(a, ("int32", "int8"))])(g.array(FLOATS)), {}),
    add__outer=lambda g: ([g.array(most=2), g.array(most=2)], {}),
    multiply__outer=lambda g: ([g.array(most=2), g.one([[1, 2], 3, g.array(most=1)])], {}),
    add__reduce=with_axis(many=True, keepdims=[True, False], dtype=["float32", "complex64", None]),
    maximum__reduce=with_axis(REAL, keepdims=[True], initial=[1, 2.5]),
    subtract__reduce=with_axis(REAL),
    logical_or__reduce=with_axis(many=True),
    add__accumulate=with_axis(least=1),
    multiply__accumulate=with_axis(REAL, least=1, dtype=["float64", "float32"]),
)


def options_of_ufuncs(g: Draw) -> Call:
    a = g.array()
    other = g.like(a)
    try:
        shape = np.broadcast_shapes(a.shape, other.shape)
    except ValueError:
        shape = a.shape
    return [a, other], g.some(
        where=[g.array(BOOLS, shape)],
        dtype=["float32", "int64", "complex64"],
        casting=["no", "safe", "same_kind", "unsafe"],
        order=["C", "F", "K", "A"],
        out=[np.zeros(shape, g.one(ALL))],
    )


def with_out(g: Draw) -> Call:
    """Build a call with keywords of ufuncs whose result NumPy determines."""
    args, kwargs = options_of_ufuncs(g)
    if "where" in kwargs and "out" not in kwargs:
        del kwargs["where"]
    return args, kwargs


family("ufuncs", **dict.fromkeys(("subtract", "maximum", "true_divide", "arctan2"), with_out))

_NUMBERS = INTEGERS + FLOATS + COMPLEX
family(
    "elements",
    around=lambda g: ([g.array(_NUMBERS), *g.one([[], [1], [2], [-1]])], {}),
    round=lambda g: ([g.array(_NUMBERS)], g.some(decimals=[0, 1, -2])),
    fix=unary(REAL),
    clip=lambda g: (
        [
            g.array(REAL),
            *g.one(
                [[1, 5], [None, 2], [0.5, None], [-1.5, 2.5], [g.array(REAL, ()), 4], [None, None]]
            ),
        ],
        {},
    ),
    nan_to_num=lambda g: ([g.array(odd=0.8)], g.some(nan=[0.0, 7.0], posinf=[1e3], neginf=[-1e3])),
    isclose=lambda g: (binary()(g)[0], g.some(rtol=[1e-2], atol=[0.5], equal_nan=[True])),
    allclose=lambda g: (binary()(g)[0], g.some(rtol=[1e-2], atol=[9.0], equal_nan=[True])),
    array_equal=lambda g: (binary()(g)[0], g.some(equal_nan=[True])),
    array_equiv=binary(),
    isposinf=unary(REAL, odd=0.8),
    isneginf=unary(REAL, odd=0.8),
    iscomplex=unary(),
    isreal=unary(),
    iscomplexobj=unary(),
    isrealobj=unary(),
    real=unary(),
    imag=unary(),
    angle=lambda g: ([g.array()], g.some(deg=[True])),
    sinc=unary(),
    i0=unary(REAL, odd=0),
    real_if_close=unary(),
    diff=lambda g: (with_axis(least=1)(g)[0], g.some(n=[0, 1, 2], prepend=[0], append=[1.5])),
    ediff1d=lambda g: ([g.array(REAL)], g.some(to_end=[9, [1, 2]], to_begin=[3])),
    gradient=lambda g: (
        [g.array(FLOATS + INTEGERS + ("complex64",), g.shape(1, 3, 6)), *g.maybe([0.5], [])],
        g.some(edge_order=[1, 2], axis=[0, -1]),
    ),
    convolve=lambda g: (
        [g.array(shape=(g.integer(1, 6),), odd=0), g.array(shape=(g.integer(1, 6),), odd=0)],
        g.some(mode=["full", "same", "valid"]),
    ),
    correlate=lambda g: (
        [g.array(shape=(g.integer(1, 6),), odd=0), g.array(shape=(g.integer(1, 6),), odd=0)],
        g.some(mode=["full", "same", "valid"]),
    ),
    interp=lambda g: (
        [g.array(("float64", "float32", "int32")), np.arange(4.0), g.array(FLOATS, (4,))],
        g.some(left=[-1.0], right=[9.0], period=[4.0]),
    ),
    unwrap=lambda g: ([g.array(FLOATS, least=1, odd=0)], g.some(discont=[4.0], period=[5.0, 6.0])),
    trapezoid=lambda g: ([g.array(least=1, odd=0)], g.some(dx=[0.5, 2], axis=[0, -1])),
    cumulative_sum=with_axis(least=1, include_initial=[True], dtype=["float32"]),
    cumulative_prod=with_axis(REAL, least=1, include_initial=[True]),
    packbits=with_axis(BOOLS + INTEGERS, bitorder=["big", "little"]),
    unpackbits=with_axis(("uint8",), bitorder=["big", "little"], count=[5, 8, -2]),
)

# ---- reductions

_FOLDS = ["sum", "prod", "mean", "any", "all", "nansum", "nanprod", "nanmean"]
_ORDERED = ["max", "min", "amax", "amin", "ptp", "nanmax", "nanmin"]
family(
    "reductions",
    **{
        name: with_axis(
            many=True, keepdims=[True, False], dtype=["float64", "float32", "complex64"]
        )
        if name not in ("any", "all")
        else with_axis(many=True, keepdims=[True])
        for name in _FOLDS
    },
)
family(
    "reductions",
    **{name: with_axis(REAL, many=True, keepdims=[True]) for name in _ORDERED if name != "ptp"},
)
family("reductions", ptp=with_axis(REAL, keepdims=[True], least=1))
family(
    "reductions",
    **{
        name: with_axis(many=True, keepdims=[True], ddof=[0, 1, 2], dtype=["float64"])
        for name in ("var", "std")
    },
)
family(
    "reductions",
    **{
        name: with_axis(many=True, keepdims=[True], ddof=[0, 1, 2]) for name in ("nanvar", "nanstd")
    },
)
family("reductions", **{name: with_axis(REAL, keepdims=[True]) for name in ("argmax", "argmin")})
family(
    "reductions",
    **{
        name: with_axis(dtype=["float64", "float32", "int64"])
        for name in ("cumsum", "cumprod", "nancumsum", "nancumprod")
    },
)
family(
    "reductions",
    count_nonzero=with_axis(many=True, keepdims=[True]),
    average=lambda g: (
        lambda a: (
            [a],
            g.maybe(
                {"weights": np.abs(g.array(FLOATS, a.shape, odd=0)) + 1, **g.some(returned=[True])},
                {"axis": g.axes(a.ndim), **g.some(keepdims=[True], returned=[True])},
            ),
        )
    )(g.array(odd=0)),
    median=with_axis(REAL, many=True, keepdims=[True]),
    nanmedian=with_axis(FLOATS, many=True, keepdims=[True]),
    ndarray__sum=with_axis(many=True, keepdims=[True]),
    ndarray__mean=with_axis(many=True, dtype=["float64"]),
    ndarray__std=with_axis(REAL, ddof=[1]),
)

_METHODS = [
    "linear",
    "lower",
    "higher",
    "nearest",
    "midpoint",
    "hazen",
    "weibull",
    "median_unbiased",
    "inverted_cdf",
    "averaged_inverted_cdf",
    "closest_observation",
]


def quantiles(scale: float, kinds: Any = REAL) -> Builder:
    def build(g: Draw) -> Call:
        a = g.array(kinds)
        q = g.one(
            [
                0.5,
                0.25,
                [0.1, 0.9],
                np.array([0.0, 0.5, 1.0]),
                np.array(0.3),
                1,
                1.5,
                np.array([0.25], np.float32),
            ]
        )
        q = [each * scale for each in q] if isinstance(q, list) else q * scale
        options = g.some(axis=[g.axes(a.ndim)], method=_METHODS, keepdims=[True])
        if options.get("method") in ("inverted_cdf",) and g.maybe(True):
            shape = a.shape
            options = {
                "method": "inverted_cdf",
                "weights": np.abs(g.array(FLOATS, shape, odd=0)) + 1,
            }
        return [a, q], options

    return build


family(
    "statistics",
    quantile=quantiles(1.0),
    nanquantile=quantiles(1.0, FLOATS),
    percentile=quantiles(100.0),
    nanpercentile=quantiles(100.0, FLOATS),
    histogram=lambda g: (
        [g.array(REAL, odd=0)],
        g.some(
            bins=[3, 10, [0, 1, 5], np.array([-5.0, 0, 5.0]), "auto"],
            range=[(0, 5), (-2.5, 3)],
            density=[True],
        ),
    ),
    histogram_bin_edges=lambda g: (
        [g.array(REAL, odd=0)],
        g.some(bins=[4, "sturges"], range=[(0, 5)]),
    ),
    histogram2d=lambda g: (
        (lambda n: [g.array(FLOATS, (n,), odd=0), g.array(INTEGERS, (n,))])(g.integer(1, 6)),
        g.some(bins=[3, [2, 4]], density=[True]),
    ),
    histogramdd=lambda g: (
        [g.array(FLOATS, (g.integer(1, 6), 2), odd=0)],
        g.some(bins=[3, [2, 4]], density=[True]),
    ),
    bincount=lambda g: (
        [np.abs(g.array(("int64", "uint8", "int32"), shape=(g.integer(0, 6),)))],
        g.some(minlength=[0, 12]),
    ),
    digitize=lambda g: (
        [g.array(REAL), g.one([np.array([0.0, 2, 5]), np.array([5.0, 1, -3]), [1, 2]])],
        g.some(right=[True]),
    ),
    searchsorted=lambda g: (
        [np.sort(g.array(REAL, shape=(g.integer(0, 6),), odd=0)), g.one([3, 2.5, g.array(REAL)])],
        g.some(side=["left", "right"]),
    ),
    cov=lambda g: (
        [g.array(least=1, most=2, odd=0)],
        g.some(rowvar=[False], bias=[True], ddof=[0, 2]),
    ),
    corrcoef=lambda g: (
        [g.array(REAL, g.one([(2, 5), (3, 4), (4,)]), odd=0)],
        g.some(rowvar=[False]),
    ),
)

_SETS = ["union1d", "intersect1d", "setdiff1d", "setxor1d", "isin"]
family(
    "sorting",
    **{
        name: lambda g: ([g.array(REAL, most=2, odd=0), g.array(REAL, most=2, odd=0)], {})
        for name in _SETS
    },
)
family(
    "sorting",
    sort=with_axis(kind=["stable", "quicksort"]),
    argsort=lambda g: (with_axis(REAL)(g)[0], {"kind": "stable", **g.some(axis=[None, 0])}),
    sort_complex=unary(),
    lexsort=lambda g: ([g.array(REAL, (g.integer(1, 3), g.integer(1, 5)))], {}),
    unique=lambda g: (
        lambda a: (
            [a],
            g.some(
                return_index=[True],
                return_inverse=[True],
                return_counts=[True],
                equal_nan=[True, False],
                axis=[None, g.axis(a.ndim)],
            ),
        )
    )(g.array(span=3)),
    unique_counts=unary(REAL, span=3, odd=0),
    unique_inverse=unary(REAL, span=3, odd=0),
    unique_all=unary(REAL, span=3, odd=0),
    trim_zeros=lambda g: ([g.array(least=1, most=2, span=1)], g.some(trim=["f", "b", "fb"])),
)
