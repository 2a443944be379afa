"""Writes the source of an objective with all that it uses, as it is in this process.

    captured = Capture(wheels=frozenset()).take(lambda trial: train(trial, rate))
    captured.entry, captured.sources, captured.arrays

This covers functions of the running script, lambdas, closures, nested and decorated functions,
partials, callable objects, and code that was typed into a notebook or a prompt. They become
generated modules, which contain the definitions and values that the objective uses, directly or
indirectly. If a device can import a definition from another file, this file becomes part of the
bundle; own_modules.py gives the globals of these files their values. The result is source and not
bytecode, because devices have another version of Python. This module runs no code of the researcher
except what `copy.copy` calls (``__reduce_ex__``). Only one thread at a time may use this module.
"""

from __future__ import annotations

import ast
import copy
import importlib.util
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeGuard

from hyperflock._base.codes import cannot
from hyperflock._base.errors import BundleError
from hyperflock._bundle import capture_classes as _classes
from hyperflock._bundle import capture_effects as _effects
from hyperflock._bundle.capture_parts import (
    Captured,
    Home,
    NotReadyError,
    Site,
    indented,
)
from hyperflock._bundle.checks import unavailable as _unavailable
from hyperflock._bundle.checks.imports_check import executed_imports
from hyperflock._bundle.own_modules import OwnModules
from hyperflock._bundle.source import closure as _sources
from hyperflock._bundle.source import definitions as _definitions
from hyperflock._bundle.source.definitions import shown_file, shown_name
from hyperflock._bundle.source.runtime import is_library
from hyperflock._bundle.value_writer import ValueWriter


