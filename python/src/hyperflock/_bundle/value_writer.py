"""Writes values as Python expressions, and arrays as files that the expressions load.

    text = writer.expression({"rate": 0.1, "mask": mask}, home, "the objective uses 'config'")

A mutable value is written once and bound to a variable, so that shared values stay shared and
cycles are kept. Objects are taken apart as `copy` does it (``__reduce_ex__``), and never pickled.
Only one thread at a time may use this module.
"""

from __future__ import annotations

import contextlib
import copyreg
import enum
import functools
import hashlib
import io
import math
import sys
import types
from typing import TYPE_CHECKING, Any

import numpy as np

from hyperflock._base.codes import cannot
from hyperflock._bundle.capture_parts import NotReadyError
from hyperflock._bundle.capture_stores import is_store, label_of
from hyperflock._bundle.checks.untransferable import a, refusal
from hyperflock._bundle.source.definitions import has_text

if TYPE_CHECKING:
    from hyperflock._bundle.capture import Capture
    from hyperflock._bundle.capture_parts import Home

MAX_TEXT_BYTES = 16 << 20
ARRAYS = "hyperflock_values"

_ATOMS = (type(None), bool, int, str, bytes, type(...), type(NotImplemented))


class ValueWriter:
    """A writer of the values of one capture.

    Attributes
    ----------
    arrays : dict
        The arrays as ``npy`` files, by their names in the bundle, which contain the arrays' hashes.
    """

    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        self.arrays: dict[str, bytes] = {}
        # The known values by id. The values are kept, so that no other value gets the same id.
        self._known: dict[int, tuple[Any, Home, str, bool]] = {}
        self._written = 0

    def remember(self, value: Any, home: Home, name: str, *, ready: bool = True) -> None:
        """Remember that a name of a generated module is bound to a value."""
        self._known[id(value)] = (value, home, name, ready)

    def mark(self) -> int:
        """Return how many values are known."""
        return len(self._known)

    def undo(self, mark: int) -> None:
        """Forget the values that became known after a mark."""
        for key in list(self._known)[mark:]:
            del self._known[key]

    def expression(self, value: Any, home: Home, where: str) -> str:
        """Return an expression for a value; statements that it needs are added to ``home``.

        Raises
        ------
        BundleError
            The value cannot be written; ``where`` begins the error's message.
        """
        if id(value) in self._known:
            _, owner, name, ready = self._known[id(value)]
            if not ready:
                raise NotReadyError(f"{where}, which needs itself while it is being defined")
            return self._capture.cross(owner, name, home)
        if (text := self._capture.own(value, home, where)) is not None:
            return text
        if is_store(value):
            return self._store(value, home, where)
        if (error := refusal(value, where)) is not None:
            raise error
        try:
            text = self._text(value, home, where)
        except RecursionError:
            raise cannot(
                "value", f"{where}, which is nested too deeply; send it by data=..."
            ) from None
        self._written += len(text)
        if self._written > MAX_TEXT_BYTES:
            raise cannot(
                "size",
                f"{where}, which is more than {MAX_TEXT_BYTES >> 20} MiB as text; "
                "make it a NumPy array, or send it by data=...",
            )
        return text

    def _text(self, value: Any, home: Home, where: str) -> str:
        kind = type(value)
        if kind is int and abs(value) >> 4096:
            return hex(value)  # Python limits the digits of decimal texts
        if kind in _ATOMS:
            return repr(value)
        if kind is float:
            return repr(value) if math.isfinite(value) else f"float({str(value)!r})"
        if kind is complex:
            real, imaginary = (self._text(part, home, where) for part in (value.real, value.imag))
            return f"complex({real}, {imaginary})"
        if kind is tuple:
            parts = [self.expression(item, home, f"{where}[{i}]") for i, item in enumerate(value)]
            return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"
        if kind in (list, set, frozenset, dict):
            return self._container(value, home, where)
        if isinstance(value, types.ModuleType):
            return self._capture.module(value, home, where)
        # `dict[str, int]` is no class, but in Python 3.10 it is an instance of `type`.
        if isinstance(value, type) and kind is not types.GenericAlias:
            return self._class(value, home, where)
        if isinstance(value, types.FunctionType):
            if (name := _importable(value)) is not None:
                return self._capture.reference(*name, home, where)
            if _is_context_manager(value):
                return self._context_manager(value, home, where)
            return self._capture.cross(*self._capture.function(value, where), home)
        if kind is np.ndarray:
            return self._array(value, home, where)
        if isinstance(value, np.generic) and kind.__module__ == "numpy":
            return self._numpy_scalar(value, home, where)
        if isinstance(value, np.ufunc):
            return f"{self._capture.module(np, home, where)}.{value.__name__}"
        if isinstance(value, types.MethodType):
            owner = self.expression(value.__self__, home, where)
            return f"{owner}.{value.__name__}"
        if isinstance(value, functools._lru_cache_wrapper):
            return self._cached(value, home, where)
        return self._object(value, home, where)

    def _container(self, value: Any, home: Home, where: str) -> str:
        kind = type(value)
        name = self._capture.variable()
        empty = {"list": "[]", "dict": "{}"}.get(kind.__name__, "set()")
        if kind is dict:
            items = [(key, item) for key, item in value.items()]
        else:
            items = [(i, item) for i, item in enumerate(_ordered(value))]
        if kind is frozenset:
            parts = [self.expression(item, home, where) for _, item in items]
            return f"frozenset([{', '.join(parts)}])"
        self.remember(value, home, name)
        simple = all(type(item) in (*_ATOMS, float) for _, item in items)
        if not simple:
            home.lines.append(f"{name} = {empty}")
        parts = []
        for key, item in items:
            inner = f"{where}[{key!r}]" if kind is not set else where
            text = self.expression(item, home, inner)
            if kind is dict:
                text = f"{self.expression(key, home, where)}: {text}"
            parts.append(text)
        opened, closed = "[]" if kind is list else "{}"
        whole = f"{opened}{', '.join(parts)}{closed}" if parts else empty
        if simple:
            home.lines.append(f"{name} = {whole}")
        elif parts:
            home.lines.append(f"{name}.{'extend' if kind is list else 'update'}({whole})")
        return name

    def _array(self, value: np.ndarray[Any, Any], home: Home, where: str) -> str:
        if value.dtype.hasobject:
            raise cannot("value", f"{where}, an array of Python objects; give it a numeric dtype")
        file = io.BytesIO()
        np.lib.format.write_array(file, value, allow_pickle=False)
        content = file.getvalue()
        path = f"{ARRAYS}/{hashlib.sha256(content).hexdigest()}.npy"
        self.arrays[path] = content
        up = ".parent" * (home.name.count(".") + 1)
        paths = self._capture.module(sys.modules["pathlib"], home, where)
        numpy = self._capture.module(np, home, where)
        name = self._capture.variable()
        home.lines.append(f"{name} = {numpy}.load({paths}.Path(__file__){up} / {path!r})")
        self.remember(value, home, name)
        return name

    def _numpy_scalar(self, value: Any, home: Home, where: str) -> str:
        numpy = self._capture.module(np, home, where)
        plain = value.item()
        if type(plain) in (bool, int, float, complex) and value.dtype.char not in "mMgG":
            return f"{numpy}.{type(value).__name__}({self._text(plain, home, where)})"
        return self._object(value, home, where)

    def _class(self, cls: type, home: Home, where: str) -> str:
        if cls is type(None):
            return "type(None)"
        if (name := _importable(cls)) is not None:
            return self._capture.reference(*name, home, where)
        if cls.__mro__[1] is tuple and hasattr(cls, "_fields") and not has_text(cls):
            made = self._capture.reference("collections", "namedtuple", home, where)
            name_ = self._capture.variable()
            defaults = tuple(getattr(cls, "_field_defaults", {}).values())
            given = f", defaults={self.expression(defaults, home, where)}" if defaults else ""
            text = f"{made}({cls.__name__!r}, {tuple(cls._fields)!r}{given})"
            home.lines.append(f"{name_} = {text}")
            self.remember(cls, home, name_)
            return name_
        if isinstance(cls, enum.EnumMeta) and not has_text(cls):
            base = self.expression(cls.__bases__[-1], home, where)
            members = {name: getattr(cls, name).value for name in cls.__members__}
            text = self.expression(members, home, where)
            name_ = self._capture.variable()
            home.lines.append(f"{name_} = {base}({cls.__name__!r}, {text})")
            self.remember(cls, home, name_)
            return name_
        return self._capture.cross(*self._capture.cls(cls, where), home)

    def _context_manager(self, value: Any, home: Home, where: str) -> str:
        """Write a function that ``contextlib.contextmanager`` decorates."""
        made = self._capture.reference("contextlib", "contextmanager", home, where)
        inner = self.expression(value.__wrapped__, home, where)
        name = self._capture.variable()
        home.lines.append(f"{name} = {made}({inner})")
        self.remember(value, home, name)
        return name

    def _store(self, value: Any, home: Home, where: str) -> str:
        """Write an artifact store as its label; devices send its files to the server."""
        self._capture.check_store(where)
        made = self._capture.reference("optuna.artifacts", "FileSystemArtifactStore", home, where)
        name = self._capture.variable()
        home.lines.append(f"{name} = {made}({label_of(value)!r})")
        self.remember(value, home, name)
        return name

    def _cached(self, value: Any, home: Home, where: str) -> str:
        """Write a function that ``functools.lru_cache`` decorates, without the cache's content."""
        made = self._capture.reference("functools", "lru_cache", home, where)
        name = self._capture.variable()
        inner = self.expression(value.__wrapped__, home, where)
        given = ", ".join(f"{k}={v!r}" for k, v in value.cache_parameters().items())
        home.lines.append(f"{name} = {made}({given})({inner})")
        self.remember(value, home, name)
        return name

    def _object(self, value: Any, home: Home, where: str) -> str:
        """Write an object as the parts from which `copy.copy` would make a new object."""
        if isinstance(value, types.BuiltinFunctionType):
            owner = value.__self__
            if owner is not None and not isinstance(owner, types.ModuleType):
                return f"{self.expression(owner, home, where)}.{value.__name__}"
        try:
            reduce = copyreg.dispatch_table.get(type(value))
            taken: Any = reduce(value) if reduce else value.__reduce_ex__(2)
        except Exception:
            raise cannot("value", f"{where}, {a(type(value))}, which cannot be copied") from None
        if isinstance(taken, str):
            module = getattr(value, "__module__", None) or "builtins"
            return self._capture.reference(module, taken, home, where)
        parts: list[Any] = [*taken, None, None, None]
        make, arguments, state, items, pairs = parts[:5]
        name = self._capture.variable()
        made = self._made(make, arguments, home, where)
        if id(value) in self._known:  # its own arguments contain it, so it was written with them
            return self.expression(value, home, where)
        home.lines.append(f"{name} = {made}")
        self.remember(value, home, name)
        self._fill(value, name, (state, items, pairs), home, where)
        return name

    def _fill(
        self, value: Any, name: str, parts: tuple[Any, Any, Any], home: Home, where: str
    ) -> None:
        state, items, pairs = parts
        if items is not None:
            text = self.expression(list(items), home, where)
            home.lines.append(f"{name}.extend({text})")
        for key, item in pairs or ():
            text = self.expression(item, home, f"{where}[{key!r}]")
            home.lines.append(f"{name}[{self.expression(key, home, where)}] = {text}")
        if state is not None:
            self._set_state(value, name, state, home, where)

    def copied(self, value: Any, home: Home, where: str) -> str:
        """Return an expression for a copy of an object, even if a module of the bundle has the
        object itself.
        """
        if (error := refusal(value, where)) is not None:
            raise error
        return self._text(value, home, where)

    def refill(self, value: Any, name: str, home: Home, where: str) -> bool:
        """Write lines that give an object on a device the state that ``value`` has in this process.

        On the device, the variable ``name`` refers to the object. Return False if such lines cannot
        be written for its type; nothing is written then.
        """
        kind = type(value)
        if kind in (list, dict, set):
            items = _ordered(value) if kind is not dict else value.items()
            home.lines.append(f"{name}.clear()")
            if kind is dict:
                pairs = [
                    f"{self.expression(key, home, where)}: "
                    f"{self.expression(item, home, f'{where}[{key!r}]')}"
                    for key, item in items
                ]
                home.lines.append(f"{name}.update({{{', '.join(pairs)}}})")
            elif items:
                texts = [self.expression(item, home, where) for item in items]
                method = "extend" if kind is list else "update"
                home.lines.append(f"{name}.{method}([{', '.join(texts)}])")
            return True
        try:
            taken: Any = value.__reduce_ex__(2)
        except Exception:
            return False
        if isinstance(taken, str):
            return True  # the object itself, by its name in its module
        if kind in copyreg.dispatch_table:
            return False
        make, arguments, state, items, pairs = (*taken, None, None, None)[:5]
        is_new = make is getattr(copyreg, "__newobj__", None) and len(arguments) == 1
        if not (is_new or (isinstance(value, dict) and make is kind)):
            return False
        if isinstance(value, dict | list):
            home.lines.append(f"{name}.clear()")
        if state is not None and not hasattr(kind, "__setstate__") and hasattr(value, "__dict__"):
            home.lines.append(f"{name}.__dict__.clear()")
        self._fill(value, name, (state, items, pairs), home, where)
        return True

    def _made(self, make: Any, arguments: tuple[Any, ...], home: Home, where: str) -> str:
        if make is getattr(copyreg, "__newobj__", None):
            cls, *rest = arguments
            parts = [self.expression(a, home, where) for a in (cls, *rest)]
            return f"{parts[0]}.__new__({', '.join(parts)})"
        parts = [self.expression(a, home, where) for a in (make, *arguments)]
        return f"{parts[0]}({', '.join(parts[1:])})"

    def _set_state(self, value: Any, name: str, state: Any, home: Home, where: str) -> None:
        if hasattr(type(value), "__setstate__"):
            home.lines.append(f"{name}.__setstate__({self.expression(state, home, where)})")
            return
        slots: dict[str, Any] = {}
        if isinstance(state, tuple) and len(state) == 2:
            state, slots = state[0], state[1] or {}
        for key, item in (state or {}).items():
            text = self.expression(item, home, f"{where}.{key}")
            home.lines.append(f"{name}.__dict__[{key!r}] = {text}")
        for key, item in slots.items():
            text = self.expression(item, home, f"{where}.{key}")
            # A frozen class refuses a plain assignment to a slot, but not `object.__setattr__`.
            home.lines.append(f"object.__setattr__({name}, {key!r}, {text})")


def _is_context_manager(value: types.FunctionType) -> bool:
    """Return whether a function is one that ``contextlib.contextmanager`` returned."""
    helper = contextlib.contextmanager(lambda: iter(())).__code__
    return value.__code__ is helper and hasattr(value, "__wrapped__")


def _importable(value: Any) -> tuple[str, str] | None:
    """Return the module and name by which another process finds the same object, or None."""
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", "<")
    loaded: Any = sys.modules.get(module) if isinstance(module, str) else None
    if module == "__main__" or loaded is None or "<" in name:
        return None
    # Code from a notebook or a prompt has no file, so a device cannot import it.
    if module not in sys.builtin_module_names and getattr(loaded, "__spec__", None) is None:
        return None
    found = loaded
    for part in name.split("."):
        found = getattr(found, part, None)
    return (str(module), name) if found is value else None


def _ordered(value: Any) -> list[Any]:
    """Return items in an order that does not depend on this process's hash seed."""
    items = list(value)
    return (
        items
        if isinstance(value, list)
        else sorted(items, key=lambda i: (type(i).__name__, repr(i)))
    )
