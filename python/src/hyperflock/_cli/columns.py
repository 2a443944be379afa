"""Fits a table into a terminal's width, so that each row takes one line. The module is pure; any
thread may use it.

    names, rows = fitted(names, rows, 80, Fit(least={"name": 20}, leave_out=("owner",)))

If there is room, all texts keep their width. Otherwise empty columns are left out first, then
further columns until the rest fits with shortened texts. Texts are shortened no more than
necessary.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rich.cells import cell_len

# The space between two columns.
_GAP = 2
# A name is cut in its middle, because its end is as important as its beginning.
_CUT_IN_THE_MIDDLE = frozenset({"name"})


@dataclass(frozen=True)
class Fit:
    """How a narrow table is shortened.

    Attributes
    ----------
    least : Mapping
        The columns whose texts may be cut, with their smallest widths.
    leave_out : sequence of str
        The columns that may be left out, the least important first.
    """

    least: Mapping[str, int]
    leave_out: Sequence[str]


def fitted(
    names: Sequence[str], rows: Sequence[Sequence[str]], width: int, fit: Fit
) -> tuple[list[str], list[list[str]]]:
    """Return the names of the columns that fit into a width, and the rows with only these columns
    and with texts cut to the columns' widths.
    """
    columns = {name: [row[at] for row in rows] for at, name in enumerate(names)}
    wide = {name: max(map(cell_len, (name, *texts))) for name, texts in columns.items()}
    if rows and _total(wide) > width:
        wide = {name: wide[name] for name in wide if any(columns[name])}
    least = {name: min(cells, fit.least.get(name, cells)) for name, cells in wide.items()}
    for name in fit.leave_out:
        if name in least and _total(least) > width:
            del least[name]
    given = _widths(least, wide, width)
    cut = {name: [_cut(text, given[name], name) for text in columns[name]] for name in given}
    return list(given), [[cut[name][at] for name in given] for at in range(len(rows))]


def middle(text: str, width: int) -> str:
    """Return a text that is cut in its middle, with an ellipsis."""
    if cell_len(text) <= width:
        return text
    front = _beginning(text, width // 2)
    back = _beginning(text[::-1], width - 1 - cell_len(front))[::-1]
    return f"{front}…{back}"


def _total(widths: Mapping[str, int]) -> int:
    return sum(widths.values()) + _GAP * (len(widths) - 1)


def _widths(least: Mapping[str, int], wide: Mapping[str, int], width: int) -> dict[str, int]:
    """Return the columns' widths: each gets its least width, and the remaining room is shared
    equally among those whose texts are wider.
    """
    given = dict(least)
    room = width - _total(least)
    while room > 0 and (wanting := [name for name in given if given[name] < wide[name]]):
        for name in wanting[:room]:
            given[name] += 1
        room -= len(wanting[:room])
    return given


def _cut(text: str, width: int, name: str) -> str:
    if name in _CUT_IN_THE_MIDDLE or cell_len(text) <= width:
        return middle(text, width)
    return _beginning(text, width - 1) + "…"


def _beginning(text: str, width: int) -> str:
    """Return the beginning of a text that fits into a width; some characters take two cells."""
    end, taken = 0, 0
    while end < len(text) and taken + cell_len(text[end]) <= width:
        taken += cell_len(text[end])
        end += 1
    return text[:end]
