"""The functions that compiled code may call: Python's, and those of math, cmath, NumPy and
arraycore.
"""

from __future__ import annotations

import cmath
import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from .._runtime.dtypes import DTYPES
from .operators import Operators, Refused, Value
from .types import BOOL, PYTHON_BOOL, PYTHON_INT, Type, promote, weak

#: Functions of one floating number: NumPy's names, then the operation.
_FLOATING: Final = {
    "sqrt": "sqrt", "cbrt": "cbrt", "exp": "exp", "exp2": "exp2", "expm1": "expm1", "log": "log",
    "log2": "log2", "log10": "log10", "log1p": "log1p", "sin": "sin", "cos": "cos", "tan": "tan",
    "arcsin": "asin", "arccos": "acos", "arctan": "atan", "sinh": "sinh", "cosh": "cosh",
    "tanh": "tanh", "arcsinh": "asinh", "arccosh": "acosh", "arctanh": "atanh",
    "floor": "floor", "ceil": "ceil", "trunc": "trunc", "rint": "rint",
    "erf": "erf", "erfc": "erfc", "lgamma": "lgamma", "gamma": "tgamma",
}  # fmt: skip
_COMPLEX_TOO: Final = frozenset(("sqrt", "exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh"))
_WHOLE_STAYS: Final = frozenset(("floor", "ceil", "trunc", "rint"))
_TWO: Final = {
    "arctan2": "atan2",
    "hypot": "hypot",
    "copysign": "copysign",
    "nextafter": "nextafter",
}
_TESTS: Final = {"isnan": "is_nan", "isinf": "is_inf", "isfinite": "is_finite"}
_EXTREMES: Final = {"minimum": "minimum", "maximum": "maximum", "fmin": "fmin", "fmax": "fmax"}
_OPERATORS: Final = {
    "add": "+", "subtract": "-", "multiply": "*", "divide": "/", "true_divide": "/",
    "floor_divide": "//", "remainder": "%", "mod": "%", "power": "**", "left_shift": "<<",
    "right_shift": ">>", "bitwise_and": "&", "bitwise_or": "|", "bitwise_xor": "^", "less": "<",
    "less_equal": "<=", "greater": ">", "greater_equal": ">=", "equal": "==", "not_equal": "!=",
}  # fmt: skip
#: math's names for NumPy's functions.
_MATH: Final = {
    "asin": "arcsin", "acos": "arccos", "atan": "arctan", "asinh": "arcsinh", "acosh": "arccosh",
    "atanh": "arctanh", "atan2": "arctan2", "pow": "math_pow", "floor": "math_floor",
    "ceil": "math_ceil", "trunc": "int", "radians": "deg2rad", "degrees": "rad2deg",
}  # fmt: skip
_CONVERSIONS: Final = frozenset(dtype.name for dtype in DTYPES)
_BUILTINS: Final = {
    abs: "absolute", min: "min", max: "max", int: "int", float: "float", bool: "bool_of",
    complex: "complex", round: "round", pow: "power",
}  # fmt: skip


def name_of(function: Any) -> str | None:
    """Return NumPy's name of a function that compiled code may call, or a name of its own for
    Python's functions; None for other objects.
    """
    try:
        if function in _BUILTINS:
            return _BUILTINS[function]
    except TypeError:
        return None
    if isinstance(function, type) and issubclass(function, np.generic):
        name = np.dtype(function).name
        return f"to_{name}" if name in _CONVERSIONS else None
    name = getattr(function, "__name__", None)
    if not isinstance(name, str):
        return None
    if function in (getattr(math, name, None), getattr(cmath, name, None)):
        name = _MATH.get(name, name)
    elif not _is_array_function(function):
        return None
    return name if name in FUNCTIONS else None


def _is_array_function(function: Any) -> bool:
    if isinstance(function, np.ufunc):
        return True
    name = getattr(function, "__name__", "")
    if function is getattr(np, name, None):
        return True
    module = getattr(function, "__module__", "") or type(function).__module__
    return str(module).split(".")[0] == "arraycore"


def _float_type(ops: Operators, kind: Type) -> Type:
    """Return the type in which a floating function of this type computes."""
    if kind.kind in "fc":
        return kind
    if kind.weak:
        return weak("f", ops.floating)
    return Type("float64")


