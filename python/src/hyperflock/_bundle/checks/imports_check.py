"""Follows what sources import and call on a device, by reading their text.

    check_calls(sources, [("train", "objective")], wheels=frozenset({"tabulate"}))

The check follows what an import of the objective's module runs, and what the objective calls by
name. A call that every trial makes is refused if this package has the function only on the
researcher's machine. The check runs no code. Any thread may use this module.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence

from hyperflock._base.codes import cannot
from hyperflock._bundle.source.certain_calls import called_name, certain_calls
from hyperflock._bundle.source.definitions import is_guard
from hyperflock._bundle.source.runtime import ASKED_PACKAGES, PACK_OF
from hyperflock._trial.elsewhere import is_elsewhere


def check_calls(
    sources: Mapping[str, bytes],
    entries: Sequence[tuple[str, str]],
    *,
    wheels: frozenset[str],
    place: Callable[[str, int], tuple[str, int]] = lambda module, line: (_file(module), line),
) -> frozenset[str]:
    """Check each entry (module, function) and all code that it reaches.

    ``place`` returns the file and line that an error names for a line of a module.

    Returns
    -------
    frozenset of str
        ``optuna`` if the code imports Optuna or a package that comes with it, and the names of the
        packs that it imports.

    Raises
    ------
    BundleError
        ``cannot_bundle_not_in_trial``.
    """
    walk = _Walk(sources, wheels, place)
    for module, function in entries:
        walk.import_module(module)
        walk.call(module, function)
        walk.run_import(module)
        walk.run(module, function)
    return frozenset(walk.needs)


def imported_needs(sources: Mapping[str, bytes], wheels: frozenset[str]) -> frozenset[str]:
    """Return what any of the sources imports; see `check_calls`."""
    own = wheels | _units(sources)
    needs: set[str] = set()
    for name, text in sources.items():
        if not name.endswith(".py"):
            continue
        for node, _ in executed_imports(ast.parse(text).body, inside=True):
            names = [alias.name for alias in node.names]
            if isinstance(node, ast.ImportFrom):
                names = [] if node.level else [node.module or ""]
            units = {one.split(".")[0] for one in names} - own
            needs.update(need for unit in units if (need := need_of(unit)))
    return frozenset(needs)


def need_of(unit: str) -> str | None:
    """Return what a browser must load for a top-level module: ``optuna``, a pack, or nothing."""
    return "optuna" if unit in ASKED_PACKAGES else PACK_OF.get(unit)


def executed_imports(
    body: Sequence[ast.stmt], *, inside: bool = False, optional: bool = False
) -> Iterator[tuple[ast.Import | ast.ImportFrom, bool]]:
    """Yield each import that statements run, and whether the code allows it to fail or not to run.

    With ``inside``, include the imports in functions that the statements define.
    """
    for node in body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield node, optional
            continue
        if is_guard(node) or _is_typing(node):
            yield from executed_imports(node.orelse, inside=inside, optional=optional)  # type: ignore[attr-defined]
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not inside:
            continue
        # Code below a condition may never run on a device.
        caught = isinstance(node, ast.Try) and any(map(_catches_imports, node.handlers))
        for field in ("body", "orelse", "finalbody"):
            inner = getattr(node, field, None)
            if isinstance(inner, list):
                may_fail = optional or isinstance(node, ast.If) or (caught and field == "body")
                yield from executed_imports(inner, inside=inside, optional=may_fail)
        for branch in (*getattr(node, "handlers", ()), *getattr(node, "cases", ())):
            yield from executed_imports(branch.body, inside=inside, optional=True)


class _Walk:
    """A traversal of the sources. It visits each module and each function once."""

    def __init__(
        self,
        sources: Mapping[str, bytes],
        wheels: frozenset[str],
        place: Callable[[str, int], tuple[str, int]],
    ) -> None:
        self._place = place
        self._sources = sources
        self._wheels = wheels
        self._units = _units(sources)
        self.needs: set[str] = set()
        self._trees: dict[str, ast.Module | None] = {}
        self._imported: set[str] = set()
        self._called: set[tuple[str, str]] = set()
        self._run: set[tuple[str, str]] = set()

    def import_module(self, name: str) -> None:
        if name in self._imported:
            return
        self._imported.add(name)
        if "." in name:
            self.import_module(name.rpartition(".")[0])
        tree = self._tree(name)
        if tree is None:
            return
        for node, _ in executed_imports(tree.body):
            self._follow(node, name)

    def call(self, module: str, name: str) -> None:
        """Follow a function, or a class with its methods, at the top of a module."""
        tree = self._tree(module)
        if tree is None or (module, name) in self._called:
            return
        self._called.add((module, name))
        for definition in tree.body:
            if (
                not isinstance(definition, ast.FunctionDef | ast.ClassDef)
                or definition.name != name
            ):
                continue
            for node, _ in executed_imports(definition.body, inside=True):
                self._follow(node, module)
            bound = self._bound(module, tree)
            for part in ast.walk(definition):
                if isinstance(part, ast.Name):
                    self.call(*bound.get(part.id, (module, part.id)))
                elif isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name):
                    target, inner = bound.get(part.value.id, ("", ""))
                    self.call(f"{target}.{inner}" if inner else target, part.attr)

    def run_import(self, name: str) -> None:
        """Follow the imports and calls that every import of a module makes."""
        tree = self._tree(name)
        if tree is None or (name, "") in self._run:
            return
        self._run.add((name, ""))
        for node, optional in executed_imports(tree.body):
            for imported in () if optional else self._names(node, name):
                self.run_import(imported)
        self._run_body(tree.body, name, self._bound(name, tree), "the file")

    def run(self, module: str, name: str) -> None:
        """Follow the calls that a function at the top of a module makes in every run."""
        tree = self._tree(module)
        if tree is None or (module, name) in self._run:
            return
        self._run.add((module, name))
        for node in tree.body:
            if not isinstance(node, ast.FunctionDef) or node.name != name:
                continue
            bound = self._bound(module, tree) | self._bound(module, node, inside=True)
            for part in ast.walk(node):
                if isinstance(part, ast.arg):
                    bound.pop(part.arg, None)
                elif isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store):
                    bound.pop(part.id, None)
            self._run_body(node.body, module, bound, f"'{name}'")

    def _run_body(
        self,
        body: Sequence[ast.stmt],
        module: str,
        bound: Mapping[str, tuple[str, str]],
        where: str,
    ) -> None:
        for call in certain_calls(body):
            first, _, rest = (called_name(call) or "").partition(".")
            if first not in bound:
                if not rest:
                    self.run(module, first)
                continue
            name = ".".join(filter(None, (*bound[first], rest)))
            package, _, last = name.rpartition(".")
            if is_elsewhere(package, last):
                raise cannot(
                    "not_in_trial",
                    f"{where} calls {name}, which only the researcher's machine has; "
                    'call it below `if __name__ == "__main__":`, outside of the objective',
                ).at(*self._place(module, call.lineno))
            self.run(package, last)

    def _bound(
        self, module: str, tree: ast.Module | ast.FunctionDef, *, inside: bool = False
    ) -> dict[str, tuple[str, str]]:
        """Return what imported names refer to: a module and a name in it, or a module alone."""
        bound = {}
        for node, _ in executed_imports(tree.body, inside=inside):
            for alias in node.names:
                if isinstance(node, ast.ImportFrom):
                    bound[alias.asname or alias.name] = (self._base(node, module), alias.name)
                elif alias.asname:
                    bound[alias.asname] = (alias.name, "")
                else:
                    unit = alias.name.split(".")[0]
                    bound[unit] = (unit, "")
        return bound

    def _follow(self, node: ast.Import | ast.ImportFrom, module: str) -> None:
        for name in self._names(node, module):
            if name.split(".")[0] in self._units:
                self.import_module(name)
                continue
            # Even if the code allows the import to fail, the package must be loaded: otherwise the
            # import would fail on a device.
            unit = name.split(".")[0]
            if unit not in self._wheels and (need := need_of(unit)):
                self.needs.add(need)

    def _names(self, node: ast.Import | ast.ImportFrom, module: str) -> list[str]:
        """Return the absolute names of all that a statement may import."""
        if isinstance(node, ast.Import):
            return [alias.name for alias in node.names]
        base = self._base(node, module)
        return [base, *(f"{base}.{alias.name}" for alias in node.names)] if base else []

    def _base(self, node: ast.ImportFrom, module: str) -> str:
        """Return the absolute name of the module in ``from ... import``."""
        if not node.level:
            return node.module or ""
        is_package = f"{module.replace('.', '/')}/__init__.py" in self._sources
        parts = module.split(".")
        parts = parts[: len(parts) - node.level + is_package]
        return ".".join([*parts, node.module] if node.module else parts)

    def _tree(self, name: str) -> ast.Module | None:
        if name not in self._trees:
            path = name.replace(".", "/")
            text = self._sources.get(f"{path}.py", self._sources.get(f"{path}/__init__.py"))
            try:
                self._trees[name] = None if text is None else ast.parse(text)
            except (SyntaxError, ValueError) as error:
                raise cannot("source", f"'{_file(name)}' is not valid Python: {error}") from None
        return self._trees[name]


def _units(sources: Mapping[str, bytes]) -> frozenset[str]:
    return frozenset(name.split("/")[0].removesuffix(".py") for name in sources)


def _file(module: str) -> str:
    return f"{module.rpartition('.')[2]}.py"


def _is_typing(node: ast.stmt) -> bool:
    if not isinstance(node, ast.If):
        return False
    return getattr(node.test, "id", getattr(node.test, "attr", "")) == "TYPE_CHECKING"


def _catches_imports(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type]
    caught = {"ImportError", "ModuleNotFoundError", "Exception", "BaseException"}
    return any(kind is None or getattr(kind, "id", "") in caught for kind in kinds)
