"""Describes a value by what it is, so that two processes can tell whether they have the same.

    here = describe(value, frozenset({"train"}))      # plain data: it can be JSON
    list(differences(here, there))

Looked into are plain values, containers, arrays, enum members, and classes, objects and functions
of the modules named; a difference is told by its path, such as ``.rates[2]``. All else is unknown,
and unknown is like everything. Runs none of the values' own code but what makes a short text.
This file is sent to the other process too: it imports nothing of this package. Any thread.
"""

from __future__ import annotations

import collections
import contextlib
import enum
import functools
import hashlib
import struct
import sys
import types
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

MAX_NODES = 20_000
MAX_DEPTH = 20
MAX_ARRAY_BYTES = 256 << 20
# A larger container is told by its digest alone.
MAX_NAMED = 50

Node = dict[str, Any]
UNKNOWN: Node = {"kind": "?", "digest": None}

_MAPPINGS = (dict, collections.OrderedDict, collections.defaultdict, collections.Counter)
_SEQUENCES = (list, tuple, collections.deque)
_NAMESPACES = frozenset({"argparse.Namespace", "types.SimpleNamespace"})
# Their `repr` says all that they are.
_TOLD_BY_REPR = frozenset(
    {
        *("datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta"),
        *("decimal.Decimal", "fractions.Fraction", "uuid.UUID", "pathlib.PosixPath"),
        *("pathlib.PurePosixPath", "pathlib.WindowsPath", "pathlib.PureWindowsPath"),
        *("pathlib._local.PosixPath", "pathlib._local.PurePosixPath"),
    }
)
_PLAIN_BASES = frozenset({"builtins.object", "typing.Generic", "typing.Protocol", "abc.ABC"})
_NAN = struct.pack("<d", float("nan"))


@dataclass(frozen=True)
class Difference:
    """One part of a value that is another one there.

    Attributes
    ----------
    path : str
        From the value to the part; empty: all of it.
    here, there : str
        Short texts.
    """

    path: str
    here: str
    there: str


def describe(value: Any, modules: frozenset[str]) -> Node:
    """Describe a value; ``modules`` are those whose classes and functions are looked into."""
    return _Walk(modules).node(value)


def differences(here: Node, there: Node, path: str = "") -> Iterator[Difference]:
    """Give each part that differs, as far as both are known."""
    if "?" in (here["kind"], there["kind"]):
        return
    if here["digest"] is not None and here["digest"] == there["digest"]:
        return
    mine, other = _without_definitions(here, there), _without_definitions(there, here)
    is_inside = here["kind"] == there["kind"] and "items" in here and "items" in there
    if not is_inside or not (here["named"] or mine.keys() == other.keys()):
        yield Difference(path, here["shown"], there["shown"])
    else:
        for label in {**mine, **other}:
            if label in mine and label in other:
                yield from differences(mine[label], other[label], path + label)
            elif (one := mine.get(label) or other[label])["kind"] != "?":
                ours = one["shown"] if label in mine else "missing"
                theirs = "missing" if label in mine else one["shown"]
                yield Difference(path + label, ours, theirs)


def _without_definitions(one: Node, other: Node) -> dict[str, Node]:
    """Its items, but functions and classes that the other lacks, as in a registry.

    A module that is imported later, inside of a function, may add them there too.
    """
    known = other.get("items", {})
    return {
        label: node
        for label, node in one.get("items", {}).items()
        if label in known or not node["kind"].startswith(("class ", "function "))
    }


