"""Checks that the folders of a part form layers; run by ``./run lint``.

A folder points at another folder when one of its files includes or imports a file of the other one.
Every arrow has to point to a lower layer, so that no cycle can arise. Tests count like all other
files, and imports inside functions like all other imports. An ``__init__.py`` may import from the
folders inside its own folder: it passes their names on.

To add a part, add a ``Part`` to ``PARTS``.
"""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).resolve().parent.parent
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')


@dataclass(frozen=True)
class Arrow:
    """One file's use of another file of the same part."""

    source: str  # a file, relative to the part's root
    line: int
    target: str  # a file, relative to the part's root


@dataclass(frozen=True)
class Part:
    """A tree of folders whose order is known."""

    #: The path of the folder whose subfolders are ordered.
    root: str
    #: The layers, the lowest first, one on each line. Folders of one line must not use each other.
    layers: str
    #: Yields the arrows of a file. Its arguments are the part's root and the file's path.
    arrows: Callable[[Path, Path], Iterator[Arrow]]
    #: The endings of the files that are read.
    suffixes: tuple[str, ...]

    def heights(self) -> dict[str, int]:
        """Return the number of each folder's layer."""
        lines = self.layers.strip().splitlines()
        return {folder: height for height, line in enumerate(lines) for folder in line.split()}


def includes(root: Path, path: Path) -> Iterator[Arrow]:
    """Yield the headers of the same part that a C++ file includes."""
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if match and (root / match[1]).is_file():
            yield Arrow(path.relative_to(root).as_posix(), number, match[1])


def imports(root: Path, path: Path) -> Iterator[Arrow]:
    """Yield the files of the same package that a Python file imports; the root is the package.

    Imports under ``if TYPE_CHECKING`` are left out: no program runs them.
    """
    here = path.relative_to(root)
    package = [root.name, *here.parent.parts]
    for node in run_nodes(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) - node.level + 1] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            names = [f"{source}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            target = module_file(root, name)
            is_passed_on = (
                here.name == "__init__.py" and target and target.is_relative_to(here.parent)
            )
            if target is not None and not is_passed_on:
                yield Arrow(here.as_posix(), node.lineno, target.as_posix())


def run_nodes(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes below a node, except those under ``if TYPE_CHECKING``."""
    is_for_checkers = isinstance(tree, ast.If) and ast.unparse(tree.test) == "TYPE_CHECKING"
    for node in tree.orelse if is_for_checkers else ast.iter_child_nodes(tree):
        yield node
        yield from run_nodes(node)


def module_file(root: Path, name: str) -> PurePosixPath | None:
    """Return the file of the module ``name``, or of the module that defines ``name``; None if it is
    outside of the package.
    """
    first, *parts = name.split(".")
    if first != root.name:
        return None
    for end in (len(parts), max(len(parts) - 1, 0)):
        for file in (f"{'/'.join(parts[:end])}.py", "/".join([*parts[:end], "__init__.py"])):
            if (root / file).is_file():
                return PurePosixPath(file)
    return None


PARTS = (
    Part(
        root="array-core/src",
        layers="""
            base
            thread_pool memory ring dtype
            view
            ir
            lower dialect
            wgsl codegen/prelude
            codegen
            codegen/glsl gemm ops
            cpu cpu/gemm
            cpu/nn fuse
            backend
            backend/cpu
            backend/gpu
            testing
            runtime
            runtime/capture operations
            operations/indexing operations/nn operations/kernels
            abi/calls
            abi
        """,
        arrows=includes,
        suffixes=(".h", ".cc"),
    ),
    Part(
        root="server/src",
        layers="""
            base base/testing
            protocol/schema
            protocol/json
            protocol
            protocol/runtime telemetry blobs storage acme client
            names
            storage/contract storage/sql
            storage/sqlite/db
            storage/sqlite/contribution storage/sqlite/series storage/sqlite/standby
            storage/sqlite
            storage/sqlite/check
            storage/testing
            storage/sqlite/tests storage/postgres backup
            storage/postgres/testing
            storage/postgres/tests storage/move
            auth dispatch hub/tracing
            packs dispatch/asked dispatch/trust dispatch/model
            dispatch/tests hub
            webhook
            http/core traces
            http/console http/compute net/proxy
            net cli settings
            net/relay app/machine
            net/relay/tests app/spare
            app
        """,
        arrows=includes,
        suffixes=(".h", ".cc"),
    ),
    Part(
        root="array-core/python/arraycore",
        layers="""
            _bridge
            _runtime
            _core
            _compat _linalg _manipulation
            _jit _math lib nn
            _statistics
            random
            capture
            .
            _namespaces/cupy/_shared
            _namespaces/cupy/cuda _namespaces/cupy/lib _namespaces/cupy/testing
            _namespaces/cupy
            _namespaces/cupyx/scipy
            _namespaces/cupyx
        """,
        arrows=imports,
        suffixes=(".py",),
    ),
    Part(
        root="python/src/hyperflock",
        layers="""
            _base
            _transport _trial
            _model
            _bundle/source
            _bundle/checks
            _bundle
            _execution _reports
            optuna
            _client
            optuna/storage
            optuna/owner sklearn
            _local
            _cli
            .
        """,
        arrows=imports,
        suffixes=(".py",),
    ),
)


def folder_of(name: str) -> str:
    """Return the folder of a part's file."""
    return PurePosixPath(name).parent.as_posix()


def path_between(graph: dict[str, dict[str, Arrow]], start: str, end: str) -> list[str] | None:
    """Return the folders of a path from ``start`` to ``end`` along the arrows, or None."""
    seen, waiting = {start}, [[start]]
    for way in waiting:
        if way[-1] == end:
            return way
        for folder in sorted(graph.get(way[-1], {}).keys() - seen):
            seen.add(folder)
            waiting.append([*way, folder])
    return None


def graph_of(part: Part) -> tuple[set[str], dict[str, dict[str, Arrow]]]:
    """Return a part's folders, and the folders that each points at, with an import of each."""
    root = ROOT / part.root
    folders: set[str] = set()
    graph: dict[str, dict[str, Arrow]] = {}
    for path in sorted(root.rglob("*")):
        if path.suffix not in part.suffixes:
            continue
        folder = folder_of(path.relative_to(root).as_posix())
        folders.add(folder)
        for arrow in part.arrows(root, path):
            target = folder_of(arrow.target)
            if target != folder:
                graph.setdefault(folder, {}).setdefault(target, arrow)
    return folders, graph


def problems(part: Part) -> list[str]:
    """Return a line for each import that leads to no lower layer, and for each unknown folder."""
    folders, graph = graph_of(part)
    heights = part.heights()
    found = [f"{part.root}/{folder}: in no layer" for folder in sorted(folders - heights.keys())]
    found += [
        f"{part.root}/{folder}: no such folder" for folder in sorted(heights.keys() - folders)
    ]
    for source, targets in sorted(graph.items()):
        for target, arrow in sorted(targets.items()):
            if heights.get(target, -1) < heights.get(source, len(heights)):
                continue
            line = f"{part.root}/{arrow.source}:{arrow.line}: {source} -> {target} points upwards"
            back = path_between(graph, target, source)
            found.append(
                line + (f" and closes the cycle {' -> '.join([*back, target])}" if back else "")
            )
    return found


def main() -> int:
    """Print every problem of every part. Return the exit code."""
    found = [line for part in PARTS for line in problems(part)]
    for line in found:
        print(line)
    for part in PARTS:
        folders, graph = graph_of(part)
        print(f"{part.root}: {len(folders)} folders, {sum(map(len, graph.values()))} arrows")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
