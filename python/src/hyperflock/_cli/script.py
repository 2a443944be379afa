"""Reads what a command names: the script or module of an objective, and a space."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from hyperflock._base.errors import InvalidSpaceError
from hyperflock._bundle.bundle import Bundle, bundle_module, bundle_script
from hyperflock._bundle.wheels import Wheel


def bundle_of(target: str, wheels: list[Wheel]) -> Bundle:
    """Return the bundle of ``path/to/script.py:function`` or ``package.module:function``."""
    where, colon, function = target.rpartition(":")
    # The last colon separates the function, because a path may contain a drive's colon.
    if not colon or not function.isidentifier():
        where, function = target, "objective"
    if where.endswith(".py"):
        return bundle_script(where, function, wheels)
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    return bundle_module(where, function, wheels)


def read_space(text: str) -> Any:
    """Return the space in a JSON text, or in a file of JSON.

    Raises
    ------
    InvalidSpaceError
        ``bad_space``.
    """
    if not text.lstrip().startswith(("{", "[")):
        try:
            text = Path(text).read_text("utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise InvalidSpaceError(
                f"--space is neither JSON nor a file of JSON: {error}", code="bad_space"
            ) from None
    try:
        space = json.loads(text, object_pairs_hook=_unique)
    except ValueError as error:
        raise InvalidSpaceError(f"--space is not JSON: {error}", code="bad_space") from None
    if not isinstance(space, dict | list):
        raise InvalidSpaceError("--space is neither an object nor a list", code="bad_space")
    return space


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("a name is there twice")
    return dict(pairs)