class _Walk:
    """Describes one value."""

    def __init__(self, modules: frozenset[str]) -> None:
        self._modules = modules
        self._left = MAX_NODES
        self._above: list[int] = []

    def node(self, value: Any) -> Node:
        self._left -= 1
        if self._left < 0 or len(self._above) > MAX_DEPTH:
            return UNKNOWN
        if id(value) in self._above:
            up = len(self._above) - self._above.index(id(value))
            return _leaf("cycle", str(up).encode(), "itself")
        self._above.append(id(value))
        try:
            content = _content(value)
            if content is not None:
                return _leaf(type(value).__name__, content, _short(value))
            return self._compound(value)
        except Exception:  # of an object that is not what it seems
            return UNKNOWN
        finally:
            self._above.pop()

    def _compound(self, value: Any) -> Node:
        cls = type(value)
        if isinstance(value, enum.Enum):
            content = f"{cls.__qualname__}.{value.name}".encode()
            return _leaf("enum", content, f"{cls.__name__}.{value.name}")
        if (array := _array_content(value)) is not None:
            return _leaf("array" if value.shape else cls.__name__, array, _array_shown(value))
        if cls in _MAPPINGS:
            return self._mapping(value)
        if cls in _SEQUENCES:
            items = {f"[{i}]": one for i, one in enumerate(value)}
            return self._items(cls.__name__, items, _short_of_container(value))
        if cls in (set, frozenset):
            return self._set(value)
        if _full_name(cls) in _NAMESPACES:
            return self._items(cls.__name__, _attributes(vars(value)), cls.__name__, named=True)
        if isinstance(value, type):
            return self._class(value)
        if isinstance(value, types.FunctionType):
            return self._function(value)
        return self._object(value)

    def _items(self, kind: str, items: dict[str, Any], shown: str, *, named: bool = False) -> Node:
        if len(items) > self._left:
            return UNKNOWN
        nodes = {label: self.node(one) for label, one in items.items()}
        known = all(node["digest"] is not None for node in nodes.values())
        if not known and len(nodes) > 20 * MAX_NAMED:
            return UNKNOWN
        digest = None
        if known:
            parts = [f"{label}\0{nodes[label]['digest']}" for label in sorted(nodes)]
            digest = _hash("\0".join([kind, *parts]).encode("utf-8", "surrogatepass"))
        made: Node = {"kind": kind, "digest": digest, "shown": shown, "named": named}
        if not known or len(nodes) <= MAX_NAMED:
            made["items"] = nodes
        return made

    def _mapping(self, value: Any) -> Node:
        items: dict[str, Any] = {}
        for key, one in dict.items(value):
            told = self.node(key)
            if told["digest"] is None:
                return UNKNOWN
            plain = type(key) in (str, int, bool) and len(told["shown"]) < 40
            items[f"[{told['shown'] if plain else told['digest']}]"] = one
        if len(items) != len(value):
            return UNKNOWN
        return self._items(type(value).__name__, items, _short_of_container(value))

    def _set(self, value: Any) -> Node:
        nodes = [self.node(one) for one in value]
        if any(node["digest"] is None for node in nodes):
            return UNKNOWN
        content = "\0".join(sorted(node["digest"] for node in nodes)).encode()
        return _leaf(type(value).__name__, content, _short_of_container(value))

    def _class(self, cls: type) -> Node:
        if cls.__module__ not in self._modules or issubclass(cls, enum.Enum):
            return UNKNOWN
        items: dict[str, Any] = {}
        for name, value in vars(cls).items():
            inner = value.__func__ if isinstance(value, classmethod | staticmethod) else value
            if isinstance(inner, types.FunctionType) or not _is_special(name):
                items[f".{name}"] = inner
        shown = f"the class {cls.__name__}"
        return self._items(f"class {cls.__qualname__}", items, shown, named=True)

    def _function(self, function: types.FunctionType) -> Node:
        if function.__globals__.get("__name__") not in self._modules:
            return UNKNOWN
        items = {f".{k}": v for k, v in function.__dict__.items() if k != "__wrapped__"}
        items |= {f"({name})": value for name, value in defaults_of(function).items()}
        kind = f"function {function.__qualname__}"
        return self._items(kind, items, f"the function {function.__name__}", named=True)

    def _object(self, value: Any) -> Node:
        cls = type(value)
        if cls.__module__ not in self._modules:
            return UNKNOWN
        own = dict(getattr(value, "__dict__", ()))
        held: type | None = None
        for base in cls.__mro__:
            if base in (dict, list, tuple):
                held = base
            elif base.__module__ not in self._modules and _full_name(base) not in _PLAIN_BASES:
                return UNKNOWN
            for name, inner in vars(base).items():
                if isinstance(inner, functools.cached_property):
                    own.pop(name, None)  # computed on demand: no state
                elif isinstance(inner, types.MemberDescriptorType):
                    with contextlib.suppress(AttributeError):
                        own[name] = inner.__get__(value, cls)
        items = _attributes(own)
        if held is not None:
            items[""] = held(value)
        shown = f"an object of {cls.__name__}"
        return self._items(f"object {cls.__qualname__}", items, shown, named=True)


