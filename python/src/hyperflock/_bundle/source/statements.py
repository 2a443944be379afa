r"""Finds the names that each statement at the top of a file binds, and the names that it needs and
when.

    text = FileText.of(b"import pandas as pd\nframe = pd.read_csv('a.csv')\n", "helper")
    text.statements[1].binds, text.statements[1].eager      # {"frame"}, {"pd": {"read_csv"}}

A statement needs a name at once (``eager``) if an import of the file evaluates the name: in an
expression, a decorator, a default, a base class or the body of a class. It needs a name later
(``lazy``) if the statement defines a function and only a call of the function evaluates the name.
Annotations count as neither.
Code below the main guard and below ``TYPE_CHECKING`` is left out. The module is pure; any thread
may use it.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from hyperflock._bundle.source.definitions import is_guard

# The attribute chains with which a name is used; "" stands for a use of the name alone.
Names: TypeAlias = dict[str, set[str]]
# The names that imports bind, each with a module and the name in it ("" for the module itself).
Imports: TypeAlias = dict[str, tuple[str, str]]
_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension: TypeAlias = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


@dataclass
class Statement:
    """A statement at the top of a file.

    Attributes
    ----------
    node : ast.stmt
        Its syntax tree.
    binds : set of str
        The globals that it sets.
    eager, lazy : dict
        The names that it needs at once and later; see `Names`.
    imports : dict
        The names that its imports bind, also those inside functions.
    methods : dict
        The names that each method of a class needs later; they are in ``lazy`` too.
    """

    node: ast.stmt
    binds: set[str] = field(default_factory=set)
    eager: Names = field(default_factory=dict)
    lazy: Names = field(default_factory=dict)
    imports: Imports = field(default_factory=dict)
    methods: dict[str, Names] = field(default_factory=dict)


@dataclass(frozen=True)
class FileText:
    """A file's text with its statements.

    Attributes
    ----------
    module : str
        The file's module by its dotted name in the bundle.
    content : bytes
        The text.
    tree : ast.Module
        Its syntax tree.
    statements : tuple of Statement
        The statements at its top.
    stars : tuple of str
        The modules from which it imports ``*``.
    """

    module: str
    content: bytes
    tree: ast.Module
    statements: tuple[Statement, ...]
    stars: tuple[str, ...]

    @classmethod
    def of(cls, content: bytes, module: str, *, is_package: bool = False) -> FileText:
        """Read a file; errors are those of `ast.parse`.

        A notebook submits the same files again and again, so the newest results are kept. Callers
        must not change them.
        """
        return _read(content, module, is_package)

    def binding(self, name: str) -> Iterator[Statement]:
        """Yield the statements that set a global."""
        return (one for one in self.statements if name in one.binds)

    @property
    def file(self) -> str:
        """The file's name for a message."""
        return f"{self.module.rpartition('.')[2]}.py"


# The results of `made_names` by module, each with the hash of the file from which it comes.
_made: dict[str, tuple[bytes, frozenset[str]]] = {}


def made_names(content: bytes, module: str, *, is_package: bool = False) -> frozenset[str]:
    """Return the globals that a file makes itself; errors are those of `ast.parse`.

    A global that the file only imports from another module is left out. Of each module the newest
    result is kept, because a process may have more files than `FileText.of` keeps.
    """
    sha256 = hashlib.sha256(content).digest()
    known = _made.get(module)
    if known is None or known[0] != sha256:
        statements = _read(content, module, is_package).statements
        made = [one.binds for one in statements if not isinstance(one.node, ast.ImportFrom)]
        known = _made[module] = (sha256, frozenset().union(*made))
    return known[1]


@functools.lru_cache(maxsize=64)
def _read(content: bytes, module: str, is_package: bool) -> FileText:
    tree = ast.parse(content)
    found = []
    stars: list[str] = []
    for node in tree.body:
        visitor = _Visitor(module, is_package)
        visitor.visit(node)
        found.append(visitor.found)
        stars += visitor.stars
    return FileText(module, content, tree, tuple(found), tuple(stars))


def absolute(node: ast.ImportFrom, module: str, *, is_package: bool) -> str:
    """Return the absolute name of the module in ``from ... import``."""
    if not node.level:
        return node.module or ""
    parts = module.split(".")
    parts = parts[: len(parts) - node.level + is_package]
    return ".".join([*parts, node.module] if node.module else parts)


def is_typing_only(node: ast.stmt) -> bool:
    """Return whether a statement is ``if TYPE_CHECKING:``."""
    if not isinstance(node, ast.If):
        return False
    return getattr(node.test, "id", getattr(node.test, "attr", "")) == "TYPE_CHECKING"


