"""Implements C++'s types and CUDA's functions on NumPy scalars, by the dialect's rules, for
meaning.py.

Mathematical functions compute in double precision, and their callers round.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from statistics import NormalDist
from typing import Any

import numpy as np

TYPES: dict[str, Any] = {
    "bool": np.bool_,
    "int8": np.int8,
    "uint8": np.uint8,
    "int16": np.int16,
    "uint16": np.uint16,
    "int32": np.int32,
    "uint32": np.uint32,
    "int64": np.int64,
    "uint64": np.uint64,
    "float16": np.float16,
    "float32": np.float32,
    "float64": np.float64,
}
# C++'s names of the dtypes. Sizes and indices have 32 bits.
NAMES = {name: name for name in TYPES} | {
    "int": "int32",
    "float": "float32",
    "double": "float64",
    "ptrdiff_t": "int32",
    "size_t": "int32",
}


def is_floating(dtype: str) -> bool:
    return dtype.startswith("float")


def promoted(dtype: str) -> str:
    """Return the dtype that C++'s integral promotion gives. float16 becomes float32."""
    if dtype == "float16":
        return "float32"
    return "int32" if dtype in ("bool", "int8", "uint8", "int16", "uint16") else dtype


def common(a: str, b: str) -> str:
    """Return the common dtype by C++'s usual arithmetic conversions."""
    a, b = promoted(a), promoted(b)
    for dtype in ("float64", "float32", "uint64", "int64", "uint32"):
        if dtype in (a, b):
            return dtype
    return "int32"


def truncated(value: Any, to: Any) -> Any:
    """Convert a float to an integer: round towards zero. NaN gives 0, and a float out of range the
    nearest integer. For bool, return whether the float is not 0.
    """
    if to is np.bool_:
        return np.bool_(value != 0)
    if math.isnan(value):
        return to(0)
    limits = np.iinfo(to)
    if value <= limits.min:
        return to(limits.min)
    if value >= limits.max:
        return to(limits.max)
    return to(int(value))


def quotient(a: Any, b: Any) -> Any:
    """Return the quotient of integers, rounded towards zero; 0 for a division by 0."""
    if b == 0:
        return type(a)(0)
    if b == -1:
        return -a  # wraps
    q = abs(int(a)) // abs(int(b))
    return type(a)(q if (a < 0) == (b < 0) else -q)


def rest(a: Any, b: Any) -> Any:
    return type(a)(0) if b == 0 else a - quotient(a, b) * b


def min_of(a: Any, b: Any) -> Any:
    """Return the smaller operand; if one is NaN, the other."""
    return b if b < a or a != a else a


def max_of(a: Any, b: Any) -> Any:
    return b if a < b or a != a else a


def _place(array: Any, index: Any) -> Any:
    """Return the index of the element that is nearest to ``index``, or None for an empty array."""
    if array.size == 0:
        return None
    if isinstance(index, tuple):
        return tuple(min(max(k, 0), n - 1) for k, n in zip(index, array.shape, strict=True))
    return np.unravel_index(min(max(int(index), 0), array.size - 1), array.shape)


def get(array: Any, index: Any) -> Any:
    at = _place(array, index)
    return array.dtype.type(0) if at is None else array[at]


def put(array: Any, index: Any, value: Any) -> Any:
    at = _place(array, index)
    if at is not None:
        array[at] = value
    return value


def add(array: Any, index: Any, value: Any) -> Any:
    """Do ``atomicAdd``; return the old value."""
    old = get(array, index)
    put(array, index, old + value)
    return old


def _normal_quantile(p: float) -> float:
    if not 0 < p < 1:
        return -math.inf if p == 0 else math.inf if p == 1 else math.nan
    return NormalDist().inv_cdf(p)


def _erfinv(y: float) -> float:
    if not -1 < y < 1:
        return math.inf if y == 1 else -math.inf if y == -1 else math.nan
    x = _normal_quantile((y + 1) / 2) / math.sqrt(2)
    # One step of Newton's method restores the digits that (y + 1) / 2 loses near 0.
    return x - (math.erf(x) - y) * math.sqrt(math.pi) / 2 * math.exp(x * x)


def _erfcx(x: float) -> float:
    if x < 25:
        return math.exp(x * x) * math.erfc(x) if x > -26 else math.inf
    return 1 / (x * math.sqrt(math.pi)) * (1 - 1 / (2 * x * x) + 3 / (4 * x**4))


def _of_float(function: Callable[[float], float]) -> Callable[[Any], float]:
    return lambda x: math.nan if x != x else function(float(x))


def _wide(function: Any) -> Callable[..., Any]:
    return lambda *x: function(*(np.float64(each) for each in x))


MATHEMATICS: dict[str, Callable[..., Any]] = {
    name: _wide(getattr(np, name))
    for name in ("exp", "expm1", "log", "log1p", "sqrt", "sin", "cos", "tanh", "floor", "ceil")
} | {
    "fabs": _wide(np.abs),
    "pow": _wide(np.power),
    "rsqrt": _wide(lambda x: 1 / np.sqrt(x)),
    "round": _wide(lambda x: np.copysign(np.floor(np.abs(x) + 0.5), x)),
    "__expf": _wide(np.exp),
    "__logf": _wide(np.log),
    "__float2int_rd": _wide(np.floor),
    "erf": _of_float(math.erf),
    "erfc": _of_float(math.erfc),
    "erfcx": _of_float(_erfcx),
    "erfinv": _of_float(_erfinv),
    "erfcinv": _of_float(lambda y: -_normal_quantile(y / 2) / math.sqrt(2)),
    "normcdf": _of_float(lambda x: math.erfc(-x / math.sqrt(2)) / 2),
    "normcdfinv": _of_float(_normal_quantile),
}

# The names that generated code may use.
RUNTIME: dict[str, Any] = {
    **TYPES,
    **{f"m_{name}": function for name, function in MATHEMATICS.items()},
    "truncated": truncated,
    "quotient": quotient,
    "rest": rest,
    "min_of": min_of,
    "max_of": max_of,
    "get": get,
    "put": put,
    "add": add,
}
