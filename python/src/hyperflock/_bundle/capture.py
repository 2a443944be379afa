"""Writes the source of an objective that is not a plain function of a file, with all that it uses.

    captured = Capture(wheels=frozenset()).take(lambda trial: train(trial, rate))
    captured.entry, captured.sources, captured.arrays

This covers lambdas, closures, nested and decorated functions, partials, callable objects, and code
that was typed into a notebook or a prompt. They become generated modules, which contain the
definitions and values that the objective uses, directly or indirectly. Whatever a device can import
from a file is imported there, and the file becomes part of the bundle. The result is source and not
bytecode, because devices have another version of Python. This module runs no code of the researcher
except what `copy.copy` calls (``__reduce_ex__``). One thread at a time.
"""

from __future__ import annotations

import ast
import builtins
import copy
import importlib.util
import sys
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeGuard

from hyperflock._base.codes import cannot
from hyperflock._bundle.checks import globals_check as _state
from hyperflock._bundle.checks import imports_check as _needs
from hyperflock._bundle.source import closure as _sources
from hyperflock._bundle.source import definitions as _definitions
from hyperflock._bundle.source.definitions import shown_name
from hyperflock._bundle.source.runtime import is_library
from hyperflock._bundle.value_writer import ValueWriter

_HEAD = '"""Written by hyperflock: what an objective uses of {what}."""\n\n'
_FUTURE = "from __future__ import annotations\n\n"
# Sets a closed-over variable after the function's definition, so that definitions may refer to each
# other.
_CELL = """
def _hf_cell(function, name, value):
    cells = dict(zip(function.__code__.co_freevars, function.__closure__))
    cells[name].cell_contents = value
"""
_MISSING = object()


@dataclass
class Home:
    """A generated module, with the definitions of one module of this process.

    Attributes
    ----------
    name : str
        Its dotted name in the bundle.
    module : ModuleType or None
        The module whose definitions it contains; None if it contains only values.
    package : str
        The package from which its relative imports start.
    lines : list of str
        The lines written so far.
    bound : set of str
        The names that it binds.
    uses : set of str
        The other generated modules that it imports.
    """

    name: str
    module: types.ModuleType | None
    package: str
    lines: list[str] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)

    @property
    def is_typed(self) -> bool:
        """Whether its module is the running script, a notebook or a prompt.

        A device cannot import such a module.
        """
        return self.module is None or self.module.__name__ == "__main__"

    def text(self) -> str:
        """Return the module's source."""
        what = "a script or notebook" if self.is_typed else f"'{self.name}'"
        helper = _CELL if any("_hf_cell(" in line for line in self.lines) else ""
        return _HEAD.format(what=what) + _FUTURE + helper + "\n".join(self.lines) + "\n"


@dataclass(frozen=True)
class Captured:
    """An objective as source text.

    Attributes
    ----------
    entry : str
        ``module:name``.
    sources : dict
        The files by their names in the bundle.
    arrays : dict
        The arrays as ``npy`` files, by their names in the bundle.
    roots : list of (str, str)
        The modules and globals that it imports from files in the bundle.
    """

    entry: str
    sources: dict[str, bytes]
    arrays: dict[str, bytes]
    roots: list[tuple[str, str]]


