"""Describes a value as short texts, so that two processes can compare their values.

    snapshot(CONFIG, {"train"})     # {"": "an object of Config", ".rate": "0.1", ".model": None}

The snapshot describes plain values, containers, arrays, enum members and objects of the named
modules. It describes functions and classes of other modules by their names. Any other part is None,
which means that it cannot be compared. No code of the value runs, apart from the ``repr`` of
standard types.

The child process of a dry run gets a copy of this file, so it imports nothing of this package.
"""

from __future__ import annotations

import collections
import contextlib
import enum
import functools
import hashlib
import sys
import types
from collections.abc import Collection, Iterator
from typing import Any

MAX_PARTS = 2_000
MAX_DEPTH = 20
MAX_ARRAY_BYTES = 256 << 20
MAX_TEXT = 60

Snapshot = dict[str, str | None]

_PLAIN = (type(None), bool, int, float, complex, str, bytes, bytearray, range, type(...))
_MAPPINGS = (dict, collections.OrderedDict, collections.defaultdict, collections.Counter)
_SEQUENCES = (list, tuple, collections.deque)
_SHOWN_WHOLE = frozenset(
    {
        *("datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta"),
        *("decimal.Decimal", "fractions.Fraction", "uuid.UUID", "re.Pattern"),
        *("pathlib.PosixPath", "pathlib.PurePosixPath", "pathlib.WindowsPath"),
        *("pathlib._local.PosixPath", "pathlib._local.PurePosixPath"),
    }
)
_NAMESPACES = frozenset({"argparse.Namespace", "types.SimpleNamespace"})
_PLAIN_BASES = frozenset({"builtins.object", "typing.Generic", "typing.Protocol", "abc.ABC"})


def snapshot(value: Any, modules: Collection[str]) -> Snapshot:
    """Return a short text for each part of a value, by the path that leads to the part.

    ``modules`` are those whose functions, classes and objects are described in parts. A container
    with more than `MAX_PARTS` parts is described as one part.
    """
    found: Snapshot = {}
    _Writer(frozenset(modules), found).write("", value)
    return found


class _Writer:
    """A writer of one value's snapshot."""

    def __init__(self, modules: frozenset[str], found: Snapshot) -> None:
        self._modules = modules
        self._found = found
        self._above: list[int] = []

    def write(self, path: str, value: Any) -> None:
        if id(value) in self._above:
            self._found[path] = "itself"
            return
        if len(self._above) > MAX_DEPTH or len(self._found) > MAX_PARTS:
            self._found[path] = None
            return
        self._above.append(id(value))
        try:
            self._found[path], parts = self._look(value)
            if len(parts) > MAX_PARTS:
                self._found[path] = self._digest(value, parts)
            else:
                for step, part in parts.items():
                    self.write(path + step, part)
        except Exception:  # the object does not behave as its class promises
            self._found[path] = None
        finally:
            self._above.pop()

    def _digest(self, value: Any, parts: dict[str, Any]) -> str | None:
        texts = [f"{step} {part!r}" for step, part in parts.items() if type(part) in _PLAIN]
        if len(texts) < len(parts):
            return None
        return _shortened(f"{type(value).__name__} of {len(parts):,}: {sorted(texts)}")

    def _look(self, value: Any) -> tuple[str | None, dict[str, Any]]:
        """Return the text for a value itself, and its parts by name."""
        cls = type(value)
        if cls in _PLAIN or _full_name(cls) in _SHOWN_WHOLE:
            return _shown(value), {}
        if isinstance(value, enum.Enum):
            return f"{cls.__name__}.{value.name}", {}
        if _is_array(value):
            return _shown_array(value), {}
        if cls in _MAPPINGS:
            return cls.__name__, {f"[{_key(key)}]": part for key, part in value.items()}
        if cls in _SEQUENCES:
            return f"a {cls.__name__} of {len(value):,}", _indexed(value)
        if cls in (set, frozenset):
            return _shortened("{" + ", ".join(sorted(_key(part) for part in value)) + "}"), {}
        if _full_name(cls) in _NAMESPACES:
            return cls.__name__, _attributes(vars(value))
        if cls is functools.partial:
            return "a partial", {".func": value.func, ".args": value.args, ".kw": value.keywords}
        if isinstance(value, type):
            return self._class(value)
        if cls is types.BuiltinFunctionType or _full_name(cls) == "numpy.ufunc":
            return f"{getattr(value, '__module__', None)}.{value.__name__}", {}
        # functools.lru_cache returns an object that contains the function.
        inner = value if isinstance(value, types.FunctionType) else _wrapped(value)
        if isinstance(inner, types.FunctionType):
            return self._function(inner)
        return self._object(value)

    def _function(self, function: types.FunctionType) -> tuple[str | None, dict[str, Any]]:
        if function.__globals__.get("__name__") not in self._modules:
            return f"{function.__module__}.{function.__qualname__}", {}
        parts = {f"({name})": default for name, default in _defaults(function)}
        kept = {k: v for k, v in vars(function).items() if k != "__wrapped__"}
        return f"the function {function.__name__}", parts | _attributes(kept)

    def _class(self, cls: type) -> tuple[str | None, dict[str, Any]]:
        if cls.__module__ not in self._modules:
            return _full_name(cls), {}
        text = f"the class {cls.__name__}"
        return text, {} if issubclass(cls, enum.Enum) else _attributes(dict(_own_data(cls)))

    def _object(self, value: Any) -> tuple[str | None, dict[str, Any]]:
        cls = type(value)
        if cls.__module__ not in self._modules:
            return None, {}
        parts: dict[str, Any] = {}
        own = dict(getattr(value, "__dict__", ()))
        for base in cls.__mro__:
            if base in (dict, list, tuple):
                parts |= _indexed(value) if base is not dict else self._look({**value})[1]
            elif base.__module__ not in self._modules and _full_name(base) not in _PLAIN_BASES:
                return None, {}
            for name, member in vars(base).items():
                if isinstance(member, functools.cached_property):
                    own.pop(name, None)
                elif isinstance(member, types.MemberDescriptorType):
                    with contextlib.suppress(AttributeError):  # a slot that is empty
                        own[name] = member.__get__(value, cls)
        return f"an object of {cls.__name__}", parts | _attributes(own)


