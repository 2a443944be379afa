"""Provides import hooks that run a function right after a named module was executed.

A finder at the front of ``sys.meta_path`` asks the other finders, and wraps the loader that they
return. The wrapper's ``exec_module`` applies the patches at the end. Other modules are loaded as
usual.
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
    module : str
        The full name of the module.
    apply : callable
        Makes the change. Its argument is the module.
    versions : tuple of str
        The versions of Chainer that need it.
    """

    module: str
    apply: Callable[[ModuleType], None]
    versions: tuple[str, ...]


def chainer_version() -> str:
    """Return the version of Chainer, from a module that imports nothing else of Chainer."""
    module = importlib.import_module("chainer._version")
    return str(module.__version__)


class _PatchingLoader(importlib.abc.Loader):
    """A loader that calls the wrapped loader, then applies the patches."""

    def __init__(self, wrapped: importlib.abc.Loader, patches: Sequence[Patch]) -> None:
        self._wrapped = wrapped
        self._patches = patches

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._wrapped.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        # The module gets its real loader first, since inspect and pkgutil use it.
        module.__loader__ = self._wrapped
        if module.__spec__ is not None:
            module.__spec__.loader = self._wrapped
        with stand_ins.shadowing(module.__name__):
            self._wrapped.exec_module(module)
        _apply(module, self._patches)


class _PatchFinder(importlib.abc.MetaPathFinder):
    """A finder that finds only the modules that have patches or need stand-ins."""

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
    """Install the finder, once, and patch modules that are already imported."""
    if any(isinstance(finder, _PatchFinder) for finder in sys.meta_path):
        return
    sys.meta_path.insert(0, _PatchFinder(patches))
    for patch in patches:
        loaded = sys.modules.get(patch.module)
        if loaded is not None:
            _apply(loaded, [patch])
