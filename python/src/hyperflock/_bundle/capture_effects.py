"""Writes the changes that a script has made to libraries: settings and assigned attributes.

    write(capture, home)

A device has the libraries without these changes. So the bundle sets these to their present values:
NumPy's error handling, the context of ``decimal``, Chainer's configuration, and every attribute of
a library's module or class that the script's text assigns. Nothing is run. Only one thread at a
time may use this module.
"""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperflock._base.errors import BundleError
from hyperflock._bundle.capture_parts import Home
from hyperflock._bundle.source.definitions import shown_file, source_tree, typed_files
from hyperflock._bundle.source.runtime import ASKED_PACKAGES, RUNTIME_PACKAGES

if TYPE_CHECKING:
    from hyperflock._bundle.capture import Capture

_NUMPY = {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
_CHAINER: dict[str, Any] = {
    "autotune": False,
    "compute_mode": None,
    "debug": False,
    "dtype": np.float32,
    "enable_backprop": True,
    "keep_graph_on_report": False,
    "lazy_grad_sum": False,
    "train": True,
    "type_check": True,
}
_PACKAGES = (RUNTIME_PACKAGES | ASKED_PACKAGES) - {"hyperflock", "hyperflock_worker"}
_MISSING = object()


def write(capture: Capture, home: Home) -> None:
    """Write lines into ``home`` that make the script's changes of libraries on a device too."""
    found = {name: how for name, how in np.geterr().items() if how != _NUMPY[name]}
    if found:
        given = ", ".join(f"{name}={how!r}" for name, how in found.items())
        home.lines.append(f"{capture.module(np, home, 'the script')}.seterr({given})")
    decimal = sys.modules.get("decimal")
    if decimal is not None:
        context = decimal.getcontext()
        if (context.prec, context.rounding) != (28, decimal.ROUND_HALF_EVEN):
            there = f"{capture.module(decimal, home, 'the script')}.getcontext()"
            home.lines.append(f"{there}.prec = {context.prec}")
            home.lines.append(f"{there}.rounding = {context.rounding!r}")
    chainer = sys.modules.get("chainer")
    if chainer is not None:
        _write_chainer(capture, chainer, home)
    for parent, chain, file, line in _assigned():
        _write_attribute(capture, parent, chain, file, line, home)


def _write_chainer(capture: Capture, chainer: types.ModuleType, home: Home) -> None:
    for name, usual in _CHAINER.items():
        value = getattr(chainer.config, name, usual)
        if value == usual:
            continue
        there = capture.module(chainer, home, "the script")
        is_mixed = value is getattr(chainer, "mixed16", _MISSING)
        text = f"{there}.mixed16" if is_mixed else capture.values.expression(value, home, name)
        home.lines.append(f"{there}.global_config.{name} = {text}")


def _write_attribute(
    capture: Capture, parent: Any, chain: str, file: str, line: int, home: Home
) -> None:
    value = getattr(parent, chain.rpartition(".")[2], _MISSING)
    if value is _MISSING:
        return
    try:
        where = f"the script sets '{chain}'"
        there = capture.values.expression(parent, home, where)
        text = capture.values.expression(value, home, where)
    except BundleError as error:
        raise error.at(file, line) from None
    home.lines.append(f"{there}.{chain.rpartition('.')[2]} = {text}")


def _assigned() -> Iterator[tuple[Any, str, str, int]]:
    """Yield the attributes of libraries' modules and classes that the script's text assigns.

    Each item has the module or class, the attribute's dotted name in the text, the file and the
    line.
    """
    main = sys.modules.get("__main__")
    if main is None:
        return
    script = getattr(main, "__file__", None)
    seen: set[tuple[int, str]] = set()
    for name in [str(script)] if script else typed_files():
        tree = source_tree(name, vars(main))
        for node in () if tree is None else ast.walk(tree):
            for target in _targets(node):
                parent = _looked_up(target.value, vars(main))
                if _is_of_library(parent) and (id(parent), target.attr) not in seen:
                    seen.add((id(parent), target.attr))
                    yield parent, ast.unparse(target), shown_file(name), target.lineno


def _targets(node: ast.AST) -> Iterator[ast.Attribute]:
    targets: list[ast.expr] = []
    if isinstance(node, ast.Assign):
        targets = node.targets
    elif isinstance(node, ast.AugAssign | ast.AnnAssign):
        targets = [node.target]
    for target in targets:
        if isinstance(target, ast.Attribute):
            yield target


def _looked_up(expression: ast.expr, namespace: dict[str, Any]) -> Any:
    chain: list[str] = []
    while isinstance(expression, ast.Attribute):
        chain.append(expression.attr)
        expression = expression.value
    found = namespace.get(expression.id, _MISSING) if isinstance(expression, ast.Name) else _MISSING
    for attribute in reversed(chain):
        found = getattr(found, attribute, _MISSING)
    return found


def _is_of_library(parent: Any) -> bool:
    """Return whether a value is a module or class of a package that browsers have."""
    if isinstance(parent, types.ModuleType):
        name = parent.__name__
    elif isinstance(parent, type):
        name = parent.__module__
    else:
        return False
    return isinstance(name, str) and name.split(".")[0] in _PACKAGES
