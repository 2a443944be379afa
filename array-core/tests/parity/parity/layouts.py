"""Defines layouts of operands. A layout has a base array, and a view of it that NumPy and arraycore
make alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .values import Array

_COLUMNS = 7
_JUNK = 77


@dataclass(frozen=True)
class Layout:
    """``view(base(values), module)`` shows the values; ``module`` is NumPy or arraycore."""

    name: str
    base: Callable[[Array], Array]
    view: Callable[[Any, Any], Any]


def _spread(values: Array) -> Array:
    base = np.full(3 * values.size + 1, _JUNK, values.dtype)
    base[1::3] = values
    return base


def _rows(values: Array) -> Array:
    """Return the values as rows, repeated from the beginning until the last row is full."""
    rows = -(-values.size // _COLUMNS)
    return np.resize(values, (rows, _COLUMNS))


def _box(values: Array) -> Array:
    """Return a base whose view in ``_ALL`` is 3-dimensional, with gaps and a reversed axis."""
    deep = -(-values.size // 15)
    base = np.full((5, deep, 6), _JUNK, values.dtype)
    base[::-1, :, ::2] = np.resize(values, (5, deep, 3))
    return base


_ALL: tuple[tuple[str, Callable[[Array], Array], Callable[[Any, Any], Any]], ...] = (
    ("contiguous", lambda v: v, lambda x, _: x),
    ("strided", _spread, lambda x, _: x[1::3]),
    ("negative", lambda v: v[::-1].copy(), lambda x, _: x[::-1]),
    ("offset", lambda v: np.concatenate([v[:1], v]), lambda x, _: x[1:]),
    ("rows", _rows, lambda x, _: x),
    ("transposed", lambda v: _rows(v).T.copy(), lambda x, _: x.T),
    ("box", _box, lambda x, _: x[::-1, :, ::2]),
    ("box_turned", lambda v: _box(v).transpose(2, 0, 1).copy(),
     lambda x, m: m.transpose(x[::2, ::-1], (1, 2, 0))),
    ("broadcast", lambda v: v, lambda x, m: m.broadcast_to(x, (3, x.shape[0]))),
    ("column", lambda v: v[:, None].copy(), lambda x, _: x),
    ("row", lambda v: v[None, :].copy(), lambda x, _: x),
    ("zero_d", lambda v: v[v.size // 2].copy(), lambda x, _: x),
    ("empty", lambda v: np.empty((0, 3), v.dtype), lambda x, _: x),
    ("empty_row", lambda v: np.resize(v, (1, 3)), lambda x, _: x),
)  # fmt: skip
LAYOUTS = {name: Layout(name, base, view) for name, base, view in _ALL}

#: The layouts for functions of one operand, and the pairs of layouts for functions of two.
OF_ONE = ("contiguous", "strided", "negative", "transposed", "box", "broadcast", "zero_d", "empty")
OF_TWO = (
    ("contiguous", "contiguous"), ("strided", "negative"), ("transposed", "rows"), ("box", "box"),
    ("box_turned", "box"), ("column", "row"), ("zero_d", "offset"), ("empty", "empty_row"),
)  # fmt: skip
#: Pairs of layouts that broadcasting combines, so that each operand holds its dtype's values once.
#: With the other pairs of layouts, the operands hold all pairs of values.
UNPAIRED = {("column", "row"), ("zero_d", "offset"), ("empty", "empty_row")}
