"""Lists cases of functions that are not ufuncs: joining, splitting, padding, sorting, counting,
...
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .calls import CallCase
from .cases import placed
from .values import LETTERS, edge_values

_REAL = "bBhHiIqQefd"
_FLOATS = "efd"
_WHOLE = "bBhHiI"
#: Dtypes of operands for which NumPy computes in float64, though the results are not float64.
_IN_FLOAT64 = {"isclose": "bBhHiIqQ", "digitize": "Qef"}
_NUMBERS = "bBhHiIqQefdFD"
#: Layouts take turns: with every dtype, a function runs on two of them.
_LAYOUTS = ("contiguous", "strided", "transposed", "box", "negative", "zero_d", "empty")


def _tied(m: Any, x: Any) -> Any:
    """Return the values with +0 in place of -0. A function may return either of two equal zeros."""
    return x + x.dtype.type(0) if x.dtype.kind in "fc" else x


#: Each row has a function's name, the call, the letters of its dtypes, whether results are indices
#: or counts, and the allowed error in units in the last place.
_CALLS: tuple[tuple[str, Callable[..., Any], str, bool, float], ...] = (
    ("sort", lambda m, x: m.sort(x, -1, "stable"), LETTERS, False, 0),
    ("argsort", lambda m, x: m.argsort(x, 0, "stable"), LETTERS, True, 0),
    ("unique", lambda m, x: m.unique(_tied(m, x)), _REAL, False, 0),
    ("concatenate", lambda m, x: m.concatenate([x, x], -1), LETTERS, False, 0),
    ("concatenate of all", lambda m, x: m.concatenate([x, x.T], None), LETTERS, False, 0),
    ("stack", lambda m, x: m.stack([x, x], -1), LETTERS, False, 0),
    ("roll", lambda m, x: m.roll(x, 3, -1), LETTERS, False, 0),
    ("repeat", lambda m, x: m.repeat(x, 3, 0), LETTERS, False, 0),
    ("tile", lambda m, x: m.tile(x, (2, 1, 2)), LETTERS, False, 0),
    ("resize", lambda m, x: m.resize(x, (7, 5)), LETTERS, False, 0),
    ("delete", lambda m, x: m.delete(x, [0, -1], 0), LETTERS, False, 0),
    ("insert", lambda m, x: m.insert(x, [0, 1], 1, -1), LETTERS, False, 0),
    ("array_split", lambda m, x: m.array_split(x, 3, -1), LETTERS, False, 0),
    ("pad constant", lambda m, x: m.pad(x, (2, 1)), LETTERS, False, 0),
    ("pad edge", lambda m, x: m.pad(x, (1, 3), "edge"), LETTERS, False, 0),
    ("pad reflect", lambda m, x: m.pad(x, 4, "reflect"), LETTERS, False, 0),
    ("tril", lambda m, x: m.tril(x, 1), LETTERS, False, 0),
    ("triu", lambda m, x: m.triu(x, -1), LETTERS, False, 0),
    ("diff", lambda m, x: m.diff(x), LETTERS, False, 0),
    ("clip", lambda m, x: m.clip(x, 2, 5), _REAL, False, 0),
    ("nan_to_num", lambda m, x: m.nan_to_num(x), _NUMBERS, False, 0),
    ("around", lambda m, x: m.around(x, 1), _REAL, False, 4),
    ("isclose", lambda m, x: m.isclose(x, x, equal_nan=True), _NUMBERS, False, 0),
    ("array_equal", lambda m, x: m.array_equal(x, x), _NUMBERS, False, 0),
    ("isreal", lambda m, x: (m.isreal(x), m.iscomplex(x)), _NUMBERS, False, 0),
    ("isposinf", lambda m, x: (m.isposinf(x), m.isneginf(x)), _REAL, False, 0),
    ("searchsorted", lambda m, x: m.searchsorted(m.sort(x.ravel()), x), _REAL, True, 0),
    ("digitize", lambda m, x: m.digitize(x, [-3, 0, 2, 7]), _REAL, True, 0),
    ("bincount", lambda m, x: m.bincount(abs(x.ravel() % 11)), _WHOLE, True, 0),
    ("histogram", lambda m, x: m.histogram(x, 5, (-4, 100)), _WHOLE, True, 0),
    ("vander", lambda m, x: m.vander(x.ravel()[:9], 3), _WHOLE + "qQ", False, 0),
    ("diagflat", lambda m, x: m.diagflat(x, 1), LETTERS, False, 0),
    ("rot90", lambda m, x: m.rot90(m.atleast_2d(x)), LETTERS, False, 0),
    ("meshgrid", lambda m, x: m.meshgrid(x.ravel(), x.ravel()[:3]), LETTERS, False, 0),
    ("median", lambda m, x: m.median(x, -1), _REAL, False, 1),
    ("nanmedian", lambda m, x: m.nanmedian(x), _REAL, False, 1),
    ("quantile lower", lambda m, x: m.quantile(_tied(m, x), 0.3, 0, method="lower"), _REAL, False,
     0),
    ("nanpercentile higher", lambda m, x: m.nanpercentile(_tied(m, x), 80, method="higher"), _REAL,
     False, 0),
    ("nanquantile of two", lambda m, x: m.nanquantile(
        _tied(m, x), [0.1, 0.9], -1, method="closest_observation"), _REAL, False, 0),
    # C leaves the exponents of infinities and NaN open.
    ("frexp", lambda m, x: m.frexp(m.nan_to_num(x)), "?bBhHefd", False, 0),
    ("packbits", lambda m, x: m.packbits(x, bitorder="little"), "?bBhHiIqQ", False, 0),
    ("unpackbits", lambda m, x: m.unpackbits(x, -1), "B", False, 0),
    ("polyval", lambda m, x: m.polyval(x.ravel()[:5], x), "bBhHiIqQ", False, 0),
    ("cumulative_prod", lambda m, x: m.cumulative_prod(x.ravel(), include_initial=True), "qQ",
     False, 0),
    ("linalg.norm inf", lambda m, x: m.linalg.norm(x.ravel(), m.inf), "efd", False, 0),
)  # fmt: skip


def cases() -> Iterator[CallCase]:
    """Yield cases of every function and dtype, in two layouts each; the layouts take turns."""
    for at, (name, call, letters, places, ulp) in enumerate(_CALLS):
        for number, letter in enumerate(letters):
            for step in (0, 3):
                layout = _LAYOUTS[(at + number + step) % len(_LAYOUTS)]
                operand = placed(edge_values(letter), layout)
                computed = "d" if letter in _IN_FLOAT64.get(name, "") else ""
                yield CallCase(
                    "surface", name, (operand,), call=call, ulp=ulp, places=places,
                    computed=computed,
                )  # fmt: skip
    for letter in "bBhHiIqQefd":
        yield CallCase("surface", "arange", (), detail=letter, call=_arange(letter))


def _arange(letter: str) -> Callable[[Any], Any]:
    return lambda m: m.arange(3, 90, 7, dtype=np.dtype(letter).name)
