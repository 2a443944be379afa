"""Makes the points of a `SearchCV`'s study: the number of each candidate, and what people read.

    points_of([{"C": 1.0, "kernel": RBF()}])    # [{"candidate": 0, "C": 1.0, "kernel": "RBF(...)"}]

A device takes the candidate by its number, from the code. The other values are for tables and
plots. The module is pure; any thread may use it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hyperflock._base.text import clean
from hyperflock._transport.messages import MAX_DIMENSIONS

NUMBER = "candidate"
_MAX_TEXT = 200


def points_of(candidates: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return a point for each candidate. All points have the same names, and a candidate that lacks
    a parameter has None.
    """
    names = dict.fromkeys(name for candidate in candidates for name in candidate)
    shown = [name for name in names if name != NUMBER][: MAX_DIMENSIONS - 1]
    return [
        {NUMBER: number, **{name: _shown(candidate.get(name)) for name in shown}}
        for number, candidate in enumerate(candidates)
    ]


def _shown(value: Any) -> bool | int | float | str | None:
    """Return a value as a scalar that a server takes."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or type(value) is bool:
        return value
    if type(value) is int and abs(value) < 2**63:
        return value
    if type(value) is float and math.isfinite(value):
        return value
    return clean(str(value))[:_MAX_TEXT]