def _wrapped(value: Any) -> object:
    return getattr(value, "__dict__", {}).get("__wrapped__")


def _own_data(cls: type) -> Iterator[tuple[str, Any]]:
    """Yield a class's data, and its methods that have defaults or attributes."""
    for name, member in vars(cls).items():
        inner = getattr(member, "__func__", member)
        if isinstance(inner, types.FunctionType):
            is_generated = inner.__code__.co_filename.startswith("<")  # as by a dataclass
            if not is_generated and (_defaults(inner) or vars(inner).keys() - {"__wrapped__"}):
                yield name, inner
        elif not name.startswith("__") and not hasattr(type(member), "__get__"):
            yield name, member


def _defaults(function: types.FunctionType) -> list[tuple[str, Any]]:
    """Return the names and values of a function's default arguments."""
    code, given = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    positional = zip(names[len(names) - len(given) :], given, strict=True)
    return [*positional, *(function.__kwdefaults__ or {}).items()]


def _key(key: Any) -> str:
    if isinstance(key, enum.Enum):
        return f"{type(key).__name__}.{key.name}"
    if type(key) is tuple:
        return f"({', '.join(map(_key, key))})"
    if type(key) in _PLAIN:
        return _shown(key)
    raise ValueError("not a key that can be written down")


def _is_array(value: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and (type(value) is numpy.ndarray or isinstance(value, numpy.generic))


def _shown_array(value: Any) -> str | None:
    if value.nbytes > MAX_ARRAY_BYTES or value.dtype.hasobject:
        return None
    if not value.shape:
        return _shown(value)
    shape = " x ".join(map(str, value.shape))
    digest = hashlib.sha256(f"{value.dtype.descr}".encode() + value.tobytes()).hexdigest()
    return f"an array of {shape} {value.dtype} (SHA-256 {digest[:8]})"


def _shown(value: Any) -> str:
    try:
        return _shortened(repr(value))
    except ValueError:  # an integer of thousands of digits
        return _shortened(hex(value))


def _shortened(text: str) -> str:
    """Return a text on one line; a long one is cut and followed by its digest."""
    line = " ".join(text.splitlines())
    if len(line) <= MAX_TEXT:
        return line
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{line[: MAX_TEXT // 2]}… (SHA-256 {digest[:8]})"


def _indexed(values: Any) -> dict[str, Any]:
    return {f"[{number}]": part for number, part in enumerate(values)}


def _attributes(values: dict[str, Any]) -> dict[str, Any]:
    return {f".{name}": part for name, part in values.items()}


def _full_name(cls: type) -> str:
    return f"{cls.__module__}.{cls.__qualname__}"