def _floating(op: str) -> Callable[..., Value]:
    def call(ops: Operators, x: Value) -> Value:
        if x.type.kind == "c" and op not in _COMPLEX_TOO:
            raise Refused("this function takes no complex numbers", "work on .real and .imag")
        if op in _WHOLE_STAYS and x.type.kind in "iu":
            return x
        kind = _float_type(ops, x.type)
        return ops.emit(op, kind, ops.convert(x, kind))

    return call


def _two(op: str) -> Callable[..., Value]:
    def call(ops: Operators, a: Value, b: Value) -> Value:
        kind = _float_type(ops, promote(a.type, b.type))
        if kind.kind == "c":
            raise Refused("this function takes no complex numbers", "work on .real and .imag")
        return ops.emit(op, kind, ops.convert(a, kind), ops.convert(b, kind))

    return call


def _test(op: str) -> Callable[..., Value]:
    def call(ops: Operators, x: Value) -> Value:
        if x.type.kind in "iub":
            return ops.number(op == "is_finite")
        return Value(BOOL, ops.program.expr(op, "bool", [ops.id_of(x)]))

    return call


def _extreme(op: str) -> Callable[..., Value]:
    def call(ops: Operators, a: Value, b: Value) -> Value:
        kind = promote(a.type, b.type)
        if kind.kind == "c":
            raise Refused("complex numbers have no order", "compare abs(), or .real")
        return ops.emit(op, kind, ops.convert(a, kind), ops.convert(b, kind),
                        positive=a.positive and b.positive)  # fmt: skip

    return call


def _least(symbol: str) -> Callable[..., Value]:
    def call(ops: Operators, first: Value, *rest: Value) -> Value:
        if not rest:
            raise Refused("min() and max() take two or more numbers", "write min(a, b)")
        result = first
        for other in rest:
            positive = result.positive and other.positive
            if symbol == ">":
                positive = result.positive or other.positive
            kind = promote(result.type, other.type)
            chosen = ops.select(ops.binary(symbol, other, result), other, result)
            result = ops.convert(chosen, kind)
            result = Value(result.type, result.id, result.const, positive and kind.kind in "iu")
        return result

    return call


def _operator(symbol: str) -> Callable[..., Value]:
    return lambda ops, a, b: ops.binary(symbol, a, b)


def _absolute(ops: Operators, x: Value) -> Value:
    if x.id < 0:
        return ops.number(abs(x.const))
    if x.type.kind == "b":
        return ops.convert(x, PYTHON_INT) if x.type.weak else x
    if x.type.kind == "u":
        return x
    kind = x.type
    if kind.kind == "c":
        kind = Type("float64" if kind.name == "complex128" else "float32", kind.weak)
    return ops.emit("absolute", kind, x, positive=kind.kind == "i" and kind.weak)


def _to_int(ops: Operators, x: Value) -> Value:
    if x.id < 0:
        return ops.number(_number(int, x.const))
    if x.type.kind == "c":
        raise Refused("a complex number is not an integer", "take its .real")
    if x.type.kind == "i" and x.type.weak:
        return x
    if x.type.name in ("int8", "uint8", "int16", "uint16", "int32"):
        return ops.convert(x, Type("int32", True))
    return ops.convert(x, PYTHON_INT)


def _number(function: Callable[[Any], Any], value: Any) -> Any:
    try:
        return function(value)
    except (ArithmeticError, TypeError, ValueError) as error:
        raise Refused(str(error), "give a number for which it is defined") from None


def _to_float(ops: Operators, x: Value) -> Value:
    if x.id < 0:
        return ops.number(_number(float, x.const))
    if x.type.kind == "c":
        raise Refused("a complex number is not a real one", "take its .real")
    return ops.convert(x, weak("f", ops.floating))


def _to_complex(ops: Operators, re: Value, im: Value | None = None) -> Value:
    if re.id < 0 and (im is None or im.id < 0):
        return ops.number(complex(re.const, 0 if im is None else im.const))
    joined = re.type if im is None else promote(re.type, im.type)
    kind = _float_type(ops, joined)
    wide = kind.name in ("float64", "complex128")
    result = Type("complex128" if wide else "complex64", kind.weak)
    if im is None:
        return ops.convert(re, result)
    if kind.kind == "c":
        raise Refused("complex() takes two real numbers", "add 1j times the second one")
    part = Type("float64" if wide else "float32")
    return ops.emit("make_complex", result, ops.convert(re, part), ops.convert(im, part))


