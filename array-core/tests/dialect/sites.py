"""Finds the kernel sites of a Chainer wheel: where elementwise, reduction and raw kernels are made.

There are two methods. This module reads the syntax: it finds every call of ``cuda.elementwise`` and
similar functions in every ``.py`` file, with the texts if they are literals or constants of the
module. ``hooked.py`` runs Chainer with a stand-in ``cupy`` that records the kernels, which also
finds computed texts.

    python3 sites.py WHEEL... --out FOLDER    # writes FOLDER/sites-VERSION.json
"""

from __future__ import annotations

import argparse
import ast
import json
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

ELEMENTWISE = ("in_params", "out_params", "operation", "name")
REDUCTION = (
    "in_params",
    "out_params",
    "map_expr",
    "reduce_expr",
    "post_map_expr",
    "identity",
    "name",
)
OPTIONAL = {
    "elementwise": ("preamble", "loop_prep", "after_loop"),
    "reduction": ("preamble", "reduce_type"),
}
# For each function that makes a kernel: the kind of the kernel, and the names of the positional
# arguments.
MAKERS = {
    "elementwise": ("elementwise", ELEMENTWISE),
    "ElementwiseKernel": ("elementwise", ELEMENTWISE),
    "reduce": ("reduction", REDUCTION),
    "ReductionKernel": ("reduction", REDUCTION),
    "raw": ("raw", ("operation", "name")),
    "RawKernel": ("raw", ("operation", "name")),
}
# ``x.reduce`` and ``x.raw`` are kernels only where ``x`` is the module ``cuda``.
NEEDS_CUDA = {"reduce", "raw"}
DEFINITIONS = "chainer/backends/cuda.py"  # defines cuda.elementwise; has no sites

# These kernels read device memory by address; array-core/docs/dialect.md says what replaces them.
POINTERS = {"pad_sequence_fwd", "_memcpy_gather", "_memcpy_scatter"}
# Kernels that Chainer calls only with cuDNN, or never (7.8.1 tests `xp is backend.cuda`, which is
# never true). Their texts are literals; they are compiled like the others, and called directly.
UNREACHABLE = {
    "5.4.0": set[str](),
    "7.8.1": {"groupnorm_y", "lars"},
}


@dataclass
class Site:
    """One place that makes a kernel. ``texts`` is None if a text is computed."""

    file: str
    line: int
    end_line: int
    kind: str
    texts: dict[str, str] | None = field(default=None)

    @property
    def package(self) -> str:
        return self.file.split("/", 1)[0]


def constants(tree: ast.Module) -> dict[str, ast.expr]:
    """Return the values of the names that the module assigns at its top level."""
    found: dict[str, ast.expr] = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name):
                found[target.id] = statement.value
    return found


def literal(node: ast.expr, names: dict[str, ast.expr]) -> str | None:
    """Return the text of an expression if it can be read without running code, else None."""
    if isinstance(node, ast.Constant) and (isinstance(node.value, str | int) or node.value is None):
        return "" if node.value is None else str(node.value)
    if isinstance(node, ast.Name) and node.id in names:
        return literal(names[node.id], {})
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = literal(node.left, names), literal(node.right, names)
        return None if left is None or right is None else left + right
    return None


def site_of(call: ast.Call, file: str, names: dict[str, ast.expr]) -> Site | None:
    """Return the site if a call makes a kernel, else None."""
    callee = call.func
    name = (
        callee.attr
        if isinstance(callee, ast.Attribute)
        else callee.id
        if isinstance(callee, ast.Name)
        else ""
    )
    if name not in MAKERS or (isinstance(callee, ast.Name) and name in NEEDS_CUDA):
        return None
    if name in NEEDS_CUDA and isinstance(callee, ast.Attribute):
        owner = callee.value
        if (owner.attr if isinstance(owner, ast.Attribute) else getattr(owner, "id", "")) != "cuda":
            return None
    kind, arguments = MAKERS[name]
    given: list[tuple[str, ast.expr]] = list(zip(arguments, call.args, strict=False))
    given += [(keyword.arg or "**", keyword.value) for keyword in call.keywords]
    texts = {argument: literal(value, names) for argument, value in given}
    known = {argument: text for argument, text in texts.items() if text is not None}
    end = call.end_lineno or call.lineno
    return Site(file, call.lineno, end, kind, known if len(known) == len(texts) else None)


def sources(place: Path) -> Iterator[tuple[str, str]]:
    """Yield name and text of each Python file of a wheel, or of an installed package's folder."""
    if place.is_dir():
        for path in sorted(place.rglob("*.py")):
            yield path.relative_to(place.parent).as_posix(), path.read_text()
        return
    with zipfile.ZipFile(place) as archive:
        for name in sorted(archive.namelist()):
            if name.endswith(".py"):
                yield name, archive.read(name).decode()


def find_sites(place: Path) -> list[Site]:
    """Return every site of a wheel or a package's folder, found by syntax."""
    found: list[Site] = []
    for file, text in sources(place):
        if file == DEFINITIONS:
            continue
        tree = ast.parse(text)
        names = constants(tree)
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
        sites = [site_of(call, file, names) for call in calls]
        found += sorted((s for s in sites if s is not None), key=lambda site: site.line)
    return found


def direct_call(site: Site) -> tuple[dict[str, str], list[Any], list[Any]]:
    """Return texts, inputs and outputs for a call of the site's kernel. REQUIRES: literal texts.

    Every parameter gets a two-dimensional array of numbers. The outputs get one too, because some
    kernels update them.
    """
    texts = {**dict.fromkeys(OPTIONAL[site.kind], ""), **(site.texts or {})}
    counts = [
        len([p for p in texts[k].split(",") if p.strip()]) for k in ("in_params", "out_params")
    ]
    numbers = [np.linspace(-2.5, 3, 12).reshape(3, 4) * (k + 1) for k in range(sum(counts))]
    return texts, numbers[: counts[0]], numbers[counts[0] :]


def version_of(wheel: Path) -> str:
    return wheel.name.split("-")[1]


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheels", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    for wheel in options.wheels:
        sites = find_sites(wheel)
        version = version_of(wheel)
        path = options.out / f"sites-{version}.json"
        path.write_text(json.dumps([asdict(site) for site in sites], indent=1))
        for package in sorted({site.package for site in sites}):
            of_package = [site for site in sites if site.package == package]
            computed = sum(site.texts is None for site in of_package)
            raw = sum(site.kind == "raw" for site in of_package)
            print(
                f"{version} {package}: {len(of_package)} sites, {computed} computed, {raw} raw CUDA"
            )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
