"""Writes a class of the running script or a notebook, with its attributes as they are now.

    home, name = write(capture, cls, "the objective uses 'Net'")

The class is defined again on the device: its bases, its metaclass and decorators of libraries run
there. The researcher's own decorators do not run again: each attribute that such a decorator or a
later statement has set is set to its value after the definition. A method that nothing calls may
use what a device lacks. Only one thread at a time may use this module.
"""

from __future__ import annotations

import ast
import builtins
import copy
import enum
import types
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from hyperflock._base.codes import cannot
from hyperflock._base.errors import BundleError
from hyperflock._bundle.capture_parts import Home, Site, indented
from hyperflock._bundle.checks.globals_check import MADE_AGAIN, constant, equal
from hyperflock._bundle.plain_values import is_plain
from hyperflock._bundle.source import definitions as _definitions
from hyperflock._bundle.source.definitions import shown_file

if TYPE_CHECKING:
    from hyperflock._bundle.capture import Capture

_MISSING = object()
# Attributes that Python itself sets.
_MADE = frozenset({"_abc_impl", "_is_protocol", "_is_runtime_protocol"})


@dataclass(frozen=True)
class Late:
    """An attribute that is set after its class was defined.

    Attributes
    ----------
    path : str
        The attribute's path: ``.rate``, or ``.Inner.rate`` if it belongs to the inner class
        ``Inner``.
    value
        Its value.
    is_made : bool
        Whether the class statement sets it too. If ``value`` cannot be written, the attribute may
        keep the value that the class statement sets.
    """

    path: str
    value: Any
    is_made: bool


def write(capture: Capture, cls: type, where: str) -> tuple[Home, str]:
    """Write a class and what it uses; return its generated module and its name there."""
    found, methods = _definitions.class_node(cls)
    home = capture.home(cls.__module__)
    namespace = vars(home.module) if home.module else {}
    file = methods[0].__code__.co_filename if methods else str(namespace.get("__file__", "<cell>"))
    site = Site(where, shown_file(file), found)
    capture.written.add((file, site.line))
    shown = f"the class '{cls.__qualname__}'"
    name = capture.name(cls, home)
    capture.values.remember(cls, home, name, ready=False)
    home.bound[name] = None
    node = capture.with_specials(found, namespace, shown, site)
    node.decorator_list = [
        one for one in node.decorator_list if not _is_own(capture, one, namespace)
    ]
    late = list(_prepare(capture, cls, node, "", home, site))
    names = _Names(node)
    _check_body(cls, node, names.body, namespace, site)
    capture.bind(names.body, namespace, home, site, is_later=False)
    annotated = _annotations(node)
    capture.bind(
        annotated, namespace, home, site, is_later=True,
        methods=dict.fromkeys(annotated, frozenset()),
    )  # fmt: skip
    free: dict[str, str] = {}
    for method in methods:
        for variable, cell in zip(
            method.__code__.co_freevars, method.__closure__ or (), strict=True
        ):
            if variable != "__class__" and variable not in free:
                capture.check_cell(cell, variable, method)
                free[variable] = capture.values.expression(
                    cell.cell_contents, home, site.uses(variable)
                )
    home.lines += ["", f"# {site.file}, line {site.line}"]
    if name == node.name and not free:
        home.lines += [*ast.unparse(node).splitlines(), ""]
    else:
        made = capture.variable()
        home.lines += [f"def {made}({', '.join(free)}):"]
        home.lines += [*indented(ast.unparse(node)), f"    return {node.name}"]
        home.lines += ["", f"{name} = {made}({', '.join(free.values())})"]
    capture.values.remember(cls, home, name)
    unused = {method for method in names.methods if _may_stay_unused(capture, cls, method)}
    gated = {one: frozenset(users) for one, users in names.users.items() if users <= unused}
    capture.bind(names.later, namespace, home, site, is_later=True, methods=gated)
    _set_late(capture, late, home, name, site)
    for part in found.body:
        own = getattr(part, "name", "")
        is_unused = isinstance(part, ast.FunctionDef) and own in unused
        capture.check_code(
            part if isinstance(part, ast.FunctionDef) else ast.Module([part], []),
            home, shown, site, frozenset({own}) if is_unused else None,
        )  # fmt: skip
    return home, name


