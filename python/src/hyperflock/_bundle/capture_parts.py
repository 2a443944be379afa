"""The parts of a capture: generated modules, and places in the researcher's files.

    home = Home("hyperflock_main", module, "")
    site = Site("'train'", "train.py", node)
    raise site.placed(error, "rate")        # train.py, line 12: ...

The module has plain data only; any thread may use it.
"""

from __future__ import annotations

import ast
import re
import types
from collections.abc import Mapping
from dataclasses import dataclass, field

from hyperflock._base.codes import cannot
from hyperflock._base.errors import BundleError

_HEAD = '"""Written by hyperflock: what an objective uses of {what}."""\n\n'
_FUTURE = "from __future__ import annotations\n\n"
# A function that generated modules contain. It sets a closed-over variable after the function's
# definition, so that definitions may refer to each other.
_CELL = """
def _hf_cell(function, name, value):
    cells = dict(zip(function.__code__.co_freevars, function.__closure__))
    cells[name].cell_contents = value
"""
_PLACE = re.compile(r"# (.+), line (\d+)")


class NotReadyError(BundleError):
    """A value cannot be written yet, because it needs a class that is still being defined."""

    def __init__(self, message: str) -> None:
        super().__init__(message, code=cannot("value", message).code)


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
    bound : dict
        The names that it binds, in the order in which it binds them.
    uses : dict
        The other generated modules that it imports, in the order of its imports.
    """

    name: str
    module: types.ModuleType | None
    package: str
    lines: list[str] = field(default_factory=list)
    bound: dict[str, None] = field(default_factory=dict)
    uses: dict[str, None] = field(default_factory=dict)

    @property
    def is_typed(self) -> bool:
        """Whether a device cannot import the module, because it is the running script, a notebook
        or a prompt.
        """
        return self.module is None or self.module.__name__ == "__main__"

    def text(self, imports: list[str]) -> str:
        """Return the module's source; the lines ``imports`` come first."""
        what = "a script or notebook" if self.is_typed else f"'{self.name}'"
        helper = _CELL if any("_hf_cell(" in line for line in self.lines) else ""
        lines = "\n".join([*imports, *self.lines])
        return _HEAD.format(what=what) + _FUTURE + helper + lines + "\n"


@dataclass(frozen=True)
class Captured:
    """An objective as source text.

    Attributes
    ----------
    entry : str
        The objective as ``module:name``.
    sources : dict
        The files by their names in the bundle.
    arrays : dict
        The arrays as ``npy`` files, by their names in the bundle.
    generated : frozenset of str
        The names of the generated modules.
    entries : list of (str, str)
        The globals of files in the bundle that the objective uses, each with its module.
    constants : dict
        Statements that set globals of these files to their values, by module and name.
    written : frozenset of (str, int)
        The file and first line of each definition that was written.
    """

    entry: str
    sources: dict[str, bytes]
    arrays: dict[str, bytes]
    generated: frozenset[str]
    entries: list[tuple[str, str]]
    constants: dict[str, dict[str, str]]
    written: frozenset[tuple[str, int]]


@dataclass(frozen=True)
class Site:
    """A definition in a file or cell, for messages.

    Attributes
    ----------
    where : str
        The definition as the beginning of a sentence: ``'train'``.
    file : str
        The file's name as a message shows it.
    node : ast.AST
        The definition.
    """

    where: str
    file: str
    node: ast.AST

    @property
    def line(self) -> int:
        """The definition's first line."""
        return int(getattr(self.node, "lineno", 1))

    def placed(self, error: BundleError, name: str) -> BundleError:
        """Return an error whose message names the file and line where a name is used first."""
        found = (
            part.lineno
            for part in ast.walk(self.node)
            if isinstance(part, ast.Name) and part.id == name
        )
        return error.at(self.file, min(found, default=self.line))

    def uses(self, name: str) -> str:
        """Return the beginning of a message, such as ``the objective uses 'rate'``."""
        if self.where == "the objective":
            return f"the objective uses '{name}'"
        return f"{self.where}, which uses '{name}'"


def indented(text: str) -> list[str]:
    """Return a definition's lines indented; lines inside its strings stay unchanged."""
    inside: set[int] = set()
    for part in ast.walk(ast.parse(text)):
        if isinstance(part, ast.Constant | ast.JoinedStr) and part.end_lineno is not None:
            inside.update(range(part.lineno + 1, part.end_lineno + 1))
    return [
        line if number in inside or not line else f"    {line}"
        for number, line in enumerate(text.splitlines(), 1)
    ]


def place_of(sources: Mapping[str, bytes], module: str, line: int) -> tuple[str, int]:
    """Return the researcher's file and line for a line of a module in the bundle.

    For a line of a generated module, return the first line of the researcher's definition that it
    belongs to.
    """
    path = module.replace(".", "/")
    content = sources.get(f"{path}.py", b"").decode(errors="replace")
    if content.startswith(_HEAD[:24]):
        for text in reversed(content.splitlines()[:line]):
            if (found := _PLACE.fullmatch(text)) is not None:
                return found[1], int(found[2])
    return f"{module.rpartition('.')[2]}.py", line
