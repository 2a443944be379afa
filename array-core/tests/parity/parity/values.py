"""Provides values that reveal faults: NaN, infinities, -0, subnormals, limits of types, ordinary
values.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

#: NumPy's letters of the dtypes that array-core has, in its order.
LETTERS = "?bBhHiIqQefdFD"
DTYPES = tuple(np.dtype(letter) for letter in LETTERS)

#: Complex functions whose real and imaginary parts NumPy computes separately. The judge allows for
#: the infinities that come from this.
_PRODUCTS = {"multiply", "square", "divide"}
_REALS = (
    0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, 2.5, -2.5, 2.0, 3.0, -3.0, 0.1, -0.7, 7.25, -9.75, 100.0,
    1e-3, -1e-3, 12345.0, 3.14159265, float("inf"), float("-inf"), float("nan"),
)  # fmt: skip


def letter_of(dtype: npt.DTypeLike) -> str:
    """Return array-core's letter of a dtype. On some machines NumPy has two letters for one."""
    return LETTERS[DTYPES.index(np.dtype(dtype))]


def edge_values(dtype: npt.DTypeLike) -> Array:
    """Return all values that are tested for a dtype, in an array of one dimension."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        whole = {ends.min, ends.min + 1, ends.max, ends.max - 1, 0, 1, 2, 3, 5, 7, 31, 33, 64, 100}
        if dtype.kind == "i":
            whole |= {-1, -2, -3, -7, -64, -100}
        return np.array(sorted(whole), dtype)
    if dtype.kind == "f":
        limits = np.finfo(dtype)
        extra = [limits.max, -limits.max, limits.tiny, limits.smallest_subnormal, 1 + limits.eps]
        return np.concatenate([np.array(_REALS, dtype), np.array(extra, dtype)])
    parts = np.array([0.0, -0.0, 1.0, -1.0, 0.5, -2.25, 3.0, np.inf, -np.inf, np.nan])
    real, imaginary = np.meshgrid(parts, parts)
    values = np.empty(real.size, dtype)
    values.real, values.imag = real.ravel(), imaginary.ravel()
    return values


def cast_values(dtype: npt.DTypeLike) -> Array:
    """Return values where a cast may go wrong: ends of ranges, ties, NaN, infinities, -0."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return np.array([False, True])
    integers = {0, 1, 2, 3, 100}
    for bits in (7, 8, 10, 11, 12, 15, 16, 23, 24, 25, 31, 32, 52, 53, 54, 62, 63, 64):
        integers |= {2**bits + step for step in (-2, -1, 0, 1, 2, 3)}
    integers |= {-value for value in integers}
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        return np.array(sorted(v for v in integers if ends.min <= v <= ends.max), dtype)
    reals = [float(value) for value in sorted(integers)]
    reals += [np.nan, np.inf, -np.inf, -0.0, 0.1, -0.9, 0.5, 1.5, -2.5, 1e300]
    reals += [65503.9, 65519.99, 65520.0, 65536.0, 3.4e38, 3.5e38, 2.0**-14, 2.0**-24, 2.0**-25]
    reals += [2.0**-126, 2.0**-149, 2.0**-150, 5e-324, 1 + 2.0**-11, 1 + 2.0**-11 + 2.0**-40]
    reals += [bound + side for bound in (127, 128, 255, 256) for side in (-0.5, 0.0, 0.5)]
    with np.errstate(all="ignore"):
        if dtype.kind == "f":
            return np.array(reals).astype(dtype)
        imaginary = np.array(reals[::-1])
        imaginary[~np.isfinite(imaginary)] = 0
        return (np.array(reals) + 1j * imaginary).astype(dtype)


def inside(function: str, letters: str, sets: list[Array], rounds: bool) -> list[Array]:
    """Return the value sets without values for which NumPy raises or depends on the machine.

    ``rounds``: the function's results may differ from the exact ones.
    """
    if function == "power" and letters[0] in "bhiq":
        return [sets[0], sets[1][sets[1] >= 0]]  # integers to negative powers raise
    if function == "reciprocal" and letters[0] in "bBhHiIqQ":
        return [sets[0][sets[0] != 0]]  # 1 / 0 depends on the processor
    if letters[0] in "FD" and rounds and function not in _PRODUCTS:
        # NumPy's platforms differ in how they follow C's annex G for infinities and NaNs.
        return [values[np.isfinite(values)] for values in sets]
    return sets


def pairs(sets: list[Array]) -> list[Array]:
    """Return one vector per set; together they hold every combination of the sets' values."""
    return [grid.ravel().copy() for grid in np.meshgrid(*sets, indexing="ij")]
