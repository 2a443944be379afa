"""Lowers expressions of a function's syntax tree to typed values."""

from __future__ import annotations

import ast
import cmath
import inspect
import math
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from .._runtime.errors import CompileError
from .errors import error_at
from .functions import FUNCTIONS, name_of
from .operators import SYMBOLS, Operators, Refused, Value
from .positions import Position
from .program import Program
from .source import MISSING, Source
from .types import Type

if TYPE_CHECKING:
    from .compiler import Compiler

#: An expression that is nested deeper is kept in a variable first.
_DEEP: Final = 200
_NUMBERS: Final = (bool, int, float, complex, np.bool_, np.number)
_REMEDIES: Final[dict[type[ast.AST], str]] = {
    ast.ListComp: "write a loop",
    ast.SetComp: "write a loop",
    ast.DictComp: "write a loop",
    ast.GeneratorExp: "write a loop",
    ast.Dict: "pass what it holds as arguments, or choose by if",
    ast.Set: "compare with each value, joined by or",
    ast.List: "take one variable for each value",
    ast.Tuple: "assign its parts to several names, or return them",
    ast.JoinedStr: "leave out the text; kernels compute numbers only",
    ast.Lambda: "write a function of its own, with @arraycore.jit",
    ast.NamedExpr: "assign before the expression",
    ast.Await: "call the function from Python",
    ast.Yield: "return the value",
    ast.YieldFrom: "return the value",
    ast.Starred: "write the arguments one by one",
    ast.Slice: "write a loop over the elements",
}


