"""Draws a QR code for a terminal, two modules per character. The module is pure; any thread may use
it.
"""

from __future__ import annotations

import segno

# The code is black on white in any terminal, because many cameras cannot read an inverted code.
_COLOURS = "\x1b[30;107m"
_RESET = "\x1b[0m"
_HALVES = {(0, 0): " ", (1, 0): "▀", (0, 1): "▄", (1, 1): "█"}
_QUIET_ZONE = 4


def terminal_qr(text: str) -> str:
    """Return a text's QR code with error correction M and the standard's quiet zone."""
    code = segno.make(text, error="m", micro=False, boost_error=False)
    rows = [[int(bool(m)) for m in row] for row in code.matrix_iter(border=_QUIET_ZONE)]
    if len(rows) % 2:
        rows.append([0] * len(rows[0]))
    lines = []
    for upper, lower in zip(rows[::2], rows[1::2], strict=True):
        drawn = "".join(_HALVES[pair] for pair in zip(upper, lower, strict=True))
        lines.append(f"{_COLOURS}{drawn}{_RESET}")
    return "\n".join(lines)
