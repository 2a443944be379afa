"""Errors of compiled functions: file, line, caret and remedy."""

from __future__ import annotations

import ast

from .._runtime.errors import CompileError, coded
from .source import Source

__all__ = ["coded", "error_at"]


def error_at(
    source: Source, node: ast.AST | None, code: str, message: str, remedy: str
) -> CompileError:
    """Return the error for a place in a function.

    Parameters
    ----------
    source : Source
        The function.
    node : ast.AST or None
        The place; None is the line of ``def``.
    code : str
        The stable code (``docs/errors.md``), which becomes the exception's attribute ``code``.
    message : str
        What is wrong.
    remedy : str
        What to write instead.
    """
    line, column = source.place(node)
    text = source.line(line)
    parts = [f"{source.file}:{line}: in {source.name!r}: {message}"]
    if text.strip():
        kept = text.lstrip()
        column = max(column - (len(text) - len(kept)), 0)
        parts += [f"    {kept.rstrip()}", f"    {' ' * column}^"]
    parts.append(f"Remedy: {remedy}.")
    return coded(CompileError("\n".join(parts)), code)
