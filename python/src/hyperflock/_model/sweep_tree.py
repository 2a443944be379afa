"""Reads a YAML or JSON file as a tree of nodes that know their lines.

YAML needs PyYAML, which is imported only for YAML. JSON needs nothing. Any thread may use this
module.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, NoReturn

from hyperflock._base.errors import HyperflockError

# A function that raises an error for a file. It gets the line (0 if unknown), the key and the
# reason.
Refuse = Callable[[int, str, str], NoReturn]

MAX_FILE_BYTES = 1 << 20
MAX_DEPTH = 32

_SPACE = re.compile(r"[ \t\r\n]*")
_TOKEN = re.compile(r"[-+.\w]+")


@dataclass
class Node:
    """A value of the file: a scalar, a list or a dict."""

    kind: Literal["scalar", "list", "dict"]
    line: int
    value: Any = None
    items: list[Node] = field(default_factory=list)
    members: dict[str, Node] = field(default_factory=dict)

    def plain(self) -> Any:
        """Return the value as plain Python objects, without line numbers."""
        if self.kind == "list":
            return [item.plain() for item in self.items]
        if self.kind == "dict":
            return {name: member.plain() for name, member in self.members.items()}
        return self.value


def read_tree(path: Path, refuse: Refuse) -> Node:
    """Read a file whose name ends in .json, .yaml or .yml."""
    try:
        content = path.read_bytes()
    except OSError as error:
        refuse(0, "", f"cannot be read: {error.strerror or error}")
    if len(content) > MAX_FILE_BYTES:
        refuse(0, "", "is larger than 1 MiB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        refuse(0, "", "is not UTF-8")
    return _Json(text, refuse).read() if path.suffix == ".json" else _yaml(text, refuse)


# ---- a reader of JSON; that of the standard library does not give the lines of values


class _Json:
    def __init__(self, text: str, refuse: Refuse) -> None:
        self._text = text
        self._at = 0
        self._refuse = refuse

    def read(self) -> Node:
        root = self._node(0)
        self._skip()
        if self._at < len(self._text):
            self._fail("the file goes on after its value")
        return root

    def _node(self, depth: int) -> Node:
        self._skip()
        line = self._line()
        if depth > MAX_DEPTH:
            self._fail(f"the file is nested deeper than {MAX_DEPTH} levels")
        match self._text[self._at : self._at + 1]:
            case "{":
                members: dict[str, Node] = {}
                for _ in self._parts("}"):
                    name = self._string()
                    if name in members:
                        self._fail(f"the key '{name}' is there twice")
                    self._expect(":")
                    members[name] = self._node(depth + 1)
                return Node("dict", line, members=members)
            case "[":
                return Node("list", line, items=[self._node(depth + 1) for _ in self._parts("]")])
            case '"':
                return Node("scalar", line, self._string())
            case _:
                return Node("scalar", line, self._scalar())

    def _parts(self, closing: str) -> Any:
        """Yield once before each element of a list or dict; the caller then reads the element."""
        self._at += 1
        self._skip()
        if self._text.startswith(closing, self._at):
            self._at += 1
            return
        while True:
            yield
            self._skip()
            if self._text.startswith(closing, self._at):
                self._at += 1
                return
            self._expect(",")

    def _string(self) -> str:
        self._skip()
        if not self._text.startswith('"', self._at):
            self._fail("a text in quotes is missing")
        try:
            value, self._at = json.JSONDecoder().raw_decode(self._text, self._at)
        except json.JSONDecodeError as error:
            self._fail(error.msg)
        return str(value)

    def _scalar(self) -> Any:
        match = _TOKEN.match(self._text, self._at)
        try:
            value = json.loads(match.group() if match else "")
        except ValueError:
            self._fail("a value is missing")
        assert match
        self._at = match.end()
        return value

    def _expect(self, mark: str) -> None:
        self._skip()
        if not self._text.startswith(mark, self._at):
            self._fail(f"'{mark}' is missing")
        self._at += 1

    def _skip(self) -> None:
        match = _SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _line(self) -> int:
        return self._text.count("\n", 0, self._at) + 1

    def _fail(self, why: str) -> NoReturn:
        self._refuse(self._line(), "", f"is not JSON: {why}")


# ---- YAML

# YAML 1.2's floats. PyYAML implements 1.1, in which 1e-4 is a text.
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?")
_SIMPLE = (type(None), bool, int, float, str)


def _yaml(text: str, refuse: Refuse) -> Node:
    try:
        import yaml
    except ImportError:
        raise HyperflockError(
            "PyYAML is not installed; 'pip install hyperflock[yaml]' brings it, and a sweep as "
            "JSON needs nothing",
            code="no_yaml",
        ) from None

    class Loader(yaml.SafeLoader):  # type: ignore[misc]
        """The loader of plain values, which also reads 1e-4 as a float."""

    Loader.add_implicit_resolver("tag:yaml.org,2002:float", _FLOAT, list("-+.0123456789"))
    loader = Loader(text)
    try:
        root = loader.get_single_node()
        if root is None:
            refuse(1, "", "is empty")
        return _yaml_node(loader, root, refuse, 0, set())
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        refuse(mark.line + 1 if mark else 0, "", f"is not YAML: {error.problem}")
    except (yaml.YAMLError, RecursionError) as error:
        refuse(0, "", f"is not YAML: {error}".splitlines()[0])
    except ValueError as error:  # such as a date without a day
        refuse(0, "", f"has a value that cannot be read: {error}")
    finally:
        loader.dispose()


def _yaml_node(loader: Any, node: Any, refuse: Refuse, depth: int, above: set[int]) -> Node:
    line = node.start_mark.line + 1
    if depth > MAX_DEPTH or id(node) in above:
        refuse(line, "", f"is nested deeper than {MAX_DEPTH} levels")
    above = above | {id(node)}
    if node.id == "mapping":
        members: dict[str, Node] = {}
        for key, value in node.value:
            name = loader.construct_object(key) if key.id == "scalar" else None
            if not isinstance(name, str):
                refuse(key.start_mark.line + 1, "", f"has the key {key.value!r:.40}, not a text")
            if name in members:
                refuse(key.start_mark.line + 1, name, "is there twice")
            members[name] = _yaml_node(loader, value, refuse, depth + 1, above)
            members[name].line = key.start_mark.line + 1
        return Node("dict", line, members=members)
    if node.id == "sequence":
        items = [_yaml_node(loader, item, refuse, depth + 1, above) for item in node.value]
        return Node("list", line, items=items)
    value = loader.construct_object(node)
    if not isinstance(value, _SIMPLE):
        refuse(line, "", f"has a value of the type {type(value).__name__}; put it in quotes")
    return Node("scalar", line, value)
