"""Gives the globals of the files in a bundle the values that they have in this process.

    own = OwnModules(capture)
    own.settle([("train", "objective")], home)     # writes lines into a generated module
    own.constants                                  # {"config": {"RATE": "RATE = 0.5"}}

A device imports the researcher's files again. A global that the objective reaches may then have
another value, because it was computed from arguments or the environment, or was changed after the
import. This module finds such globals and writes their values:

- A plain value replaces the statement that computes it (`constants`), so that defaults and classes
  that use the global get the value too.
- An object that the file makes keeps its identity; lines after the import set its state.
- Any other global is set after the import.

Nothing is run. Only one thread at a time may use this module.
"""

from __future__ import annotations

import ast
import functools
import sys
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from hyperflock._base.errors import BundleError
from hyperflock._bundle import capture_classes as _classes
from hyperflock._bundle.capture_parts import Home, NotReadyError
from hyperflock._bundle.capture_stores import is_store
from hyperflock._bundle.checks.globals_check import (
    MADE_AGAIN,
    changed_by_import,
    constant,
    equal,
    literals_of,
)
from hyperflock._bundle.checks.reachability import Reached, Use, modules_of, warn
from hyperflock._bundle.plain_values import is_mutable, is_plain
from hyperflock._bundle.source.runtime import is_library, runtime_has
from hyperflock._bundle.source.statements import FileText, Statement, made_names

if TYPE_CHECKING:
    from hyperflock._bundle.capture import Capture

_T = TypeVar("_T")
_MISSING = object()
_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
_ASSIGNMENTS = (ast.Assign, ast.AnnAssign, ast.AugAssign)
# The codes of errors for values that cannot be written. Such an error is ignored if an import of
# the file on a device may compute the value again.
_UNKNOWN = frozenset({"cannot_bundle_value", "cannot_bundle_source", "cannot_bundle_package"})


class _Constants:
    """The part of a `Capture` that a `ValueWriter` needs to write plain values, which refer to no
    other module.
    """

    def __init__(self, capture: Capture) -> None:
        self.variable = capture.variable
        self.module = capture.module
        self.reference = capture.reference
        self.cross = capture.cross

    def own(self, value: Any, home: Home, where: str) -> None:
        """Return None, because a constant refers to no global of another module."""


