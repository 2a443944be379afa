"""Import hooks: run a function right after a named module was executed.

A finder in front of ``sys.meta_path`` lets the ordinary finders answer, and only replaces the
loader's ``exec_module`` by one that calls the patches afterwards. Modules outside the table are not
touched.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import ModuleType

from hyperflock_worker.compat import stand_ins


@dataclass(frozen=True)
class Patch:
    """A change to one module, made after it ran.

    Attributes
    ----------
    module : full name of the module.
    apply : called with the module; must leave other versions of Chainer as they are.
    versions : versions of Chainer that need it.
    """

    module: str
    apply: Callable[[ModuleType], None]
    versions: tuple[str, ...]


def chainer_version() -> str:
    """The version of the Chainer being imported; its ``_version`` needs nothing else of it."""
    module = importlib.import_module("chainer._version")
    return str(module.__version__)


class _PatchingLoader(importlib.abc.Loader):
    """Loads as the wrapped loader does, then applies the patches."""

    def __init__(self, wrapped: importlib.abc.Loader, patches: Sequence[Patch]) -> None:
        self._wrapped = wrapped
        self._patches = patches

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._wrapped.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # Hand the module its real loader back first: inspect and pkgutil look at it.
        module.__loader__ = self._wrapped
        if module.__spec__ is not None:
            module.__spec__.loader = self._wrapped
        with stand_ins.shadowing(module.__name__):
            self._wrapped.exec_module(module)
        _apply(module, self._patches)


class _PatchFinder(importlib.abc.MetaPathFinder):
    """Answers for the modules of the table alone."""

    def __init__(self, patches: Sequence[Patch]) -> None:
        self._by_module: dict[str, list[Patch]] = {name: [] for name in stand_ins.SHADOWS}
        for patch in patches:
            self._by_module.setdefault(patch.module, []).append(patch)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        patches = self._by_module.get(fullname)
        if patches is None:
            return None
        for finder in sys.meta_path:
            if finder is self:
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None:
                if spec.loader is not None:
                    spec.loader = _PatchingLoader(spec.loader, patches)
                return spec
        return None


def _apply(module: ModuleType, patches: Sequence[Patch]) -> None:
    if not patches:
        return
    version = chainer_version()
    for patch in patches:
        if version in patch.versions:
            patch.apply(module)


def install(patches: Sequence[Patch]) -> None:
    """Put the finder in place, once, and patch what is already imported."""
    if any(isinstance(finder, _PatchFinder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, _PatchFinder(patches))
    for patch in patches:
        loaded = sys.modules.get(patch.module)
        if loaded is not None:
            _apply(loaded, [patch])
