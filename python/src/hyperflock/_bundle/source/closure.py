"""Finds the source files behind an objective: the closure of what it imports from its folder.

Imports are read from the source text, so the answer does not depend on what else this process
happens to have loaded; what a *script* has loaded from its own folder is added, because that may
have been found by name at run time. Reads files, runs none of them. Any thread.
"""

from __future__ import annotations

import ast
import importlib.util
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from hyperflock._base.codes import cannot
from hyperflock._base.errors import BundleError
from hyperflock._bundle.source.runtime import is_library, runtime_has

MAX_FILES = 2000
MAX_SCANNED = 50_000

# The worker has its own module of this name.
_OURS = "hyperflock"


@dataclass(frozen=True)
class Origin:
    """Where an objective's module lives.

    Attributes
    ----------
    root : Path
        The folder that its imports start from.
    module : str
        Its name inside the bundle, dotted.
    path : Path
        Its source.
    script : bool
        It is run as a script, so that it may have a file name that is no module's.
    """

    root: Path
    module: str
    path: Path
    script: bool = False

    @property
    def unit(self) -> str:
        """The top-level name that it belongs to."""
        return self.module.split(".")[0]


def origin_of_script(path: Path) -> Origin:
    """A script goes under the stem of its name; what a module's name may not hold becomes ``_``."""
    stem = path.stem
    if stem == "__main__":
        stem = path.parent.name
    name = re.sub(r"\W", "_", stem, flags=re.ASCII)
    if not name or name[0].isdigit():
        name = f"script_{name}"
    while name != path.stem and (path.parent / f"{name}.py").exists():
        name += "_"
    return Origin(path.parent, name, path, script=True)


def origin_of_module(name: str, path: Path) -> Origin:
    """A module ``a.b.c`` lives three levels below its root."""
    depth = name.count(".") + (path.name == "__init__.py")
    return Origin(path.parents[depth], name, path)


def origin_by_name(name: str) -> Origin:
    """Find a module without running it.

    Raises
    ------
    BundleError
        There is none, or it is not written in Python.
    """
    try:
        spec = importlib.util.find_spec(name)
    except (ImportError, ValueError) as error:
        raise cannot("module", f"'{name}' cannot be found: {error}") from None
    if spec is None or spec.origin is None:
        raise cannot("module", f"there is no module '{name}'")
    path = Path(spec.origin).resolve()
    if path.suffix != ".py":
        raise cannot(
            "extension", f"'{name}' is compiled; an objective's module is written in Python"
        )
    return origin_of_module(name, path)


def check_function(origin: Origin, function: str) -> None:
    """Check in the source that an objective of that name can be called.

    Raises
    ------
    BundleError
        There is no such function at the top of the module, or it is async or a generator.
    """
    tree = parsed(origin.path)
    found = [
        n
        for n in tree.body
        if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef) and n.name == function
    ]
    if not found:
        raise cannot("function", f"'{origin.path.name}' has no function '{function}' at its top")
    if isinstance(found[-1], ast.AsyncFunctionDef):
        raise cannot(
            "coroutine", f"the objective '{function}' is 'async'; make it an ordinary function"
        )
    if any(isinstance(n, ast.Yield | ast.YieldFrom) for n in own_nodes(found[-1])):
        raise cannot("generator", f"the objective '{function}' yields; return the value instead")


def collect(origin: Origin) -> dict[str, bytes]:
    """Read the sources, by their names inside the bundle.

    Raises
    ------
    BundleError
        A compiled module is among them, a source cannot be read, or there are too many.
    """
    sources: dict[str, bytes] = {}
    seen = {_OURS}
    if "." in origin.module or origin.path.name == "__init__.py":
        waiting = [origin.unit]
    else:
        # A script or a single module: its name in the bundle may differ from its file's.
        sources[f"{origin.module}.py"] = _read(origin.path)
        seen.add(origin.unit)
        waiting = _imported_units(origin.path)
        if origin.script:
            waiting += _loaded_units(origin)
    # What lies beside a module of site-packages is no part of it.
    library = is_library(origin.root)
    if library:
        waiting = [unit for unit in waiting if unit == origin.unit]
    while waiting:
        unit = waiting.pop()
        if unit in seen:
            continue
        seen.add(unit)
        root = origin.root
        files = list(_files_of_unit(root, unit))
        if not files and not library and (elsewhere := _own_root(unit)) is not None:
            root = elsewhere
            files = list(_files_of_unit(root, unit))
        for path in files:
            sources[path.relative_to(root).as_posix()] = _read(path)
            if not library:
                waiting += _imported_units(path)
        if len(sources) > MAX_FILES:
            raise cannot(
                "size",
                f"'{origin.module}' imports more than {MAX_FILES} files of '{origin.root}'; "
                "put the objective into a folder of its own",
            )
    return sources


