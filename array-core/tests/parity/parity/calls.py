"""Defines cases that call a function with a module (NumPy or arraycore) and with operands.

The right result is NumPy's own; the case says how far a result may be from it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .cases import Case
from .judge import Bound, Verdict, compare, flushed
from .values import DTYPES, Array


@dataclass(frozen=True)
class CallCase(Case):
    """A case that calls ``call(module, *operands)``, which returns one result or several."""

    call: Callable[..., Any] | None = None
    #: The allowed error of a result, in units in the last place.
    ulp: float = 0.0
    #: Letters of the dtypes in which NumPy computes, if they are not those of operands and results.
    computed: str = ""
    #: True if the results are indices or counts. Their dtype is int64 in arraycore; in NumPy it has
    #: a pointer's size.
    places: bool = False

    def of(self, module: Any, array: Callable[[Array], Any]) -> list[Any]:
        """Return the results in NumPy or arraycore; ``array`` makes the module's arrays."""
        assert self.call is not None
        made = self.call(module, *(each.made(module, array) for each in self.operands))
        return list(made) if isinstance(made, (tuple, list)) else [made]

    def expected(self, seen: Callable[[Array], Array] = np.copy) -> list[Array]:
        """Return NumPy's results for ``seen(values)``: the operands as a device may read them."""
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = [np.asarray(each) for each in self.of(np, seen)]
        wide = {np.dtype(np.intp): np.int64} if self.places else {}
        return [each.astype(wide.get(each.dtype, each.dtype)) for each in results]


def judged(case: CallCase, ours: list[Array], right: list[Array], gpu: bool) -> Verdict:
    """Return the verdict on the worst result.

    A device may replace subnormal operands with 0. So its results are also right if they are the
    right results for the operands after this replacement.
    """
    verdict = _judged(case, ours, right, gpu)
    if verdict.good or not gpu:
        return verdict
    other = _judged(case, ours, case.expected(flushed), gpu)
    return other if other.good else verdict


def _judged(case: CallCase, ours: list[Array], right: list[Array], gpu: bool) -> Verdict:
    if len(ours) != len(right):
        return Verdict(np.inf, f"{len(ours)} results, NumPy {len(right)}")
    worst = Verdict(0.0)
    for mine, theirs in zip(ours, right, strict=True):
        if theirs.dtype not in DTYPES:
            return Verdict(np.inf, f"NumPy gives {theirs.dtype}")
        choices = [theirs, flushed(theirs)] if gpu else [theirs]
        verdict = compare(case.function, mine, choices, Bound(case.ulp), gpu)
        if verdict.message:
            return verdict
        if verdict.error_ulp > worst.error_ulp:
            worst = verdict
    return worst
