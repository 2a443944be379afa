"""The operation table against NumPy: which dtypes meet in which loop, and what it computes."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from probe import DTYPES, LETTERS, UFunc, table
from values import operands

#: Functions of scipy.special: no ufunc of NumPy's to compare with. Their values are judged by the
#: interpreter's own tests against tables.
SPECIAL = {
    "erf", "erfc", "erfinv", "erfcinv", "erfcx", "ndtr", "ndtri", "gammaln", "gamma", "digamma",
}  # fmt: skip
#: Complex loops of NumPy's that array-core lacks; the parity report lists them.
NO_COMPLEX = {
    "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "exp2", "expm1", "log1p", "tanh",
}  # fmt: skip
NUMPY = [ufunc for ufunc in table() if ufunc.name not in SPECIAL]


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
    if theirs is None:
        return False
    if ufunc.name in NO_COMPLEX and theirs[0] in "FD":
        return ours is None
    if ufunc.name.startswith("logical_"):  # NumPy makes bools of both first; so do our loops
        return ours is not None and ours[-1] == theirs[-1]
    # NumPy divides integers in its float64 loop; ours names the integers.
    return ufunc.name == "divide" and ours is not None and ours[-3:] == theirs[-3:] == "->d"


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


def ordered(values: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return floats as integers whose difference counts units of the last place."""
    bits = values.view({2: np.int16, 4: np.int32, 8: np.int64}[values.dtype.itemsize])
    smallest = np.iinfo(bits.dtype).min
    return np.where(bits < 0, smallest - bits.astype(np.int64), bits.astype(np.int64))


def ulps(ours: npt.NDArray[Any], theirs: npt.NDArray[Any]) -> npt.NDArray[np.int64]:
    """Return the distance in units of the last place; 0 for two NaNs, huge for one."""
    nan = np.isnan(ours) | np.isnan(theirs)
    distance = np.abs(ordered(ours) - ordered(theirs))
    return np.where(nan, np.where(np.isnan(ours) & np.isnan(theirs), 0, 2**62), distance)


def wide(values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Return floats in the precision that judges them."""
    if values.dtype.kind == "f":
        return values.astype(np.longdouble if values.dtype.itemsize == 8 else np.float64)
    return values.astype(np.complex128) if values.dtype.kind == "c" else values


def expected(ufunc: UFunc, loop: str, arrays: list[npt.NDArray[Any]]) -> list[npt.NDArray[Any]]:
    """Return NumPy's results, computed wider and rounded once where the table leaves room."""
    theirs = getattr(np, ufunc.name)
    letters = loop.split("->")[1]
    with np.errstate(all="ignore"):
        if ufunc.cpu_ulp > 0 and letters[0] in "efd":
            arrays = [wide(array) for array in arrays]
        results = theirs(*arrays)
        results = results if isinstance(results, tuple) else (results,)
        return [
            np.asarray(result).astype(letter)
            for result, letter in zip(results, letters, strict=True)
        ]


def worst(
    ufunc: UFunc,
    arrays: list[npt.NDArray[Any]],
    ours: npt.NDArray[Any],
    theirs: npt.NDArray[Any],
) -> npt.NDArray[Any]:
    """Return per element how many allowed distances ours is away; over 1 is a fault."""
    if ours.dtype.kind in "biu":
        return (ours != theirs).astype(float) * 2
    if ours.dtype.kind == "c":
        parts = {"F": np.float32, "D": np.float64}[ours.dtype.char]
        pairs = [(ours.real.astype(parts), theirs.real.astype(parts)),
                 (ours.imag.astype(parts), theirs.imag.astype(parts))]  # fmt: skip
        # Either part rounds with the size of the whole number.
        size = np.maximum(np.abs(theirs.real), np.abs(theirs.imag)).astype(parts)
        off = np.zeros(ours.shape)
        allowed = 16 * max(ufunc.cpu_ulp, 0.5)
        for mine, other in pairs:
            with np.errstate(all="ignore"):
                near = np.abs(mine - other) <= allowed * np.spacing(size)
            off = np.maximum(off, np.where(near, 0, ulps(mine, other) / allowed))
        # C leaves open which part of a product or quotient with infinities and NaNs is NaN.
        special = ~np.isfinite(theirs) | ~np.isfinite(ours)
        both = np.isfinite(theirs) | np.isfinite(ours)
        return np.where(special, np.where(both, 2.0, 0.0), off)
    if ufunc.name.startswith("logaddexp"):
        # The sum cancels where the result is near 0: judged by the size of the operands.
        with np.errstate(all="ignore"):
            size = np.spacing(np.maximum.reduce([np.abs(array) for array in [*arrays, theirs]]))
            near = np.abs(ours - theirs) <= ufunc.cpu_ulp * size
        return np.where(near | (ulps(ours, theirs) == 0), 0.0, 2.0)
    allowed = max(ufunc.cpu_ulp, 0) if ours.dtype.itemsize < 8 else max(2 * ufunc.cpu_ulp, 4)
    distance = ulps(ours, theirs)
    return np.where(distance == 0, 0.0, distance / max(allowed, 0.5))


@pytest.mark.parametrize("ufunc", NUMPY, ids=lambda ufunc: ufunc.name)
def test_values_are_numpys(ufunc: UFunc) -> None:
    for number, loop in enumerate(ufunc.loops()):
        arrays = operands(loop.split("->")[0])
        arrays = drop_undefined(ufunc, loop, arrays)
        mine = ufunc.run(number, *arrays)
        for ours, theirs in zip(mine, expected(ufunc, loop, arrays), strict=True):
            off = worst(ufunc, arrays, ours, theirs)
            at = int(np.argmax(off))
            given = ", ".join(repr(array[at]) for array in arrays)
            assert off[at] <= 1, (
                f"{ufunc.name} {loop} of {given}: {ours[at]!r}, NumPy {theirs[at]!r}"
            )


def drop_undefined(
    ufunc: UFunc, loop: str, arrays: list[npt.NDArray[Any]]
) -> list[npt.NDArray[Any]]:
    """Return the operands without those for which NumPy itself raises or has no one answer."""
    keep = np.ones(arrays[0].shape, bool)
    if ufunc.name == "power" and loop[0] in "bhiq":
        keep = arrays[1] >= 0  # NumPy: integers to negative integer powers are not allowed
    elif ufunc.name == "reciprocal" and loop[0] in "bBhHiIqQ":
        keep = arrays[0] != 0  # NumPy: whatever the processor makes of 1 / 0
    elif loop[0] in "FD" and ufunc.cpu_ulp > 0:
        # Of infinities and NaNs C's annex G says much that NumPy's platforms do not agree on.
        keep = np.logical_and.reduce([np.isfinite(array) for array in arrays])
    return [array[keep] for array in arrays]
