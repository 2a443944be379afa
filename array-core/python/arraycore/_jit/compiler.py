"""Infers the types of a function's variables, and compiles the functions that it calls."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from .arrays import ArrayRef
from .errors import error_at
from .expressions import Expressions
from .operators import Operators, Value
from .program import Program
from .source import Source
from .statements import Statements
from .types import Type, promote

_MOST_PASSES: Final = 32
_MOST_CALLS: Final = 16


@dataclass
class Inferred:
    """What the passes over a function found: types of variables and of what it returns."""

    variables: dict[str, Type]
    results: tuple[Type, ...]


def parameters_of(source: Source) -> list[str]:
    """Return the names of a function's parameters.

    Raises
    ------
    CompileError
        ``jit_statement``: it has parameters of another kind.
    """
    found = source.node.args
    for extra in (found.vararg, found.kwarg, *found.kwonlyargs):
        if extra is not None:
            raise error_at(
                source, extra, "jit_statement", "only plain parameters are compiled",
                "write each parameter by name, without * and **",
            )  # fmt: skip
    if found.defaults:
        raise error_at(
            source, found.defaults[0], "jit_statement", "defaults of parameters are not compiled",
            "pass every argument",
        )  # fmt: skip
    return [each.arg for each in (*found.posonlyargs, *found.args)]


def assigned_names(source: Source) -> set[str]:
    """Return the names that are the function's own: its parameters and what it assigns."""
    names = set(parameters_of(source))
    for node in ast.walk(source.node):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
    return names


class FunctionBody(Statements):
    """One pass over a function's body.

    Parameters
    ----------
    compiler : Compiler
    source : Source
    program : Program
    arguments : sequence of Value or ArrayRef
    inferred : Inferred
        What earlier passes found.
    """

    def __init__(
        self, compiler: Compiler, source: Source, program: Program,
        arguments: Sequence[Value | ArrayRef], inferred: Inferred,
    ) -> None:  # fmt: skip
        super().__init__(compiler, source, program)
        self.known = inferred.variables
        self.known_results = inferred.results
        self.results: tuple[Type, ...] = ()
        self._loops = []
        names = parameters_of(source)
        for name, argument in zip(names, arguments, strict=True):
            if isinstance(argument, ArrayRef):
                self.arrays[name] = argument
            else:
                self.arguments[name] = argument
        self.local_names = assigned_names(source)
        self.assigned = set(names)

    def run(self) -> Inferred:
        """Write the body into the block that is open; return what this pass found."""
        stored = {
            node.id
            for node in ast.walk(self.source.node)
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        }
        for name, value in self.arguments.items():
            if name in stored:
                self.store(name, value, self.source.node)
        self.body(self.source.node.body)
        if self.assigned is not None:
            self.at_end()
        return Inferred(self.found, self.results)

    def at_end(self) -> None:
        """Control arrives at the end of the function, without ``return``."""
        raise self.error(
            None, "jit_return", "a path through the function returns no value",
            "return a value at its end",
        )  # fmt: skip

    def returned(self, node: ast.Return) -> list[Value]:
        """Return the values of a ``return`` statement, in the types of all of them together."""
        if node.value is None or (
            isinstance(node.value, ast.Constant) and node.value.value is None
        ):
            raise self.error(node, "jit_return", "this returns no value", "return a number")
        parts = node.value.elts if isinstance(node.value, ast.Tuple) else [node.value]
        values = [self.value(part) for part in parts]
        kinds = tuple(value.type for value in values)
        if self.results:
            if len(kinds) != len(self.results):
                raise self.error(
                    node, "jit_return",
                    f"this returns {len(kinds)} values, and another 'return' {len(self.results)}",
                    "return as many values everywhere",
                )  # fmt: skip
            kinds = tuple(map(promote, self.results, kinds))
        self.results = kinds
        wanted = self.known_results if len(self.known_results) == len(kinds) else kinds
        with self.refusing(node):
            return [self.ops.convert(v, kind) for v, kind in zip(values, wanted, strict=True)]


class _CalledBody(FunctionBody):
    """The body of a function that another one calls."""

    def give(self, node: ast.Return) -> None:
        values = self.returned(node)
        if len(values) != 1:
            raise self.error(
                node, "jit_return", "a function that a kernel calls returns one value",
                "write a function for each value",
            )  # fmt: skip
        self.program.stmt("give", value=self.ops.id_of(values[0]))