def changes(cls: type, node: ast.ClassDef, path: str = "") -> Iterator[Late]:
    """Yield the attributes of a class whose values its source text does not determine, and the
    functions that were set after its definition.

    ``node`` is the definition. Attributes of classes inside the class are yielded too.
    """
    if isinstance(cls, enum.EnumMeta) or (issubclass(cls, tuple) and hasattr(cls, "_fields")):
        return
    own = dict(vars(cls))
    simple, often = _simple_assignments(node)
    inside = _definition_lines(node)
    fields = own.get("__dataclass_fields__", {})
    for name, value in own.items():
        if (name.startswith("__") and name.endswith("__")) or name in _MADE:
            continue
        statement = simple.get(name) if name not in often else None
        definition = inside.get(name)
        if isinstance(definition, ast.ClassDef):
            if isinstance(value, type):
                yield from changes(value, definition, f"{path}.{name}")
            continue
        if isinstance(value, types.FunctionType):
            if _is_from_outside(value, name, inside, node):
                yield Late(f"{path}.{name}", value, is_made=False)
            continue
        if hasattr(type(value), "__get__") or isinstance(value, type):
            continue
        if statement is not None:
            if _is_literal(statement, value):
                continue
            if name in fields and isinstance(statement, ast.Call):
                continue  # ``field(...)``, which the decorator of a dataclass reads
        yield Late(f"{path}.{name}", value, is_made=statement is not None or name in often)


def _prepare(
    capture: Capture, cls: type, node: ast.ClassDef, path: str, home: Home, site: Site
) -> Iterator[Late]:
    """Put plain values into the body of a class, and yield the attributes to set later."""
    for late in changes(cls, node, path):
        statement = _statement_of(node, late.path)
        if statement is None or not is_plain(late.value):
            yield late
            continue
        text = capture.values.expression(late.value, home, site.uses(late.path[1:]))
        statement.value = ast.parse(text, mode="eval").body


def _statement_of(node: ast.ClassDef, path: str) -> ast.Assign | ast.AnnAssign | None:
    """Return the statement that assigns an attribute of a class, or of a class inside the class.
    Return None unless there is exactly one.
    """
    first, _, rest = path[1:].partition(".")
    for one in node.body:
        if rest and isinstance(one, ast.ClassDef) and one.name == first:
            return _statement_of(one, f".{rest}")
    if rest or first in _simple_assignments(node)[1]:
        return None
    for one in node.body:
        if isinstance(one, ast.Assign | ast.AnnAssign) and first in _targets(one):
            return one
    return None


def _set_late(capture: Capture, late: list[Late], home: Home, name: str, site: Site) -> None:
    for one in late:
        mark = capture.mark()
        try:
            text = capture.values.expression(one.value, home, site.uses(one.path[1:]))
        except BundleError as error:
            if one.is_made and error.code in MADE_AGAIN:
                capture.undo(mark)
                continue
            raise site.placed(error, one.path[1:].partition(".")[0]) from None
        home.lines.append(f"{name}{one.path} = {text}")


def _targets(one: ast.stmt) -> list[str]:
    targets: list[ast.expr] = []
    if isinstance(one, ast.Assign):
        targets = one.targets
    elif isinstance(one, ast.AnnAssign):
        targets = [one.target]
    return [target.id for target in targets if isinstance(target, ast.Name)]


def _simple_assignments(node: ast.ClassDef) -> tuple[dict[str, ast.expr], set[str]]:
    """Return the names that a body assigns once, each with the assigned expression, and the other
    names that it assigns.
    """
    once: dict[str, ast.expr] = {}
    often: set[str] = set()
    for one in node.body:
        names = _targets(one)
        if (
            isinstance(one, ast.Assign | ast.AnnAssign)
            and one.value is not None
            and len(names) == 1
        ):
            often |= {*names} & once.keys()
            once[names[0]] = one.value
        elif not isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            often |= {
                part.id
                for part in ast.walk(one)
                if isinstance(part, ast.Name)
                and isinstance(part.ctx, ast.Store)
                and not (isinstance(one, ast.AnnAssign) and one.value is None)
            }
    return once, often


def _definition_lines(
    node: ast.ClassDef,
) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]:
    return {
        one.name: one
        for one in node.body
        if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
    }


