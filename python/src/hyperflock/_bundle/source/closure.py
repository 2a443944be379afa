"""Finds the source files of an objective: its own and all that it imports from its folder.

Imports are read from the source text, so the result does not depend on what else this process has
imported. Modules that a *script* has imported from its own folder are added, because it may have
imported them by a computed name. Files are read and not run. Any thread may use this module.
"""

from __future__ import annotations

import ast
import functools
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

# The package that is never sent, because devices have their own package of this name.
_OURS = "hyperflock"


@dataclass(frozen=True)
class Origin:
    """The place of an objective's module.

    Attributes
    ----------
    root : Path
        The folder from which its imports start.
    module : str
        Its dotted name in the bundle.
    path : Path
        The source file.
    script : bool
        Whether it runs as a script, so that its file name need not be a valid module name.
    """

    root: Path
    module: str
    path: Path
    script: bool = False

    @property
    def unit(self) -> str:
        """The top-level module or package to which the module belongs."""
        return self.module.split(".")[0]


def origin_of_script(path: Path) -> Origin:
    """Return a script's origin. Its module is named like the file without ``.py``; ``_`` replaces
    characters that a module's name cannot have.
    """
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
    """Return a module's origin. For ``a.b.c``, the root is the folder that contains ``a``."""
    depth = name.count(".") + (path.name == "__init__.py")
    return Origin(path.parents[depth], name, path)


def origin_by_name(name: str) -> Origin:
    """Find a module without running it.

    Raises
    ------
    BundleError
        There is no such module, or it is not written in Python.
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
    """Check in the source that an objective with this name can be called.

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
    """Return the sources by their names in the bundle.

    Raises
    ------
    BundleError
        A module is compiled, a source cannot be read, or there are too many sources.
    """
    sources: dict[str, bytes] = {}
    seen = {_OURS}
    if "." in origin.module or origin.path.name == "__init__.py":
        waiting = [origin.unit]
    else:
        # The name of a script or single module in the bundle may differ from its file name.
        content = _read(origin.path)
        sources[f"{origin.module}.py"] = content
        seen.add(origin.unit)
        waiting = list(_imported_units(content, origin.path.name))
        if origin.script:
            waiting += _loaded_units(origin)
    # Files next to a module in site-packages do not belong to it.
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
            content = _read(path)
            sources[path.relative_to(root).as_posix()] = content
            if not library:
                waiting += _imported_units(content, path.name)
        if len(sources) > MAX_FILES:
            raise cannot(
                "size",
                f"'{origin.module}' imports more than {MAX_FILES} files of '{origin.root}'; "
                "put the objective into a folder of its own",
            )
    return sources


def _own_root(unit: str) -> Path | None:
    """Return the researcher's folder from which a top-level name is imported. Return None if the
    name is not found, or belongs to the runtime or to an installed package.
    """
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
    """Yield the source files of a top-level name below ``root``. Yield nothing if the name does not
    come from ``root``.
    """
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
        return  # the standard library's module has precedence over a plain folder
    scanned = 0
    for folder, folders, files in os.walk(package):
        # A folder whose name is not an identifier is not a package.
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


@functools.lru_cache(maxsize=MAX_FILES)
def _imported_units(content: bytes, filename: str) -> tuple[str, ...]:
    """Return the top-level names of all absolute imports in a source, sorted. Return nothing for
    one that is not valid Python.

    A notebook submits again and again from the same files. To parse them took most of the time.
    """
    units: set[str] = set()
    try:
        tree = ast.parse(content, filename=filename)
    except (SyntaxError, ValueError):
        return ()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            units.update(alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            units.add(node.module.split(".")[0])
    return tuple(sorted(units))


def _loaded_units(origin: Origin) -> Iterator[str]:
    """Return the top-level names that this process has imported from the script's own folder."""
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
    """Yield the nodes of a function without those of functions and classes inside it."""
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