class Compiler:
    """Compiles a function and those that it calls, for one list of types.

    Parameters
    ----------
    floating : str
        The dtype of Python's floats.
    """

    def __init__(self, floating: str) -> None:
        self.floating = floating
        self._inferred: dict[Any, Inferred] = {}
        self._stack: list[Source] = []

    def source_of(self, function: Any) -> Source | None:
        """Return the definition of a function that a decorator of this package made."""
        source = getattr(function, "_jit_source", None)
        return source() if callable(source) else None

    def inferred(
        self,
        body: type[FunctionBody],
        source: Source,
        arguments: Sequence[Value | ArrayRef],
        **more: Any,
    ) -> Inferred:
        """Return the types of a function for the types of its arguments, by passes over it."""
        try:
            return self._passes(body, source, arguments, more)
        except RecursionError:
            raise error_at(
                source, None, "jit_expression", "an expression is nested too deeply",
                "keep parts of it in variables",
            ) from None  # fmt: skip

    def _passes(
        self, body: type[FunctionBody], source: Source, arguments: Sequence[Value | ArrayRef],
        more: dict[str, Any],
    ) -> Inferred:  # fmt: skip
        found = Inferred({}, ())
        for _ in range(_MOST_PASSES):
            program = Program()
            with program.block():
                new = body(
                    self, source, program, self._restated(program, arguments), found, **more
                ).run()
            if new.variables == found.variables and new.results == found.results:
                return new
            joined = {
                name: promote(kind, found.variables.get(name, kind))
                for name, kind in new.variables.items()
            }
            results = new.results
            if len(found.results) == len(results):
                results = tuple(map(promote, found.results, results))
            settled = Inferred(joined, results)
            if settled == found:
                return found
            found = settled
        raise error_at(
            source, None, "jit_type", "the types of its variables cannot be decided",
            "give variables their type by np.float32(...) or similar",
        )  # fmt: skip

    @staticmethod
    def _restated(
        program: Program, arguments: Sequence[Value | ArrayRef]
    ) -> list[Value | ArrayRef]:
        """Return arguments of the same types in a program that is thrown away."""
        restated: list[Value | ArrayRef] = []
        for value in arguments:
            if isinstance(value, Value) and value.id >= 0:
                name = value.type.name
                read = program.expr("local", name, index=program.local("a", name))
                value = replace(value, id=read)
            restated.append(value)
        return restated

    def call(
        self, caller: Expressions, node: ast.Call, source: Source, arguments: list[Value]
    ) -> Value:
        """Return the value of a call of another compiled function."""
        names = parameters_of(source)
        if len(names) != len(arguments):
            raise caller.error(
                node, "jit_call", f"{source.name}() takes {len(names)} arguments, "
                f"not {len(arguments)}", "pass every argument",
            )  # fmt: skip
        if any(each.node is source.node for each in self._stack):
            raise caller.error(
                node, "jit_recursion", f"{source.name!r} calls itself: kernels have no recursion",
                "write a loop",
            )  # fmt: skip
        if len(self._stack) >= _MOST_CALLS:
            raise caller.error(
                node, "jit_recursion", "functions call each other too deeply here", "join some"
            )
        return self.invoked(caller.ops, source, arguments)

    def invoked(self, ops: Operators, source: Source, arguments: Sequence[Value]) -> Value:
        """Return the value of a call of a function, which is written to the program if needed."""
        kinds = tuple(value.type for value in arguments)
        key = (id(source.node), kinds)
        program = ops.program
        if key not in program.instances:
            self._stack.append(source)
            program.instances[key] = self._instance(program, source, kinds, key)
            self._stack.pop()
        number, result = program.instances[key]
        ids = [ops.id_of(value) for value in arguments]
        return Value(result, program.expr("call", result.name, ids, index=number))

    def _instance(
        self, program: Program, source: Source, kinds: tuple[Type, ...], key: Any
    ) -> tuple[int, Type]:
        names = parameters_of(source)
        locals_ = [program.local(name, kind.name) for name, kind in zip(names, kinds, strict=True)]
        arguments = [
            Value(kind, program.expr("local", kind.name, index=each))
            for kind, each in zip(kinds, locals_, strict=True)
        ]
        if key not in self._inferred:
            self._inferred[key] = self.inferred(_CalledBody, source, arguments)
        inferred = self._inferred[key]
        with program.block() as body:
            _CalledBody(self, source, program, arguments, inferred).run()
        result = inferred.results[0]
        word = "".join(c if c.isascii() and c.isalnum() else "_" for c in source.name)
        number = program.function(f"{word}_{len(program.instances)}", result.name, body[0], locals_)
        return number, result

    def enter(self, source: Source) -> None:
        """Note the function that is compiled, so that calls of itself are refused."""
        self._stack.append(source)
