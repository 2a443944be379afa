"""Turns an archive of Python sources into one of compiled files. Runs inside Pyodide.

``x.py`` becomes ``x.pyc`` in its place, the layout that both an unpacked folder and ``zipimport``
import without a source. The files are unchecked (no time stamp is compared), stored without
compression (HTTP's brotli packs the whole archive better) and carry fixed dates: the same input
gives the same bytes.
"""

from __future__ import annotations

import ast
import fnmatch
import importlib.util
import io
import marshal
import zipfile
from typing import Any

_FIXED_DATE = (1980, 1, 1, 0, 0, 0)
_UNCHECKED_HASH = (1).to_bytes(4, "little")


def without_docstrings(source: bytes, filename: str) -> ast.Module:
    """Parse ``source`` without its docstrings. The positions of everything else stay."""
    tree = ast.parse(source, filename)
    for node in ast.walk(tree):
        if not isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        first = node.body[0] if node.body else None
        if (
            isinstance(first, ast.Expr)
            and isinstance(first.value, ast.Constant)
            and isinstance(first.value.value, str)
        ):
            # A `pass` is inserted only if nothing else is left, because a `pass` before `from
            # __future__` is a syntax error.
            node.body[:1] = [] if len(node.body) > 1 else [ast.copy_location(ast.Pass(), first)]
    return tree


def drop_annotations(tree: ast.Module) -> None:
    """Remove the types of functions' parameters and results, which nothing reads at run time.

    Those of variables and of classes' fields stay, because dataclasses need them.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None


def make_lazy(tree: ast.Module, package: str) -> None:
    """Let a package import names from its own modules only when they are first used.

    The package's file still imports at once the names that it uses itself. For the others it gets
    a function ``__getattr__`` (PEP 562).
    """
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    places: dict[str, tuple[str, str]] = {}
    for node in list(tree.body):
        if not isinstance(node, ast.ImportFrom) or node.level or node.module is None:
            continue
        if node.module.split(".")[0] != package.split(".")[0]:
            continue
        waiting = [alias for alias in node.names if (alias.asname or alias.name) not in used]
        places.update({alias.asname or alias.name: (node.module, alias.name) for alias in waiting})
        node.names = [alias for alias in node.names if alias not in waiting]
        if not node.names:
            tree.body.remove(node)
    tree.body += ast.parse(_LAZY.format(places=places)).body


_LAZY = """
_lazy_places = {places!r}

def __getattr__(name):
    if name not in _lazy_places:
        raise AttributeError(f"module {{__name__!r}} has no attribute {{name!r}}")
    import importlib
    module, attribute = _lazy_places[name]
    if module == __name__:
        found = importlib.import_module(f"{{module}}.{{attribute}}")
    else:
        found = getattr(importlib.import_module(module), attribute)
    globals()[name] = found
    return found
"""


def compiled(
    source: bytes, filename: str, docstrings: bool, lazy: str = "", *, untyped: bool = False
) -> bytes:
    """Return the bytes of a ``.pyc`` that is never checked against its source.

    ``lazy`` is the package whose imports of its own modules are delayed; empty means none.
    ``untyped`` removes the types of functions' parameters and results.
    """
    tree = ast.parse(source, filename) if docstrings else without_docstrings(source, filename)
    if untyped:
        drop_annotations(tree)
    if lazy:
        make_lazy(tree, lazy)
    code = compile(tree, filename, "exec", dont_inherit=True)
    head = importlib.util.MAGIC_NUMBER + _UNCHECKED_HASH + importlib.util.source_hash(source)
    return head + marshal.dumps(code)


def compile_archive(source: Any, options: Any) -> bytes:
    """Compile the Python files of the zip ``source``.

    ``options``: ``root`` (folder named in tracebacks), ``exclude`` (patterns of names left out),
    ``only`` (patterns of names to compile; the others stay sources), ``docstrings`` (patterns of
    names whose docstrings stay), ``untyped`` (patterns of names whose functions lose the types of
    their parameters and results), ``lazy`` (patterns of packages' ``__init__.py`` whose imports of
    their own modules are delayed) and ``append`` (name -> statements that are added at the
    end of the file, such as one that removes the name of an excluded module from ``__all__``).
    """
    out = io.BytesIO()
    exclude, only, docstrings, untyped, lazy = (
        list(options[key]) for key in ("exclude", "only", "docstrings", "untyped", "lazy")
    )

    def matches(name: str, patterns: list[str]) -> bool:
        return any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)

    with (
        zipfile.ZipFile(io.BytesIO(bytes(source))) as archive,
        zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as target,
    ):
        for name in sorted(archive.namelist()):
            if name.endswith("/") or matches(name, exclude):
                continue
            data = archive.read(name) + options["append"].get(name, "").encode()
            if name.endswith(".py") and matches(name, only):
                path = f"{options['root']}/{name}"
                package = name.removesuffix("/__init__.py").replace("/", ".")
                waits = package if matches(name, lazy) else ""
                plain = matches(name, untyped)
                data = compiled(data, path, matches(name, docstrings), waits, untyped=plain)
                name += "c"
            target.writestr(zipfile.ZipInfo(name, _FIXED_DATE), data)
    return out.getvalue()
