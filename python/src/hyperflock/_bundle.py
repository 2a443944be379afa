"""Takes a snapshot of an objective's source code: a zip of ``.py`` files and an entry.

    bundle = bundle_objective(objective)             # a function at the top of a script or module
    bundle = bundle_script("train.py", "objective")  # without running it
    bundle.entry, bundle.sha256, bundle.content

What travels: the script or module itself, and every module or package of the same folder that it
imports, at the top or inside functions, directly or through another. A package travels whole. What
lies in site-packages or in the standard library does not: the volunteer's runtime has its own. No
bytecode. The same sources give the same bytes. Any thread.
"""

from __future__ import annotations

import hashlib
import inspect
import io
import sys
import types
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Any

from hyperflock import _sources
from hyperflock._errors import BundleError
from hyperflock._sources import Origin

MAX_BUNDLE_BYTES = 16 << 20

_EPOCH = (1980, 1, 1, 0, 0, 0)
_UNIX = 3
_MODE = 0o100644 << 16


@dataclass(frozen=True)
class Bundle:
    """A source snapshot.

    Attributes
    ----------
    entry : str
        ``module:function``.
    content : bytes
        The zip.
    sha256 : str
        Of the content.
    source_sha256 : str
        Of names and sources, so the same whatever zlib packed them.
    files : tuple of str
        Names inside the zip.
    """

    entry: str
    content: bytes
    sha256: str
    source_sha256: str
    files: tuple[str, ...]


def bundle_objective(objective: Callable[..., Any]) -> Bundle:
    """Bundle a function with the sources that it needs.

    Raises
    ------
    BundleError
        With a code ``cannot_bundle_*`` and one sentence that says what to change.
    """
    function = _checked_function(objective)
    module = sys.modules.get(function.__module__)
    if module is None:
        raise _cannot(
            "module", f"the module '{function.__module__}' of '{function.__name__}' is not loaded"
        )
    origin = _origin_of_module(module, function)
    if getattr(module, function.__name__, None) is not function:
        raise _cannot(
            "hidden",
            f"'{function.__name__}' of '{origin.module}' is another object than the objective; "
            "give the objective a name of its own at the top of its module",
        )
    return _packed(origin, function.__name__)


def bundle_script(path: str | Path, function: str) -> Bundle:
    """Bundle the function of a script that is not run; errors as in :func:`bundle_objective`."""
    script = Path(path).resolve()
    if script.suffix != ".py" or not script.is_file():
        raise _cannot("script", f"'{path}' is not a Python script")
    origin = _sources.origin_of_script(script)
    _sources.check_function(origin, function)
    return _packed(origin, function)


def bundle_module(name: str, function: str) -> Bundle:
    """Bundle the function of a module found by its name; only its parent packages are imported."""
    origin = _sources.origin_by_name(name)
    _sources.check_function(origin, function)
    return _packed(origin, function)


def _cannot(kind: str, message: str) -> BundleError:
    return BundleError(message, code=f"cannot_bundle_{kind}")


def _checked_function(objective: Any) -> types.FunctionType:
    if isinstance(objective, types.MethodType):
        raise _cannot(
            "method", f"the objective '{objective.__name__}' is a method; make it a function"
        )
    if isinstance(objective, types.BuiltinFunctionType | type):
        raise _cannot(
            "builtin",
            f"the objective '{objective.__name__}' is no function written in Python; wrap it",
        )
    if not isinstance(objective, types.FunctionType):
        kind = type(objective).__name__
        raise _cannot(
            "callable",
            f"the objective is a {kind}; give a function at the top of a script or module",
        )
    name = objective.__qualname__
    if objective.__name__ == "<lambda>":
        raise _cannot("lambda", "the objective is a lambda; give it a name by 'def'")
    if "<locals>" in name:
        raise _cannot(
            "nested",
            f"the objective '{name}' is defined inside a function; move it to the module's top",
        )
    if "." in name:
        raise _cannot("method", f"the objective '{name}' belongs to a class; make it a function")
    if objective.__closure__:
        raise _cannot(
            "closure", f"the objective '{name}' was made by a decorator; give the plain function"
        )
    if inspect.iscoroutinefunction(objective) or inspect.isasyncgenfunction(objective):
        raise _cannot(
            "coroutine", f"the objective '{name}' is 'async'; make it an ordinary function"
        )
    if inspect.isgeneratorfunction(objective):
        raise _cannot("generator", f"the objective '{name}' yields; return the value instead")
    return objective


def _origin_of_module(module: types.ModuleType, function: types.FunctionType) -> Origin:
    file = getattr(module, "__file__", None)
    name = module.__name__
    made_from = function.__code__.co_filename
    if file is None or made_from.startswith("<") or "ipykernel" in made_from:
        raise _cannot(
            "notebook",
            f"the objective '{function.__name__}' was typed into a notebook or a prompt; "
            "put it into a file and import it",
        )
    if any(file.endswith(suffix) for suffix in EXTENSION_SUFFIXES):
        raise _cannot(
            "extension", f"'{name}' is compiled; an objective's module is written in Python"
        )
    path = Path(file).resolve()
    if path.suffix != ".py":
        raise _cannot("source", f"the source of '{name}' is not at hand, only '{path.name}'")
    if name == "__main__":
        spec = getattr(module, "__spec__", None)
        if spec is None or spec.name == "__main__":
            return _sources.origin_of_script(path)
        # python -m package.module
        name = spec.name
    return _sources.origin_of_module(name, path)


def _packed(origin: Origin, function: str) -> Bundle:
    sources = _sources.collect(origin)
    size = sum(len(content) for content in sources.values())
    if size > MAX_BUNDLE_BYTES:
        raise BundleError(
            f"the sources in '{origin.root}' that '{origin.module}' imports have {size:,} bytes, "
            f"at most {MAX_BUNDLE_BYTES >> 20} MiB can travel; "
            "put the objective into a folder of its own",
            code="cannot_bundle_size",
        )
    digest = hashlib.sha256()
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name, content in sorted(sources.items()):
            digest.update(f"{name}\0{len(content)}\0".encode())
            digest.update(content)
            entry = zipfile.ZipInfo(name, _EPOCH)
            entry.create_system = _UNIX
            entry.external_attr = _MODE
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)
    packed = file.getvalue()
    return Bundle(
        entry=f"{origin.module}:{function}",
        content=packed,
        sha256=hashlib.sha256(packed).hexdigest(),
        source_sha256=digest.hexdigest(),
        files=tuple(sorted(sources)),
    )
