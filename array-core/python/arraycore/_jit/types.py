"""Types of compiled values, and NumPy 2's promotion of them.

A type is a dtype, or that of a Python number, which is *weak*: with a value of an array it takes
that value's dtype, as in NumPy. A weak int is stored as int64, or as int32 where it certainly fits
(loop counters, positions). A weak float is stored in the kernel's floating dtype.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

import numpy as np

KINDS: Final = "biufc"
_SAMPLES: Final[dict[str, Any]] = {"b": False, "i": 0, "f": 0.0, "c": 0j}
INT32_MAX: Final = 2**31 - 1


@dataclass(frozen=True)
class Type:
    """A dtype's name, and whether the value is a Python number."""

    name: str
    weak: bool = False

    @property
    def kind(self) -> str:
        """NumPy's letter for the kind: b, i, u, f or c."""
        return kind_of(self.name)

    def __str__(self) -> str:
        if self.weak:
            return {"b": "bool", "i": "int", "f": "float", "c": "complex"}[self.kind]
        return self.name


BOOL: Final = Type("bool")
PYTHON_BOOL: Final = Type("bool", True)
SMALL_INT: Final = Type("int32", True)
PYTHON_INT: Final = Type("int64", True)


@lru_cache(maxsize=256)
def kind_of(name: str) -> str:
    return np.dtype(name).kind


def weak(kind: str, floating: str) -> Type:
    """Return the weak type of a kind, in a kernel whose floating dtype is ``floating``."""
    if kind == "b":
        return PYTHON_BOOL
    if kind == "i":
        return PYTHON_INT
    if kind == "f":
        return Type(floating, True)
    return Type("complex128" if floating == "float64" else "complex64", True)


def of_number(value: Any, floating: str) -> Type:
    """Return the type of a number that is known at compile time."""
    if isinstance(value, np.generic):
        return Type(value.dtype.name)
    if isinstance(value, bool):
        return PYTHON_BOOL
    if isinstance(value, int):
        return SMALL_INT if -INT32_MAX <= value <= INT32_MAX else PYTHON_INT
    return weak("f" if isinstance(value, float) else "c", floating)


@lru_cache(maxsize=4096)
def promote(a: Type, b: Type) -> Type:
    """Return the type of ``a + b`` before rules of the operator itself."""
    if a == b:
        return a
    if a.weak and b.weak:
        ranks = sorted((a, b), key=lambda t: (KINDS.index(t.kind), np.dtype(t.name).itemsize))
        return ranks[1]
    if a.weak or b.weak:
        typed, number = (b, a) if a.weak else (a, b)
        dtype = np.result_type(np.dtype(typed.name), _SAMPLES[number.kind])
        return Type(dtype.name)
    return Type(np.promote_types(a.name, b.name).name)


def floating_for(names: list[str]) -> str:
    """Return the dtype of Python's floats in a kernel with these dtypes of arguments.

    It is the widest floating dtype among them, at least float32; without a floating one, float64.
    """
    kinds = {name for name in names if kind_of(name) in "fc"}
    if not kinds or kinds & {"float64", "complex128"}:
        return "float64"
    return "float32"
