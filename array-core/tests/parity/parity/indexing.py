"""Lists cases of keys with arrays, of functions that select and write elements, and of
``ufunc.at``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .calls import CallCase
from .cases import placed
from .values import LETTERS, Array, edge_values

Call = Callable[..., Any]

_LAYOUTS = ("contiguous", "strided", "negative", "rows", "transposed", "box", "broadcast")
_INTEGERS = "bBhHiIqQ"
_REAL = "bBhHiIqQefd"
#: A short run takes each 29th case. 29 is a prime, so that functions, dtypes, layouts take turns.
_SELECTED = 29


def _at(extent: int, shape: Any, letter: str = "q") -> Array:
    """Return indices into an axis, also negative ones if the dtype is signed."""
    low = 0 if letter in "BHIQ" else -extent
    top = min(extent, np.iinfo(letter).max + 1)
    found = np.random.default_rng(extent).integers(max(low, np.iinfo(letter).min), top, shape)
    return found.astype(letter)


def _each_once(extent: int) -> Array:
    return np.random.default_rng(extent).permutation(extent)


def _mask(shape: tuple[int, ...]) -> Array:
    return np.random.default_rng(len(shape)).random(shape) < 0.4


def _two(m: Any, x: Any) -> Any:
    return m.atleast_2d(x)


#: Reads with keys that consist of one array, several arrays, masks, or a mixture.
_READS: tuple[tuple[str, Call], ...] = (
    ("a[i]", lambda m, x: x[m.array(_at(x.shape[0], 5))]),
    ("a[list]", lambda m, x: x[_at(x.shape[0], 4).tolist()]),
    ("a[2-d]", lambda m, x: x[m.array(_at(x.shape[0], (2, 3), "i"))]),
    ("a[..., i]", lambda m, x: x[..., m.array(_at(x.shape[-1], 4, "b"))]),
    ("a[i, j]", lambda m, x: _two(m, x)[
        m.array(_at(_two(m, x).shape[0], (3, 1))), m.array(_at(_two(m, x).shape[1], 4, "H"))]),
    ("a[i, None, j]", lambda m, x: _two(m, x)[
        m.array(_at(_two(m, x).shape[0], 3)), None, m.array(_at(_two(m, x).shape[1], 3))]),
    ("a[::-1, i]", lambda m, x: _two(m, x)[::-1, m.array(_at(_two(m, x).shape[1], (2, 2)))]),
    ("a[-1, i]", lambda m, x: _two(m, x)[-1, m.array(_at(_two(m, x).shape[1], 3))]),
    ("a[mask]", lambda m, x: x[m.array(_mask(x.shape))]),
    ("a[host mask]", lambda m, x: x[_mask(x.shape)]),
    ("a[row mask]", lambda m, x: x[m.array(_mask(x.shape[:1]))]),
    ("a[..., mask]", lambda m, x: x[..., m.array(_mask(x.shape[-1:]))]),
    ("a[mask, i]", lambda m, x: _two(m, x)[
        m.array(np.ones(_two(m, x).shape[0], bool)), m.array(_at(_two(m, x).shape[1], 1))]),
    ("a[a == a]", lambda m, x: x[x == x]),
    ("a[True]", lambda m, x: x[True]),
    ("a[i of nothing]", lambda m, x: x[m.array(np.zeros((0, 2), "q"))]),
    ("take", lambda m, x: m.take(x, m.array(_at(x.size, (2, 2))))),
    ("take axis", lambda m, x: m.take(x, m.array(_at(x.shape[-1], 3)), axis=-1)),
    ("take wrap", lambda m, x: m.take(x, m.array(_at(x.shape[0], 5) * 3), axis=0, mode="wrap")),
    ("take clip", lambda m, x: m.take(x, m.array(_at(x.size, 5) * 3), mode="clip")),
    ("take_along_axis", lambda m, x: m.take_along_axis(
        x, m.array(_at(x.shape[-1], (*x.shape[:-1], 2))), -1)),
    ("compress", lambda m, x: m.compress(_mask(x.shape[:1]), x, axis=0)),
    ("extract", lambda m, x: m.extract(m.array(_mask(x.shape)), x)),
    ("where", lambda m, x: m.where(m.array(_mask(x.shape)), x, x[::-1])),
    ("where scalar", lambda m, x: m.where(x == x, x, True if x.dtype == bool else 1)),
    ("select", lambda m, x: m.select([m.array(_mask(x.shape)), x == x], [x, x[::-1]], x[:1])),
    ("choose", lambda m, x: m.choose(
        m.array((_at(3, x.shape) % 3).astype(np.intp)), [x, x[::-1], x[:1]])),
    ("diagonal of picked", lambda m, x: _two(m, x)[
        m.array(_at(_two(m, x).shape[0], 4))].diagonal()),
)  # fmt: skip

#: Functions that return coordinates: int64 in arraycore, of a pointer's size in NumPy.
_PLACES: tuple[tuple[str, Call], ...] = (
    ("nonzero", lambda m, x: m.nonzero(x)),
    ("flatnonzero", lambda m, x: m.flatnonzero(x)),
    ("argwhere", lambda m, x: m.argwhere(x)),
    ("where alone", lambda m, x: m.where(x == x)),
)


def _written(key: Callable[[Any, Any], Any], value: Callable[[Any, Any], Any]) -> Call:
    """Return a call that writes to a reversed view of a copy, and returns the whole copy."""

    def call(m: Any, x: Any) -> Any:
        whole = x.copy()
        view = whole[::-1]
        view[key(m, x)] = value(m, x)
        return whole

    return call


def _changed(change: Callable[[Any, Any, Any], Any]) -> Call:
    """Return a call that changes a transposed view of a copy, and returns the whole copy."""

    def call(m: Any, x: Any) -> Any:
        whole = x.copy()
        change(m, whole.T, x.T)
        return whole

    return call


#: Calls that write numbers or elements of the operand itself.
_WRITES: tuple[tuple[str, Call], ...] = (
    ("a[i] = number", _written(lambda m, x: m.array(_at(x.shape[0], 3)), lambda m, x: 3)),
    ("a[i] = row", _written(lambda m, x: m.array(_at(x.shape[0], 3)), lambda m, x: x[-1])),
    ("a[i] = rows", _written(lambda m, x: m.array(_each_once(x.shape[0])), lambda m, x: x)),
    ("a[twice] = rows", _written(
        lambda m, x: m.array(_at(x.shape[0], 9)), lambda m, x: x[_at(x.shape[0], 9)[::-1]])),
    ("a[..., i] = column", _written(
        lambda m, x: (..., m.array(_at(x.shape[-1], 2, "h"))), lambda m, x: x[..., :1])),
    ("a[mask] = number", _written(lambda m, x: m.array(_mask(x.shape)), lambda m, x: 5)),
    ("a[mask] = values", _written(
        lambda m, x: m.array(_mask(x.shape)), lambda m, x: x[_mask(x.shape)][::-1])),
    ("a[row mask] = row", _written(lambda m, x: m.array(_mask(x.shape[:1])), lambda m, x: x[0])),
    ("a[host mask] = values", _written(
        lambda m, x: _mask(x.shape), lambda m, x: x[_mask(x.shape)][::-1])),
    ("a[a == a] = number", _written(lambda m, x: x == x, lambda m, x: 1)),
    ("put", _changed(lambda m, y, x: m.put(
        y, m.array(_at(y.size, 5).astype(np.intp)), x.reshape(-1)[:5]))),
    ("put_along_axis", _changed(lambda m, y, x: m.put_along_axis(
        y, m.array(_at(y.shape[-1], (*y.shape[:-1], 1))), x[..., :1], -1))),
    ("place", _changed(lambda m, y, x: m.place(y, m.array(_mask(y.shape)), x.reshape(-1)[:3]))),
    ("putmask", _changed(lambda m, y, x: m.putmask(y, m.array(_mask(y.shape)), x.reshape(-1)[:3]))),
    ("copyto where", _changed(lambda m, y, x: m.copyto(y, x[::-1], where=m.array(_mask(y.shape))))),
    ("fill_diagonal", _changed(lambda m, y, x: m.fill_diagonal(_two(m, y), 2))),
)  # fmt: skip

#: Updates with at most two values for one element, because a device applies them in any order.
_UPDATES: tuple[tuple[str, str], ...] = (
    ("add", "bBhHiIqQefdFD?"), ("subtract", "bBhHiIqQefdFD"), ("maximum", _REAL + "?"),
    ("minimum", _REAL + "?"), ("multiply", _REAL), ("bitwise_xor", _INTEGERS + "?"),
    ("logical_and", "?"), ("fmax", "efd"), ("negative", _REAL), ("square", _INTEGERS),
)  # fmt: skip


def _update(name: str) -> Call:
    def call(m: Any, x: Any) -> Any:
        function = getattr(m, name)
        y = m.ones(x.shape[0] // 2 + 1, x.dtype)
        key = m.array(np.arange(x.shape[0]) // 2)
        if function.nin == 2:
            function.at(y, key, x)
        else:
            function.at(y, key)
        return y

    return call


def _index_dtypes() -> Iterator[CallCase]:
    """Yield cases of every dtype of indices, on axes within the dtype's range and longer axes."""
    for letter in _INTEGERS:
        for extent in (3, 200, 40_000):
            operand = (placed(np.arange(extent).astype("f"), "contiguous"),)
            detail = f"{letter} {extent}"
            for layout in ("contiguous", "strided", "negative", "rows"):
                index = placed(_at(extent, 12, letter), layout)
                yield CallCase("indexing", "a[i] of dtype", (*operand, index), detail=detail,
                               call=lambda m, x, i: x[i])  # fmt: skip
                yield CallCase("indexing", "a[i] = of dtype", (*operand, index), detail=detail,
                               call=_numbered)  # fmt: skip