def _is_from_outside(
    value: types.FunctionType, name: str, inside: Mapping[str, ast.stmt], node: ast.ClassDef
) -> bool:
    """Return whether a function became an attribute of a class after the class was defined."""
    code = value.__code__
    if getattr(inside.get(name), "decorator_list", None):
        return False  # a decorator made it
    if name not in inside and code.co_filename.startswith("<") and "ipy" not in code.co_filename:
        return False  # as a dataclass makes it
    if node.lineno <= code.co_firstlineno <= (node.end_lineno or 0):
        return False
    return value.__module__ == "__main__" or name in inside or value.__name__ != name


def _is_literal(expression: ast.expr, value: Any) -> bool:
    try:
        return equal(constant(expression), value)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return False


def _is_own(capture: Capture, decorator: ast.expr, namespace: dict[str, Any]) -> bool:
    """Return whether a decorator is the researcher's own code."""
    node = decorator.func if isinstance(decorator, ast.Call) else decorator
    chain: list[str] = []
    while isinstance(node, ast.Attribute):
        chain.append(node.attr)
        node = node.value
    value = namespace.get(node.id, _MISSING) if isinstance(node, ast.Name) else _MISSING
    for attribute in reversed(chain):
        value = getattr(value, attribute, _MISSING)
    if value is _MISSING:
        return False
    module = getattr(value, "__module__", None)
    if isinstance(value, types.MethodType):
        owner = value.__self__
        module = getattr(owner if isinstance(owner, type) else type(owner), "__module__", None)
    if not isinstance(module, str):
        return False
    return module == "__main__" or capture.origin(module) is not None


def _may_stay_unused(capture: Capture, cls: type, method: str) -> bool:
    """Return whether a method is called only by code that names it, and neither by a library nor by
    Python itself.
    """
    if method.startswith("<") or (method.startswith("__") and method.endswith("__")):
        return False
    return not any(
        method in vars(base)
        for base in cls.__mro__[1:]
        if base.__module__ != "__main__" and capture.origin(base.__module__) is None
    )


class _Names:
    """The names that a class looks up.

    Attributes
    ----------
    body : dict
        The names that its definition looks up, with their attribute chains.
    later : dict
        The names that its methods look up.
    users : dict
        For each name in `later`, the methods that look it up.
    methods : set of str
        The names of its methods.
    """

    def __init__(self, node: ast.ClassDef) -> None:
        self.body: dict[str, list[str]] = {}
        self.later: dict[str, list[str]] = {}
        self.users: dict[str, set[str]] = {}
        self.methods: set[str] = set()
        future = ast.parse("from __future__ import annotations").body
        tree = ast.fix_missing_locations(ast.Module([*future, copy.deepcopy(node)], []))
        self._read(compile(tree, "<class>", "exec", dont_inherit=True))

    def _read(self, code: types.CodeType) -> None:
        for name, chains in _definitions.global_names(code, inner=False).items():
            self.body.setdefault(name, []).extend(chains)
        for inner in code.co_consts:
            if not isinstance(inner, types.CodeType):
                continue
            # The body of a class runs when the class is defined. The body of a function (flag
            # CO_OPTIMIZED) does not run when the function is defined.
            if not inner.co_flags & 1:
                self._read(inner)
                continue
            self.methods.add(inner.co_name)
            for name, chains in _definitions.global_names(inner).items():
                self.later.setdefault(name, []).extend(chains)
                self.users.setdefault(name, set()).add(inner.co_name)


def _annotations(node: ast.ClassDef) -> dict[str, list[str]]:
    """Return the names that annotations of attributes read, because dataclasses may evaluate such
    annotations.
    """
    return {
        part.id: []
        for annotation in node.body
        if isinstance(annotation, ast.AnnAssign)
        for part in ast.walk(annotation.annotation)
        if isinstance(part, ast.Name)
    }


def _check_body(
    cls: type, node: ast.ClassDef, names: dict[str, list[str]], namespace: dict[str, Any],
    site: Site,
) -> None:  # fmt: skip
    """Check that a class from inside a function reads no variable of that function."""
    own = {
        part.id
        for part in ast.walk(node)
        if isinstance(part, ast.Name) and isinstance(part.ctx, ast.Store)
    }
    own |= {part.name for part in node.body if isinstance(part, ast.FunctionDef | ast.ClassDef)}
    lost = names.keys() - own - namespace.keys() - vars(builtins).keys()
    for name in sorted(lost):
        if name.startswith(("__", "_hf_")):
            continue
        error = cannot(
            "source",
            f"the class '{cls.__name__}' reads '{name}' of the function around it while it is "
            "defined; read it in a method, or put the class at the top",
        )
        raise site.placed(error, name)