class Capture:
    """A writer of one objective, used once."""

    def __init__(self, *, wheels: frozenset[str]) -> None:
        self._wheels = wheels
        self._homes: dict[str, Home] = {}
        self._files: dict[str, bytes] = {}
        self._entries: list[tuple[str, str]] = []
        self._chains: list[tuple[str, str]] = []
        self._taken: set[str] = set()
        self._cells: dict[int, tuple[types.CellType, bool]] = {}
        self._count = 0
        self._folder = Path.cwd()
        self._values = ValueWriter(self)

    def take(self, objective: Callable[..., Any], function: object) -> Captured:
        """Return ``objective`` as source; ``function`` is what a call of the objective runs.

        Raises
        ------
        BundleError
            The objective uses something that cannot be sent.
        """
        home = self._home_of(function) if _is_function(function) else self._home(None)
        name = self._values.expression(objective, home, "the objective")
        if name not in home.bound or not name.isidentifier():
            home.lines.append(f"objective = {name}")
            name = "objective"
        self._check_order(home, ())
        _needs.check_needs(self._files, self._entries, wheels=self._wheels, folder=self._folder)
        sources = dict(self._files)
        for one in self._homes.values():
            file = f"{one.name.replace('.', '/')}.py"
            if file in sources:
                raise cannot("source", f"'{file}' is a name that is needed here; rename the file")
            sources[file] = one.text().encode()
        roots = [(module, name) for module, name in self._entries if name] + self._chains
        return Captured(f"{home.name}:{name}", sources, self._values.arrays, roots)

    # ---- methods that ValueWriter calls

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
            home.bound.add(alias)
            home.uses.add(owner.name)
            home.lines.append(f"from {owner.name} import {name} as {alias}")
        return alias

    def reference(self, module: str, qualname: str, home: Home, where: str) -> str:
        """Return an expression for an object that is found in its module by its own name."""
        if module == "builtins":
            return qualname
        first, _, rest = qualname.partition(".")
        if module.startswith("hyperflock."):
            module = "hyperflock"  # devices have other inner modules
        self._take_module(module, f"{where}, which needs")
        if self._origin(module) is not None:
            self._entries.append((module, first))
        alias = f"_hf_{module.replace('.', '_')}_{first}"
        if alias not in home.bound:
            home.bound.add(alias)
            home.lines.append(f"from {module} import {first} as {alias}")
        return f"{alias}.{rest}" if rest else alias

    def module(self, module: types.ModuleType, home: Home, where: str) -> str:
        """Return an expression for a module."""
        alias = f"_hf_module_{module.__name__.replace('.', '_')}"
        if alias not in home.bound:
            self._take_module(module.__name__, f"{where}, which needs")
            home.bound.add(alias)
            home.lines.append(f"import {module.__name__} as {alias}")
        return alias

    def function(self, function: types.FunctionType, where: str) -> tuple[Home, str]:
        """Write a function and what it uses; return the generated module and the name there."""
        node = _definitions.function_node(function)
        home = self._home_of(function)
        name = self._name(function, home)
        self._values.remember(function, home, name)
        home.bound.add(name)
        own = getattr(node, "name", "")
        code = function.__code__
        cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
        free = [variable for variable in cells if not _is(cells[variable], function, own, variable)]
        home.lines += _function_lines(_definitions.with_private_names(node, code), name, free)
        for variable in free:
            self._check_cell(cells[variable], variable, function)
            try:
                content = cells[variable].cell_contents
            except ValueError:  # not assigned yet
                continue
            text = self._values.expression(content, home, _uses(where, variable))
            home.lines.append(f"_hf_cell({name}, {variable!r}, {text})")
        for part in ("__defaults__", "__kwdefaults__"):
            if value := getattr(function, part):
                text = self._values.expression(value, home, _uses(where, "its defaults"))
                home.lines.append(f"{name}.{part} = {text}")
        for key, value in function.__dict__.items():
            text = self._values.expression(value, home, _uses(where, key))
            home.lines.append(f"{name}.{key} = {text}")
        self._bind(_definitions.global_names(code), function.__globals__, home, where)
        if not home.is_typed and home.module is not None:
            self._check_file(function, home.module)
        self._follow_imports(node, home, f"'{shown_name(function)}'")
        _needs.check_paths(node, self._folder, f"'{shown_name(function)}'")
        return home, name

    def cls(self, cls: type, where: str) -> tuple[Home, str]:
        """Write a class and what it uses; return the generated module and the name there."""
        node, methods = _definitions.class_node(cls)
        home = self._home(cls.__module__)
        name = self._name(cls, home)
        self._values.remember(cls, home, name, ready=False)
        home.bound.add(name)
        namespace = vars(home.module) if home.module else {}
        body, inner = _class_names(node)
        self._check_body(cls, node, body, namespace)
        self._bind({**body, **_annotations(node)}, namespace, home, where)
        free: dict[str, str] = {}
        for method in methods:
            for variable, cell in zip(
                method.__code__.co_freevars, method.__closure__ or (), strict=True
            ):
                if variable != "__class__" and variable not in free:
                    self._check_cell(cell, variable, method)
                    free[variable] = self._values.expression(
                        cell.cell_contents, home, _uses(where, variable)
                    )
        if name == node.name and not free:
            home.lines += ["", *ast.unparse(node).splitlines(), ""]
        else:
            made = self.variable()
            home.lines += ["", f"def {made}({', '.join(free)}):"]
            home.lines += [*_indented(ast.unparse(node)), f"    return {node.name}"]
            home.lines += ["", f"{name} = {made}({', '.join(free.values())})"]
        self._values.remember(cls, home, name)
        self._bind(inner, namespace, home, where)
        self._follow_imports(node, home, f"the class '{cls.__qualname__}'")
        _needs.check_paths(node, self._folder, f"the class '{cls.__qualname__}'")
        return home, name

    # ---- inside

    def _home_of(self, function: types.FunctionType) -> Home:
        # A function's __module__ may be another function's, because functools.wraps copies it.
        return self._home(function.__globals__.get("__name__"))

    def _home(self, name: str | None) -> Home:
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
                self._take_module(package if stem == "main" else key, f"'{package}' needs")
        return self._homes[key]

    def _name(self, value: types.FunctionType | type, home: Home) -> str:
        """Return a definition's own name if it is at the top of its module, otherwise a new
        name.
        """
        known = vars(home.module).get(value.__name__) if home.module else None
        keeps = home.is_typed and known is value and "<" not in value.__qualname__
        return value.__name__ if keeps else self.variable()

    def _bind(
        self, names: dict[str, list[str]], namespace: dict[str, Any], home: Home, where: str
    ) -> None:
        """Bind the globals that a definition looks up."""
        for name, chains in names.items():
            value = namespace.get(name, _MISSING)
            if value is _MISSING or _is_special(name):
                continue
            if isinstance(value, types.ModuleType):
                self._bind_module(name, value, chains, home, where)
                continue
            if name in home.bound:
                continue
            home.bound.add(name)
            if not home.is_typed and home.module is not None:
                self._take_module(home.module.__name__, f"{where}, which needs")
                self._entries.append((home.module.__name__, name))
                home.lines.append(f"from {home.module.__name__} import {name}")
                continue
            text = self._values.expression(value, home, _uses(where, name))
            if text != name:
                home.lines.append(f"{name} = {text}")

    def _bind_module(
        self, name: str, module: types.ModuleType, chains: list[str], home: Home, where: str
    ) -> None:
        if name not in home.bound:
            home.bound.add(name)
            self._take_module(module.__name__, f"{where}, which needs")
            alias = "" if name == module.__name__ else f" as {name}"
            home.lines.append(f"import {module.__name__}{alias}")
        for chain in chains:
            self._chains.append((module.__name__, chain))
            inner = f"{module.__name__}.{chain}"
            if inner in sys.modules and inner not in home.bound:
                home.bound.add(inner)
                self._take_module(inner, f"{where}, which needs")
                home.lines.append(f"import {inner} as _hf_module_{inner.replace('.', '_')}")

    def _follow_imports(self, node: ast.AST, home: Home, where: str) -> None:
        body = node.body if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
        for statement, optional in _needs.executed_imports(body, inside=True):
            if isinstance(statement, ast.Import):
                names = [alias.name for alias in statement.names]
            elif statement.level:
                above = home.package.split(".")
                above = above[: len(above) - statement.level + 1]
                names = [".".join([*above, statement.module or ""]).strip(".")]
            else:
                names = [statement.module or ""]
            for name in names:
                if self._origin(name) is not None or not optional:
                    self._take_module(name, f"{where} imports")

    def check_store(self, where: str) -> None:
        """Check that the objective may use Optuna's artifact stores, which a grid's may not."""
        if "optuna" not in self._wheels:
            raise cannot(
                "package",
                f"{where}, an artifact store of optuna's, which only trials of "
                "hyperflock.optuna.optimize fill; in a grid call trial.upload_artifact(path)",
            )

    def _take_module(self, name: str, needs: str) -> None:
        """Add a module's files to the bundle, or check that the runtime has the module."""
        origin = self._origin(name)
        if origin is None:
            _needs.check_import(name, self._wheels, needs)
            return
        self._entries.append((name, ""))
        if origin.unit in self._taken:
            return
        self._taken.add(origin.unit)
        for file, content in _sources.collect(origin).items():
            if self._files.setdefault(file, content) != content:
                raise cannot("source", f"there are two files '{file}' in different folders")

    def _origin(self, name: str) -> _sources.Origin | None:
        """Return the origin of a researcher's own module; None for any other module."""
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

    @staticmethod
    def _check_file(function: types.FunctionType, module: types.ModuleType) -> None:
        """Check the globals of a function in a module that a device imports."""
        path = Path(str(module.__file__)).resolve()
        for name in sorted(_definitions.written_globals(function.__code__)):
            raise cannot(
                "state",
                f"'{shown_name(function)}' sets the global '{name}' of '{path.name}', "
                "which would be another one there; keep it in an object",
            )
        _state.check_globals(function, path)

    @staticmethod
    def _check_body(
        cls: type, node: ast.ClassDef, names: dict[str, list[str]], namespace: dict[str, Any]
    ) -> None:
        """Check that a class from inside a function reads no variable of that function."""
        own = {part.id for part in ast.walk(node) if isinstance(part, ast.Name) and _stores(part)}
        own |= {part.name for part in node.body if isinstance(part, ast.FunctionDef | ast.ClassDef)}
        lost = names.keys() - own - namespace.keys() - vars(builtins).keys()
        for name in sorted(name for name in lost if not _is_special(name)):
            raise cannot(
                "source",
                f"the class '{cls.__name__}' reads '{name}' of the function around it while it is "
                "defined; read it in a method, or put the class at the top",
            )

    def _check_cell(
        self, cell: types.CellType, variable: str, function: types.FunctionType
    ) -> None:
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
            )
        self._cells[id(cell)] = (cell, sets or before)

    def _check_order(self, home: Home, above: tuple[str, ...]) -> None:
        if home.name in above:
            names = "' and '".join(sorted({*above}))
            raise cannot("value", f"definitions of '{names}' need each other; put them together")
        for other in self._homes.values():
            if other.name in home.uses:
                self._check_order(other, (*above, home.name))


