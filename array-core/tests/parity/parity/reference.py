"""Computes the right results: NumPy's, in a wider type and rounded once if a function may err.

NumPy's own mathematical functions differ between builds: vectorised ones on x86 err by units in the
last place, and Pyodide's come from another C library. So a function that may err by the table is
judged by the next wider type: float16 and float32 by float64, complex64 by complex128, and float64
by an x87 long double if the machine has one. scipy.special's functions are judged by ``special``.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from . import special
from .values import Array

#: The reference type of float64 is a long double with 64 bits of mantissa. On other machines, long
#: double is float64 itself, or a software type whose functions are not more exact.
_WIDEST = np.longdouble if np.finfo(np.longdouble).nmant == 63 else np.float64
_WIDE: dict[str, Any] = {
    "e": np.float64, "f": np.float64, "d": _WIDEST, "F": np.complex128,
    "D": np.clongdouble if _WIDEST is np.longdouble else np.complex128,
}  # fmt: skip
#: Functions with exact remainders. A wider type would give another quotient.
_OWN_TYPE = {"floor_divide", "remainder", "fmod", "divmod"}
#: Functions whose result depends on the type itself, or is not more exact in a wider type.
_OWN_TYPE |= {"spacing", "nextafter", "heaviside"}


def results(function: str, loop: str, operands: list[Array], rounds: bool) -> list[Array]:
    """Return the right results of ``function``'s loop (as NumPy writes it: ``"ff->f"``).

    ``rounds``: the table allows the results to differ from the exact ones.
    """
    inputs, outputs = loop.split("->")
    operands = [
        np.asarray(operand).astype(letter, copy=False)
        for operand, letter in zip(operands, inputs, strict=True)
    ]
    if function in special.NAMES:
        values = operands[0].astype(np.float64)
        flat = [special.evaluate(function, float(x)) for x in values.ravel()]
        with np.errstate(all="ignore"):
            return [np.array(flat).reshape(values.shape).astype(outputs)]
    if function.endswith("_shift"):
        return [_shifted(function, *operands)]
    if rounds and function not in _OWN_TYPE and outputs[0] in _WIDE:
        operands = [
            operand.astype(_WIDE[letter]) if letter in _WIDE else operand
            for operand, letter in zip(operands, inputs, strict=True)
        ]
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        given = getattr(np, function)(*operands)
        given = given if isinstance(given, tuple) else (given,)
        if function == "arccosh" and inputs in "efd":
            # arccosh of an operand below 1 is NaN. But the C library of browsers returns numbers
            # for large negative operands.
            given = (np.where(operands[0] < 1, np.nan, given[0]),)
        return [
            np.asarray(each).astype(letter) for each, letter in zip(given, outputs, strict=True)
        ]


def _shifted(function: str, values: Array, counts: Array) -> Array:
    """Return NumPy's shifts. Counts are checked, because NumPy cuts them to size_t."""
    values, counts = np.broadcast_arrays(values, counts)
    inside = (counts >= 0) & (counts < 8 * values.dtype.itemsize)
    counts = np.where(inside, counts, 0).astype(values.dtype)
    if function == "left_shift":
        return np.where(inside, np.left_shift(values, counts), 0).astype(values.dtype)
    beyond = np.where(values < 0, -1, 0) if values.dtype.kind == "i" else 0
    return np.where(inside, np.right_shift(values, counts), beyond).astype(values.dtype)


def loops(function: str) -> list[str]:
    """Return NumPy's loops of a ufunc over array-core's dtypes, each once, as NumPy writes them."""
    if function in special.NAMES:
        return ["e->e", "f->f", "d->d"]
    found: dict[str, None] = {}
    for types in getattr(np, function).types:
        letters = [_letter(each) for each in types.replace("->", "")]
        if None not in letters:
            nin = getattr(np, function).nin
            found[f"{''.join(map(str, letters[:nin]))}->{''.join(map(str, letters[nin:]))}"] = None
    return list(found)


def _letter(letter: str) -> str | None:
    from .values import DTYPES, letter_of

    dtype = np.dtype(letter)
    return letter_of(dtype) if dtype in DTYPES else None


def cast(source: Array, target: np.dtype[Any]) -> Array:
    """Return NumPy's cast. Where C does not define it, NaN gives 0 and other values saturate."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result: Array = source.astype(target)
        if source.dtype.kind not in "fc" or target.kind not in "iu":
            return result
        ends = np.iinfo(target)
        values = source.real.astype(np.float64)
        # The limits of an integer type, converted to float64, may be rounded, but only to numbers
        # outside of the type's range.
        result[values >= float(ends.max)] = ends.max
        result[values <= float(ends.min)] = ends.min
        # So the type holds every float strictly between the converted limits, once it is truncated.
        inside = (values < float(ends.max)) & (values > float(ends.min))
        result[inside] = np.trunc(values[inside]).astype(target)
        result[np.isnan(values)] = 0
    return result
