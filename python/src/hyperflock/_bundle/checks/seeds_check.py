"""Warns of seeds that a script sets for the whole process, because each trial has its own.

    warn_of_seeds({("train.py", 12)})

A device seeds the generators with ``trial.seed`` before it calls the objective. So a call such as
``np.random.seed(0)`` outside of the objective has no effect there. The check reads the running
script's text and looks up the called functions; it runs nothing. Any thread may use this module.
"""

from __future__ import annotations

import ast
import random
import sys
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from hyperflock._bundle.checks.reachability import warn
from hyperflock._bundle.source.certain_calls import called_name
from hyperflock._bundle.source.definitions import shown_file, source_tree, typed_files


def warn_of_seeds(written: Collection[tuple[str, int]]) -> None:
    """Warn of seeds in the running script or notebook.

    ``written`` has the file and first line of each definition in the bundle. A seed in such a
    definition is set in each trial too.
    """
    main = sys.modules.get("__main__")
    if main is None:
        return
    script = getattr(main, "__file__", None)
    for file in [str(script)] if script else typed_files():
        tree = source_tree(file, vars(main))
        own = {line for name, line in written if name == file}
        found = list(_seeds(tree, vars(main), own)) if tree is not None else []
        if found:
            warn(
                f"{shown_file(file)}, line {min(found)} seeds random numbers of this process; on "
                "devices each trial has its own seed instead, trial.seed, and draws other numbers"
            )
            return


def _seeds(node: ast.AST, namespace: dict[str, Any], written: Collection[int]) -> Iterator[int]:
    """Yield the lines of calls that seed a generator, except in definitions that begin at the lines
    ``written``.
    """
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        lines = {node.lineno, *(one.lineno for one in node.decorator_list)}
        if lines & {*written}:
            return
    if isinstance(node, ast.Call) and _is_seed(called_name(node) or "", namespace):
        yield node.lineno
    for child in ast.iter_child_nodes(node):
        yield from _seeds(child, namespace, written)


def _is_seed(name: str, namespace: dict[str, Any]) -> bool:
    first, *rest = name.split(".")
    found = namespace.get(first)
    for part in rest:
        found = getattr(found, part, None)
    return found in (random.seed, np.random.seed)
