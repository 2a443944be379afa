"""Finds the names of CuPy that a Chainer wheel uses: ``cupy.exp``, ``xp.exp``, ``cuda.cublas.x``.

    python3 names.py WHEEL...

It reads the syntax of Chainer's own files. It finds each chain of attributes that begins with
``cupy``, ``cupyx`` or ``xp`` (which is ``cupy`` if arrays are on a device), and each name that is
imported from ``cupy`` or ``cupyx``.
"""

from __future__ import annotations

import ast
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

# chainer.backends.cuda offers these names of cupy.cuda as its own.
OF_CUDA = ("cublas", "cuda", "cudnn", "libcudnn", "Device", "Event", "Stream")
# Attributes of every Python module or type, at which a name of CuPy ends.
PYTHONS = {"__name__", "__version__"}


def chain(node: ast.expr) -> list[str]:
    """Return the names in ``a.b.c``; an empty list if it does not begin with a name."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return [node.id, *reversed(parts)] if isinstance(node, ast.Name) else []


def of_cupy(parts: list[str]) -> str | None:
    """Return the full name in ``cupy`` or ``cupyx`` that a chain stands for, or None."""
    for root in ("cupy", "cupyx"):
        if root in parts and parts[0] in (root, "chainer", "backends", "cuda"):
            parts = parts[parts.index(root) :]
            break
    else:
        if parts[:1] == ["self"]:
            parts = parts[1:]
        if parts[:1] == ["xp"]:
            parts = ["cupy", *parts[1:]]
        elif parts[:1] == ["cuda"] and parts[1:2] and parts[1] in OF_CUDA:
            own = parts[2:] if parts[1] == "cuda" else parts[1:]
            parts = ["cupy", "cuda", *own]
        else:
            return None
    parts = parts[: next((k for k, part in enumerate(parts) if part in PYTHONS), None)]
    return ".".join(parts) if len(parts) > 1 else None


def in_tree(tree: ast.AST) -> Iterator[str]:
    inner = {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and id(node) not in inner:
            name = of_cupy(chain(node))
            if name is not None:
                yield name
        elif isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.startswith(("cupy.", "cupyx.")))
        elif isinstance(node, ast.ImportFrom) and not node.level:
            module = node.module or ""
            if module.split(".")[0] in ("cupy", "cupyx"):
                yield from (f"{module}.{a.name}" for a in node.names)


def names(wheel: Path) -> set[str]:
    """Return every name of CuPy that a wheel's own files use, such as ``cupy.linalg.norm``."""
    found: set[str] = set()
    with zipfile.ZipFile(wheel) as archive:
        for file in archive.namelist():
            if file.startswith("chainer/") and file.endswith(".py"):
                found.update(in_tree(ast.parse(archive.read(file).decode())))
    return found


def main() -> None:
    for wheel in map(Path, sys.argv[1:]):
        found = sorted(names(wheel))
        print(f"{wheel.name}: {len(found)} names\n  " + "\n  ".join(found))


if __name__ == "__main__":
    main()
