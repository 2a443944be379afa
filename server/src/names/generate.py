"""Writes unicode_data.cc, the data of Unicode 15.0 that names.cc needs, from Debian's ICU 72.

    python3 server/src/names/generate.py            write the file
    python3 server/src/names/generate.py --check    exit 1 if the file would change

ICU itself is not linked: its data would make the server ten times as large.
"""

from __future__ import annotations

import argparse
import ctypes
import hashlib
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

OUT = Path(__file__).with_name("unicode_data.cc")
LAST = 0x10FFFF
IDEOGRAPHIC_SPACE = 0x3000
#: The numbers that ICU gives to general categories of characters: control, format, surrogate,
#: private use, line separator, paragraph separator, space.
CONTROL, FORMAT, SURROGATE, PRIVATE, LINE, PARAGRAPH, SPACE = 15, 16, 18, 17, 13, 14, 12
#: The numbers that ICU gives to properties of characters.
DEFAULT_IGNORABLE, FULL_COMPOSITION_EXCLUSION, NONCHARACTER = 5, 9, 24
HANGUL = range(0xAC00, 0xD7A4)


class Icu:
    """The functions of ICU that are used here."""

    def __init__(self) -> None:
        common = ctypes.CDLL("libicuuc.so.72")
        spoof = ctypes.CDLL("libicui18n.so.72")
        self._status = ctypes.c_int(0)
        self.category: Callable[[int], int] = common.u_charType_72
        self.category.restype = ctypes.c_int8  # type: ignore[attr-defined]
        self._has: Callable[[int, int], int] = common.u_hasBinaryProperty_72
        self._has.restype = ctypes.c_int8  # type: ignore[attr-defined]
        self.combining_class: Callable[[int], int] = common.u_getCombiningClass_72
        self.combining_class.restype = ctypes.c_uint8  # type: ignore[attr-defined]
        self._common, self._spoof = common, spoof
        self._forms = {name: self._form(name) for name in ("NFC", "NFD", "NFKD")}
        spoof.uspoof_open_72.restype = ctypes.c_void_p
        self._checker = ctypes.c_void_p(spoof.uspoof_open_72(ctypes.byref(self._status)))

    def _form(self, name: str) -> ctypes.c_void_p:
        get = getattr(self._common, f"unorm2_get{name}Instance_72")
        get.restype = ctypes.c_void_p
        return ctypes.c_void_p(get(ctypes.byref(self._status)))

    def has(self, point: int, what: int) -> bool:
        return bool(self._has(point, what))

    def _call(self, function: Callable[..., int], text: str, *after: object) -> str:
        """Return the UTF-16 text that ``function(source, length, target, room, ...)`` writes."""
        source = text.encode("utf-16-le")
        out = ctypes.create_string_buffer(4096)
        size = function(source, len(source) // 2, out, 2048, *after, ctypes.byref(self._status))
        if self._status.value > 0:
            raise RuntimeError(f"ICU failed with {self._status.value} on {text!a}")
        return out.raw[: 2 * size].decode("utf-16-le")

    def normal(self, form: str, text: str) -> str:
        chosen = self._forms[form]
        return self._call(lambda *rest: self._common.unorm2_normalize_72(chosen, *rest), text)

    def decomposition(self, point: int) -> str | None:
        """Return the first step of a code point's canonical decomposition, or None."""
        out = ctypes.create_string_buffer(64)
        size = self._common.unorm2_getRawDecomposition_72(
            self._forms["NFC"], point, out, 32, ctypes.byref(self._status)
        )
        return None if size < 0 else out.raw[: 2 * size].decode("utf-16-le")

    def skeleton(self, text: str) -> str:
        source = text.encode("utf-16-le")
        out = ctypes.create_string_buffer(4096)
        size = self._spoof.uspoof_getSkeleton_72(
            self._checker, 0, source, len(source) // 2, out, 2048, ctypes.byref(self._status)
        )
        return out.raw[: 2 * size].decode("utf-16-le")

    def fold(self, text: str) -> str:
        source = text.encode("utf-16-le")
        out = ctypes.create_string_buffer(4096)
        size = self._common.u_strFoldCase_72(
            out, 2048, source, len(source) // 2, 0, ctypes.byref(self._status)
        )
        return out.raw[: 2 * size].decode("utf-16-le")


def points() -> Iterable[int]:
    """Return every code point that can be in UTF-8."""
    return (p for p in range(LAST + 1) if not 0xD800 <= p <= 0xDFFF)


def is_forbidden(icu: Icu, point: int) -> bool:
    """Return whether a name must not have this character, because it is invisible, changes the
    order of other characters, looks like a plain space, or has no standard shape.
    """
    if point in (0x20, IDEOGRAPHIC_SPACE):
        return False
    return (
        icu.category(point) in (CONTROL, FORMAT, SURROGATE, PRIVATE, LINE, PARAGRAPH, SPACE)
        or icu.has(point, DEFAULT_IGNORABLE)
        or icu.has(point, NONCHARACTER)
    )


def ranges(marked: Iterable[tuple[int, int]]) -> list[tuple[int, int, int]]:
    """Join adjacent points of equal value. Return ranges (first point, last point, value)."""
    out: list[tuple[int, int, int]] = []
    for point, value in marked:
        if out and out[-1][1] == point - 1 and out[-1][2] == value:
            out[-1] = (out[-1][0], point, value)
        else:
            out.append((point, point, value))
    return out


def lookalike(icu: Icu, point: int) -> str:
    """Return what replaces a character when names are compared by their looks: the skeleton (UTS
    39) of its compatible form (NFKD), which for a full-width letter is the plain letter.
    """
    text, before = chr(point), ""
    while text != before:
        before = text
        text = icu.skeleton(icu.normal("NFKD", text))
    return text


def digest(icu: Icu) -> str:
    """Return the hash of texts that ICU has brought into NFC. A test compares it with the hash of
    the same texts after nfc() of names.cc.
    """
    total = hashlib.sha256()
    for point in points():
        total.update(icu.normal("NFC", chr(point)).encode())
    marks = [p for p in points() if icu.combining_class(p)]
    for number, mark in enumerate(marks):
        text = "a" + chr(marks[-1 - number]) + chr(mark) + "\u0301" + "\u1100\u1161\u11a8"
        total.update(icu.normal("NFC", text).encode())
    return total.hexdigest()


def rows(cells: Iterable[str]) -> str:
    """Return the cells with commas, in lines of at most 100 characters."""
    lines, line = [], "   "
    for cell in cells:
        if len(line) + len(cell) > 98:
            lines.append(line)
            line = "   "
        line += f" {cell},"
    return "\n".join([*lines, line])


def mapping(table: dict[int, str]) -> tuple[str, str]:
    """Return a table as text: its entries (point, place in the pool, length), and the pool, which
    contains the texts of all entries.
    """
    pool = ""
    entries = []
    for point, text in sorted(table.items()):
        if text not in pool:
            pool += text
        entries.append(f"{{0x{point:X}, {pool.index(text)}, {len(text)}}}")
    return rows(entries), rows(f"0x{ord(c):X}" for c in pool)


def generate() -> str:
    icu = Icu()
    forbidden = ranges((p, 1) for p in points() if is_forbidden(icu, p))
    classes = ranges((p, c) for p in points() if (c := icu.combining_class(p)))
    steps = {p: d for p in points() if p not in HANGUL and (d := icu.decomposition(p)) is not None}
    pairs = []
    for point, text in steps.items():
        parts = [ord(c) for c in text] + [0]
        composes = int(not icu.has(point, FULL_COMPOSITION_EXCLUSION))
        pairs.append(f"{{0x{point:X}, 0x{parts[0]:X}, 0x{parts[1]:X}, {composes}}}")
    looks = {}
    folds = {}
    for point in points():
        text = chr(point)
        if point in HANGUL or is_forbidden(icu, point) or point in steps:
            continue
        if (same := lookalike(icu, point)) != text:
            looks[point] = same
        if (folded := icu.normal("NFD", icu.fold(text))) != text:
            folds[point] = folded
    look_rows, look_pool = mapping(looks)
    fold_rows, fold_pool = mapping(folds)
    return f"""\
// Generated by generate.py from ICU 72 (Unicode 15.0). Do not edit.
#include "names/unicode_data.h"

// clang-format off
namespace hyperflock::names {{
namespace {{

constexpr Range kForbidden[] = {{
{rows(f"{{0x{a:X}, 0x{b:X}, {v}}}" for a, b, v in forbidden)}
}};
constexpr Range kClasses[] = {{
{rows(f"{{0x{a:X}, 0x{b:X}, {v}}}" for a, b, v in classes)}
}};
constexpr Step kSteps[] = {{
{rows(pairs)}
}};
constexpr Entry kLooks[] = {{
{look_rows}
}};
constexpr char32_t kLookPool[] = {{
{look_pool}
}};
constexpr Entry kFolds[] = {{
{fold_rows}
}};
constexpr char32_t kFoldPool[] = {{
{fold_pool}
}};

}}  // namespace

std::span<const Range> forbidden_ranges() {{ return kForbidden; }}
std::span<const Range> combining_classes() {{ return kClasses; }}
std::span<const Step> decompositions() {{ return kSteps; }}
Mapping lookalikes() {{ return {{kLooks, kLookPool}}; }}
Mapping case_folds() {{ return {{kFolds, kFoldPool}}; }}
std::string_view nfc_digest() {{
  return "{digest(icu)}";
}}

}}  // namespace hyperflock::names
"""


def main() -> int:
    parser = argparse.ArgumentParser(description="Write unicode_data.cc.")
    parser.add_argument("--check", action="store_true", help="only compare")
    options = parser.parse_args()
    text = generate()
    if options.check:
        return 0 if OUT.read_text() == text else 1
    OUT.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