class OwnModules:
    """The globals of the researcher's files in one capture.

    Attributes
    ----------
    constants : dict
        For each module and global: a statement that replaces those that compute the global.
    """

    def __init__(self, capture: Capture) -> None:
        from hyperflock._bundle.value_writer import ValueWriter

        self._capture = capture
        self._home = Home("hyperflock_values", None, "")
        self._writer = ValueWriter(cast(Any, _Constants(capture)))
        self.constants: dict[str, dict[str, str]] = {}
        self._texts: dict[str, FileText | None] = {}
        self._made: dict[str, frozenset[str]] = {}
        self._literals: dict[str, dict[str, Any]] = {}
        self._owners: dict[int, tuple[str, str]] | None = None
        self._settled: dict[tuple[str, str], None] = {}
        self._set_after: set[tuple[str, str]] = set()
        self._made_again: dict[str, None] = {}
        # Whether any written line changes a value. Lines that only refer to a value do not count.
        self.changes = False

    @property
    def homes(self) -> list[Home]:
        """A list with the generated module of the constants. The list is empty if no constant needs
        the module.
        """
        return [self._home] if self._home.lines else []

    @property
    def arrays(self) -> dict[str, bytes]:
        """The arrays among the constants, by their file names in the bundle."""
        return self._writer.arrays

    def mark(self) -> int:
        """Return how many globals have been handled so far; `undo` takes this number."""
        return len(self._settled)

    def undo(self, mark: int) -> None:
        """Remove the globals that were handled after a mark."""
        for key in list(self._settled)[mark:]:
            del self._settled[key]
            self.constants.get(key[0], {}).pop(key[1], None)

    def settle(self, entries: list[tuple[str, str]], home: Home) -> None:
        """Write the value of every global that the objective reaches in the bundle's files.

        Parameters
        ----------
        entries
            The modules and globals from which the objective starts. Writing the values may add more
            of them to this list.
        home
            The generated module that gets the lines.
        """
        seen: set[tuple[str, str]] = set()
        reached = Reached({})
        while new := [entry for entry in entries if entry not in seen]:
            seen.update(new)
            reached.modules = modules_of(self._capture.files)
            for module, name in new:
                reached.follow(module, name)
            done: set[tuple[str, str]] = set()
            while waiting := [key for key in reached.uses if key not in done]:
                for key in waiting:
                    done.add(key)
                    if key not in self._settled:
                        self._settled[key] = None
                        self._settle(reached, reached.uses[key], home)
                    self._follow_definition(reached, *key)
        if self._made_again:
            names = " and ".join(self._made_again)
            warn(f"each device makes {names} again, as the file does: the value here cannot travel")

    def expression(self, value: Any, home: Home, where: str) -> str | None:
        """Return an expression for a value to which a global of a researcher's module refers; None
        for any other value.
        """
        if not is_mutable(value):
            return None
        key = self._owner(value)
        if key is None:
            return None
        module, name = key
        capture = self._capture
        there = f"{capture.module(sys.modules[module], home, where)}.{name}"
        capture.entry(module, name)
        self._settled[key] = None
        bindings = self._bindings(module, name)
        # Nothing is written for an artifact store: the file's own statement creates it on a device.
        is_same = is_store(value) or self._is_literal(module, name, value)
        if not is_same and self._is_computed(module, name, value):
            self._write_constant(module, name, value, bindings)
            is_same = not self._may_be_changed(module, name, bindings)
        mark = capture.mark()
        try:
            bound = self._bound(value, there, home)
            if is_same:
                return bound
            if capture.values.refill(value, bound, home, where):
                self.changes = True
                return bound
            capture.undo(mark)
            bound = capture.values.copied(value, home, where)
            home.lines.append(f"{there} = {bound}")
            self.changes = True
            return bound
        except NotReadyError:
            raise
        except BundleError as error:
            if not bindings or error.code not in MADE_AGAIN | _UNKNOWN:
                raise
            capture.undo(mark)
            self._settled[key] = None
            if error.code in _UNKNOWN:
                file = Path(str(sys.modules[module].__file__)).name
                self._made_again[f"'{name}' of '{file}'"] = None
            return self._bound(value, there, home)

    def _bound(self, value: Any, there: str, home: Home) -> str:
        """Bind a new variable to a module's global; return the variable's name."""
        name = self._capture.variable()
        home.lines.append(f"{name} = {there}")
        self._capture.values.remember(value, home, name)
        return name

    # ---- one global

    def _settle(self, reached: Reached, use: Use, home: Home) -> None:
        module, name, value = use.module, use.name, use.value
        where = f"{use.by} uses '{name}'"
        bindings = self._bindings(module, name)
        if self._is_literal(module, name, value) or isinstance(value, types.ModuleType):
            return
        if self._literals.get(module, {}).get(name, "") is None and reached.varies(use):
            return  # a cache, which each trial fills again
        for one in bindings if is_plain(value) else ():
            for other in sorted(one.binds - {name}):
                reached.follow(module, other, use.by)
        natural, source = self._natural(module, name, value, bindings)
        if source is not None:
            reached.follow(*source, use.by)
            if source not in self._settled and source in reached.uses:
                self._settled[source] = None
                self._settle(reached, reached.uses[source], home)
        is_code = isinstance(value, types.FunctionType | types.BuiltinFunctionType | type)
        try:
            if natural is value and (source is None or source not in self._set_after):
                if isinstance(value, type):
                    self._settle_class(value, bindings, home, where)
                elif isinstance(value, types.FunctionType):
                    self._settle_function(value, bindings, home, where)
                elif source is None or is_mutable(value):
                    self._settle_value(use, bindings, home, where)
            elif is_code and natural is _MISSING and not self._is_of_main(value):
                return  # made by a call, which a device repeats
            elif any(isinstance(one.node, _DEFINITIONS) for one in bindings) and not is_code:
                return  # a decorator of a library made it
            else:
                self._settle_value(use, bindings, home, where)
        except BundleError as error:
            raise error.at(use.file, bindings[0].node.lineno if bindings else 1) from None

    def _settle_value(
        self, use: Use, bindings: Sequence[Statement], home: Home, where: str
    ) -> None:
        module, name, value = use.module, use.name, use.value
        if is_mutable(value) and bindings:
            text = self._capture.values.expression(value, home, where)
            if self._owner(value) == (module, name):
                return
        else:
            if self._is_computed(module, name, value):
                self._write_constant(module, name, value, bindings)
                if not self._may_be_changed(module, name, bindings):
                    return
            mark = self._capture.mark()
            try:
                text = self._capture.values.expression(value, home, where)
            except BundleError as error:
                if not bindings or error.code not in MADE_AGAIN | _UNKNOWN:
                    raise
                self._capture.undo(mark)
                return
        self._set_after.add((module, name))
        self.changes = True
        there = self._capture.module(sys.modules[module], home, where)
        home.lines.append(f"{there}.{name} = {text}")

    def _settle_class(
        self, cls: type, bindings: Sequence[Statement], home: Home, where: str
    ) -> None:
        for one in bindings:
            if not isinstance(one.node, ast.ClassDef) or one.node.name != cls.__name__:
                continue
            there = self._capture.module(sys.modules[cls.__module__], home, where)
            for late in _classes.changes(cls, one.node):
                mark = self._capture.mark()
                try:
                    text = self._capture.values.expression(late.value, home, where)
                except BundleError as error:
                    if not late.is_made or error.code not in MADE_AGAIN | _UNKNOWN:
                        raise
                    self._capture.undo(mark)
                    continue
                self.changes = True
                home.lines.append(f"{there}.{cls.__qualname__}{late.path} = {text}")

    def _settle_function(
        self, function: types.FunctionType, bindings: Sequence[Statement], home: Home, where: str
    ) -> None:
        nodes = [one.node for one in bindings if isinstance(one.node, ast.FunctionDef)]
        module = function.__globals__.get("__name__", "")
        if len(nodes) != 1 or module not in sys.modules:
            return
        lines = []
        if vars(function):
            text = self._capture.values.expression(dict(vars(function)), home, where)
            lines.append(f"__dict__.update({text})")
        defaults = function.__defaults__ or ()
        texts = nodes[0].args.defaults
        namespace = function.__globals__
        if len(texts) == len(defaults) and any(
            _differs(text, value, namespace) for text, value in zip(texts, defaults, strict=True)
        ):
            text = self._capture.values.expression(defaults, home, where)
            lines.append(f"__defaults__ = {text}")
        if lines:
            self.changes = True
            there = self._capture.module(sys.modules[module], home, where)
            home.lines += [f"{there}.{function.__name__}.{line}" for line in lines]

    def _write_constant(
        self, module: str, name: str, value: Any, bindings: Sequence[Statement]
    ) -> None:
        """Replace the statements that compute a global by its value."""
        if not any(isinstance(one.node, _ASSIGNMENTS) for one in bindings):
            # Another statement than an assignment binds the global, such as a ``with`` statement.
            # It is replaced only if a device cannot run it.
            self._set_after.add((module, name))
        text = self._writer.expression(value, self._home, f"'{name}'")
        if text.isidentifier() and text.startswith("_hf_"):
            text = f"from hyperflock_values import {text} as {name}"
        elif "_hf_" in text:
            bound = self._capture.variable()
            self._home.lines.append(f"{bound} = {text}")
            text = f"from hyperflock_values import {bound} as {name}"
        else:
            text = f"{name} = {text}"
        self.constants.setdefault(module, {})[name] = text

    # ---- what the texts say

    def _is_literal(self, module: str, name: str, value: Any) -> bool:
        self._text(module)
        literals = self._literals.get(module, {})
        return name in literals and equal(value, literals[name])

    def _is_computed(self, module: str, name: str, value: Any) -> bool:
        """Return whether a global has a plain value that can replace the statements computing it.

        An assignment of a literal is never replaced, even if the global was changed later, because
        other code that the import runs must see the literal.
        """
        has_text = bool(self._bindings(module, name))
        return has_text and is_plain(value) and name not in self._literals.get(module, {})

    def _may_be_changed(self, module: str, name: str, bindings: Sequence[Statement]) -> bool:
        """Return whether statements of the import that are not replaced may change a global."""
        text = self._text(module)
        if not all(isinstance(one.node, _ASSIGNMENTS) for one in bindings):
            return True
        if any(one.binds - self.constants.get(module, {}).keys() for one in bindings):
            return True
        return text is None or name in changed_by_import(text.tree)

    def _natural(
        self, module: str, name: str, value: Any, bindings: Sequence[Statement]
    ) -> tuple[Any, tuple[str, str] | None]:
        """Return the object to which an import of the file binds a global, if the text determines
        it. If the file imports it from another module of the researcher, also return its global.
        """
        if len(bindings) != 1:
            return _MISSING, None
        node = bindings[0].node
        if isinstance(node, _DEFINITIONS):
            is_it = getattr(value, "__qualname__", None) == name
            return (value if is_it and value.__module__ == module else _MISSING), None
        if isinstance(node, ast.ImportFrom):
            target, inner = bindings[0].imports.get(name, ("", ""))
            found = vars(sys.modules.get(target, types.ModuleType("none"))).get(inner, _MISSING)
            is_own = target in modules_of(self._capture.files)
            return found, (target, inner) if is_own and found is value else None
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            return _looked_up(node.value, vars(sys.modules[module])), None
        return _MISSING, None

    def _follow_definition(self, reached: Reached, module: str, name: str) -> None:
        """Follow the names that an import evaluates for a global: defaults, bases, decorators."""
        value = vars(sys.modules[module]).get(name)
        for one in self._bindings(module, name):
            is_code = isinstance(value, types.FunctionType | type)
            if not (is_code or isinstance(one.node, _DEFINITIONS)):
                continue
            for needed, chains in one.eager.items():
                for chain in chains:
                    reached.follow(module, ".".join(filter(None, (needed, chain))), f"'{name}'")

    def _bindings(self, module: str, name: str) -> list[Statement]:
        text = self._text(module)
        return [] if text is None else list(text.binding(name))

    def _text(self, module: str) -> FileText | None:
        if module not in self._texts:
            text = self._texts[module] = _parsed(module, FileText.of)
            if text is not None:
                self._literals[module] = literals_of(text.tree)
        return self._texts[module]

    def _is_of_main(self, value: Any) -> bool:
        return getattr(value, "__module__", None) == "__main__"

    # ---- which module owns an object

    def _owner(self, value: Any) -> tuple[str, str] | None:
        return self._owners_of_all().get(id(value))

    def _owners_of_all(self) -> dict[int, tuple[str, str]]:
        """Return the globals of the researcher's modules by the identity of their objects."""
        if self._owners is None:
            self._owners = {}
            for name, module in list(sys.modules.items()):
                if not self._is_own(name, module):
                    continue
                for key, value in list(vars(module).items()):
                    if key.startswith("__") or not is_mutable(value):
                        continue
                    if id(value) not in self._owners or self._makes(name, key):
                        self._owners[id(value)] = (name, key)
        return self._owners

    def _makes(self, module: str, name: str) -> bool:
        """Return whether a module's file makes the object of a global itself, not by an import."""
        if module not in self._made:
            self._made[module] = _parsed(module, made_names) or frozenset()
        return name in self._made[module]

    def _is_own(self, name: str, module: types.ModuleType) -> bool:
        unit = name.split(".")[0]
        if name == "__main__" or unit == "hyperflock" or runtime_has(unit):
            return False
        file = str(getattr(module, "__file__", None) or "")
        if not file.endswith(".py") or _is_installed(file):
            return False
        try:
            return self._capture.origin(name) is not None
        except BundleError:
            return False