def _is_function(value: object) -> TypeGuard[types.FunctionType]:
    return isinstance(value, types.FunctionType)


def _is_special(name: str) -> bool:
    """Whether Python itself defines the name in every module or class, such as ``__name__``."""
    return name.startswith("__") and name.endswith("__")


def _stores(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _uses(where: str, name: str) -> str:
    return f"{where} uses '{name}'" if where == "the objective" else f"{where}, which uses '{name}'"


def _is(cell: types.CellType, function: types.FunctionType, own: str, variable: str) -> bool:
    """Whether a variable is the name of the function itself, which its ``def`` binds."""
    try:
        return variable == own and cell.cell_contents is function
    except ValueError:
        return False


def _function_lines(node: _definitions.FunctionNode, name: str, free: list[str]) -> list[str]:
    """Return the lines of a definition without decorators and defaults, which are set as values."""
    plain = copy.deepcopy(node)
    plain.args.defaults = [ast.Constant(None) for _ in plain.args.defaults]
    plain.args.kw_defaults = [d and ast.Constant(None) for d in plain.args.kw_defaults]
    if isinstance(plain, ast.Lambda):
        body, result = [], ast.unparse(plain)
    else:
        plain.decorator_list = []
        if not free and name == plain.name:
            return ["", *ast.unparse(plain).splitlines(), ""]
        body, result = _indented(ast.unparse(plain)), plain.name
    if not free and not body:
        return [f"{name} = {result}"]
    head = f"def {name}_make({', '.join(free)}):"
    given = ", ".join("None" for _ in free)
    return ["", head, *body, f"    return {result}", "", f"{name} = {name}_make({given})"]


def _indented(text: str) -> list[str]:
    """Return a definition's lines indented; lines inside its strings stay unchanged."""
    inside: set[int] = set()
    for part in ast.walk(ast.parse(text)):
        if isinstance(part, ast.Constant | ast.JoinedStr) and part.end_lineno is not None:
            inside.update(range(part.lineno + 1, part.end_lineno + 1))
    return [
        line if number in inside or not line else f"    {line}"
        for number, line in enumerate(text.splitlines(), 1)
    ]


def _class_names(node: ast.ClassDef) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the names that a class looks up while it is defined, and the names that its methods
    look up.
    """
    future = ast.parse(_FUTURE).body
    module = compile(ast.Module([*future, node], []), "<class>", "exec", dont_inherit=True)
    body: dict[str, list[str]] = {}
    later: dict[str, list[str]] = {}
    for code, is_body in _class_codes(module, is_body=True):
        found = _definitions.global_names(code, inner=False)
        for name, chains in found.items():
            (body if is_body else later).setdefault(name, []).extend(chains)
    return body, later


def _annotations(node: ast.ClassDef) -> dict[str, list[str]]:
    """Return the names in annotations, which dataclasses evaluate."""
    return {
        part.id: []
        for annotation in ast.walk(node)
        if isinstance(annotation, ast.AnnAssign)
        for part in ast.walk(annotation.annotation)
        if isinstance(part, ast.Name)
    }


def _class_codes(code: types.CodeType, *, is_body: bool) -> Iterator[tuple[types.CodeType, bool]]:
    yield code, is_body
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            # The body of a class runs when the class is defined. The body of a function (flag
            # CO_OPTIMIZED) does not run when the function is defined.
            yield from _class_codes(constant, is_body=is_body and not constant.co_flags & 1)
