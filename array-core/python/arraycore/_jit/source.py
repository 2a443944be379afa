"""The text of a function: its syntax tree, its places in the file, and the names that it sees."""

from __future__ import annotations

import ast
import builtins
import inspect
from collections.abc import Callable
from types import CodeType
from typing import Any

from .._runtime.errors import CompileError

MISSING = object()


def _fits(tree: ast.Module, code: CodeType) -> bool:
    """Return whether the text still has the function's variables and numbers."""
    todo = [compile(tree, "<text>", "exec", dont_inherit=True)]
    while todo:
        found = todo.pop()
        todo += [part for part in found.co_consts if isinstance(part, CodeType)]
        if found.co_name == code.co_name and found.co_varnames == code.co_varnames:
            numbers = [[c for c in each.co_consts if _is_number(c)] for each in (found, code)]
            return numbers[0] == numbers[1]
    return False


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float, complex))


class Source:
    """A function's definition.

    Parameters
    ----------
    function : callable
        A function that ``def`` made.

    Raises
    ------
    CompileError
        ``jit_source``: the function's text is not available.
    TypeError
        The object is not a Python function.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        if not inspect.isfunction(function):
            raise TypeError(f"A Python function is compiled, not {type(function).__name__}.")
        self.function = function
        self.name = function.__name__
        code = function.__code__
        self.file = code.co_filename
        try:
            lines, first = inspect.getsourcelines(function)
        except (OSError, TypeError):
            self._refuse("its text is not available, because no file or cell holds it")
        indented = lines[0][:1] in (" ", "\t")
        self._lines, self._first = lines, first
        self._shift = 1 if indented else 0
        try:
            tree = ast.parse(("if 1:\n" if indented else "") + "".join(lines))
        except SyntaxError:
            self._refuse("its text is part of a larger statement, or has changed since it was read")
        node: Any = tree.body[0]
        if indented:
            node = node.body[0]
        if not isinstance(node, ast.FunctionDef) or node.name != self.name:
            self._refuse("it is not a plain 'def'")
        if not _fits(tree, code):
            self._refuse("its text has changed since it was read")
        self.node: ast.FunctionDef = node
        cells = zip(code.co_freevars, function.__closure__ or (), strict=True)
        self._cells = dict(cells)

    def _refuse(self, why: str) -> Any:
        error = CompileError(
            f"{self.file}:{self.function.__code__.co_firstlineno}: {self.name!r} cannot be "
            f"compiled: {why}.\nRemedy: write the function with 'def' into a file or a notebook's "
            "cell."
        )
        error.code = "jit_source"  # type: ignore[attr-defined]
        raise error from None

    def place(self, node: ast.AST | None) -> tuple[int, int]:
        """Return the line in the file, and the column in characters from 0."""
        at: Any = self.node if node is None else node
        line = self._first + at.lineno - 1 - self._shift
        prefix = self.line(line).encode()[: at.col_offset]
        return line, len(prefix.decode(errors="replace"))

    def line(self, line: int) -> str:
        """Return a line of the file, if it belongs to the function; else an empty text."""
        index = line - self._first
        return self._lines[index] if 0 <= index < len(self._lines) else ""

    def lookup(self, name: str) -> Any:
        """Return what a name outside of the function stands for now, or MISSING."""
        if name in self._cells:
            try:
                return self._cells[name].cell_contents
            except ValueError:
                return MISSING
        if name in self.function.__globals__:
            return self.function.__globals__[name]
        return getattr(builtins, name, MISSING)