class _Visitor(ast.NodeVisitor):
    """A visitor of one statement at the top of a file."""

    def __init__(self, module: str, is_package: bool) -> None:
        self.found = Statement(ast.Pass())
        self.stars: list[str] = []
        self._module = module
        self._is_package = is_package
        self._inside = False  # a function, whose body runs later
        self._scopes: list[set[str]] = []  # the local names of functions, classes, comprehensions

    def visit(self, node: ast.AST) -> None:
        if isinstance(self.found.node, ast.Pass) and isinstance(node, ast.stmt):
            self.found.node = node
        super().visit(node)

    def visit_If(self, node: ast.If) -> None:
        if is_guard(node) or is_typing_only(node):
            for one in node.orelse:
                self.visit(one)
        else:
            self.generic_visit(node)

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            self._needs(node.id, "")
        elif not self._scopes:
            self.found.binds.add(node.id)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        chain = [node.attr]
        inner = node.value
        while isinstance(inner, ast.Attribute):
            chain.append(inner.attr)
            inner = inner.value
        if isinstance(inner, ast.Name):
            self._needs(inner.id, ".".join(reversed(chain)))
        else:
            self.visit(inner)

    def visit_Global(self, node: ast.Global) -> None:
        if self._scopes:
            self._scopes[-1].difference_update(node.names)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            self._needs(node.target.id, "")
        self.generic_visit(node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.visit(node.value)
            self.visit(node.target)
        elif not isinstance(node.target, ast.Name):
            self.visit(node.target)

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> None:
        if node.name and not self._scopes:
            self.found.binds.add(node.name)
        self.generic_visit(node)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            if alias.asname:
                self._imports(alias.asname, alias.name, "")
            else:
                unit = alias.name.split(".")[0]
                self._imports(unit, unit, "")

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        base = absolute(node, self._module, is_package=self._is_package)
        for alias in node.names:
            if alias.name == "*":
                self.stars.append(base)
            else:
                self._imports(alias.asname or alias.name, base, alias.name)

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        if not self._scopes:
            self.found.binds.add(node.name)
        for one in (*node.decorator_list, *_defaults(node)):
            self.visit(one)
        self._body(node, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        for one in _defaults(node):
            self.visit(one)
        self._body(node, [node.body])

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        if not self._scopes:
            self.found.binds.add(node.name)
        for outer in (*node.decorator_list, *node.bases, *(k.value for k in node.keywords)):
            self.visit(outer)
        at_top = not self._scopes
        own = {n for one in node.body for n in _bound_by(one)}
        # The value that is assigned to a name may use the global with the same name.
        read_first = {
            part.id
            for one in node.body
            if isinstance(one, ast.Assign | ast.AnnAssign | ast.AugAssign) and one.value is not None
            for part in ast.walk(one.value)
            if isinstance(part, ast.Name) and part.id in _bound_by(one)
        }
        for name in read_first:
            self._needs(name, "")
        # Functions inside a class do not see the names of the class.
        for one in node.body:
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                self._scopes.append(own)
                for part in (*one.decorator_list, *_defaults(one)):
                    self.visit(part)
                self._scopes[-1] = set()
                if at_top:
                    self._method(one)
                else:
                    self._body(one, one.body)
            else:
                self._scopes.append(own)
                self.visit(one)
            self._scopes.pop()

    def _method(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        """Visit a method's body, and also store separately the names that it needs."""
        others, self.found.lazy = self.found.lazy, {}
        self._body(node, node.body)
        needed, self.found.lazy = self.found.lazy, others
        _merge(self.found.methods.setdefault(node.name, {}), needed)
        _merge(others, needed)

    def _comprehension(self, node: _Comprehension) -> None:
        own = {
            part.id
            for one in node.generators
            for part in ast.walk(one.target)
            if isinstance(part, ast.Name)
        }
        self._scopes.append(own)
        self.generic_visit(node)
        self._scopes.pop()

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def _body(self, node: _Function, body: Sequence[ast.AST]) -> None:
        args = node.args
        own = {a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)}
        own |= {a.arg for a in (args.vararg, args.kwarg) if a is not None}
        for one in body:
            own |= set(_bound_by(one))
        declared = {
            name
            for one in body
            for part in ast.walk(one)
            if isinstance(part, ast.Global)
            for name in part.names
        }
        before, self._inside = self._inside, True
        self._scopes.append(own - declared)
        for one in body:
            self.visit(one)
        self._scopes.pop()
        self._inside = before

    def _imports(self, name: str, module: str, inner: str) -> None:
        self.found.imports[name] = (module, inner)
        if not self._scopes:
            self.found.binds.add(name)

    def _needs(self, name: str, chain: str) -> None:
        is_local = any(name in scope for scope in self._scopes)
        if is_local and name not in self.found.imports:
            return
        names = self.found.lazy if self._inside else self.found.eager
        names.setdefault(name, set()).add(chain)


def _defaults(node: _Function) -> Iterator[ast.expr]:
    yield from node.args.defaults
    yield from (one for one in node.args.kw_defaults if one is not None)


def _bound_by(node: ast.AST) -> set[str]:
    """Return the names that a statement inside a function or class binds there."""
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return {node.name}
    names: set[str] = set()
    if isinstance(node, ast.Lambda | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp):
        return names
    if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
        names.add(node.id)
    elif isinstance(node, ast.Import | ast.ImportFrom):
        names |= {alias.asname or alias.name.split(".")[0] for alias in node.names}
    elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
        names.add(node.name)
    for child in ast.iter_child_nodes(node):
        names |= _bound_by(child)
    return names


def _merge(names: Names, others: Mapping[str, set[str]]) -> None:
    for name, chains in others.items():
        names.setdefault(name, set()).update(chains)