def _numbered(m: Any, x: Any, i: Any) -> Any:
    y = x.copy()
    y[i] = 7
    return y


def _all() -> Iterator[CallCase]:
    for number, letter in enumerate(LETTERS):
        values = np.resize(edge_values(letter), max(12, edge_values(letter).size))
        for at, (name, call) in enumerate((*_READS, *_WRITES)):
            for step in (0, 2, 5):
                layout = _LAYOUTS[(at + number + step) % len(_LAYOUTS)]
                yield CallCase("indexing", name, (placed(values, layout),), call=call)
        for at, (name, call) in enumerate(_PLACES):
            for step in (0, 3):
                layout = _LAYOUTS[(at + number + step) % len(_LAYOUTS)]
                yield CallCase("indexing", name, (placed(values, layout),), call=call, places=True)
    for name, letters in _UPDATES:
        for letter in letters:
            for layout in ("contiguous", "strided"):
                operand = (placed(edge_values(letter), layout),)
                yield CallCase("indexing", name, operand, detail="at", call=_update(name), ulp=1)
    yield from _index_dtypes()


def cases(short: bool) -> Iterator[CallCase]:
    """Yield every case, or each 29th if ``short``."""
    for number, case in enumerate(_all()):
        if not short or number % _SELECTED == 0:
            yield case
