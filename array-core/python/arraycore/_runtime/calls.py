"""Calls of array-core's operations (``ac_call``), whose arguments are 32-bit words, and the
conversion of numbers to words.

``operations`` has a function for each operation.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from . import session
from .dtypes import number_of

_HALF = 0xFFFFFFFF
_DOUBLE, _PAIR = struct.Struct("<d"), struct.Struct("<ii")


def call(
    operation: int,
    *words: int,
    _freed: list[int] = session.freed,
    _call: Any = session.bridge.call,
) -> int:
    """Call an operation. The same call frees up to two arrays that Python no longer holds."""
    if len(_freed) > session.BACKLOG:
        session.drain()
    freed_a = _freed.pop() if _freed else 0
    freed_b = _freed.pop() if _freed else 0
    result: int = _call(operation, freed_a, freed_b, *words)
    if result < 0:
        session.recover(result)
        result = session.check(_call(operation, 0, 0, *words))
    return result


def int64(value: Any) -> tuple[int, int]:
    """Return the two words of an integer.

    Raises
    ------
    TypeError
        The value is not an integer.
    OverflowError
        It has more than 64 bits.
    """
    number = index(value)
    if not -(1 << 63) <= number < 1 << 63:
        raise OverflowError("Python int too large to convert to C long")
    return number & _HALF, number >> 32 & _HALF


def int64s(values: Iterable[Any]) -> list[int]:
    """Return the words of several integers."""
    words: list[int] = []
    for value in values:
        words += int64(value)
    return words


def integers(values: Any) -> tuple[int, ...]:
    """Return an integer or several, such as an axis or a shape, as a tuple.

    Raises
    ------
    TypeError
        They are not integers.
    """
    try:
        return (index(values),)
    except TypeError:
        pass
    try:
        return tuple(index(value) for value in values)
    except TypeError:
        raise TypeError(
            f"expected a sequence of integers or a single integer, got '{values!r}'"
        ) from None


def optional_axes(axes: Any) -> list[int]:
    """Return the words of an optional argument: None, an axis, or several axes."""
    return [0] if axes is None else [1, *int64s(integers(axes))]


def optional_dims(values: Collection[Any] | None) -> list[int]:
    """Return the words of an optional argument: None, or several integers."""
    return [0] if values is None else [1, len(values), *int64s(values)]


def optional_dtype(dtype: npt.DTypeLike | None) -> int:
    """Return the word of an optional argument: None, or a dtype."""
    return 0 if dtype is None else number_of(np.dtype(dtype)) + 1


def float64(value: float) -> tuple[int, ...]:
    """Return the two words of a double."""
    return _PAIR.unpack(_DOUBLE.pack(value))