def _to_bool(ops: Operators, x: Value) -> Value:
    return Value(PYTHON_BOOL, (t := ops.truth(x)).id, t.const)


def _round(ops: Operators, x: Value) -> Value:
    if x.id < 0:
        return ops.number(_number(round, x.const))
    if x.type.kind != "f":
        return _to_int(ops, x)
    return ops.convert(ops.emit("rint", x.type, x), PYTHON_INT)


def _whole(op: str) -> Callable[..., Value]:
    def call(ops: Operators, x: Value) -> Value:
        if x.id < 0:
            return ops.number(_number(math.floor if op == "floor" else math.ceil, x.const))
        if x.type.kind in "iub":
            return _to_int(ops, x)
        return ops.convert(_floating(op)(ops, x), PYTHON_INT)

    return call


def _where(ops: Operators, condition: Value, then: Value, otherwise: Value) -> Value:
    return ops.select(ops.truth(condition), then, otherwise)


def _clip(ops: Operators, x: Value, low: Value, high: Value) -> Value:
    return _extreme("minimum")(ops, _extreme("maximum")(ops, x, low), high)


def _log(ops: Operators, x: Value, base: Value | None = None) -> Value:
    result = _floating("log")(ops, x)
    return result if base is None else ops.binary("/", result, _floating("log")(ops, base))


def _sign(ops: Operators, x: Value) -> Value:
    if x.type.kind in "bc":
        raise Refused(f"sign() takes no {x.type}", "compare with 0")
    return ops.emit("sign", x.type, x)


def _fmod(ops: Operators, a: Value, b: Value) -> Value:
    kind = promote(a.type, b.type)
    kind = _float_type(ops, kind) if kind.kind in "bc" else kind
    return ops.emit("remainder", kind, ops.convert(a, kind), ops.convert(b, kind))


def _logical(op: str) -> Callable[..., Value]:
    def call(ops: Operators, a: Value, b: Value) -> Value:
        return ops.emit(op, BOOL, ops.truth(a), ops.truth(b))

    return call


def _scaled(factor: float) -> Callable[..., Value]:
    def call(ops: Operators, x: Value) -> Value:
        kind = _float_type(ops, x.type)
        return ops.binary("*", ops.convert(x, kind), ops.number(factor))

    return call


def _conversion(name: str) -> Callable[..., Value]:
    def call(ops: Operators, x: Value) -> Value:
        if x.type.kind == "c" and np.dtype(name).kind != "c":
            raise Refused("a complex number is not a real one", "take its .real")
        return ops.convert(x, Type(name))

    return call


def _power(ops: Operators, a: Value, b: Value) -> Value:
    kind = _float_type(ops, promote(a.type, b.type))
    return ops.binary("**", ops.convert(a, kind), ops.convert(b, kind))


FUNCTIONS: Final[dict[str, Callable[..., Value]]] = {
    **{name: _floating(op) for name, op in _FLOATING.items()},
    **{name: _two(op) for name, op in _TWO.items()},
    **{name: _test(op) for name, op in _TESTS.items()},
    **{name: _extreme(op) for name, op in _EXTREMES.items()},
    **{name: _operator(symbol) for name, symbol in _OPERATORS.items()},
    **{f"to_{name}": _conversion(name) for name in _CONVERSIONS},
    **{name: _logical(name) for name in ("logical_and", "logical_or", "logical_xor")},
    "logical_not": lambda ops, x: ops.unary("not", x),
    "absolute": _absolute, "abs": _absolute, "min": _least("<"), "max": _least(">"),
    "fabs": lambda ops, x: _absolute(ops, ops.convert(x, _float_type(ops, x.type))),
    "int": _to_int, "float": _to_float, "bool_of": _to_bool, "complex": _to_complex,
    "round": _round, "math_floor": _whole("floor"), "math_ceil": _whole("ceil"),
    "math_pow": _power, "where": _where, "clip": _clip, "log": _log, "sign": _sign,
    "fmod": _fmod, "deg2rad": _scaled(math.pi / 180), "rad2deg": _scaled(180 / math.pi),
    "negative": lambda ops, x: ops.unary("-", x), "square": lambda ops, x: ops.binary("*", x, x),
    "invert": lambda ops, x: ops.unary("~", x),
    "conjugate": lambda ops, x: ops.emit("conj", x.type, x) if x.type.kind == "c" else x,
}  # fmt: skip
