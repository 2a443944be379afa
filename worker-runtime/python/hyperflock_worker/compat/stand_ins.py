"""Provides stand-ins for modules that Chainer imports and that may not be installed.

There are two kinds. ``FALLBACKS`` are found by a finder at the *end* of ``sys.meta_path``, so an
installed module is used instead. ``SHADOWS`` replace modules that no longer exist or are
deprecated, but only while a certain module of Chainer is imported.
"""

from __future__ import annotations

import contextlib
import importlib.abc
import importlib.machinery
import importlib.metadata
import operator
import re
import sys
import threading
import typing
from collections.abc import Callable, Iterator, Sequence
from types import ModuleType, TracebackType


def numpy_distutils(module: ModuleType) -> None:
    """Fill ``numpy.distutils``, removed with Python 3.12; Chainer only uses ``system_info``."""
    module.__path__ = []


def numpy_distutils_system_info(module: ModuleType) -> None:
    """Fill ``system_info``, which Chainer asks on macOS for NumPy's BLAS; {} means unknown."""

    def get_info(name: str, notfound_action: int = 0) -> dict[str, object]:
        return {}

    module.get_info = get_info  # type: ignore[attr-defined]


def filelock(module: ModuleType) -> None:
    """Fill ``filelock``: Chainer locks its download folder, which no other process uses here."""

    class FileLock:
        """An ordinary lock with ``filelock.FileLock``'s interface."""

        def __init__(self, lock_file: str, timeout: float = -1) -> None:
            self.lock_file = lock_file
            self.timeout = timeout
            self._lock = threading.RLock()

        def acquire(self, timeout: float | None = None) -> FileLock:
            wait_s = self.timeout if timeout is None else timeout
            if not self._lock.acquire(timeout=wait_s if wait_s >= 0 else -1):
                raise Timeout(self.lock_file)
            return self

        def release(self) -> None:
            self._lock.release()

        def __enter__(self) -> FileLock:
            return self.acquire()

        def __exit__(
            self,
            kind: type[BaseException] | None,
            error: BaseException | None,
            trace: TracebackType | None,
        ) -> None:
            self.release()

    class Timeout(TimeoutError):
        """Raised when a lock was not free in time."""

    module.FileLock = FileLock  # type: ignore[attr-defined]
    module.Timeout = Timeout  # type: ignore[attr-defined]


def pkg_resources(module: ModuleType) -> None:
    """Fill ``pkg_resources``, by which Chainer finds the versions of CuPy, iDeep and others."""

    class ResolutionError(Exception):
        """Raised when a requirement is not met."""

    class DistributionNotFound(ResolutionError):
        """Raised when no distribution of this name is installed."""

    class VersionConflict(ResolutionError):
        """Raised when another version than the required one is installed."""

    def get_distribution(name: str) -> importlib.metadata.Distribution:
        try:
            return importlib.metadata.distribution(name)
        except importlib.metadata.PackageNotFoundError:
            raise DistributionNotFound(name) from None

    def require(*requirements: str) -> list[importlib.metadata.Distribution]:
        return [
            _met(get_distribution, requirement, VersionConflict) for requirement in requirements
        ]

    class WorkingSet:
        """The installed distributions."""

        def require(self, *requirements: str) -> list[importlib.metadata.Distribution]:
            return require(*requirements)

    for value in (ResolutionError, DistributionNotFound, VersionConflict, WorkingSet):
        setattr(module, value.__name__, value)
    module.get_distribution = get_distribution  # type: ignore[attr-defined]
    module.require = require  # type: ignore[attr-defined]


_COMPARED: dict[str, Callable[[object, object], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


def _met(
    get_distribution: Callable[[str], importlib.metadata.Distribution],
    requirement: str,
    conflict: type[Exception],
) -> importlib.metadata.Distribution:
    """Return the distribution of ``name>=1.2,!=1.3``; only numbers in versions are compared."""
    name, *clauses = re.split(r"(?=[=!<>])|,", re.sub(r"\s", "", requirement), maxsplit=1)
    found = get_distribution(name)
    for compare, wanted in re.findall(r"([=!<>]=?)([0-9.]+)", "".join(clauses)):
        if not _COMPARED[compare](_numbers(found.version), _numbers(wanted)):
            raise conflict(f"{requirement}: {found.version} is installed")
    return found


def _numbers(version: str) -> tuple[int, ...]:
    """Return a version's leading numbers without zeros at the end: 1.10.0rc1 gives (1, 10)."""
    numbers = re.match(r"\d+(\.\d+)*", version)
    parts = [int(part) for part in numbers.group().split(".")] if numbers else []
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts)


def typing_extensions(module: ModuleType) -> None:
    """Fill ``typing_extensions``, which Chainer 7.8.1 imports. Its names come from ``typing``."""

    def from_typing(name: str) -> object:
        try:
            return getattr(typing, name)
        except AttributeError:
            raise AttributeError(f"module 'typing_extensions' has no attribute {name!r}") from None

    module.__getattr__ = from_typing  # type: ignore[method-assign]


def mock(module: ModuleType) -> None:
    """Fill ``mock``, which Chainer's test helpers import, by ``unittest.mock``."""

    def from_unittest(name: str) -> object:
        import unittest.mock

        return getattr(unittest.mock, name)

    module.__getattr__ = from_unittest  # type: ignore[method-assign]


Filler = Callable[[ModuleType], None]

FALLBACKS: dict[str, Filler] = {
    "filelock": filelock,
    "pkg_resources": pkg_resources,
    "typing_extensions": typing_extensions,
    "mock": mock,
}

SHADOWS: dict[str, dict[str, Filler]] = {
    "chainer._environment_check": {
        "numpy.distutils": numpy_distutils,
        "numpy.distutils.system_info": numpy_distutils_system_info,
        "pkg_resources": pkg_resources,
    },
}


class _FallbackFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """A finder of the fallbacks. It is the last one, so it finds only modules not installed."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if fullname not in FALLBACKS:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin="hyperflock_worker.compat")

    def exec_module(self, module: ModuleType) -> None:
        FALLBACKS[module.__name__](module)


def install() -> None:
    """Install the finder of the fallbacks, once."""
    if not any(isinstance(finder, _FallbackFinder) for finder in sys.meta_path):
        sys.meta_path.append(_FallbackFinder())


@contextlib.contextmanager
def shadowing(importer: str) -> Iterator[None]:
    """Put the shadows of ``importer`` into ``sys.modules`` while it is imported."""
    shadows = SHADOWS.get(importer, {})
    hidden = {name: sys.modules.get(name) for name in shadows}
    for name, fill in shadows.items():
        module = ModuleType(name)
        fill(module)
        sys.modules[name] = module
        parent, _, child = name.rpartition(".")
        # The importer accesses a submodule as an attribute of its parent.
        if parent and child not in vars(sys.modules[parent]):
            setattr(sys.modules[parent], child, module)
    try:
        yield
    finally:
        for name, real in hidden.items():
            if real is None:
                sys.modules.pop(name, None)
            else:
                sys.modules[name] = real