def _own_root(unit: str) -> Path | None:
    """Another folder of the researcher's that a top-level name is imported from here."""
    if runtime_has(unit):
        return None
    try:
        spec = importlib.util.find_spec(unit)
    except (ImportError, ValueError):
        return None
    places = list(spec.submodule_search_locations or ()) if spec else []
    file = places[0] if places else spec.origin if spec else None
    if not file or not Path(file).exists():
        return None
    root = Path(file).resolve().parent
    return None if is_library(root) else root


def _files_of_unit(root: Path, unit: str) -> Iterator[Path]:
    """Every source file of a top-level name under ``root``; nothing when it is not from there."""
    package = root / unit
    if (root / f"{unit}.py").is_file() and not (package / "__init__.py").is_file():
        yield root / f"{unit}.py"
        return
    for suffix in EXTENSION_SUFFIXES:
        if (root / f"{unit}{suffix}").is_file():
            raise _compiled(f"{unit}{suffix}")
    if not package.is_dir() or (package / "pyvenv.cfg").exists() or is_library(package):
        return
    if not (package / "__init__.py").is_file() and unit in sys.stdlib_module_names:
        return  # a plain folder does not hide the standard library's module
    scanned = 0
    for folder, folders, files in os.walk(package):
        # What is no identifier is no package: hidden folders, caches with dots, data.
        folders[:] = sorted(f for f in folders if f.isidentifier() and f != "__pycache__")
        scanned += len(files)
        if scanned > MAX_SCANNED:
            raise cannot(
                "size",
                f"'{package}' has more than {MAX_SCANNED} files; is it data? "
                "Put the objective into a folder of its own",
            )
        for path in sorted(Path(folder) / name for name in files):
            if any(path.name.endswith(suffix) for suffix in EXTENSION_SUFFIXES):
                raise _compiled(path.relative_to(root).as_posix())
            if path.suffix == ".py" and path.stem.isidentifier() and path.is_file():
                yield path


def _compiled(name: str) -> BundleError:
    return cannot(
        "extension",
        f"'{name}' is compiled for this machine and cannot run in a browser; "
        "import it outside of the objective's module",
    )


def _imported_units(path: Path) -> list[str]:
    """Top-level names of every absolute import in a file, wherever it stands."""
    units: set[str] = set()
    try:
        tree = parsed(path)
    except BundleError:
        return []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            units.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            units.add(node.module.split(".")[0])
    return sorted(units)


def _loaded_units(origin: Origin) -> Iterator[str]:
    """Top-level names that this process has loaded from the script's own folder."""
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    if main is None or Path(main).resolve() != origin.path:
        return
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        unit = name.split(".")[0]
        if not file or name == "__main__" or not unit.isidentifier():
            continue
        path = Path(file).resolve()
        expected = {origin.root / f"{unit}.py", origin.root / unit / "__init__.py"}
        if path in expected:
            yield unit


def own_nodes(function: ast.AST) -> Iterator[ast.AST]:
    """Nodes of a function without those of functions and classes inside it."""
    for child in ast.iter_child_nodes(function):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.ClassDef):
            continue
        yield child
        yield from own_nodes(child)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise cannot("source", f"'{path}' cannot be read: {error.strerror or error}") from None


def parsed(path: Path) -> ast.Module:
    try:
        return ast.parse(_read(path), filename=path.name)
    except (SyntaxError, ValueError) as error:
        raise cannot("source", f"'{path}' is not valid Python: {error}") from None
