"""Finds the globals that an objective reaches, in every module that travels with it.

    reached = Reached({"__main__": "train", "helper": "helper"})
    reached.follow("__main__", "objective")
    reached.uses, reached.assigned
    is_unproven(use, reached)         # it may have another value there

Followed are functions, also decorated ones, classes with their bases, methods of objects, and
modules of the bundle. Looks at loaded objects and at the files' text; runs nothing.
"""

from __future__ import annotations

import ast
import enum
import functools
import inspect
import sys
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hyperflock._base.errors import BundleError
from hyperflock._bundle.checks import globals_check as _state
from hyperflock._bundle.checks.value_snapshot import defaults_of, describe
from hyperflock._bundle.source import closure as _sources
from hyperflock._bundle.source import definitions as _definitions

_MISSING = object()
_PLAIN = (type(None), bool, int, float, complex, str, bytes)


@dataclass(frozen=True)
class Use:
    """A global that is used.

    Attributes
    ----------
    module, name
        Where it is, as this process names it.
    value
        Now.
    by : str
        What uses it, for a sentence.
    """

    module: str
    name: str
    value: Any
    by: str


@dataclass(frozen=True)
class Text:
    """What a module's text proves.

    Attributes
    ----------
    tree : ast.Module or None
        None: it cannot be read.
    literals : dict
        Globals that are set once, to a literal.
    bound : set of str
        Globals that an import sets.
    imported : dict
        Of each global that an import at the top binds, the module and the name there.
    """

    tree: ast.Module | None
    literals: Mapping[str, Any]
    bound: frozenset[str]
    imported: Mapping[str, tuple[str, str]]


class Reached:
    """What is reached from the globals that were followed."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self.modules = modules
        self.uses: dict[tuple[str, str], Use] = {}
        # By an assignment of a function's; and objects that a function changes.
        self.assigned: dict[tuple[str, str], str] = {}
        self.changed: set[tuple[str, str]] = set()
        self._waiting: list[types.FunctionType] = []
        self._seen: set[int] = set()
        self._texts: dict[str, Text] = {}

    def follow(self, module: str, name: str, by: str = "the objective") -> None:
        """Follow a global and all that it reaches."""
        first, _, rest = name.partition(".")
        if module in self.modules:
            self._use(module, first, [rest] if rest else [], by)
        while self._waiting:
            self._look_into(self._waiting.pop())

    def text_of(self, module: str) -> Text:
        """Give what a module's text proves."""
        if module not in self._texts:
            self._texts[module] = _read_text(sys.modules[module])
        return self._texts[module]

    def _look_into(self, function: types.FunctionType) -> None:
        module = function.__globals__.get("__name__", "")
        if module not in self.modules or vars(sys.modules[module]) is not function.__globals__:
            return
        shown = f"'{_definitions.shown_name(function)}'"
        for name in _definitions.written_globals(function.__code__):
            self.assigned.setdefault((module, name), shown)
        tree = self.text_of(module).tree
        if tree is not None:
            changed = _state.mutated_globals(function, tree)
            self.changed |= {(module, name) for name in changed}
        for name, chains in _definitions.global_names(function.__code__).items():
            self._use(module, name, chains, shown)

    def _use(self, module: str, name: str, chains: list[str], by: str) -> None:
        value = vars(sys.modules[module]).get(name, _MISSING)
        if value is _MISSING or name.startswith("__"):
            return
        if isinstance(value, types.ModuleType):
            for chain in chains if value.__name__ in self.modules else ():
                first, _, rest = chain.partition(".")
                self._use(value.__name__, first, [rest] if rest else [], by)
        elif (module, name) not in self.uses:
            self.uses[module, name] = Use(module, name, value, by)
            for function in self._runnable(value):
                if id(function) not in self._seen:
                    self._seen.add(id(function))
                    self._waiting.append(function)

    def _runnable(self, value: Any) -> Iterator[types.FunctionType]:
        """Give what can be run of a value."""
        while isinstance(value, functools.partial):
            value = value.func
        if not isinstance(value, types.FunctionType):
            value = inspect.getattr_static(value, "__wrapped__", value)
        if isinstance(value, types.FunctionType):
            yield value
            for cell in value.__closure__ or ():
                if isinstance(inner := _content(cell), types.FunctionType):
                    yield inner
            return
        for base in (value if isinstance(value, type) else type(value)).__mro__:
            if base.__module__ in self.modules:
                yield from _definitions.methods(base)


