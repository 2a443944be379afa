"""Lowers statements of a function's syntax tree, and follows which names have a value."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from typing import Any, Final

from .arrays import Arrays
from .operators import SYMBOLS, Value
from .types import INT32_MAX, PYTHON_BOOL, PYTHON_INT, SMALL_INT, Type, promote

_REMEDIES: Final[dict[type[ast.AST], str]] = {
    ast.With: "do what it does before the call",
    ast.Try: "test the value by if",
    ast.Raise: "return a value that marks the error, such as NaN",
    ast.Assert: "test the arguments before the call",
    ast.Import: "import outside of the function",
    ast.ImportFrom: "import outside of the function",
    ast.FunctionDef: "write it outside, with @arraycore.jit",
    ast.ClassDef: "write it outside of the function",
    ast.Global: "return the value",
    ast.Nonlocal: "return the value",
    ast.Delete: "leave it out",
    ast.Match: "write if and elif",
}
#: The most blocks within each other; the library accepts 100 (``src/ir/verify.h``).
_MOST_BLOCKS: Final = 90


@dataclass
class _Loop:
    """The names that have a value where a loop is left, and where its next pass begins."""

    breaks: list[set[str]] = field(default_factory=list)
    nexts: list[set[str]] = field(default_factory=list)


def _meet(sets: list[set[str] | None]) -> set[str] | None:
    """Return the names that all paths give a value; None if no path arrives."""
    arriving = [names for names in sets if names is not None]
    return set.intersection(*arriving) if arriving else None


class Statements(Arrays):
    """The part of a function's compilation that lowers statements.

    Subclasses say what ``return`` does, by `give`.
    """

    _loops: list[_Loop]

    def body(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if self.assigned is None:
                return  # nothing arrives here
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        if self.program.depth > _MOST_BLOCKS:
            raise self.error(
                node, "jit_statement", "statements are nested too deeply here",
                "move a part to a function of its own, with @arraycore.jit",
            )  # fmt: skip
        method = getattr(self, f"_do_{type(node).__name__.lower()}", None)
        if method is None:
            kind = type(node).__name__.lower()
            remedy = _REMEDIES.get(type(node), "docs/jit.md lists the statements that are compiled")
            raise self.error(
                node, "jit_statement", f"the statement '{kind}' is not compiled", remedy
            )
        method(node)

    def give(self, node: ast.Return) -> None:
        raise NotImplementedError

    # ---- simple statements
    def _do_pass(self, node: ast.Pass) -> None:
        pass

    def _do_expr(self, node: ast.Expr) -> None:
        if isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            return  # a docstring
        self.direct = node.value
        self.value(node.value)

    def _do_return(self, node: ast.Return) -> None:
        self.give(node)
        self.assigned = None

    def _do_break(self, node: ast.Break) -> None:
        self._loops[-1].breaks.append(set(self.assigned or ()))
        self.program.stmt("leave")
        self.assigned = None

    def _do_continue(self, node: ast.Continue) -> None:
        self._loops[-1].nexts.append(set(self.assigned or ()))
        self.program.stmt("next")
        self.assigned = None

    # ---- assignments
    def _do_assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        if len(node.targets) == 1 and isinstance(target, (ast.Tuple, ast.List)):
            self._unpack(node, target.elts)
            return
        if isinstance(target, ast.Name) and isinstance(node.value, ast.Call):
            self.direct = node.value
            if self.local_array(target.id, node.value):
                if self.assigned is not None:
                    self.assigned.add(target.id)
                return
        value = self.value(node.value)
        if len(node.targets) > 1:
            value = self.kept(value) if value.id >= 0 else value
        for each in node.targets:
            self._assign(each, value)

    def _unpack(self, node: ast.Assign, targets: list[ast.expr]) -> None:
        values = self.several(node.value)
        if values is None or len(values) != len(targets):
            raise self.error(
                node, "jit_statement", "only as many values as there are names are unpacked",
                "write a, b = x, y",
            )  # fmt: skip
        values = [self.kept(value) if value.id >= 0 else value for value in values]
        for target, value in zip(targets, values, strict=True):
            self._assign(target, value)

    def _do_annassign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self._assign(node.target, self.value(node.value))

    def _do_augassign(self, node: ast.AugAssign) -> None:
        symbol = SYMBOLS.get(type(node.op).__name__)
        if symbol is None:
            raise self.error(
                node, "jit_expression", "'@' is not compiled", "write a loop, or call matmul()"
            )
        read: Any = (
            ast.copy_location(ast.Name(node.target.id, ast.Load()), node.target)
            if isinstance(node.target, ast.Name)
            else node.target
        )
        current, value = self.value(read), self.value(node.value)
        with self.refusing(node):
            self._assign(node.target, self.ops.binary(symbol, current, value))

    def _assign(self, target: ast.expr, value: Value) -> None:
        if isinstance(target, ast.Subscript):
            self.store_at(target, value)
            return
        if isinstance(target, ast.Name) and target.id in self.arrays:
            raise self.error(
                target, "jit_index", f"{target.id!r} is an array and stays one",
                "assign to its elements, or to another name",
            )  # fmt: skip
        if not isinstance(target, ast.Name):
            raise self.error(
                target, "jit_statement", "this cannot be assigned in a compiled function",
                "assign to a name",
            )  # fmt: skip
        self.store(target.id, value, target)

    def store(self, name: str, value: Value, node: ast.AST) -> None:
        """Assign to a variable, and note its type."""
        kind = self.known.get(name) or self.found.get(name)
        new = value.type
        if value.id < 0 and new.kind == "i" and not -(2**63) <= value.const < 2**63:
            new = Type("uint64")
        self.found[name] = promote(self.found[name], new) if name in self.found else new
        kind = kind or self.found[name]
        if name not in self.variables:
            self.variables[name] = self.program.local(name, kind.name)
        with self.refusing(node):
            stored = self.ops.id_of(self.ops.convert(value, kind))
        self.program.stmt("assign", target=self.variables[name], value=stored)
        if self.assigned is not None:
            self.assigned.add(name)

    # ---- branches
    def _do_if(self, node: ast.If) -> None:
        condition = self.ops.truth(self.value(node.test))
        if condition.id < 0:
            self.body(node.body if condition.const else node.orelse)
            return
        before = set(self.assigned or ())
        with self.program.block() as then:
            self.body(node.body)
        after, self.assigned = self.assigned, set(before)
        otherwise = [-1]
        if node.orelse:
            with self.program.block() as otherwise:
                self.body(node.orelse)
        self.assigned = _meet([after, self.assigned])
        self.program.stmt("branch", value=condition.id, then=then[0], otherwise=otherwise[0])

    # ---- loops
    def _do_while(self, node: ast.While) -> None:
        self._no_else(node)
        written = self.program.statements
        condition = self.ops.truth(self.value(node.test))
        if self.program.statements > written:
            # A variable that keeps a part of the condition would not change in the loop.
            raise self.error(
                node.test, "jit_expression", "this condition is nested too deeply",
                "write 'while True:', and test with 'break' inside of the loop",
            )  # fmt: skip
        if condition.id < 0 and not condition.const:
            return
        before = set(self.assigned or ())
        with self.program.block() as then:
            self._in_loop(node.body)
        breaks: list[set[str] | None] = list(self._loops.pop().breaks)
        self.assigned = _meet([*breaks, None if condition.id < 0 else before])
        self.program.stmt("loop", value=condition.id, then=then[0])

    def _in_loop(self, statements: list[ast.stmt]) -> None:
        self._loops.append(_Loop())
        self.body(statements)

    def _no_else(self, node: ast.While | ast.For) -> None:
        if node.orelse:
            raise self.error(
                node.orelse[0], "jit_statement", "'else' of a loop is not compiled",
                "set a flag before 'break', and test it after the loop",
            )  # fmt: skip

    def _do_for(self, node: ast.For) -> None:
        self._no_else(node)
        call, target = node.iter, node.target
        is_range = isinstance(call, ast.Call) and isinstance(call.func, ast.Name)
        if not is_range or self.resolved(call.func) is not range:  # type: ignore[attr-defined]
            raise self.error(
                call, "jit_statement", "a loop is over range() only",
                "write: for i in range(n)",
            )  # fmt: skip
        if not isinstance(target, ast.Name):
            raise self.error(target, "jit_statement", "range() has one counter", "write one name")
        assert isinstance(call, ast.Call)
        start, stop, step = self._range(call)
        if isinstance(step.const, int) and step.const == 0:
            raise self.error(call, "jit_call", "the step of range() is 0", "write another step")
        counter, kind = self._counter(target.id, start, stop, step)
        read = Value(
            kind, self.program.expr("local", kind.name, index=counter),
            positive=start.positive and (step.positive and step.id < 0),
        )  # fmt: skip
        test = self._more(read, stop, step)
        direct = self._is_only_counter(node, target.id)
        before = set(self.assigned or ())
        with self.program.block() as then:
            if direct:
                self.counters[target.id] = read
                self.assigned = before | {target.id}
            else:
                self.store(target.id, read, target)
            self._in_loop(node.body)
        loop = self._loops.pop()
        if direct:
            del self.counters[target.id]
        with self.program.block() as otherwise:
            following = self.ops.binary("+", read, step)
            self.program.stmt(
                "assign", target=counter, value=self.ops.id_of(self.ops.convert(following, kind))
            )
        ends = _meet([self.assigned, *loop.nexts])
        certain = start.id < 0 and stop.id < 0 and step.id < 0
        certain = certain and len(range(start.const, stop.const, step.const)) > 0
        self.assigned = _meet([*loop.breaks, ends if certain else before])
        if direct and self.assigned is not None:
            self.assigned.discard(target.id)
        self.program.stmt("loop", value=test.id, then=then[0], otherwise=otherwise[0])

    def _range(self, call: ast.Call) -> tuple[Value, Value, Value]:
        if call.keywords or not 1 <= len(call.args) <= 3:
            raise self.error(
                call, "jit_call", "range() takes 1 to 3 numbers", "write range(start, stop, step)"
            )
        values = []
        for argument in call.args:
            value = self.value(argument)
            if value.type.kind not in "iub":
                raise self.error(
                    argument, "jit_type", f"range() takes integers, not {value.type}",
                    "convert by int()",
                )  # fmt: skip
            if value.id >= 0:
                small = value.type.name in ("int8", "uint8", "int16", "uint16", "int32", "bool")
                kind = SMALL_INT if small else PYTHON_INT
                # The bounds are computed once, before the loop.
                value = self.kept(self.ops.convert(value, kind))
            values.append(value)
        if len(values) == 1:
            values.insert(0, self.ops.number(0))
        if len(values) == 2:
            values.append(self.ops.number(1))
        return values[0], values[1], values[2]

    def _counter(self, name: str, start: Value, stop: Value, step: Value) -> tuple[int, Type]:
        """Return the variable that counts, and its type: int32 if it cannot overflow."""
        small = all(v.type == SMALL_INT for v in (start, stop, step))
        if small and step.id < 0 and abs(step.const) != 1:
            small = stop.id < 0 and abs(stop.const) + abs(step.const) <= INT32_MAX
        elif small:
            small = step.id < 0
        kind = SMALL_INT if small else PYTHON_INT
        counter = self.program.local(name, kind.name)
        first = self.ops.id_of(self.ops.convert(start, kind))
        self.program.stmt("assign", target=counter, value=first)
        return counter, kind

    def _more(self, counter: Value, stop: Value, step: Value) -> Value:
        if step.id < 0:
            return self.ops.binary("<" if step.const > 0 else ">", counter, stop)
        zero = self.ops.number(0)
        up = self.ops.logical(
            True, [self.ops.binary(">", step, zero), self.ops.binary("<", counter, stop)]
        )
        down = self.ops.logical(
            True, [self.ops.binary("<", step, zero), self.ops.binary(">", counter, stop)]
        )
        either = self.ops.logical(False, [up, down])
        return Value(PYTHON_BOOL, either.id)

    def _is_only_counter(self, loop: ast.For, name: str) -> bool:
        """Return whether nothing but this loop assigns the name, or reads it outside."""
        inside = {id(n) for part in loop.body for n in ast.walk(part)}
        for n in ast.walk(self.source.node):
            if isinstance(n, ast.arg) and n.arg == name:
                return False
            other = isinstance(n, ast.Name) and n.id == name and n is not loop.target
            if other and (id(n) not in inside or not isinstance(n.ctx, ast.Load)):  # type: ignore[attr-defined]
                return False
        return True