class Capture:
    """Writes the source of one objective. Each instance is used once."""

    def __init__(self, *, wheels: frozenset[str]) -> None:
        self._wheels = wheels
        self._homes: dict[str, Home] = {}
        self._files: dict[str, bytes] = {}
        self._entries: list[tuple[str, str]] = []
        self._taken: set[str] = set()
        self._cells: dict[int, tuple[types.CellType, bool]] = {}
        self._count = 0
        # `_later` has the names that can be bound only after a class is defined. `_pending` has the
        # errors of methods that may stay unused.
        self._later: list[tuple[str, list[str], dict[str, Any], Home, Site]] = []
        self._pending: list[tuple[frozenset[str], BundleError]] = []
        self._own = OwnModules(self)
        self.folder = Path.cwd()
        self.written: set[tuple[str, int]] = set()
        self.values = ValueWriter(self)

    def take(self, objective: Callable[..., Any], function: object) -> Captured:
        """Return ``objective`` as source; a call of the objective runs the function ``function``.

        Raises
        ------
        BundleError
            The objective uses something that cannot be sent.
        """
        home = self._home_of(function) if _is_function(function) else self.home(None)
        name = self.values.expression(objective, home, "the objective")
        if name not in home.bound or not name.isidentifier():
            home.lines.append(f"objective = {name}")
            name = "objective"
        self._bind_later()
        _effects.write(self, home)
        self._own.settle(self._entries, home)
        return self._captured(f"{home.name}:{name}")

    def take_from(self, origin: _sources.Origin, name: str) -> Captured:
        """Capture a function that a device imports from a file; errors are those of `take`."""
        home = self._homes[""] = Home("hyperflock_objective", None, "")
        self._files |= _sources.collect(origin)
        self._taken.add(origin.unit)
        self._entries.append((origin.module, name))
        _effects.write(self, home)
        has_effects = bool(home.lines)
        self._own.settle(self._entries, home)
        if not (has_effects or self._own.changes):
            del self._homes[""]
            return self._captured(f"{origin.module}:{name}")
        home.lines.append(f"from {origin.module} import {name} as objective")
        return self._captured(f"{home.name}:objective")

    def _captured(self, entry: str) -> Captured:
        for home in self._homes.values():
            self._check_order(home, ())
        sources = dict(self._files)
        homes = [*self._homes.values(), *self._own.homes]
        for one in homes:
            file = f"{one.name.replace('.', '/')}.py"
            if file in sources:
                raise cannot("source", f"'{file}' is a name that is needed here; rename the file")
            sources[file] = one.text(self._imports() if f"{one.name}:" in entry else []).encode()
        self._check_pending([one.text([]) for one in homes])
        return Captured(
            entry,
            sources,
            self.values.arrays | self._own.arrays,
            frozenset(one.name for one in homes),
            self._entries,
            self._own.constants,
            frozenset(self.written),
        )

    def _imports(self) -> list[str]:
        """Return statements that import the researcher's modules in the order in which this process
        imported them.

        Modules that import each other may need this order.
        """
        wanted = {module for module, _ in self._entries}
        found = [module for module in list(sys.modules) if module in wanted]
        return [f"import {module} as _hf_import" for module in found]

    # ---- methods that the other parts of a capture call

    def variable(self) -> str:
        """Return a new, unique name."""
        self._count += 1
        return f"_hf_{self._count}"

    def cross(self, owner: Home, name: str, home: Home) -> str:
        """Return an expression that code in the generated module ``home`` can use for ``name`` of
        the generated module ``owner``.
        """
        if owner is home:
            return name
        alias = f"{name}_of_{owner.name.replace('.', '_')}"
        if alias not in home.bound:
            home.bound[alias] = None
            home.uses[owner.name] = None
            home.lines.append(f"from {owner.name} import {name} as {alias}")
        return alias

    def reference(self, module: str, qualname: str, home: Home, where: str) -> str:
        """Return an expression for an object that is found in its module by its own name."""
        if module == "builtins":
            return qualname
        first, _, rest = qualname.partition(".")
        if module.startswith("hyperflock."):
            module = "hyperflock"  # devices have other inner modules
        self.take_module(module, f"{where}, which needs")
        self.entry(module, first)
        alias = f"_hf_{module.replace('.', '_')}_{first}"
        if alias not in home.bound:
            home.bound[alias] = None
            home.lines.append(f"from {module} import {first} as {alias}")
        return f"{alias}.{rest}" if rest else alias

    def module(self, module: types.ModuleType, home: Home, where: str) -> str:
        """Return an expression for a module."""
        alias = f"_hf_module_{module.__name__.replace('.', '_')}"
        if alias not in home.bound:
            self.take_module(module.__name__, f"{where}, which needs")
            home.bound[alias] = None
            home.lines.append(f"import {module.__name__} as {alias}")
        return alias

    def own(self, value: Any, home: Home, where: str) -> str | None:
        """Return an expression for a value to which a global of another bundled module refers."""
        return self._own.expression(value, home, where)

    def function(self, function: types.FunctionType, where: str) -> tuple[Home, str]:
        """Write a function and what it uses; return its generated module and its name there."""
        node = _definitions.function_node(function)
        code = function.__code__
        site = Site(where, shown_file(code.co_filename), node)
        home = self._home_of(function)
        name = self.name(function, home)
        self.values.remember(function, home, name)
        home.bound[name] = None
        own = getattr(node, "name", "")
        self.written.add((code.co_filename, site.line))
        cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        free = [variable for variable in cells if not _is(cells[variable], function, own, variable)]
        full = _definitions.with_private_names(node, code)
        full = self.with_specials(full, function.__globals__, f"'{shown_name(function)}'", site)
        home.lines += ["", f"# {site.file}, line {site.line}"]
        home.lines += _function_lines(full, name, free)
        for variable in free:
            self.check_cell(cells[variable], variable, function)
            try:
                content = cells[variable].cell_contents
            except ValueError:  # not assigned yet
                continue
            text = self._written(content, home, site, variable)
            home.lines.append(f"_hf_cell({name}, {variable!r}, {text})")
        for part in ("__defaults__", "__kwdefaults__"):
            if value := getattr(function, part):
                text = self._written(value, home, site, "its defaults")
                home.lines.append(f"{name}.{part} = {text}")
        for key, value in function.__dict__.items():
            text = self._written(value, home, site, key)
            home.lines.append(f"{name}.{key} = {text}")
        names = _definitions.global_names(code)
        self.bind(names, function.__globals__, home, site, is_later=True)
        if not home.is_typed and home.module is not None:
            self._check_file(function, home.module)
        self.check_code(node, home, f"'{shown_name(function)}'", site)
        return home, name

    def cls(self, cls: type, where: str) -> tuple[Home, str]:
        """Write a class and what it uses; return its generated module and its name there."""
        return _classes.write(self, cls, where)

    def home(self, name: str | None) -> Home:
        """Return the generated module for the definitions of a module."""
        module = sys.modules.get(name) if name else None
        key = name if module is not None and name else ""
        if key not in self._homes:
            package = str(getattr(module, "__package__", None) or "")
            stem = "main" if key == "__main__" else key.rpartition(".")[2] or "objective"
            self._homes[key] = Home(
                f"{package}.hyperflock_{stem}" if package else f"hyperflock_{stem}",
                module,
                package,
            )
            if package:
                self.take_module(package if stem == "main" else key, f"'{package}' needs")
        return self._homes[key]

    def name(self, value: types.FunctionType | type, home: Home) -> str:
        """Return a definition's own name if it is at the top of its module, otherwise a new
        name.
        """
        known = vars(home.module).get(value.__name__) if home.module else None
        keeps = home.is_typed and known is value and "<" not in value.__qualname__
        return value.__name__ if keeps else self.variable()

    def bind(
        self,
        names: dict[str, list[str]],
        namespace: dict[str, Any],
        home: Home,
        site: Site,
        *,
        is_later: bool,
        methods: dict[str, frozenset[str]] | None = None,
    ) -> None:
        """Bind the globals that a definition looks up.

        Parameters
        ----------
        names
            The names with their attribute chains.
        namespace
            The globals of this process in which they are looked up.
        home
            The generated module to which the bindings are added.
        site
            The definition, for error messages.
        is_later
            Whether only a call of the definition looks them up.
        methods
            For each name that is looked up only by methods that may stay unused: these methods.
            An error of such a name is raised only if the captured code names one of the methods.
        """
        for name, chains in names.items():
            if name not in namespace or _is_special(name):
                continue
            mark = self.mark()
            try:
                self._bind_name(name, chains, namespace[name], home, site)
            except NotReadyError as error:
                if not is_later:
                    raise site.placed(error, name) from None
                self.undo(mark)
                self._later.append((name, chains, namespace, home, site))
            except BundleError as error:
                site.placed(error, name)
                if methods is None or name not in methods:
                    raise
                self.undo(mark)
                self._pending.append((methods[name], error))

    def with_specials(self, node: Any, namespace: dict[str, Any], shown: str, site: Site) -> Any:
        """Return a definition in which ``__name__`` is replaced by its value in this process,
        because the value on a device differs.

        Raises
        ------
        BundleError
            ``cannot_bundle_path``: the definition uses ``__file__``.
        """
        for part in ast.walk(node):
            if isinstance(part, ast.Name) and part.id == "__file__":
                message = f"{shown} uses __file__, a path of this machine; {_unavailable.FILE}"
                raise site.placed(cannot("path", message), "__file__")
        return _Specials(namespace).visit(copy.deepcopy(node))

    def check_code(
        self,
        node: ast.AST,
        home: Home,
        shown: str,
        site: Site,
        methods: frozenset[str] | None = None,
    ) -> None:
        """Check what code imports and what it reads from this machine."""
        mark = self.mark()
        try:
            self._follow_imports(node, home, shown, site)
            for why in _unavailable.local_reads(node, self.folder):
                raise why.error(shown).at(site.file, why.line)
        except BundleError as error:
            if methods is None:
                raise
            self.undo(mark)
            self._pending.append((methods, error))

    def entry(self, module: str, name: str) -> None:
        """Record that the objective uses a global of one of the researcher's own modules."""
        if self.origin(module) is not None:
            self._entries.append((module, name))

    def check_store(self, where: str) -> None:
        """Check that the objective may use Optuna's artifact stores. The objective of a grid may
        not.
        """
        if "optuna" not in self._wheels:
            raise cannot(
                "package",
                f"{where}, an artifact store of optuna's, which only trials of "
                "hyperflock.optuna.optimize fill; in a grid call trial.upload_artifact(path)",
            )

    def check_cell(self, cell: types.CellType, variable: str, function: types.FunctionType) -> None:
        """Refuse a variable that several functions share and assign.

        In a bundle, each function would have a variable of its own.
        """
        sets = variable in _definitions.set_variables(function.__code__)
        _, before = self._cells.get(id(cell), (cell, False))
        if id(cell) in self._cells and (sets or before):
            raise cannot(
                "state",
                f"'{variable}' is shared by several functions and set by one of them; "
                "keep it in an object",
            ).at(shown_file(function.__code__.co_filename), function.__code__.co_firstlineno)
        self._cells[id(cell)] = (cell, sets or before)

    def take_module(self, name: str, needs: str) -> None:
        """Add a module's files to the bundle, or check that the runtime has the module."""
        origin = self.origin(name)
        if origin is None:
            if _unavailable.lacks(name, self._wheels):
                lost = _unavailable.missing(name, 0)
                raise lost.with_sentence(
                    f"{needs} '{lost.package}', which the browsers' runtime does not have; "
                    f"{_unavailable.WHEEL}"
                )
            return
        self._entries.append((name, ""))
        if origin.unit in self._taken:
            return
        self._taken.add(origin.unit)
        for file, content in _sources.collect(origin).items():
            if self._files.setdefault(file, content) != content:
                raise cannot("source", f"there are two files '{file}' in different folders")

    def origin(self, name: str) -> _sources.Origin | None:
        """Return the origin (root folder, name and file) of a researcher's own module; None for any
        other module.
        """
        unit = name.split(".")[0]
        if unit == "hyperflock":
            return None
        module = sys.modules.get(name)
        file = getattr(module, "__file__", None)
        if file is None and (folders := list(getattr(module, "__path__", ()))):
            file = folders[0]
        if file is None:
            try:
                spec = importlib.util.find_spec(unit) if module is None else None
            except (ImportError, ValueError):
                spec = None
            if spec is None:
                return None
            name, file = unit, spec.origin or next(iter(spec.submodule_search_locations or ()), "")
        path = Path(file).resolve()
        if is_library(path.parent) or file in {"built-in", "frozen", ""}:
            return None
        if path.is_dir():  # a package without __init__.py
            return _sources.Origin(path.parent, f"{name}.", path)
        if path.suffix != ".py":
            raise cannot("extension", f"'{name}' is compiled for this machine; leave it here")
        return _sources.origin_of_module(name, path)

    @property
    def files(self) -> dict[str, bytes]:
        """The researcher's files that are in the bundle so far."""
        return self._files

    def mark(self) -> tuple[Any, ...]:
        """Return a mark: how much was written so far. `undo` removes what is written later."""
        homes = {k: (len(h.lines), len(h.bound), len(h.uses)) for k, h in self._homes.items()}
        written = self.values.mark(), self._own.mark()
        return homes, written, len(self._entries), len(self._later)

    def undo(self, mark: tuple[Any, ...]) -> None:
        """Remove what was written after a mark."""
        homes, (values, own), entries, later = mark
        for key in [key for key in self._homes if key not in homes]:
            del self._homes[key]
        for key, (lines, bound, uses) in homes.items():
            home = self._homes[key]
            del home.lines[lines:]
            for kept, names in ((bound, home.bound), (uses, home.uses)):
                for name in list(names)[kept:]:
                    del names[name]
        self.values.undo(values)
        self._own.undo(own)
        del self._entries[entries:]
        del self._later[later:]

    # ---- inside

    def _home_of(self, function: types.FunctionType) -> Home:
        # A function's __module__ may be another function's, because functools.wraps copies it.
        return self.home(function.__globals__.get("__name__"))

    def _written(self, value: Any, home: Home, site: Site, name: str) -> str:
        try:
            return self.values.expression(value, home, site.uses(name))
        except BundleError as error:
            raise site.placed(error, name) from None

    def _bind_name(self, name: str, chains: list[str], value: Any, home: Home, site: Site) -> None:
        if isinstance(value, types.ModuleType):
            self._bind_module(name, value, chains, home, site)
            return
        if name in home.bound:
            return
        home.bound[name] = None
        if not home.is_typed and home.module is not None:
            self.take_module(home.module.__name__, f"{site.where}, which needs")
            self._entries.append((home.module.__name__, name))
            home.lines.append(f"from {home.module.__name__} import {name}")
            return
        text = self.values.expression(value, home, site.uses(name))
        if text != name:
            home.lines.append(f"{name} = {text}")

    def _bind_module(
        self, name: str, module: types.ModuleType, chains: list[str], home: Home, site: Site
    ) -> None:
        if name not in home.bound:
            home.bound[name] = None
            self.take_module(module.__name__, f"{site.where}, which needs")
            alias = "" if name == module.__name__ else f" as {name}"
            home.lines.append(f"import {module.__name__}{alias}")
        for chain in chains:
            self.entry(module.__name__, chain)
            inner = f"{module.__name__}.{chain}"
            if inner in sys.modules and inner not in home.bound:
                home.bound[inner] = None
                self.take_module(inner, f"{site.where}, which needs")
                home.lines.append(f"import {inner} as _hf_module_{inner.replace('.', '_')}")

    def _bind_later(self) -> None:
        """Bind the names in `_later`; the classes that they need are written by now."""
        while self._later:
            name, chains, namespace, home, site = self._later.pop(0)
            try:
                self._bind_name(name, chains, namespace[name], home, site)
            except BundleError as error:
                raise site.placed(error, name) from None

    def _check_pending(self, texts: list[str]) -> None:
        """Raise the error of a method in `_pending` if the captured code uses the method's name."""
        if not self._pending:
            return
        pending = frozenset().union(*(methods for methods, _ in self._pending))
        named: set[str] = set()
        for text in texts:
            named |= _attributes(ast.parse(text), pending)
        for methods, error in self._pending:
            if methods & named:
                raise error

    def _follow_imports(self, node: ast.AST, home: Home, shown: str, site: Site) -> None:
        body = node.body if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
        for statement, optional in executed_imports(body, inside=True):
            inner: list[str] = [""]
            if isinstance(statement, ast.Import):
                names = [alias.name for alias in statement.names]
            else:
                above = home.package.split(".")
                above = above[: len(above) - statement.level + 1] if statement.level else []
                names = [".".join([*above, statement.module or ""]).strip(".")]
                inner = [alias.name for alias in statement.names]
            for name in names:
                is_own = self.origin(name) is not None
                if not is_own and optional:
                    continue
                try:
                    self.take_module(name, f"{shown} imports")
                except BundleError as error:
                    raise error.at(site.file, statement.lineno) from None
                if is_own:
                    self._entries += [(name, one) for one in inner if one not in ("", "*")]

    @staticmethod
    def _check_file(function: types.FunctionType, module: types.ModuleType) -> None:
        """Check the globals of a function in a module that a device imports."""
        path = Path(str(module.__file__)).resolve()
        for name in sorted(_definitions.written_globals(function.__code__)):
            raise cannot(
                "state",
                f"'{shown_name(function)}' sets the global '{name}' of '{path.name}', "
                "which would be another one there; keep it in an object",
            ).at(path.name, function.__code__.co_firstlineno)

    def _check_order(self, home: Home, above: tuple[str, ...]) -> None:
        if home.name in above:
            names = "' and '".join(sorted({*above}))
            raise cannot("value", f"definitions of '{names}' need each other; put them together")
        for other in self._homes.values():
            if other.name in home.uses:
                self._check_order(other, (*above, home.name))


