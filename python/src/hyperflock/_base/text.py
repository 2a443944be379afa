"""Strings that came from strangers' devices, made harmless for a terminal. Pure; any thread."""

from __future__ import annotations

import unicodedata

# Line and paragraph separators move the cursor as a newline does; format characters (Cf) hold the
# bidirectional overrides, by which a text can show something else than it says.
_REMOVED = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})


def clean(text: str, *, keep_lines: bool = False, limit: int | None = None) -> str:
    """Strip control and format characters (so also every escape sequence's start).

    Parameters
    ----------
    text
        From anywhere.
    keep_lines
        Keep newlines and tabs, as a traceback needs them; else they become one blank each.
    limit
        Cut after that many characters, with an ellipsis.
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


def csv_cell(text: str) -> str:
    """Clean a text and keep spreadsheet programs from taking it for a formula."""
    text = clean(text)
    return f"'{text}" if text[:1] in {"=", "+", "-", "@"} else text
