"""Cleans text from other people's devices before a terminal shows it. The module is pure; any
thread may use it.
"""

from __future__ import annotations

import unicodedata
from typing import Any

# Line and paragraph separators move the cursor like a newline. Format characters (Cf) include the
# bidirectional overrides, which can make a text look different from what it is.
_REMOVED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def clean(text: str, *, keep_lines: bool = False, limit: int | None = None) -> str:
    """Return a text without control and format characters, and so without escape sequences.

    Parameters
    ----------
    text
        A text from an untrusted source.
    keep_lines
        Keep newlines and tabs, which a traceback needs; otherwise each becomes a space.
    limit
        Cut a longer text after this many characters and add an ellipsis.
    """
    kept = []
    for character in text:
        if character in "\n\t":
            kept.append(character if keep_lines else " ")
        elif unicodedata.category(character) not in _REMOVED:
            kept.append(character)
    result = "".join(kept)
    if limit is not None and len(result) > limit:
        result = result[: limit - 1] + "…"
    return result


def value_text(value: Any, limit: int | None = None) -> str:
    """Return a parameter's value as text for people. A string is shown without quotes.

    Strings, tuples, lists and dicts are cleaned and cut after ``limit`` characters (see `clean`).
    """
    if isinstance(value, str):
        return clean(value, limit=limit)
    return clean(str(value), limit=limit) if isinstance(value, list | tuple | dict) else str(value)


def csv_cell(text: str) -> str:
    """Return a clean text that a spreadsheet program does not take for a formula."""
    text = clean(text)
    return f"'{text}" if text[:1] in {"=", "+", "-", "@"} else text