class _Specials(ast.NodeTransformer):
    """Replaces ``__name__`` and ``__doc__`` in a definition by their values in a module."""

    def __init__(self, namespace: dict[str, Any]) -> None:
        self._texts = {name: namespace.get(name) for name in ("__name__", "__doc__")}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if isinstance(node.ctx, ast.Load) and node.id in self._texts:
            return ast.copy_location(ast.Constant(self._texts[node.id]), node)
        return node


def _attributes(node: ast.AST, without: frozenset[str]) -> set[str]:
    """Return the names of the attributes that code uses, without the code of the functions named in
    ``without``.
    """
    if isinstance(node, ast.FunctionDef) and node.name in without:
        return set()
    found = {node.attr} if isinstance(node, ast.Attribute) else set()
    return found.union(*(_attributes(child, without) for child in ast.iter_child_nodes(node)))


def _is_function(value: object) -> TypeGuard[types.FunctionType]:
    return isinstance(value, types.FunctionType)


def _is_special(name: str) -> bool:
    """Return whether Python itself defines the name in every module or class, such as
    ``__name__``.
    """
    return name.startswith("__") and name.endswith("__")


def _is(cell: types.CellType, function: types.FunctionType, own: str, variable: str) -> bool:
    """Return whether a closed-over variable has the function's own name and refers to the function,
    as its ``def`` statement binds it.
    """
    try:
        return variable == own and cell.cell_contents is function
    except ValueError:
        return False


def _function_lines(node: _definitions.FunctionNode, name: str, free: list[str]) -> list[str]:
    """Return the lines of a definition without its decorators and defaults, which are written
    separately as values.
    """
    plain = copy.deepcopy(node)
    plain.args.defaults = [ast.Constant(None) for _ in plain.args.defaults]
    plain.args.kw_defaults = [d and ast.Constant(None) for d in plain.args.kw_defaults]
    if isinstance(plain, ast.Lambda):
        body, result = [], ast.unparse(plain)
    else:
        plain.decorator_list = []
        if not free and name == plain.name:
            return ["", *ast.unparse(plain).splitlines(), ""]
        body, result = indented(ast.unparse(plain)), plain.name
    if not free and not body:
        return [f"{name} = {result}"]
    head = f"def {name}_make({', '.join(free)}):"
    given = ", ".join("None" for _ in free)
    return ["", head, *body, f"    return {result}", "", f"{name} = {name}_make({given})"]
