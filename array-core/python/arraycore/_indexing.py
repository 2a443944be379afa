"""What stands between an array's brackets, as words (``src/api/calls/views.h``)."""

from __future__ import annotations

from operator import index
from typing import Any, NoReturn

import numpy as np

from ._ufuncs import Array

INTEGER, _SLICE, _NEWAXIS, _ELLIPSIS = range(4)
_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1
_HALF = 0xFFFFFFFF


def index_words(key: Any) -> list[int]:
    """Return the words of an index.

    Raises
    ------
    IndexError
        It is nothing that arrays are indexed by.
    NotImplementedError
        It is an array, a list or a bool.
    """
    words: list[int] = []
    for item in key if isinstance(key, tuple) else (key,):
        if isinstance(item, slice):
            head = _SLICE
            bounds: list[int] = []
            for bit, bound in ((4, item.start), (8, item.stop), (16, item.step)):
                if bound is not None:
                    head += bit
                    bounds += _position(_bound(bound))
            words.append(head)
            words += bounds
        elif item is None:
            words.append(_NEWAXIS)
        elif item is Ellipsis:
            words.append(_ELLIPSIS)
        else:
            words.append(INTEGER)
            words += _position(_integer(item))
    return words


def _position(position: int) -> tuple[int, int]:
    """Return two words; what has more than 64 bits is beyond every array all the same."""
    if not _LOWEST <= position <= _HIGHEST:
        position = _LOWEST if position < 0 else _HIGHEST
    return position & _HALF, position >> 32 & _HALF


def _bound(bound: Any) -> int:
    try:
        return index(bound)
    except TypeError:
        raise TypeError(
            "slice indices must be integers or None or have an __index__ method"
        ) from None


def _integer(item: Any) -> int:
    # A bool is an integer for Python, and a mask of 0 dimensions for NumPy.
    if isinstance(item, (bool, np.bool_)):
        _refuse()
    try:
        return index(item)
    except TypeError:
        pass
    if isinstance(item, (list, np.ndarray, Array)):
        _refuse()
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
        "boolean arrays are valid indices"
    )


def _refuse() -> NoReturn:
    raise NotImplementedError(
        "arraycore does not index by arrays, lists and bools yet: take slices, where= of a ufunc, "
        "an ElementwiseKernel, or NumPy on what get() returns."
    )