def is_unproven(use: Use, reached: Reached) -> bool:
    """Whether the files' text does not prove that a global has this value wherever they run."""
    text, value = reached.text_of(use.module), use.value
    if isinstance(value, types.FunctionType | type):
        same_name = use.name == value.__name__ or use.name in text.imported
        return not (same_name and _is_proven(value, reached))
    if use.name in text.literals:
        return not _state.equal(value, text.literals[use.name])
    module, name = text.imported.get(use.name, ("", ""))
    there = sys.modules.get(module)
    if there is None or vars(there).get(name, _MISSING) is not value:
        return True
    if module not in reached.modules:
        return type(value) not in _PLAIN
    return is_unproven(Use(module, name, value, use.by), reached)


def _is_proven(value: types.FunctionType | type, reached: Reached) -> bool:
    """Whether a definition's text tells all that is kept in it."""
    if isinstance(value, types.FunctionType):
        return _is_proven_function(value, reached)
    if value.__module__ not in reached.modules or issubclass(value, enum.Enum):
        return True
    if issubclass(value, tuple) and hasattr(value, "_field_defaults"):
        return not value._field_defaults
    return all(_is_proven_class(base, reached) for base in value.__mro__)


def _is_proven_class(cls: type, reached: Reached) -> bool:
    if cls.__module__ not in reached.modules:
        return True
    if not all(_is_proven_function(method, reached) for method in _definitions.methods(cls)):
        return False
    data = {
        name: value
        for name, value in vars(cls).items()
        if not (name.startswith("__") and name.endswith("__"))
        and not isinstance(value, types.FunctionType | classmethod | staticmethod | property)
        and not is_unknown(value, reached)
    }
    if not data:
        return True
    try:
        body = _definitions.class_node(cls)[0].body
    except BundleError:
        return False
    literals = reached.text_of(cls.__module__).literals
    nodes: dict[str, ast.expr | None] = {}
    for node in body:
        for name in _state.targets_of(node) & data.keys():
            is_first = isinstance(node, ast.Assign | ast.AnnAssign) and name not in nodes
            nodes[name] = getattr(node, "value", None) if is_first else None
    return all(_is_written(nodes.get(name), value, literals) for name, value in data.items())


def _is_proven_function(function: types.FunctionType, reached: Reached) -> bool:
    module = function.__globals__.get("__name__", "")
    if module not in reached.modules or function.__code__.co_filename.startswith("<"):
        return True  # of a library, or made by a decorator of one
    if function.__dict__.keys() - {"__wrapped__"}:
        return False
    values = defaults_of(function)
    if not values:
        return True
    try:
        arguments = _definitions.function_node(function).args
    except BundleError:
        return False
    places = [*arguments.posonlyargs, *arguments.args]
    given = [None] * (len(places) - len(arguments.defaults)) + [*arguments.defaults]
    nodes = dict(
        zip([*places, *arguments.kwonlyargs], [*given, *arguments.kw_defaults], strict=True)
    )
    texts = {argument.arg: node for argument, node in nodes.items()}
    literals = reached.text_of(module).literals
    return all(
        is_unknown(value, reached) or _is_written(texts.get(name), value, literals)
        for name, value in values.items()
    )


def _is_written(node: ast.expr | None, value: Any, literals: Mapping[str, Any]) -> bool:
    """Whether an expression is a literal, or the name of one, of this value."""
    if isinstance(node, ast.Name):
        return node.id in literals and _state.equal(value, literals[node.id])
    try:
        return node is not None and _state.equal(value, _state.constant(node))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False


def is_unknown(value: Any, reached: Reached) -> bool:
    """Whether nobody looks into a value."""
    return bool(describe(value, frozenset(reached.modules))["kind"] == "?")


def _read_text(module: types.ModuleType) -> Text:
    try:
        tree = _sources.parsed(Path(str(module.__file__)))
    except BundleError:
        return Text(None, {}, frozenset(), {})
    package = str(module.__package__ or "")
    imported: dict[str, tuple[str, str]] = {}
    stored: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.ImportFrom):
            above = package.split(".")
            above = above[: len(above) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            imported |= {one.asname or one.name: (source, one.name) for one in node.names}
        elif not _definitions.is_guard(node):
            stored |= _state.bound_names([node]) or set()
    bound = frozenset(stored | imported.keys())
    imported = {name: found for name, found in imported.items() if name not in stored}
    return Text(tree, _state.literals_of(tree), bound, imported)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not set yet
        return None