def defaults_of(function: types.FunctionType) -> dict[str, Any]:
    """Give the default values of a function's parameters."""
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    given = function.__defaults__ or ()
    by_place = dict(zip(names[len(names) - len(given) :], given, strict=True))
    return by_place | (function.__kwdefaults__ or {})


def _content(value: Any) -> bytes | None:
    """The bytes that a plain value is told by; None for what is none."""
    cls = type(value)
    if value is None or cls in (bool, range) or value is ...:
        return repr(value).encode()
    if cls is int:
        return hex(value).encode()
    if cls is float:
        return _float_content(value)
    if cls is complex:
        return _float_content(value.real) + _float_content(value.imag)
    if cls is str:
        return bytes(value.encode("utf-8", "surrogatepass"))
    if cls in (bytes, bytearray):
        return bytes(value)
    if _full_name(cls) in _TOLD_BY_REPR:
        return repr(value).encode("utf-8", "surrogatepass")
    return None


def _float_content(value: float) -> bytes:
    return _NAN if value != value else struct.pack("<d", value)


def _array_content(value: Any) -> bytes | None:
    """What a NumPy array or scalar is told by; None for all else."""
    numpy = sys.modules.get("numpy")
    if numpy is None or not (type(value) is numpy.ndarray or isinstance(value, numpy.generic)):
        return None
    array = numpy.asarray(value)
    if array.nbytes > MAX_ARRAY_BYTES or array.dtype.hasobject:
        raise ValueError("too large, or of objects")
    if array.dtype.kind in "fc" and numpy.isnan(array).any():
        array = numpy.where(numpy.isnan(array), numpy.nan, array).astype(array.dtype)
    head = f"{type(value).__name__} {array.dtype.descr} {array.shape} ".encode()
    return head + hashlib.sha256(numpy.ascontiguousarray(array).tobytes()).digest()


def _array_shown(value: Any) -> str:
    if not value.shape:
        return _short(value)
    shape = " x ".join(map(str, value.shape))
    return f"an array of {shape} {value.dtype}"


def _leaf(kind: str, content: bytes, shown: str) -> Node:
    return {"kind": kind, "digest": _hash(kind.encode() + b"\0" + content), "shown": shown}


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:32]


def _attributes(values: dict[str, Any]) -> dict[str, Any]:
    return {f".{name}": value for name, value in values.items()}


def _short_of_container(value: Any) -> str:
    """A small container of plain values as Python writes it, any other by its size."""
    inside = [*value, *(value.values() if isinstance(value, dict) else ())]
    if len(inside) <= 2 * MAX_NAMED and all(_content(one) is not None for one in inside):
        return _short(value)
    return f"a {type(value).__name__} of {len(value):,}"


def _short(value: Any) -> str:
    try:
        text = repr(value)
    except ValueError:  # an integer of thousands of digits
        text = f"a large {type(value).__name__}"
    text = " ".join(text.splitlines())
    return text if len(text) <= 40 else f"{text[:39]}…"


def _full_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"


def _is_special(name: str) -> bool:
    return name.startswith("__") and name.endswith("__")
