"""Finds the globals whose values a file's text determines; refuses calls that an import repeats.

    literals_of(tree)       # {"RATE": 0.1}: globals that the file assigns once, to a literal

The functions read text and compare values; they run nothing. `check_guarded` looks at the stack of
the calling thread.
"""

from __future__ import annotations

import ast
import operator
import sys
import types
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Any

from hyperflock._base.codes import cannot
from hyperflock._bundle.source import closure as _sources
from hyperflock._bundle.source.definitions import is_guard

_MUTATORS = frozenset({"append", "add", "update", "setdefault", "extend", "insert"})
MADE_AGAIN = frozenset({"cannot_bundle_lock", "cannot_bundle_generator"})
_OPERATORS: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}


def is_bound_by_import(name: str, path: Path) -> bool:
    """Return whether an import of the file binds a name, as far as its text shows."""
    bound = bound_names(_sources.parsed(path).body)
    return bound is None or name in bound


def check_guarded(modules: Collection[str]) -> None:
    """Check that this call does not come from code that an import on a device would run too.

    ``modules`` are the modules of this process whose files are in the bundle.

    Raises
    ------
    BundleError
        ``cannot_bundle_unguarded``.
    """
    frame: types.FrameType | None = sys._getframe()
    while frame is not None:
        code, name = frame.f_code, frame.f_globals.get("__name__")
        if code.co_name == "<module>" and name in modules:
            path = Path(code.co_filename).resolve()
            raise cannot(
                "unguarded",
                f"'{path.name}' submits its study wherever it is imported, in a browser too; "
                "put what submits below 'if __name__ == \"__main__\":' and start the file itself",
            ).at(path.name, frame.f_lineno)
        frame = frame.f_back


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
    """Return the globals that a function's own statements change, such as a cache."""
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.FunctionDef)
            and node.name == function.__name__
            and node.lineno <= function.__code__.co_firstlineno + len(node.decorator_list)
            and (node.end_lineno or 0) >= function.__code__.co_firstlineno
        ):
            return set(_mutated_names(node, inside=True))
    return set()


def changed_by_import(tree: ast.Module) -> set[str]:
    """Return the globals whose objects the file's own statements change, as ``TABLE["a"] = 1``
    does.
    """
    return {name for node in tree.body if not is_guard(node) for name in _mutated_names(node)}


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
