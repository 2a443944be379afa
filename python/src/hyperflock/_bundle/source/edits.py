r"""Replaces statements and expressions in a file's text; every other line keeps its number.

    edited(b"import pandas as pd\nX = 1\n", [(node, "pass")])      # b"pass\nX = 1\n"

The module is pure; any thread may use it.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence


def edited(content: bytes, edits: Sequence[tuple[ast.AST, str]]) -> bytes:
    """Return a text in which each node is replaced by a text of one line.

    The replacement is followed by as many line ends as the node had. A node inside another replaced
    node is skipped.
    """
    lines = content.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    spans = sorted((*_span(node, starts, content), text) for node, text in edits)
    parts: list[bytes] = []
    at = 0
    for first, last, text in spans:
        if first < at:
            continue
        ends = content.count(b"\n", first, last)
        parts += [content[at:first], text.encode(), b"\n" * ends]
        at = last
    return b"".join([*parts, content[at:]])


def _span(node: ast.AST, starts: Sequence[int], content: bytes) -> tuple[int, int]:
    """Return the offsets at which a node begins and ends, its decorators included."""
    decorators: list[ast.expr] = getattr(node, "decorator_list", [])
    first = starts[node.lineno - 1] + node.col_offset  # type: ignore[attr-defined]
    if decorators:
        first = starts[decorators[0].lineno - 1] + decorators[0].col_offset
        first = content.rfind(b"@", 0, first)
    last = starts[node.end_lineno - 1] + node.end_col_offset  # type: ignore[attr-defined]
    return first, last
