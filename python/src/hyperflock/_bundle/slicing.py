"""Removes statements from files that a device cannot run and that the objective does not reach.

    sources = Slicer(sources, wheels=frozenset(), folder=folder).sliced([("train", "objective")])

A file is sent unchanged, apart from statements at its top level that a device cannot run: imports
of packages that a browser lacks, reads of this machine's files and arguments, submissions, and
every statement that uses a result of these while the file is imported. If the objective reaches
such a statement, the error names the file, the line and a remedy. All other lines keep their text
and number. Files are read and not run. Only one thread at a time may use this module.
"""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from hyperflock._base.codes import cannot
from hyperflock._base.errors import BundleError
from hyperflock._bundle.checks import unavailable as _unavailable
from hyperflock._bundle.checks.imports_check import executed_imports
from hyperflock._bundle.checks.unavailable import Lost
from hyperflock._bundle.source.edits import edited
from hyperflock._bundle.source.statements import FileText, Imports, Names, Statement, absolute

_DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
Edit = tuple[ast.AST, str]


class _Lost(dict[str, tuple[str, Lost]]):
    """The globals that a file does not have on a device. For each of them this dict has the file's
    name and the reason.
    """


class Slicer:
    """Removes statements from the files of one bundle. Each instance is used once.

    Parameters
    ----------
    sources
        The files by their names in the bundle.
    wheels
        The top-level modules of the declared wheels.
    folder
        The folder in which relative paths are looked up, besides the current one.
    constants
        For each module, statements that set globals to their values, by the names of the globals.
        They replace statements that compute the values.
    generated
        The modules that this package wrote. They stay as they are.
    """

    def __init__(
        self,
        sources: Mapping[str, bytes],
        *,
        wheels: frozenset[str],
        folder: Path,
        constants: Mapping[str, Mapping[str, str]] | None = None,
        generated: frozenset[str] = frozenset(),
    ) -> None:
        self._sources = sources
        self._wheels = wheels
        self._folder = folder
        self._constants = constants or {}
        self._generated = generated
        self._texts: dict[str, FileText | None] = {}
        self._lost: dict[str, _Lost] = {}
        self._edits: dict[str, list[Edit]] = {}
        self._reached: set[tuple[str, str]] = set()
        # The attribute names that the reached code uses. Only methods with one of these names are
        # needed.
        self._attributes: set[str] = set()
        self._methods: dict[str, list[tuple[FileText, Statement, Names]]] = {}

    def sliced(self, entries: Sequence[tuple[str, str]]) -> dict[str, bytes]:
        """Return the changed files. An entry, from which the objective starts, is a module and the
        name of a global.

        Raises
        ------
        BundleError
            An entry reaches something that a device cannot run.
        """
        for module, _ in entries:
            self._import(module)
        for module, name in entries:
            self._reach(module, name.split(".")[0], "the objective")
        found = dict(self._sources)
        for module, edits in self._edits.items():
            text = self._texts[module]
            if text is not None and edits:
                found[self._file_of(module)] = edited(text.content, edits)
        return found

    def files_of(self, modules: Collection[str]) -> list[str]:
        """Return the files of modules by their names in the bundle."""
        return [self._file_of(module) for module in sorted(modules)]

    # ---- what an import of each file runs

    def _import(self, module: str) -> None:
        """Follow what an import of a module runs, from the top to the bottom of its file."""
        if module in self._lost:
            return
        self._lost[module] = lost = _Lost()
        if "." in module:
            self._import(module.rpartition(".")[0])
        text = self._text(module)
        if text is None:
            return
        bound: Imports = {}
        edits = self._edits.setdefault(module, [])
        constants = self._constants.get(module, {})
        for one in text.statements:
            if isinstance(one.node, ast.Import | ast.ImportFrom):
                self._import_statement(text, one.node, lost, edits)
                bound |= one.imports
                continue
            for name, inner in one.imports.values() if one.imports else ():
                self._import_own(name, inner)
            why = None if module in self._generated else self._why(text, one, lost, bound)
            known = sorted(one.binds & constants.keys())
            if why is not None:
                lines = "; ".join(constants[name] for name in known)
                edits.append((one.node, lines or "pass"))
                for name in one.binds:
                    lost[name] = why
            elif len(known) == len(one.binds) > 0 and _is_assignment(one.node):
                edits.append((one.node, "; ".join(constants[name] for name in known)))
            for name in known if why is not None else one.binds:
                lost.pop(name, None)
            bound |= one.imports
        edits += self._annotations(text, lost)

    def _why(
        self, text: FileText, one: Statement, lost: _Lost, bound: Imports
    ) -> tuple[str, Lost] | None:
        for name in one.eager:
            if name in lost and not self._is_caught(one, name):
                return lost[name]
        for name, chains in one.eager.items():
            target, inner = bound.get(name, ("", ""))
            for chain in chains if self._text(target) is not None and not inner else ():
                found = self._lost.get(target, _Lost()).get(chain.split(".")[0])
                if found is not None:
                    return found
        for node, optional in executed_imports([one.node]):
            for name in () if optional else self._names(node, text):
                if self._text(name) is None and self._is_missing(name):
                    return text.file, _unavailable.missing(name, node.lineno)
        why = _unavailable.reason(one, bound, self._folder)
        return None if why is None else (text.file, why)

    @staticmethod
    def _is_caught(one: Statement, name: str) -> bool:
        """Return whether a statement itself binds a name that the device lacks, as
        ``try: import x`` does.
        """
        return name in one.binds and isinstance(one.node, ast.Try)

    def _import_statement(
        self, text: FileText, node: ast.Import | ast.ImportFrom, lost: _Lost, edits: list[Edit]
    ) -> None:
        kept: list[ast.alias] = []
        for alias in node.names:
            bound = alias.asname or alias.name.split(".")[0]
            why = self._why_not_imported(text, node, alias)
            if why is None:
                kept.append(alias)
                lost.pop(bound, None)
            else:
                lost[bound] = why
        if len(kept) == len(node.names):
            return
        if kept:
            only = ast.copy_location(
                type(node)(**{**dict(ast.iter_fields(node)), "names": kept}), node
            )
            edits.append((node, ast.unparse(only)))
        else:
            edits.append((node, "pass"))

    def _why_not_imported(
        self, text: FileText, node: ast.Import | ast.ImportFrom, alias: ast.alias
    ) -> tuple[str, Lost] | None:
        if isinstance(node, ast.Import):
            if self._import_own(alias.name, ""):
                return None
            return self._why_missing(text, alias.name, node.lineno)
        base = absolute(node, text.module, is_package=self._is_package(text.module))
        if self._import_own(base, alias.name):
            return self._lost[base].get(alias.name)
        return self._why_missing(text, base, node.lineno)

    def _why_missing(self, text: FileText, name: str, line: int) -> tuple[str, Lost] | None:
        if self._is_missing(name):
            return text.file, _unavailable.missing(name, line)
        return None

    def _is_missing(self, name: str) -> bool:
        unit = name.split(".")[0]
        is_own = f"{unit}.py" in self._sources or any(
            file.startswith(f"{unit}/") for file in self._sources
        )
        return bool(name) and not is_own and _unavailable.lacks(name, self._wheels)

    def _import_own(self, module: str, name: str) -> bool:
        """Follow an import of a module if it is in the bundle; return whether it is there."""
        inner = f"{module}.{name}" if name else ""
        if inner and self._text(inner) is not None:
            self._import(inner)
        if self._text(module) is None:
            return False
        self._import(module)
        return True

    def _annotations(self, text: FileText, lost: _Lost) -> Iterator[Edit]:
        """Yield edits that turn an annotation into a string if it uses a name that the device
        lacks.
        """
        if not lost:
            return
        for node in ast.walk(text.tree):
            found = [getattr(node, "annotation", None), getattr(node, "returns", None)]
            for one in found:
                if isinstance(one, ast.expr) and any(
                    isinstance(part, ast.Name) and part.id in lost for part in ast.walk(one)
                ):
                    yield one, repr(ast.unparse(one))

    # ---- what the objective reaches

    def _reach(self, module: str, name: str, by: str) -> None:
        waiting = [(module, name, by)]
        while waiting:
            module, name, by = waiting.pop()
            if (module, name) in self._reached or not name:
                continue
            self._reached.add((module, name))
            text = self._text(module)
            if text is None:
                continue
            self._import(module)
            if (why := self._lost[module].get(name)) is not None:
                raise _refused(why, by)
            statements = list(text.binding(name))
            for star in text.stars if not statements else ():
                waiting.append((star, name, by))
            for one in statements:
                waiting += self._look_into(text, one, name)

    def _look_into(
        self, text: FileText, one: Statement, name: str
    ) -> Iterator[tuple[str, str, str]]:
        """Yield what a reached statement reaches, and check what its functions read and import."""
        if isinstance(one.node, ast.Import | ast.ImportFrom):
            yield from self._resolved(text, one, name, {""}, "")
            return
        if name in self._constants.get(text.module, {}) and not isinstance(one.node, _DEFINITIONS):
            return
        yield from self._follow(text, one, one.eager)
        if one.methods:
            yield from self._follow_class(text, one)
        else:
            self._add_attributes(one.node)
            self._check_code(text, one.node, f"'{name}'")
            yield from self._follow(text, one, one.lazy)
        yield from self._called_methods()

    def _follow_class(self, text: FileText, one: Statement) -> Iterator[tuple[str, str, str]]:
        """Follow what a class needs. A method is followed only when reached code uses its name."""
        for method, needed in one.methods.items():
            self._methods.setdefault(method, []).append((text, one, needed))
        rest = {
            name: chains
            for name, chains in one.lazy.items()
            if not any(name in needed for needed in one.methods.values())
        }
        yield from self._follow(text, one, rest)

    def _called_methods(self) -> Iterator[tuple[str, str, str]]:
        called = [m for m in self._methods if m in self._attributes or _is_special(m)]
        while called:
            for method in called:
                for text, one, needed in self._methods.pop(method):
                    for node in getattr(one.node, "body", ()):
                        if getattr(node, "name", None) == method:
                            self._add_attributes(node)
                            self._check_code(text, node, f"'{method}'")
                    yield from self._follow(text, one, needed)
            called = [m for m in self._methods if m in self._attributes or _is_special(m)]

    def _add_attributes(self, node: ast.AST) -> None:
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute):
                self._attributes.add(part.attr)
            elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                self._attributes.add(part.value)

    def _check_code(self, text: FileText, node: ast.stmt, where: str) -> None:
        """Check the code of a function: what it imports, and what it reads from this machine."""
        for inner, optional in executed_imports([node], inside=True):
            for name in () if optional else self._names(inner, text):
                if self._text(name) is None and self._is_missing(name):
                    why = _unavailable.missing(name, inner.lineno)
                    raise why.error(where).at(text.file, why.line)
        for why in _unavailable.local_reads(node, self._folder):
            raise why.error(where).at(text.file, why.line)

    def _follow(
        self, text: FileText, one: Statement, names: Names
    ) -> Iterator[tuple[str, str, str]]:
        for name, chains in names.items():
            yield from self._resolved(text, one, name, chains, _owner(one))

    def _resolved(
        self, text: FileText, one: Statement, name: str, chains: set[str], by: str
    ) -> Iterator[tuple[str, str, str]]:
        """Yield the globals of the bundle's modules to which a name refers."""
        by = f"{by} ({text.file}, line {one.node.lineno})" if by else "the objective"
        target, inner = one.imports.get(name, ("", ""))
        if not target:
            yield text.module, name, by
            for found in text.binding(name):
                target, inner = found.imports.get(name, ("", ""))
                if target:
                    yield from self._through(target, inner, chains, by)
            return
        yield from self._through(target, inner, chains, by)

    def _through(
        self, target: str, inner: str, chains: set[str], by: str
    ) -> Iterator[tuple[str, str, str]]:
        if inner and self._text(f"{target}.{inner}") is not None:
            target, inner = f"{target}.{inner}", ""
        if inner:
            yield target, inner, by
            return
        for chain in chains:
            module, rest = target, chain
            first, _, after = rest.partition(".")
            while first and self._text(f"{module}.{first}") is not None:
                module, rest = f"{module}.{first}", after
                first, _, after = rest.partition(".")
            yield module, first, by

    # ---- the files

    def _names(self, node: ast.Import | ast.ImportFrom, text: FileText) -> list[str]:
        if isinstance(node, ast.Import):
            return [alias.name for alias in node.names]
        return [absolute(node, text.module, is_package=self._is_package(text.module))]

    def _is_package(self, module: str) -> bool:
        return f"{module.replace('.', '/')}/__init__.py" in self._sources

    def _file_of(self, module: str) -> str:
        path = module.replace(".", "/")
        return f"{path}.py" if f"{path}.py" in self._sources else f"{path}/__init__.py"

    def _text(self, module: str) -> FileText | None:
        if module not in self._texts:
            content = self._sources.get(self._file_of(module)) if module else None
            try:
                self._texts[module] = (
                    None
                    if content is None
                    else FileText.of(content, module, is_package=self._is_package(module))
                )
            except (SyntaxError, ValueError) as error:
                file = f"{module.rpartition('.')[2]}.py"
                raise cannot("source", f"'{file}' is not valid Python: {error}") from None
        return self._texts[module]


def _refused(why: tuple[str, Lost], by: str) -> BundleError:
    file, lost = why
    sentence = f"the file {lost.what}, and {by} needs it; {lost.remedy}"
    return lost.with_sentence(sentence).at(file, lost.line)


def _owner(one: Statement) -> str:
    name = getattr(one.node, "name", None)
    return f"'{name}'" if name else "a statement"


def _is_assignment(node: ast.stmt) -> bool:
    return isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign)


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
