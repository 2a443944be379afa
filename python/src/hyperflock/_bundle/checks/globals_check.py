"""Checks that the globals of an objective's file would have the same values on a device.

    check_globals(objective, path)

A device imports the file again. It would not have a global that was set or changed later, and it
cannot create an object that only this process has, such as an open file. These checks read loaded
objects and the file's text, and run nothing. A dry run compares the values that the text does not
determine. `check_guarded` looks at the stack of the calling thread.
"""

from __future__ import annotations

import ast
import operator
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from hyperflock._base.codes import cannot
from hyperflock._bundle.checks.untransferable import refusal
from hyperflock._bundle.source import closure as _sources
from hyperflock._bundle.source.definitions import (
    global_names,
    is_guard,
    methods,
    shown_name,
    written_globals,
)

_MAX_ITEMS = 1000
_MUTATORS = frozenset({"append", "add", "update", "setdefault", "extend", "insert"})
_MADE_AGAIN = frozenset({"cannot_bundle_lock", "cannot_bundle_generator"})
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}
_MISSING = object()


def check_globals(objective: types.FunctionType, path: Path) -> None:
    """Check each global of its own module that the objective uses, directly or indirectly.

    Raises
    ------
    BundleError
        ``cannot_bundle_state``, or the code of an object that cannot be sent at all.
    """
    tree = _sources.parsed(path)
    module = objective.__globals__
    bound = bound_names(tree.body)
    literals = literals_of(tree)
    waiting, seen = [objective], {objective}
    used: dict[str, types.FunctionType] = {}
    written: set[str] = set()
    while waiting:
        function = waiting.pop()
        written |= written_globals(function.__code__) | mutated_globals(function, tree)
        for name in global_names(function.__code__):
            value = module.get(name, _MISSING)
            if value is _MISSING or name.startswith("__"):
                continue
            used.setdefault(name, function)
            for inner in _functions_of(value, module):
                if inner not in seen:
                    seen.add(inner)
                    waiting.append(inner)
    for name, function in used.items():
        where = f"'{shown_name(function)}' uses '{name}'"
        _check_live(module[name], where, made_again=bound is None or name in bound)
        if isinstance(module[name], types.ModuleType) or name in written:
            continue
        if bound is not None and name not in bound:
            raise cannot(
                "state",
                f"{where}, which '{path.name}' does not set when it is imported; "
                "set it at the top of the file, or make it a parameter of the space",
            )
        if name in literals and not equal(module[name], literals[name]):
            raise cannot(
                "state",
                f"{where}, which is {_shown(module[name])} by now, but {_shown(literals[name])} "
                f"in '{path.name}'; set it in the file, or make it a parameter of the space",
            )


def is_bound_by_import(name: str, path: Path) -> bool:
    """Whether an import of the file binds a name, as far as its text shows."""
    bound = bound_names(_sources.parsed(path).body)
    return bound is None or name in bound


def check_guarded(path: Path) -> None:
    """Check that the running call is not at a place that an import of the file would run.

    Raises
    ------
    BundleError
        ``cannot_bundle_unguarded``.
    """
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        code = frame.f_code
        if code.co_name == "<module>" and Path(code.co_filename).resolve() == path:
            guards = [node for node in _sources.parsed(path).body if is_guard(node)]
            if not any(n.lineno <= frame.f_lineno <= (n.end_lineno or 0) for n in guards):
                raise cannot(
                    "unguarded",
                    f"'{path.name}' submits its study wherever it is imported, in a browser too; "
                    "put what submits below 'if __name__ == \"__main__\":'",
                )
        frame = frame.f_back


def _functions_of(value: Any, module: dict[str, Any]) -> Iterator[types.FunctionType]:
    """Return the functions of this module that a global can run: itself, or a class's methods."""
    if isinstance(value, types.FunctionType) and value.__globals__ is module:
        yield value
    elif isinstance(value, type) and value.__module__ == module.get("__name__"):
        yield from (m for m in methods(value) if m.__globals__ is module)


