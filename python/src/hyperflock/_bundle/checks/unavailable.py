"""Finds out why a statement at the top of a file cannot run on a device as it runs here.

    for lost in reasons(statement, resolver): lost.kind, lost.sentence

A device lacks a package, a file of this machine, the arguments and the environment of this process,
and the functions of this package that only the researcher has. The checks read text. Any thread may
use this module.
"""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from hyperflock._base.codes import cannot
from hyperflock._base.errors import BundleError
from hyperflock._bundle.source.certain_calls import called_name, certain_calls
from hyperflock._bundle.source.runtime import ASKED_PACKAGES, runtime_has
from hyperflock._bundle.source.statements import Imports, Statement
from hyperflock._trial.elsewhere import is_elsewhere

_OPENERS = frozenset(
    {
        *("open", "load", "loadtxt", "genfromtxt", "fromfile", "memmap", "imread", "Path"),
        *("read_csv", "read_json", "read_parquet", "read_table", "connect"),
    }
)
_READ_MODES = ("r", "rb", "rt")
_PARSES = frozenset({"parse_args", "parse_known_args", "parse_intermixed_args"})

WHEEL = "declare its wheel by wheels=[...], or import it only where this machine runs"
FILE = "send it by data=... and take its path from trial.data"
ARGUMENTS = "read them at the top of the script that submits, and use the value"
ENVIRONMENT = "read it at the top of the script that submits, and use the value"
RESEARCHER = 'call it below `if __name__ == "__main__":`, outside of the objective'


@dataclass(frozen=True)
class Lost:
    """A reason why a device cannot run a statement.

    Attributes
    ----------
    kind : str
        The kind of the error, as for `cannot`.
    what : str
        What the statement does, as a sentence without its subject: ``imports 'pandas', ...``.
    remedy : str
        What the researcher can change.
    line : int
        The statement's line.
    package : str or None
        The top-level module that a device lacks, if that is the reason.
    """

    kind: str
    what: str
    remedy: str
    line: int
    package: str | None = None

    def error(self, where: str) -> BundleError:
        """Return the error for this reason; ``where`` is the subject of its message."""
        return self.with_sentence(f"{where} {self.what}; {self.remedy}")

    def with_sentence(self, sentence: str) -> BundleError:
        """Return the error for this reason with another message."""
        error = cannot(self.kind, sentence)
        error.package = self.package
        return error


def lacks(name: str, wheels: frozenset[str]) -> bool:
    """Return whether a device lacks a module that is not one of the researcher's files."""
    unit = name.split(".")[0]
    return not runtime_has(unit) and unit not in wheels | ASKED_PACKAGES


def missing(name: str, line: int) -> Lost:
    """Return the reason for an import of a package that a device lacks."""
    unit = name.split(".")[0]
    what = f"imports '{unit}', which the browsers' runtime does not have"
    return Lost("package", what, WHEEL, line, package=unit)


def reason(one: Statement, bound: Imports, folder: Path) -> Lost | None:
    """Return why a device cannot run a statement, apart from the statement's imports.

    ``bound`` has the names that imports of the file bind.
    """
    node = one.node
    for call in certain_calls([node]):
        first, _, rest = (called_name(call) or "").partition(".")
        full = ".".join(filter(None, (*bound.get(first, ("",)), rest)))
        package, _, last = full.rpartition(".")
        if first in bound and is_elsewhere(package, last):
            what = f"calls {full}, which only the researcher's machine has"
            return Lost("not_in_trial", what, RESEARCHER, call.lineno)
    return next(local_reads(node, folder, inside=False), None)


def local_reads(node: ast.AST, folder: Path, *, inside: bool = True) -> Iterator[Lost]:
    """Yield what code reads from this machine: its files, arguments and environment.

    Without ``inside``, the bodies of functions are left out.
    """
    for part in ast.walk(node) if inside else _outside(node):
        if isinstance(part, ast.Call):
            yield from _call(part, folder)
        elif isinstance(part, ast.Constant):
            if isinstance(part.value, str) and Path(part.value[:4096]).is_absolute():
                yield from _file(part, part.value, folder)
        elif isinstance(part, ast.Attribute):
            if _dotted(part) == "sys.argv":
                what = "reads sys.argv, and a device has no arguments"
                yield Lost("state", what, ARGUMENTS, part.lineno)
        elif (
            isinstance(part, ast.Subscript)
            and isinstance(part.ctx, ast.Load)
            and _dotted(part.value) in {"os.environ", "environ"}
        ):
            yield from _variable(part.slice)


def _outside(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes that are in no function."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        yield node
        for child in ast.iter_child_nodes(node):
            yield from _outside(child)


def _call(call: ast.Call, folder: Path) -> Iterator[Lost]:
    name = _dotted(call.func)
    last = name.rpartition(".")[2]
    if last in _PARSES and not call.args and not call.keywords:
        what = f"calls {last}(), and a device has no arguments"
        yield Lost("state", what, ARGUMENTS, call.lineno)
    elif name in {"os.environ.get", "environ.get", "os.getenv", "getenv"} and call.args:
        yield from _variable(call.args[0])
    elif last in _OPENERS and call.args and _is_text(call.args[0]) and _reads(call):
        yield from _file(call.args[0], call.args[0].value, folder)  # type: ignore[attr-defined]


def _variable(key: ast.expr) -> Iterator[Lost]:
    if isinstance(key, ast.Constant) and isinstance(key.value, str) and key.value in os.environ:
        what = f"reads the environment's variable {key.value}, which a device does not have"
        yield Lost("state", what, ENVIRONMENT, key.lineno)


def _file(node: ast.expr, text: str, folder: Path) -> Iterator[Lost]:
    try:
        there = any((base / text).is_file() for base in (Path.cwd(), folder))
    except (OSError, ValueError):
        return
    if there and not text.startswith("/dev/"):
        yield Lost("path", f"uses the file '{text}' of this machine", FILE, node.lineno)


def _dotted(node: ast.expr) -> str:
    """Return the dotted name of an expression, such as ``a.b.c``. If the expression begins with
    anything but a name, such as a call, return only its attributes: ``b.c`` for ``f().b.c``.
    """
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if isinstance(node, ast.Name):
        parts.append(node.id)
    return ".".join(reversed(parts))


def _is_text(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _reads(call: ast.Call) -> bool:
    modes = [*call.args[1:2], *(k.value for k in call.keywords if k.arg == "mode")]
    return all(not _is_text(mode) or mode.value in _READ_MODES for mode in modes)  # type: ignore[attr-defined]
