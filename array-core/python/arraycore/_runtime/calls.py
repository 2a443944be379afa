"""Operations by words (``ac_call``), and how their arguments become words.

The numbers are those of ``ac_operation``; the headers of ``src/abi/calls`` say which words each
takes.
"""

from __future__ import annotations

from collections.abc import Iterable
from operator import index
from typing import Any

from . import session

COPY, ASSIGN, FILL = 10, 11, 12
INDEX, RESHAPE, TRANSPOSE, SWAP_AXES, MOVE_AXES, FLIP, SQUEEZE = range(20, 27)
EXPAND_DIMS, BROADCAST_TO, DIAGONAL, REINTERPRET, REAL, IMAG = range(27, 33)
KERNEL_RESULT = 42
KEY_READ, KEY_WRITE, KEY_FILL, KEY_UPDATE, NONZERO, SELECT, WRITE_WHERE = range(70, 77)
MATMUL, TUNE_MATMUL = 80, 81
CONV, DENSE, BATCH_NORM, BATCH_NORM_GRADIENT = range(120, 124)
POOL = 128
CROSS_ENTROPY, CROSS_ENTROPY_GRADIENT = 124, 125
AS_STRIDED = 140

_HALF = 0xFFFFFFFF


def call(
    operation: int,
    *words: int,
    _freed: list[int] = session.freed,
    _call: Any = session.bridge.call,
) -> int:
    """Call an operation; up to two ids whose arrays are gone ride along."""
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
        It is none.
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
        They are none.
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
    """Return the words of axes that may be left out: None, an axis or several."""
    return [0] if axes is None else [1, *int64s(integers(axes))]
