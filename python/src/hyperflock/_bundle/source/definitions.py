"""Finds the syntax tree of a function or class from a file, a notebook or a prompt.

    node = function_node(lambda_or_function)     # ast.FunctionDef or ast.Lambda
    names = global_names(code)                   # the globals that it looks up

The text comes from Python's line cache, which also keeps notebook cells and prompt lines. Nothing
is run. Any thread may use this module.
"""

from __future__ import annotations

import ast
import copy
import dis
import functools
import linecache
import re
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from hyperflock._base.codes import cannot
from hyperflock._base.errors import BundleError

FunctionNode: TypeAlias = ast.FunctionDef | ast.Lambda

_PRIVATE = re.compile(r"_[^_]\w*?(__\w*[^_]_?)")
_GLOBAL_READS = frozenset({"LOAD_GLOBAL", "LOAD_NAME"})
_GLOBAL_WRITES = frozenset({"STORE_GLOBAL", "DELETE_GLOBAL"})
_ATTRIBUTES = frozenset({"LOAD_ATTR", "LOAD_METHOD"})


def function_node(function: types.FunctionType) -> FunctionNode:
    """Return a function's definition.

    Raises
    ------
    BundleError
        ``cannot_bundle_source``: its text is missing, or has changed since it was loaded.
    """
    code = function.__code__
    name = code.co_name
    tree = source_tree(code.co_filename, function.__globals__)
    if tree is None:
        raise cannot(
            "source",
            f"the source of '{shown_name(function)}' is not at hand; put it into a file or a cell",
        )
    found = _index(code.co_filename, function.__globals__).functions.get(
        (name, code.co_firstlineno), []
    )
    if len(found) > 1:
        found = [node for node in found if _compiles_to(node, code)]
    if not found or not _fits(found[0], code):
        raise cannot(
            "source",
            f"the source of '{shown_name(function)}' has changed since; load it again",
        )
    return found[0]


def with_private_names(node: FunctionNode, code: types.CodeType) -> FunctionNode:
    """Return a method's definition with private names in full: ``_Net__rate`` for ``__rate``."""
    full = {
        found[1]: name
        for inner in _codes(code)
        for name in (*inner.co_names, *inner.co_varnames, *inner.co_freevars)
        if (found := _PRIVATE.fullmatch(name)) is not None
    }
    made = copy.deepcopy(node)
    for part in ast.walk(made):
        if isinstance(part, ast.Attribute):
            part.attr = full.get(part.attr, part.attr)
        elif isinstance(part, ast.Name):
            part.id = full.get(part.id, part.id)
    return made


def class_node(cls: type) -> tuple[ast.ClassDef, list[types.FunctionType]]:
    """Return a class's definition and the methods in it; errors are those of `function_node`.

    Methods that a decorator added, such as a dataclass's, are left out.
    """
    namespace = vars(sys.modules.get(cls.__module__, types.ModuleType("none")))
    there = [
        (method.__code__.co_filename, method.__code__.co_firstlineno) for method in methods(cls)
    ]
    rest = [str(namespace["__file__"])] if namespace.get("__file__") else typed_files()
    for file, line in (*there, *((file, None) for file in rest)):
        found = list(_index(file, namespace).classes.get(cls.__qualname__, ()))
        if line is not None:
            found = [n for n in found if n.lineno <= line <= (n.end_lineno or n.lineno)]
        if found:
            node = found[-1]
            lines = range(node.lineno, (node.end_lineno or node.lineno) + 1)
            inside = [
                method
                for method, (own, first) in zip(methods(cls), there, strict=True)
                if own == file and first in lines
            ]
            return node, inside
    raise cannot("source", f"the source of the class '{cls.__qualname__}' is not at hand")


def has_text(cls: type) -> bool:
    """Return whether the text of a class's ``class`` statement can be found."""
    try:
        class_node(cls)
    except BundleError:
        return False
    return True


def methods(cls: type) -> Iterator[types.FunctionType]:
    """Yield the functions that a class's own body defines."""
    for value in vars(cls).values():
        for inner in (
            value,
            getattr(value, "__func__", None),
            *(getattr(value, part, None) for part in ("fget", "fset", "fdel")),
        ):
            if isinstance(inner, types.FunctionType):
                yield inner


def source_tree(file: str, namespace: dict[str, Any] | None = None) -> ast.Module | None:
    """Return the syntax tree of a file, cell or line; None if its text is missing or invalid.

    Callers must not change the tree.
    """
    return _index(file, namespace).tree


@dataclass(frozen=True)
class _Index:
    """The definitions of one text: functions by name and first line, classes by their names."""

    tree: ast.Module | None = None
    functions: dict[tuple[str, int], list[FunctionNode]] = field(default_factory=dict)
    classes: dict[str, list[ast.ClassDef]] = field(default_factory=dict)

    def add(self, node: ast.AST, prefix: str) -> None:
        """Add the definitions below a node; ``prefix`` begins their qualified names."""
        for child in ast.iter_child_nodes(node):
            inner = prefix
            if isinstance(child, ast.ClassDef):
                self.classes.setdefault(f"{prefix}{child.name}", []).append(child)
                inner = f"{prefix}{child.name}."
            elif isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                inner = f"{prefix}{child.name}.<locals>."
            if isinstance(child, ast.FunctionDef | ast.Lambda):
                key = getattr(child, "name", "<lambda>"), _first_line(child)
                self.functions.setdefault(key, []).append(child)
            self.add(child, inner)


