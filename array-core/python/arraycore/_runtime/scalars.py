"""Converts scalars to words for array-core's calls: Python's numbers, NumPy's scalars, 0-d arrays.

``src/abi/calls/ufuncs.h`` describes the words.
"""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

from .dtypes import number_of

#: The numbers of ``ac_scalar_kind`` in the C interface.
INT, FLOAT, COMPLEX, BOOL, NUMPY = range(5)
#: A double represents every int of a magnitude below this number exactly. So frequent calls pass
#: such an int as a double.
EXACT = 2**53

_DOUBLE = struct.Struct("<d")
_TWO_DOUBLES = struct.Struct("<dd")
_PAIR = struct.Struct("<ii")
_FOUR = struct.Struct("<iiii")
_UNSIGNED_PAIR = struct.Struct("<Q")
_WORD = 2**64


def is_scalar(value: object) -> bool:
    """Return whether :func:`scalar_words` takes ``value``."""
    return isinstance(value, (bool, int, float, complex, np.generic)) or (
        isinstance(value, np.ndarray) and value.ndim == 0
    )


def scalar_words(value: Any) -> tuple[int, ...]:
    """Return the words of a scalar.

    Raises
    ------
    TypeError
        The value is not a scalar, or has a dtype that arraycore lacks.
    """
    # NumPy's float64 and complex128 are also instances of Python's float and complex, so they are
    # handled first: their dtype must be kept.
    if isinstance(value, np.ndarray | np.generic) and value.ndim == 0:
        data = value.tobytes() if value.dtype.isnative else value.astype(_native(value)).tobytes()
        return (NUMPY, number_of(value.dtype), *_FOUR.unpack(data.ljust(16, b"\0")))
    if isinstance(value, bool):
        return BOOL, int(value)
    if isinstance(value, int):
        magnitude = abs(value)
        words = _PAIR.unpack(_UNSIGNED_PAIR.pack(magnitude % _WORD))
        return (INT, int(value < 0), *words, int(magnitude >= _WORD), *_nearest(value))
    if isinstance(value, float):
        return (FLOAT, *_PAIR.unpack(_DOUBLE.pack(value)))
    if isinstance(value, complex):
        return (COMPLEX, *_FOUR.unpack(_TWO_DOUBLES.pack(value.real, value.imag)))
    raise TypeError(f"Unsupported type {type(value)}")


def _native(value: Any) -> np.dtype[Any]:
    dtype: np.dtype[Any] = value.dtype.newbyteorder("=")
    return dtype


def _nearest(value: int) -> tuple[int, ...]:
    """Return the nearest double of an int of any size."""
    try:
        double = float(value)
    except OverflowError:
        double = float("inf") if value > 0 else float("-inf")
    return _PAIR.unpack(_DOUBLE.pack(double))
