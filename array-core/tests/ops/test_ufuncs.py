"""Compares the operation table with NumPy: the loop for each combination of dtypes, and its
values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from parity import reference, special
from parity.judge import Bound, compare
from parity.values import edge_values, inside, pairs
from probe import DTYPES, LETTERS, UFunc, table

#: All ufuncs but scipy.special's, for which NumPy has no counterpart.
NUMPY = [ufunc for ufunc in table() if ufunc.name not in special.NAMES]


def numpy_loop(ufunc: UFunc, dtypes: tuple[Any, ...]) -> str | None:
    theirs = getattr(np, ufunc.name)
    try:
        resolved = theirs.resolve_dtypes((*dtypes, *([None] * ufunc.results)))
    except TypeError:
        return None
    letters = "".join(LETTERS[DTYPES.index(dtype)] for dtype in resolved)
    return f"{letters[: ufunc.operands]}->{letters[ufunc.operands :]}"


def same_loop(ufunc: UFunc, ours: str | None, theirs: str | None) -> bool:
    if ours == theirs:
        return True
    if ours is None or theirs is None:
        return False
    if ufunc.name.startswith("logical_"):  # NumPy makes bools of both first; so do our loops
        return ours[-1] == theirs[-1]
    # For the division of integers, NumPy converts the operands to its float64 loop. array-core has
    # a loop with integer operands. Both results are float64.
    return ufunc.name == "divide" and ours[-3:] == theirs[-3:] == "->d"


@pytest.mark.parametrize("ufunc", NUMPY, ids=lambda ufunc: ufunc.name)
def test_dtypes_meet_as_in_numpy(ufunc: UFunc) -> None:
    grids = np.indices((len(DTYPES),) * ufunc.operands).reshape(ufunc.operands, -1).T
    for numbers in grids:
        ours = ufunc.resolve("numpy2", [int(number) for number in numbers])
        theirs = numpy_loop(ufunc, tuple(DTYPES[number] for number in numbers))
        names = [DTYPES[number].name for number in numbers]
        assert same_loop(ufunc, ours, theirs), f"{ufunc.name}{names}: {ours}, NumPy {theirs}"


@pytest.mark.parametrize("python", [int, float, complex], ids=lambda python: python.__name__)
@pytest.mark.parametrize(
    "ufunc", [u for u in NUMPY if u.operands == 2 and u.name != "ldexp"], ids=lambda u: u.name
)
def test_python_scalars_are_weak_as_in_numpy(ufunc: UFunc, python: type) -> None:
    weak = 200 + [int, float, complex].index(python)
    for number, dtype in enumerate(DTYPES):
        for ours, theirs in (
            (ufunc.resolve("numpy2", [number, weak]), numpy_loop(ufunc, (dtype, python))),
            (ufunc.resolve("numpy2", [weak, number]), numpy_loop(ufunc, (python, dtype))),
        ):
            names = f"{ufunc.name} of {dtype} and {python.__name__}"
            assert same_loop(ufunc, ours, theirs), f"{names}: {ours}, NumPy {theirs}"


@pytest.mark.parametrize("ufunc", table(), ids=lambda ufunc: ufunc.name)
def test_values_are_right(ufunc: UFunc) -> None:
    for number, loop in enumerate(ufunc.loops()):
        bound = Bound(*ufunc.bound(number))
        letters = loop.split("->")[0]
        sets = [edge_values(letter) for letter in letters]
        arrays = pairs(inside(ufunc.name, letters, sets, bound.ulp > 0))
        right = reference.results(ufunc.name, loop, arrays, bound.ulp > 0)
        for ours, theirs in zip(ufunc.run(number, *arrays), right, strict=True):
            verdict = compare(ufunc.name, ours, [theirs], bound, gpu=False)
            assert verdict.good, f"{ufunc.name} {loop}: {verdict.message}"


@pytest.mark.parametrize("ufunc", table(), ids=lambda ufunc: ufunc.name)
def test_a_device_may_err_by_what_its_operations_may(ufunc: UFunc) -> None:
    for number, loop in enumerate(ufunc.loops()):
        ulp, floor = ufunc.bound(number)
        gpu_ulp, gpu_floor = ufunc.bound(number, "gpu")
        assert gpu_ulp >= ulp
        assert gpu_floor >= floor
        if loop[-1] not in "efdFD":
            assert ulp == gpu_ulp == 0, loop