def _index(file: str, namespace: dict[str, Any] | None) -> _Index:
    linecache.checkcache(file)
    return _index_of("".join(linecache.getlines(file, namespace)))


@functools.lru_cache(maxsize=64)
def _index_of(text: str) -> _Index:
    try:
        found = _Index(ast.parse(text) if text else None)
    except (SyntaxError, ValueError):
        return _Index()
    if found.tree is not None:
        found.add(found.tree, "")
    return found


def global_names(code: types.CodeType, *, inner: bool = True) -> dict[str, list[str]]:
    """Return the globals that a code object looks up. If ``inner`` is true, include those that code
    inside it, such as a nested function, looks up.

    Returns
    -------
    dict
        The attribute chains of each name; for ``xml.etree`` ``{"xml": ["etree"]}``.
    """
    names: dict[str, list[str]] = {}
    for one in _codes(code) if inner else (code,):
        chain: tuple[str, list[str]] | None = None
        for step in dis.get_instructions(one):
            if step.opname in _GLOBAL_READS:
                chain = (str(step.argval), [])
                names.setdefault(chain[0], [])
            elif step.opname in _ATTRIBUTES and chain is not None:
                chain[1].append(str(step.argval))
                names[chain[0]].append(".".join(chain[1]))
            else:
                chain = None
    return names


def imported_names(code: types.CodeType, package: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each module that a code object imports, and the names in it that the code may use.

    For ``import a``, the names are those of all attributes that the code uses.
    """
    for one in _codes(code):
        steps = list(dis.get_instructions(one))
        for number, step in enumerate(steps):
            if step.opname != "IMPORT_NAME" or number < 2:
                continue
            level, names = steps[number - 2].argval, steps[number - 1].argval
            module = str(step.argval)
            if level:
                above = package.split(".")
                above = above[: len(above) - int(level) + 1]
                module = ".".join(filter(None, [*above, module]))
            yield module, list(names) if names else list(one.co_names)


def written_globals(code: types.CodeType) -> set[str]:
    """Return the globals that a code object assigns."""
    return {
        str(step.argval)
        for inner in _codes(code)
        for step in dis.get_instructions(inner)
        if step.opname in _GLOBAL_WRITES
    }


def set_variables(code: types.CodeType) -> set[str]:
    """Return the variables of outer functions that a code object assigns."""
    return {
        str(step.argval)
        for inner in _codes(code)
        for step in dis.get_instructions(inner)
        if step.opname == "STORE_DEREF"
    } & set(code.co_freevars)


def shown_name(function: types.FunctionType) -> str:
    """Return a function's name for a message."""
    if function.__name__ == "<lambda>":
        return f"lambda at line {function.__code__.co_firstlineno}"
    return function.__name__


def shown_file(path: str) -> str:
    """Return the name of a file or cell for a message."""
    return "a cell" if path.startswith("<") or "ipykernel" in path else Path(path).name


def is_guard(node: ast.stmt) -> bool:
    """Return whether a statement is ``if __name__ == "__main__":``."""
    if not isinstance(node, ast.If):
        return False
    parts = list(ast.walk(node.test))
    return any(isinstance(part, ast.Name) and part.id == "__name__" for part in parts) and any(
        isinstance(part, ast.Constant) and part.value == "__main__" for part in parts
    )


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _first_line(node: FunctionNode) -> int:
    decorators = getattr(node, "decorator_list", [])
    return int(decorators[0].lineno if decorators else node.lineno)


def _fits(node: FunctionNode, code: types.CodeType) -> bool:
    """Return whether a definition has the same parameters as a code object."""
    args = node.args
    names = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    names += [a.arg for a in (args.vararg, args.kwarg) if a is not None]
    return tuple(names) == code.co_varnames[: len(names)]


def _compiles_to(node: FunctionNode, code: types.CodeType) -> bool:
    """Return whether a definition compiles to this code, given the same free variables."""
    free = [ast.arg(name) for name in code.co_freevars]
    arguments = ast.arguments(posonlyargs=[], args=free, kwonlyargs=[], kw_defaults=[], defaults=[])
    inner = copy.deepcopy(node)
    inner.args.defaults = [ast.Constant(None) for _ in inner.args.defaults]
    inner.args.kw_defaults = [d and ast.Constant(None) for d in inner.args.kw_defaults]
    if isinstance(inner, ast.FunctionDef):
        inner.decorator_list = []
        body: list[ast.stmt] = [inner]
    else:
        body = [ast.Expr(inner)]
    outer = ast.FunctionDef(
        name="outer", args=arguments, body=body, decorator_list=[], type_params=[]
    )  # type: ignore[call-arg, unused-ignore]
    tree = ast.fix_missing_locations(ast.Module([outer], type_ignores=[]))
    compiled = compile(tree, "<definition>", "exec", dont_inherit=True)
    return any(_same(candidate, code) for candidate in _codes(compiled))


def _same(one: types.CodeType, other: types.CodeType) -> bool:
    return (
        one.co_code == other.co_code
        and one.co_names == other.co_names
        and one.co_varnames == other.co_varnames
        and one.co_freevars == other.co_freevars
        and len(one.co_consts) == len(other.co_consts)
        and all(
            _same(a, b)
            if isinstance(a, types.CodeType) and isinstance(b, types.CodeType)
            else repr(a) == repr(b)
            for a, b in zip(one.co_consts, other.co_consts, strict=True)
        )
    )


def typed_files() -> list[str]:
    """Return the file names of notebook cells and prompt lines, the newest first."""
    return [
        name
        for name in reversed(list(linecache.cache))
        if name.startswith("<") or "ipykernel" in name
    ]
