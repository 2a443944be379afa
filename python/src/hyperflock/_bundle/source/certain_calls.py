"""Finds the calls that statements make in every run. A check of only these calls refuses no valid
code.

    for call in certain_calls(function.body): called_name(call)     # "hyperflock.run_local"

Code below a condition, in a lambda, or after a statement that may leave the function is left out.
The module is pure; any thread may use it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

_LEAVES = (ast.Return, ast.Raise, ast.Break, ast.Continue)
_CONDITIONAL = (ast.If, ast.While, ast.Match, ast.Try)
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def certain_calls(body: Sequence[ast.stmt]) -> Iterator[ast.Call]:
    """Yield the calls that these statements make in every run."""
    for statement in body:
        if isinstance(statement, _DEFINITIONS):
            continue
        if isinstance(statement, ast.With | ast.For):
            if not _catches(statement):
                yield from _calls_of_head(statement)
                yield from certain_calls(statement.body)
        elif isinstance(statement, ast.Try) and not statement.handlers:
            yield from certain_calls(statement.body)
        elif isinstance(statement, ast.If | ast.While):
            yield from _calls(statement.test)
        elif not isinstance(statement, _CONDITIONAL):
            yield from _calls(statement)
        if any(isinstance(part, _LEAVES) for part in ast.walk(statement)):
            return


def called_name(call: ast.Call) -> str | None:
    """Return the dotted name that is called; None if another expression is called."""
    parts: list[str] = []
    node = call.func
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def _calls_of_head(statement: ast.With | ast.For) -> Iterator[ast.Call]:
    if isinstance(statement, ast.For):
        yield from _calls(statement.iter)
    else:
        for item in statement.items:
            yield from _calls(item.context_expr)


def _calls(node: ast.AST) -> Iterator[ast.Call]:
    if isinstance(node, ast.Lambda):
        return
    inner: Iterator[ast.AST] = ast.iter_child_nodes(node)
    if isinstance(node, ast.IfExp):
        inner = iter([node.test])
    elif isinstance(node, ast.BoolOp):
        inner = iter(node.values[:1])
    elif isinstance(node, _COMPREHENSIONS):
        inner = iter([node.generators[0].iter])
    for part in inner:
        yield from _calls(part)
    if isinstance(node, ast.Call):
        yield node


def _catches(statement: ast.With | ast.For) -> bool:
    """Return whether a ``with`` may catch the error of a call in it, as `contextlib.suppress`
    does.
    """
    if isinstance(statement, ast.For):
        return False
    calls = [item.context_expr for item in statement.items]
    return any(
        isinstance(one, ast.Call) and (called_name(one) or "").endswith("suppress") for one in calls
    )
