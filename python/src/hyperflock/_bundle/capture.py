"""Writes down an objective that is no plain function of a file: its definition and what it uses.

    captured = Capture(wheels=frozenset()).take(lambda trial: train(trial, rate))
    captured.entry, captured.sources, captured.arrays

Lambdas, closures, nested and decorated functions, partials, callable instances and whatever was
typed into a notebook or a prompt become source text: a generated module with the definitions and
values that they use, and theirs, and so on. What can be imported from a file is imported there, and
its file travels. Source, not bytecode, because the other side's Python is of another version.
Nothing is run but what `copy.copy` would run (``__reduce_ex__``). The calling thread.
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
# Gives a function a variable that it closes over, later than its definition: cycles need no order.
_CELL = """
def _hf_cell(function, name, value):
    cells = dict(zip(function.__code__.co_freevars, function.__closure__))
    cells[name].cell_contents = value
"""
_MISSING = object()


@dataclass
class Home:
    """A generated module: where definitions of one module of this process are written down.

    Attributes
    ----------
    name : str
        In the bundle, dotted.
    module : ModuleType or None
        Whose definitions go here; None: nobody's, only values.
    package : str
        What relative imports in it start from.
    lines : list of str
        Its text so far.
    bound : set of str
        Names that it binds.
    uses : set of str
        Other generated modules that it imports.
    """

    name: str
    module: types.ModuleType | None
    package: str
    lines: list[str] = field(default_factory=list)
    bound: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)

    @property
    def is_typed(self) -> bool:
        """Whether its module cannot be imported there: a script that runs, a notebook, a prompt."""
        return self.module is None or self.module.__name__ == "__main__"

    def text(self) -> str:
        """Give the module's source."""
        what = "a script or notebook" if self.is_typed else f"'{self.name}'"
        helper = _CELL if any("_hf_cell(" in line for line in self.lines) else ""
        return _HEAD.format(what=what) + _FUTURE + helper + "\n".join(self.lines) + "\n"


@dataclass(frozen=True)
class Captured:
    """An objective as text.

    Attributes
    ----------
    entry : str
        ``module:name``.
    sources : dict
        Files by their names in the bundle.
    arrays : dict
        Arrays (``npy``) by their names in the bundle.
    roots : list of (str, str)
        What it takes from modules whose files travel: their names, and of globals in them.
    """

    entry: str
    sources: dict[str, bytes]
    arrays: dict[str, bytes]
    roots: list[tuple[str, str]]


class Capture:
    """Writes one objective down; used once."""

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
        """Write ``objective`` down; ``function`` is the function inside of it that is called.

        Raises
        ------
        BundleError
            Something that it uses cannot travel.
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

    # ---- what ValueWriter asks for

    def variable(self) -> str:
        """Make a name that nothing else has."""
        self._count += 1
        return f"_hf_{self._count}"

    def cross(self, owner: Home, name: str, home: Home) -> str:
        """Write how ``home`` gets at a name that another generated module binds."""
        if owner is home:
            return name
        alias = f"{name}_of_{owner.name.replace('.', '_')}"
        if alias not in home.bound:
            home.bound.add(alias)
            home.uses.add(owner.name)
            home.lines.append(f"from {owner.name} import {name} as {alias}")
        return alias

    def reference(self, module: str, qualname: str, home: Home, where: str) -> str:
        """Write how to import an object that its module has under its name."""
        if module == "builtins":
            return qualname
        first, _, rest = qualname.partition(".")
        if module.startswith("hyperflock."):
            module = "hyperflock"  # its inner modules are this side's own
        self._take_module(module, f"{where}, which needs")
        if self._origin(module) is not None:
            self._entries.append((module, first))
        alias = f"_hf_{module.replace('.', '_')}_{first}"
        if alias not in home.bound:
            home.bound.add(alias)
            home.lines.append(f"from {module} import {first} as {alias}")
        return f"{alias}.{rest}" if rest else alias

    def module(self, module: types.ModuleType, home: Home, where: str) -> str:
        """Write how to import a module."""
        alias = f"_hf_module_{module.__name__.replace('.', '_')}"
        if alias not in home.bound:
            self._take_module(module.__name__, f"{where}, which needs")
            home.bound.add(alias)
            home.lines.append(f"import {module.__name__} as {alias}")
        return alias

    def function(self, function: types.FunctionType, where: str) -> tuple[Home, str]:
        """Write a function's definition and what it uses; gives where it is bound, and as what."""
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
            except ValueError:  # assigned only after this; there as here
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
        """Write a class's definition and what it uses; as `function`."""
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
        # Not its __module__, which functools.wraps takes from another function.
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
        """The name that a definition keeps, where it stands at its module's top; else a new one."""
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
        """Check that a store of Optuna's has trials that send its files."""
        if "optuna" not in self._wheels:
            raise cannot(
                "package",
                f"{where}, an artifact store of optuna's, which only trials of "
                "hyperflock.optuna.optimize fill; in a grid call trial.upload_artifact(path)",
            )

    def _take_module(self, name: str, needs: str) -> None:
        """Make sure that a module is there: its file travels, or the runtime has it."""
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
        """Where a module of the researcher's own lives; None for anybody else's."""
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
        """Check the globals of a function whose module is imported there, beside its definition."""
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
        """Check that a class's definition, taken out of a function, finds all that it reads."""
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
        """Functions that share a variable get one each there, which matters once one sets it."""
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
    """Whether every module or class has a name of its own accord."""
    return name.startswith("__") and name.endswith("__")


def _stores(name: ast.Name) -> bool:
    return isinstance(name.ctx, ast.Store)


def _uses(where: str, name: str) -> str:
    return f"{where} uses '{name}'" if where == "the objective" else f"{where}, which uses '{name}'"


def _is(cell: types.CellType, function: types.FunctionType, own: str, variable: str) -> bool:
    """Whether a variable is the function itself, which its own definition binds."""
    try:
        return variable == own and cell.cell_contents is function
    except ValueError:
        return False


def _function_lines(node: _definitions.FunctionNode, name: str, free: list[str]) -> list[str]:
    """The text of a definition: without decorators and defaults, which are given as values."""
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
    """Set a definition below another's head; lines inside of its strings stay as they are."""
    inside: set[int] = set()
    for part in ast.walk(ast.parse(text)):
        if isinstance(part, ast.Constant | ast.JoinedStr) and part.end_lineno is not None:
            inside.update(range(part.lineno + 1, part.end_lineno + 1))
    return [
        line if number in inside or not line else f"    {line}"
        for number, line in enumerate(text.splitlines(), 1)
    ]


def _class_names(node: ast.ClassDef) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Names that a class's definition looks up at once, and those that its methods do later."""
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
    """Names in annotations: they are text there, but data classes look into them."""
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
            # A class's body runs with its definition; a function's does not (flag CO_OPTIMIZED).
            yield from _class_codes(constant, is_body=is_body and not constant.co_flags & 1)
