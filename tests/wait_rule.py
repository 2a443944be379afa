"""Checks in source text, without a parser, that every ``Atomics.wait`` ends by itself.

A call needs a fourth argument that is a time. The function must not be used under another name,
because a text search would not find such a call.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

SUFFIXES = {".ts", ".tsx", ".js", ".mjs", ".html"}
_ENDLESS = {"", "undefined", "null", "NaN", "Infinity", "Number.POSITIVE_INFINITY"}
# Comments are removed. Strings stay, because a string may contain a page's script.
_COMMENT = re.compile(r"(?<![:\"'`])//[^\n]*|/\*.*?\*/", re.DOTALL)
_WAIT = re.compile(r"\bAtomics\s*(?:\??\.\s*wait(?:Async)?\b|\[\s*[\"'`]wait(?:Async)?[\"'`]\s*\])")
_RENAMED = re.compile(
    r"\{[^{}]*\bwait(?:Async)?\b[^{}]*\}\s*=\s*Atomics\b|=\s*Atomics\s*(?=[;,\n)])"
)
_CALL = re.compile(r"\s*(?:\?\.\s*)?\(")


def arguments_of(text: str, opening: int) -> list[str]:
    """Return the arguments of the call whose bracket opens at ``opening``."""
    depth, begin, found = 0, opening + 1, []
    for at in range(opening, len(text)):
        depth += (text[at] in "([{") - (text[at] in ")]}")
        if (text[at] == "," and depth == 1) or depth == 0:
            found.append(text[begin:at].strip())
            begin = at + 1
        if depth == 0:
            break
    # A comma may follow the last argument.
    return found[:-1] if found and not found[-1] else found


def endless_waits(text: str) -> Iterator[tuple[int, str]]:
    """Yield the line of each Atomics.wait that may wait for ever, and the reason."""
    code = _COMMENT.sub(lambda match: re.sub(r"[^\n]", " ", match.group()), text)
    for match in _WAIT.finditer(code):
        line = code.count("\n", 0, match.start()) + 1
        call = _CALL.match(code, match.end())
        if call is None:
            if not re.search(r"typeof\s+$", code[: match.start()]):
                yield line, "Atomics.wait under another name"
            continue
        arguments = arguments_of(code, call.end() - 1)
        if len(arguments) < 4 or arguments[3] in _ENDLESS:
            yield line, "Atomics.wait without a time-out"
    for match in _RENAMED.finditer(code):
        yield code.count("\n", 0, match.start()) + 1, "Atomics.wait under another name"
