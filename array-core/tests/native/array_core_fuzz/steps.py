"""Defines the language of view programs: numbers of operations, dtypes and errors, and the contents
of new arrays.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

_NAMES = (
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
)
# The dtypes are in the order of DType's numbers.
DTYPES: tuple[np.dtype[Any], ...] = tuple(np.dtype(name) for name in _NAMES)


class ErrorKind(IntEnum):
    """Kinds of errors that views, keys and promotion give, numbered as in result.h."""

    VALUE = 1
    TYPE = 2
    INDEX = 3


class StepOp(IntEnum):
    """Operations, numbered as in program.h. Only the package has those from ``TAKE`` on."""

    CREATE = 0
    INDEX = 1
    TRANSPOSE = 2
    SWAP_AXES = 3
    MOVE_AXES = 4
    RESHAPE = 5
    RAVEL = 6
    BROADCAST = 7
    SQUEEZE = 8
    EXPAND_DIMS = 9
    DIAGONAL = 10
    FLIP = 11
    REINTERPRET = 12
    REAL = 13
    IMAG = 14
    COPY = 15
    ASSIGN = 16
    ASTYPE = 17
    TAKE = 18  # source, key: source[key], a copy
    PUT = 19  # target, source, key: target[key] = source
    FILL = 20  # target, value, key: target[key] = value
    ADD = 21  # target, value, key: target[key] += value


class IndexKind(IntEnum):
    """Kinds of indices, numbered as in index.h. Arrays occur only in keys (``keys.py``)."""

    INTEGER = 0
    SLICE = 1
    NEWAXIS = 2
    ELLIPSIS = 3
    INTEGERS = 4
    MASK = 5


MAX_SEED = 1 << 16
_MAX_BYTES = 1 << 17
_positions = np.arange(MAX_SEED + _MAX_BYTES, dtype=np.uint32)
# program.cc's pattern(): byte k of a new storage is PATTERN[seed + k].
PATTERN: npt.NDArray[np.uint8] = ((_positions * np.uint32(2654435761)) >> 13).astype(np.uint8)


def create(dtype: int, seed: int, shape: list[int]) -> Array:
    """Return the array that ``StepOp.CREATE`` makes."""
    size = DTYPES[dtype].itemsize
    for extent in shape:
        size *= extent
    data = PATTERN[seed : seed + size].copy()
    return data.view(DTYPES[dtype]).reshape(shape)