def _parsed(module: str, parse: Callable[..., _T]) -> _T | None:
    """Return what a parser returns for the file of a module; None if the file cannot be parsed."""
    path = Path(str(getattr(sys.modules.get(module), "__file__", None)))
    try:
        return parse(path.read_bytes(), module, is_package=path.name == "__init__.py")
    except (OSError, SyntaxError, ValueError):
        return None


@functools.lru_cache(maxsize=8192)
def _is_installed(file: str) -> bool:
    """Return whether a file belongs to an installed package. The answers are cached, because a
    process has thousands of modules.
    """
    return is_library(Path(file).resolve().parent)


def _looked_up(expression: ast.expr, namespace: dict[str, Any]) -> Any:
    chain: list[str] = []
    while isinstance(expression, ast.Attribute):
        chain.append(expression.attr)
        expression = expression.value
    if not isinstance(expression, ast.Name):
        return _MISSING
    found = namespace.get(expression.id, _MISSING)
    for attribute in reversed(chain):
        found = getattr(found, attribute, _MISSING)
    return found


def _differs(text: ast.expr, value: Any, namespace: dict[str, Any]) -> bool:
    """Return whether the value of a default differs from the literal in the definition. If the
    definition has a name there, compare with the present value of this name.
    """
    try:
        return not equal(constant(text), value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        found = _looked_up(text, namespace)
        return found is not _MISSING and found is not value and is_plain(value)
