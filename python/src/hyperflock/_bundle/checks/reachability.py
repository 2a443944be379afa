"""Finds the globals that an objective reaches, in every module of the bundle.

    reached = Reached({"__main__": "train", "helper": "helper"})
    reached.follow("__main__", "objective")
    reached.found()

`Reached` follows functions, also decorated ones, classes with their bases, methods of objects, and
modules of the bundle. It looks at loaded objects and at the files' text, and runs nothing.
"""

from __future__ import annotations

import ast
import functools
import inspect
import random
import sys
import types
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from hyperflock._base.errors import BundleError
from hyperflock._bundle.checks import globals_check as _state
from hyperflock._bundle.source import closure as _sources
from hyperflock._bundle.source import definitions as _definitions

_MISSING = object()
_CACHES: tuple[Any, ...] = (None, [], {}, ())


@dataclass(frozen=True)
class Use:
    """A global that the objective uses.

    Attributes
    ----------
    module, name
        The module in this process and the name in it.
    file : str
        The file that sets it, without its folder.
    value
        Its current value.
    by : str
        The function or object that uses it, as part of a sentence.
    varies : bool
        Whether a function that the objective reaches assigns or changes it.
    """

    module: str
    name: str
    file: str
    value: Any
    by: str
    varies: bool = False


@dataclass(frozen=True)
class Text:
    """The facts about a module's globals that its source text determines.

    Attributes
    ----------
    tree : ast.Module or None
        The syntax tree; None if the text cannot be read.
    literals : dict
        The values of globals that the text assigns once, to a literal.
    bound : set of str
        The names of globals that an import of the module sets.
    """

    tree: ast.Module | None
    literals: Mapping[str, Any]
    bound: frozenset[str]


class Reached:
    """The globals that an objective reaches; `follow` adds to them.

    Parameters
    ----------
    modules
        The modules of this process whose files are in the bundle, with their names on a device.
    """

    def __init__(self, modules: Mapping[str, str]) -> None:
        self.modules = modules
        self.uses: dict[tuple[str, str], Use] = {}
        # Globals that a reached function assigns, and those whose value it changes.
        self.assigned: set[tuple[str, str]] = set()
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

    def varies(self, use: Use) -> bool:
        """Return whether a function that the objective reaches assigns or changes a global."""
        return (use.module, use.name) in self.assigned | self.changed

    def found(self) -> tuple[Use, ...]:
        """Return all globals that the objective uses."""
        varying = self.assigned | self.changed
        return tuple(replace(use, varies=key in varying) for key, use in self.uses.items())

    def text_of(self, module: str) -> Text:
        """Return the facts that a module's source text determines."""
        if module not in self._texts:
            self._texts[module] = _read_text(sys.modules[module])
        return self._texts[module]

    def _look_into(self, function: types.FunctionType) -> None:
        module = function.__globals__.get("__name__", "")
        if module not in self.modules or vars(sys.modules[module]) is not function.__globals__:
            return
        shown = f"'{_definitions.shown_name(function)}'"
        written = _definitions.written_globals(function.__code__)
        self.assigned |= {(module, name) for name in written}
        tree = self.text_of(module).tree
        if tree is not None:
            changed = _state.mutated_globals(function, tree)
            self.changed |= {(module, name) for name in changed}
        for name, chains in _definitions.global_names(function.__code__).items():
            self._use(module, name, chains, shown)
        package = str(function.__globals__.get("__package__") or "")
        for imported, names in _definitions.imported_names(function.__code__, package):
            for name in names if imported in self.modules else ():
                self._use(imported, name, [], shown)

    def _use(self, module: str, name: str, chains: list[str], by: str) -> None:
        found = sys.modules[module]
        value = vars(found).get(name, _MISSING)
        if value is _MISSING or name.startswith("__"):
            return
        if isinstance(value, types.ModuleType):
            for chain in chains if value.__name__ in self.modules else ():
                first, _, rest = chain.partition(".")
                self._use(value.__name__, first, [rest] if rest else [], by)
        elif (module, name) not in self.uses:
            file = Path(str(found.__file__)).name
            self.uses[module, name] = Use(module, name, file, value, by)
            for function in self._runnable(value):
                if id(function) not in self._seen:
                    self._seen.add(id(function))
                    self._waiting.append(function)

    def _runnable(self, value: Any) -> Iterator[types.FunctionType]:
        """Yield the functions that may run when a value is called or used."""
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


def warn_of_beginnings(reached: Reached) -> None:
    """Warn of globals that carry a value from one trial to the next here, but not on devices."""
    carried = set()
    for key, use in reached.uses.items():
        text = reached.text_of(use.module)
        # Two kinds of globals need no warning: one that is None or empty after the import is a
        # cache, and one that no import sets is set by the trials.
        is_cache = use.name not in text.bound or text.literals.get(use.name, 0) in _CACHES
        if (key in reached.assigned and not is_cache) or _is_random_generator(use.value):
            carried.add(f"'{use.name}' of '{use.file}'")
    if carried:
        warn(
            f"each trial on a device begins with {' and '.join(sorted(carried))} as it is now: "
            "no trial sees what an earlier one changed"
        )


def modules_of(files: Iterable[str]) -> dict[str, str]:
    """Return the modules of this process whose files are in the bundle, with their names on the
    device.
    """
    names: dict[str, str] = {}
    for file in files:
        parts = file.removesuffix(".py").split("/")
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        path = getattr(sys.modules.get(name), "__file__", None)
        if path and Path(path).as_posix().endswith(f"/{file}"):
            names.setdefault(name, name)
    return names


def _is_random_generator(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    kinds = (numpy.random.Generator, numpy.random.RandomState) if numpy else ()
    return any(base in (random.Random, *kinds) for base in type(value).__mro__)


def warn(message: str) -> None:
    """Issue a warning at the line of the researcher's code that called this package."""
    level, frame = 1, sys._getframe()
    while frame.f_back is not None and str(frame.f_globals.get("__name__")).startswith(
        "hyperflock."
    ):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, stacklevel=level)


def _read_text(module: types.ModuleType) -> Text:
    try:
        tree = _sources.parsed(Path(str(module.__file__)))
    except BundleError:
        return Text(None, {}, frozenset())
    bound = frozenset(_state.bound_names(tree.body) or ())
    return Text(tree, _state.literals_of(tree), bound)


def _content(cell: types.CellType) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # not set yet
        return None
