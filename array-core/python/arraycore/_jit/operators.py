"""Operators on typed values, with the meaning that they have for NumPy's scalars in Python."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from .program import Program
from .types import BOOL, PYTHON_BOOL, PYTHON_INT, SMALL_INT, Type, kind_of, of_number, promote, weak

#: Python's operators by the names of ``ast``.
SYMBOLS: Final = {
    "Add": "+", "Sub": "-", "Mult": "*", "Div": "/", "FloorDiv": "//", "Mod": "%", "Pow": "**",
    "LShift": "<<", "RShift": ">>", "BitAnd": "&", "BitOr": "|", "BitXor": "^",
    "Lt": "<", "LtE": "<=", "Gt": ">", "GtE": ">=", "Eq": "==", "NotEq": "!=",
    "UAdd": "+", "USub": "-", "Invert": "~", "Not": "not",
}  # fmt: skip
_OPS: Final = {
    "+": "add", "-": "subtract", "*": "multiply", "/": "divide", "//": "floor_divide",
    "%": "modulo", "**": "power", "<<": "shift_left", ">>": "shift_right", "&": "bit_and",
    "|": "bit_or", "^": "bit_xor", "<": "less", "<=": "less_equal", ">": "greater",
    ">=": "greater_equal", "==": "equal", "!=": "not_equal",
}  # fmt: skip
_PYTHON: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv,
    "//": operator.floordiv, "%": operator.mod, "**": operator.pow, "<<": operator.lshift,
    ">>": operator.rshift, "&": operator.and_, "|": operator.or_, "^": operator.xor,
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
    "==": operator.eq, "!=": operator.ne,
}  # fmt: skip
_UNARY: Final[dict[str, Callable[[Any], Any]]] = {
    "-": operator.neg, "+": operator.pos, "~": operator.invert,
}  # fmt: skip
COMPARISONS: Final = frozenset(("<", "<=", ">", ">=", "==", "!="))
_MIRRORED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}
_INTEGERS_ONLY: Final = frozenset(("<<", ">>", "&", "|", "^"))
#: A power of this exponent or less is multiplied out.
_MOST_MULTIPLIED: Final = 3


class Refused(Exception):
    """An operation that has no meaning; the caller adds the place. Arguments: message, remedy."""


@dataclass(frozen=True)
class Value:
    """A value in a compiled function.

    Attributes
    ----------
    type : Type
    id : int
        The number of the expression; -1 for a Python number that is known at compile time.
    const : bool, int, float, complex or None
        That number.
    positive : bool
        Whether the value is certainly not negative.
    """

    type: Type
    id: int = -1
    const: Any = None
    positive: bool = False


def _whole_of(number: float, dtype: str) -> int:
    """Return a float as an integer of a dtype, as the kernel language converts it."""
    limits = np.iinfo(dtype)
    if math.isnan(number):
        return 0
    return int(min(max(number, limits.min), limits.max))


class Operators:
    """Writes expressions to a program.

    Parameters
    ----------
    program : Program
    floating : str
        The dtype of Python's floats in this kernel.
    """

    def __init__(self, program: Program, floating: str) -> None:
        self.program = program
        self.floating = floating
        #: Python ints that can be computed in int32, where only their low bits are needed.
        self._narrow: dict[int, tuple[str, Value, Value]] = {}

    # ---- values
    def number(self, value: Any) -> Value:
        """Return a number that is known at compile time."""
        kind = of_number(value, self.floating)
        if not kind.weak:
            positive = kind.kind in "iub" and value >= 0
            return Value(kind, self.program.constant(value, kind.name), positive=bool(positive))
        return Value(kind, -1, value, isinstance(value, int) and value >= 0)

    def emit(self, op: str, kind: Type, *args: Value, positive: bool = False) -> Value:
        ids = [self.id_of(a) for a in args]
        return Value(kind, self.program.expr(op, kind.name, ids), positive=positive)

    def id_of(self, value: Value) -> int:
        """Return the number of a value's expression, in the dtype of its type."""
        if value.id >= 0:
            return value.id
        return self._constant(value.const, value.type.name)

    def _constant(self, number: Any, dtype: str) -> int:
        kind = kind_of(dtype)
        if kind in "iu" and isinstance(number, int):
            limits = np.iinfo(dtype)
            if not limits.min <= number <= limits.max:
                raise Refused(
                    f"the number {number} does not fit {dtype}",
                    "convert the other value to a wider dtype, as in np.int64(x)",
                )
        if kind in "iub" and isinstance(number, (float, complex)):
            raise Refused(
                f"the number {number} would become {dtype}", "convert it by int(), or round it"
            )
        return self.program.constant(number, dtype)

    def convert(self, value: Value, to: Type) -> Value:
        """Return the value in another type, as ``astype`` converts."""
        if value.id < 0:
            if isinstance(value.const, (float, complex)) and to.kind in "iu":
                return self.convert(self.number(_whole_of(value.const.real, to.name)), to)
            if to.weak and to.kind == value.type.kind:
                return replace(value, type=to)
            if isinstance(value.const, complex) and to.kind != "c":
                raise Refused("a complex number is not a real one", "take its .real")
            return Value(to, self._constant(value.const, to.name), positive=value.positive)
        if value.type.name == to.name:
            return replace(value, type=to)
        if to.name == "int32" and to.weak:
            return replace(self.narrowed(value), type=to)
        identity = self.program.expr("convert", to.name, [value.id])
        return Value(to, identity, positive=value.positive and to.kind in "iu")

    def narrowed(self, value: Value) -> Value:
        """Return an integer as int32. Sums and products of Python ints are computed in int32."""
        if value.id < 0:
            return Value(SMALL_INT, self._constant(value.const, "int32"), positive=value.const >= 0)
        if value.type.name == "int32":
            return value
        if value.id in self._narrow:
            op, a, b = self._narrow[value.id]
            parts = [self.narrowed(a).id, self.narrowed(b).id]
            return Value(SMALL_INT, self.program.expr(op, "int32", parts), positive=value.positive)
        return Value(
            Type("int32", True), self.program.expr("convert", "int32", [value.id]),
            positive=value.positive,
        )  # fmt: skip

    def truth(self, value: Value) -> Value:
        """Return ``bool(value)``."""
        if value.id < 0:
            return self.number(bool(value.const))
        if value.type.kind == "b":
            return value
        return Value(PYTHON_BOOL, self.program.expr("convert", "bool", [value.id]))

    def select(self, condition: Value, then: Value, otherwise: Value) -> Value:
        """Return ``then if condition else otherwise``, both in their common type."""
        if condition.id < 0:
            return then if condition.const else otherwise
        kind = promote(then.type, otherwise.type)
        return self.emit(
            "select", kind, condition, self.convert(then, kind), self.convert(otherwise, kind),
            positive=then.positive and otherwise.positive,
        )  # fmt: skip

    # ---- operators
    def binary(self, symbol: str, a: Value, b: Value) -> Value:
        """Return ``a symbol b``.

        Raises
        ------
        Refused
            The operator has no meaning for these types.
        """
        if a.id < 0 and b.id < 0:
            return self._fold(symbol, a.const, b.const)
        if symbol in COMPARISONS:
            return self._compare(symbol, a, b)
        kind = promote(a.type, b.type)
        if kind.kind == "b":
            if not kind.weak and symbol in "+*&|^" and symbol != "**":
                op = {"+": "logical_or", "|": "logical_or", "^": "logical_xor"}
                return self.emit(op.get(symbol, "logical_and"), BOOL, a, b)
            if kind.weak and symbol in "&|^":
                op = {"&": "logical_and", "|": "logical_or", "^": "logical_xor"}
                return self.emit(op[symbol], PYTHON_BOOL, a, b)
            if not kind.weak and symbol == "-":
                raise Refused("bool has no '-' in NumPy", "write a ^ b, or convert by int()")
            kind = PYTHON_INT if kind.weak else Type("int8")
        if symbol in _INTEGERS_ONLY and kind.kind not in "iu":
            raise Refused(f"'{symbol}' takes integers, not {kind}", "convert by int() before")
        if symbol in ("//", "%") and kind.kind == "c":
            raise Refused(f"'{symbol}' takes no complex numbers", "work on .real and .imag")
        if symbol == "**":
            return self._power(a, b, kind)
        if symbol == "/" and kind.kind in "iu":
            kind = weak("f", self.floating) if kind.weak else Type("float64")
        if kind.weak and kind.kind == "i":
            # These cannot exceed the range of int32, if their operands do not.
            stays = symbol in ("&", "|", "^") or (
                symbol in ("//", "%") and isinstance(b.const, int) and b.const > 0
            )
            kind = SMALL_INT if stays and a.type == b.type == SMALL_INT else PYTHON_INT
        positive = a.positive and b.positive and symbol in ("+", "*", "//", "%", ">>", "&", "|")
        positive = positive or (symbol == "%" and b.positive and kind.kind in "iu")
        result = self.emit(
            _OPS[symbol], kind, self.convert(a, kind), self.convert(b, kind),
            positive=kind.kind == "u" or (positive and kind.weak and kind.kind == "i"),
        )  # fmt: skip
        if kind == PYTHON_INT and symbol in ("+", "-", "*"):
            self._narrow[result.id] = (_OPS[symbol], a, b)
        return result

    def _fold(self, symbol: str, a: Any, b: Any) -> Value:
        if symbol in ("**", "<<") and isinstance(b, int) and abs(b) > 4096:
            raise Refused("this number is too large", "compute it outside of the function")
        try:
            result = _PYTHON[symbol](a, b)
        except (ArithmeticError, TypeError, ValueError) as error:
            raise Refused(f"{error}", "give a number for which it is defined") from None
        return self.number(result)

    def _power(self, a: Value, b: Value, kind: Type) -> Value:
        if isinstance(b.const, int) and kind.kind in "iufc":
            if b.const < 0 and kind.kind in "iu":
                if not kind.weak:
                    raise Refused(
                        "NumPy refuses integers to negative integer powers",
                        "convert the base by float(), or np.float32()",
                    )
                kind = weak("f", self.floating)
            if 1 <= b.const <= _MOST_MULTIPLIED:
                base = self.convert(a, PYTHON_INT if kind.weak and kind.kind == "i" else kind)
                result = base
                for _ in range(b.const - 1):
                    result = self.emit("multiply", base.type, result, base, positive=a.positive)
                return result
        if kind.weak and kind.kind == "i":
            kind = PYTHON_INT
        return self.emit("power", kind, self.convert(a, kind), self.convert(b, kind))

    def _compare(self, symbol: str, a: Value, b: Value) -> Value:
        result = PYTHON_BOOL if a.type.weak and b.type.weak else BOOL
        kinds = {a.type.kind, b.type.kind}
        if "c" in kinds and symbol not in ("==", "!="):
            raise Refused("complex numbers have no order", "compare abs(), or .real")
        if kinds <= {"i", "u", "b"}:
            a, b, exact = self._exact(symbol, a, b)
            if exact is not None:
                return Value(result, exact)
            kind = a.type
        else:
            kind = promote(a.type, b.type)
        ids = [self.id_of(self.convert(v, kind)) for v in (a, b)]
        return Value(result, self.program.expr(_OPS[symbol], "bool", ids))

    def _exact(self, symbol: str, a: Value, b: Value) -> tuple[Value, Value, int | None]:
        """Return two integers in a type that holds both, or the result, where none does."""
        names = [self._whole(v) for v in (a, b)]
        for v, other in ((a, names[1]), (b, names[0])):
            if v.id < 0 and kind_of(other) in "iu":
                limits = np.iinfo(other)
                if limits.min <= int(v.const) <= limits.max:
                    return self._both(a, b, other)
        common = promote(Type(names[0]), Type(names[1]))
        if common.kind != "f":
            return self._both(a, b, common.name)
        # int64 with uint64, which no dtype holds both.
        if names[0] == "uint64":
            a, b, symbol = b, a, _MIRRORED[symbol]
        signed, unsigned = self.convert(a, Type("int64")), self.convert(b, Type("uint64"))
        expr = self.program.expr
        zero = self.program.constant(0, "int64")
        negative = expr("less", "bool", [self.id_of(signed), zero])
        same = self.id_of(self.convert(signed, Type("uint64")))
        there = expr(_OPS[symbol], "bool", [same, self.id_of(unsigned)])
        below = self.program.constant(symbol in ("<", "<=", "!="), "bool")
        return a, b, expr("select", "bool", [negative, below, there])

    def _both(self, a: Value, b: Value, name: str) -> tuple[Value, Value, None]:
        return self.convert(a, Type(name)), self.convert(b, Type(name)), None

    def _whole(self, value: Value) -> str:
        if value.id < 0 and isinstance(value.const, int) and value.const > 2**63 - 1:
            return "uint64"
        return value.type.name

    def unary(self, symbol: str, a: Value) -> Value:
        """Return ``symbol a``; errors are those of `binary`."""
        if symbol == "not":
            truth = self.truth(a)
            if truth.id < 0:
                return self.number(not truth.const)
            return Value(PYTHON_BOOL, self.program.expr("logical_not", "bool", [truth.id]))
        if a.id < 0:
            try:
                return self.number(_UNARY[symbol](a.const))
            except TypeError:
                raise Refused("'~' takes integers", "convert by int() before") from None
        if a.type.kind == "b":
            if symbol == "~" and not a.type.weak:
                return self.emit("logical_not", BOOL, a)
            if not a.type.weak:
                raise Refused(
                    f"bool has no '{symbol}' in NumPy", "write 'not', or convert by int()"
                )
            a = self.convert(a, PYTHON_INT)
        if symbol == "+":
            return a
        if symbol == "~":
            if a.type.kind not in "iu":
                raise Refused(f"'~' takes integers, not {a.type}", "convert by int() before")
            return self.emit("bit_not", a.type, a)
        if a.type.weak and a.type.kind == "i":
            a = self.convert(a, PYTHON_INT)
        return self.emit("negate", a.type, a)

    def logical(self, is_and: bool, values: Sequence[Value]) -> Value:
        """Return ``a and b and ...`` or ``a or b or ...``."""
        result = values[-1]
        for value in reversed(values[:-1]):
            truth = self.truth(value)
            if truth.id < 0:
                result = (
                    (result if truth.const else value)
                    if is_and
                    else (value if truth.const else result)
                )
            elif value.type.kind == "b" and result.type.kind == "b":
                op = "logical_and" if is_and else "logical_or"
                both = promote(value.type, result.type)
                result = self.emit(op, both, value, result)
            else:
                then, otherwise = (result, value) if is_and else (value, result)
                result = self.select(truth, then, otherwise)
        return result