class Expressions:
    """The part of a function's compilation that lowers expressions.

    Attributes
    ----------
    source : Source
    program : Program
    ops : Operators
    known : dict
        The types of variables that earlier passes found.
    """

    def __init__(self, compiler: Compiler, source: Source, program: Program) -> None:
        self.compiler = compiler
        self.source = source
        self.program = program
        self.ops = Operators(program, compiler.floating)
        self.known: dict[str, Type] = {}
        self.found: dict[str, Type] = {}
        self.variables: dict[str, int] = {}
        self.arguments: dict[str, Value] = {}
        #: Loop counters that are read directly, because nothing else assigns their name.
        self.counters: dict[str, Value] = {}
        #: The names that certainly have a value here; None where control never arrives.
        self.assigned: set[str] | None = set()
        self.local_names: set[str] = set()

    def error(self, node: ast.AST | None, code: str, message: str, remedy: str) -> CompileError:
        """Return the error for a place in this function."""
        return error_at(self.source, node, code, message, remedy)

    @contextmanager
    def refusing(self, node: ast.AST, code: str = "jit_type") -> Iterator[None]:
        """Give an operation's error the place of a node."""
        try:
            yield
        except Refused as error:
            message, remedy = error.args
            raise self.error(node, code, message, remedy) from None

    def value(self, node: ast.expr) -> Value:
        """Return the value of an expression."""
        method: Callable[[Any], Value] | None = getattr(
            self, f"_{type(node).__name__.lower()}", None
        )
        if method is None:
            kind = type(node).__name__
            remedy = _REMEDIES.get(type(node), "compute with numbers and elements of arrays")
            raise self.error(
                node, "jit_expression", f"an expression of the kind {kind} is not compiled", remedy
            )
        value = method(node)
        if value.id >= 0 and self.program.depths[value.id] > _DEEP:
            return self.kept(value)
        return value

    def kept(self, value: Value) -> Value:
        """Return the value from a new variable, to which a statement assigns it."""
        target = self.program.local("kept", value.type.name)
        self.program.stmt("assign", target=target, value=self.ops.id_of(value))
        read = self.program.expr("local", value.type.name, index=target)
        return Value(value.type, read, positive=value.positive)

    # ---- names and constants
    def _constant(self, node: ast.Constant) -> Value:
        if isinstance(node.value, (bool, int, float, complex)):
            return self.number(node, node.value)
        what = "a text" if isinstance(node.value, str) else f"{node.value!r}"
        raise self.error(
            node, "jit_expression", f"{what} has no value in a kernel", "compute with numbers"
        )

    def number(self, node: ast.AST, value: Any) -> Value:
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            raise self.error(
                node, "jit_type", "this number does not fit 64 bits", "compute it in floats"
            )
        return self.ops.number(value)

    def _name(self, node: ast.Name) -> Value:
        name = node.id
        if name in self.local_names:
            if self.assigned is not None and name not in self.assigned:
                raise self.error(
                    node, "jit_unbound", f"{name!r} has no value on some path to this place",
                    "assign to it before the branch or the loop",
                )  # fmt: skip
            if name in self.counters:
                return self.counters[name]
            if name in self.arguments and name not in self.variables:
                return self.arguments[name]
            kind = self.known.get(name) or self.found[name]
            return Value(kind, self.program.expr("local", kind.name, index=self.variables[name]))
        return self.constant_of(node, self.resolved(node))

    def resolved(self, node: ast.expr) -> Any:
        """Return what a name, or an attribute of a module, stands for at compile time."""
        if isinstance(node, ast.Attribute):
            owner = self.resolved(node.value)
            if isinstance(owner, (types.ModuleType, type)):
                found = getattr(owner, node.attr, MISSING)
                if found is not MISSING:
                    return found
            if isinstance(owner, SimpleNamespace) and hasattr(owner, node.attr):
                return getattr(owner, node.attr)
            if isinstance(owner, Position) and (axis := owner.axis(node.attr)) is not None:
                return axis
            raise self.error(
                node, "jit_name", f"{ast.unparse(node)!r} is not known here",
                "take names of modules, such as math.pi, or pass the value as an argument",
            )  # fmt: skip
        if not isinstance(node, ast.Name):
            raise self.error(
                node, "jit_call", "only functions that have a name are called", "name it"
            )
        found = MISSING if node.id in self.local_names else self.source.lookup(node.id)
        if found is MISSING:
            raise self.error(
                node, "jit_name", f"{node.id!r} is not known when the function is compiled",
                "define it before the first call, or pass it as an argument",
            )  # fmt: skip
        return found

    def constant_of(self, node: ast.AST, found: Any) -> Value:
        if isinstance(found, _NUMBERS) and not isinstance(found, np.longdouble):
            return self.number(node, found)
        raise self.error(
            node, "jit_name", f"{ast.unparse(node)!r} is a {type(found).__name__}, not a number",
            "pass it as an argument",
        )  # fmt: skip

    def _attribute(self, node: ast.Attribute) -> Value:
        if node.attr in ("real", "imag") and not self._is_module(node.value):
            value = self.value(node.value)
            if value.id < 0:
                return self.ops.number(getattr(value.const, node.attr))
            if value.type.kind != "c":
                return (
                    value
                    if node.attr == "real"
                    else self.ops.convert(self.ops.number(0), value.type)
                )
            part = Type(
                "float64" if value.type.name == "complex128" else "float32", value.type.weak
            )
            return self.ops.emit(node.attr, part, value)
        return self.constant_of(node, self.resolved(node))

    def _is_module(self, node: ast.expr) -> bool:
        return (
            isinstance(node, ast.Name)
            and node.id not in self.local_names
            and isinstance(self.source.lookup(node.id), types.ModuleType)
        )

    # ---- operators
    def _binop(self, node: ast.BinOp) -> Value:
        symbol = SYMBOLS.get(type(node.op).__name__)
        if symbol is None:
            raise self.error(
                node, "jit_expression", "'@' is not compiled", "write a loop, or call matmul()"
            )
        left, right = self.value(node.left), self.value(node.right)
        with self.refusing(node):
            return self.ops.binary(symbol, left, right)

    def _unaryop(self, node: ast.UnaryOp) -> Value:
        operand = self.value(node.operand)
        with self.refusing(node):
            return self.ops.unary(SYMBOLS[type(node.op).__name__], operand)

    def _boolop(self, node: ast.BoolOp) -> Value:
        values = [self.value(each) for each in node.values]
        with self.refusing(node):
            return self.ops.logical(isinstance(node.op, ast.And), values)

    def _compare(self, node: ast.Compare) -> Value:
        values = [self.value(each) for each in (node.left, *node.comparators)]
        pairs = []
        for op, a, b in zip(node.ops, values, values[1:], strict=False):
            symbol = SYMBOLS.get(type(op).__name__)
            if symbol is None:
                raise self.error(
                    node, "jit_expression", "'in' and 'is' are not compiled",
                    "compare numbers by ==, joined by or",
                )  # fmt: skip
            with self.refusing(node):
                pairs.append(self.ops.binary(symbol, a, b))
        return self.ops.logical(True, pairs)

    def _ifexp(self, node: ast.IfExp) -> Value:
        condition = self.ops.truth(self.value(node.test))
        if condition.id < 0:
            return self.value(node.body if condition.const else node.orelse)
        then, otherwise = self.value(node.body), self.value(node.orelse)
        with self.refusing(node):
            return self.ops.select(condition, then, otherwise)

    # ---- calls
    def called(self, node: ast.Call, function: Any) -> Value | None:
        """Return the value of a call that a subclass lowers itself, if it does."""
        return None

    def _call(self, node: ast.Call) -> Value:
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if method in ("conjugate", "conj") and not self._is_module(node.func.value):  # type: ignore[attr-defined]
            return FUNCTIONS["conjugate"](self.ops, self.value(node.func.value))  # type: ignore[attr-defined]
        shown = ast.unparse(node.func)
        root = node.func
        while isinstance(root, ast.Attribute):
            root = root.value
        if isinstance(root, ast.Name) and root.id in self.local_names and root is not node.func:
            raise self.error(
                node, "jit_call", f"{shown}() is a method, and methods are not compiled",
                "take functions of math or NumPy, and loops over elements",
            )  # fmt: skip
        function = self.resolved(node.func)
        special = self.called(node, function)
        if special is not None:
            return special
        if node.keywords:
            raise self.error(
                node, "jit_call", f"{shown}() takes no keywords here", "pass them by position"
            )
        compiled = self.compiler.source_of(function)
        if compiled is not None:
            arguments = [self.value(argument) for argument in node.args]
            return self.compiler.call(self, node, compiled, arguments)
        name = name_of(function)
        if name is None:
            remedy = f"decorate {shown} with @arraycore.jit"
            if not isinstance(function, types.FunctionType) or _is_library(function):
                remedy = (
                    "docs/jit.md lists the functions of Python, math and NumPy that are compiled"
                )
            raise self.error(node, "jit_call", f"{shown}() is not compiled", remedy)
        arguments = [self.value(argument) for argument in node.args]
        if arguments and all(a.id < 0 for a in arguments) and _is_pure(function):
            try:
                result = function(*[a.const for a in arguments])
            except (ArithmeticError, TypeError, ValueError) as error:
                message = f"{shown}(): {error}"
                raise self.error(node, "jit_call", message, "correct its arguments") from None
            return self.number(node, result)
        if not _takes(FUNCTIONS[name], len(arguments)):
            raise self.error(
                node, "jit_call", f"{shown}() does not take {len(arguments)} arguments here",
                "pass as many as docs/jit.md says",
            )  # fmt: skip
        with self.refusing(node):
            return FUNCTIONS[name](self.ops, *arguments)


def _takes(function: Callable[..., Value], count: int) -> bool:
    """Return whether a function of the table takes a number of values."""
    try:
        inspect.signature(function).bind(*range(count + 1))
    except TypeError:
        return False
    return True


def _is_pure(function: Any) -> bool:
    name = getattr(function, "__name__", "")
    return function in (getattr(math, name, None), getattr(cmath, name, None), abs, min, max)


def _is_library(function: Any) -> bool:
    return str(function.__module__).split(".")[0] in ("numpy", "arraycore", "math", "cmath")