def _check_live(value: Any, where: str, *, made_again: bool) -> None:
    """Refuse a value that an import on a device cannot create again. ``made_again`` allows values
    such as locks and new iterators, which an import does create again.
    """
    error = refusal(value, where)
    if error is not None and not (made_again and error.code in _MADE_AGAIN):
        raise error
    items: list[Any] = []
    if type(value) in (list, tuple, set, frozenset):
        items = list(value)
    elif type(value) is dict:
        items = list(value.values())
    for item in items[:_MAX_ITEMS]:
        error = refusal(item, f"{where}, which holds one thing that stays here")
        if error is not None and not (made_again and error.code in _MADE_AGAIN):
            raise error


def bound_names(body: list[ast.stmt]) -> set[str] | None:
    """Return the names that an import binds; None if the text does not determine them."""
    names: set[str] = set()
    for node in body:
        if is_guard(node):
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
            continue
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                names.add(part.id)
            elif isinstance(part, ast.FunctionDef | ast.ClassDef):
                names.add(part.name)
            elif isinstance(part, ast.Import | ast.ImportFrom):
                for alias in part.names:
                    if alias.name == "*":
                        return None
                    names.add(alias.asname or alias.name.split(".")[0])
            elif isinstance(part, ast.Call) and getattr(part.func, "id", "") in {"globals", "exec"}:
                return None
    return names


def literals_of(tree: ast.Module) -> dict[str, Any]:
    """Return the globals that the file assigns once, to a literal or a sum of numbers."""
    found: dict[str, Any] = {}
    often: set[str] = set()
    imported = [node for node in tree.body if not is_guard(node)]
    for top in imported:
        if isinstance(top, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for node in ast.walk(top):
            names = targets_of(node)
            often |= names if node is not top or len(names) != 1 else names & found.keys()
            if node is not top or len(names) != 1:
                continue
            if not isinstance(node, ast.Assign | ast.AnnAssign) or node.value is None:
                often |= names
                continue
            try:
                found[names.pop()] = constant(node.value)
            except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
                continue
    changed = {  # by the file's own statements, such as TABLE["a"] = 1
        name for node in imported for name in _mutated_names(node)
    }
    return {name: value for name, value in found.items() if name not in often | changed}


def constant(node: ast.expr) -> Any:
    """Return the value of a literal, or of a sum or product of numbers such as ``2 * 32``.

    Raises
    ------
    ValueError
        The expression is neither. Other errors of `ast.literal_eval` pass through.
    """
    if not isinstance(node, ast.BinOp) or type(node.op) not in _OPERATORS:
        return ast.literal_eval(node)
    one, other = constant(node.left), constant(node.right)
    if not {type(one), type(other)} <= {int, float, complex}:
        raise ValueError("not of numbers")
    try:
        return _OPERATORS[type(node.op)](one, other)
    except ArithmeticError as error:
        raise ValueError(str(error)) from None


def targets_of(node: ast.AST) -> set[str]:
    """Return the names that a statement or expression assigns."""
    targets: list[ast.expr]
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.For | ast.NamedExpr | ast.AnnAssign):
        targets = [node.target]
    else:
        return set()
    return {part.id for t in targets for part in ast.walk(t) if isinstance(part, ast.Name)}


def mutated_globals(function: types.FunctionType, tree: ast.Module) -> set[str]:
    """Return the globals that a function changes itself, such as a cache."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.FunctionDef)
            and node.name == function.__name__
            and node.lineno <= function.__code__.co_firstlineno + len(node.decorator_list)
            and (node.end_lineno or 0) >= function.__code__.co_firstlineno
        ):
            return set(_mutated_names(node, inside=True))
    return set()


def _mutated_names(node: ast.AST, *, inside: bool = False) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef) and not inside:
        return
    for part in ast.walk(node):
        target: ast.AST | None = None
        if isinstance(part, ast.Subscript | ast.Attribute) and isinstance(part.ctx, ast.Store):
            target = part.value
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute):
            target = part.func.value if part.func.attr in _MUTATORS else None
        if isinstance(target, ast.Name):
            yield target.id


def equal(one: Any, other: Any) -> bool:
    if type(one) is not type(other):
        return False
    try:
        return bool(one == other) or repr(one) == repr(other)
    except Exception:
        return False


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
