"""Makes arrays whose shape the caller knows, so that no call of array-core has to return it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from .._core.ndarray import ndarray
from .._runtime.dtypes import DTYPES


@lru_cache(maxsize=4096)
def _described(number: int, shape: tuple[int, ...]) -> Any:
    """Return the number of the dtype, the shape and the byte strides of a C-ordered array; None
    if the array has no elements.
    """
    strides, step = [], DTYPES[number].itemsize
    for extent in reversed(shape):
        strides.append(step)
        step *= extent
    return (number, shape, tuple(reversed(strides))) if step else None


def made(array_id: int, like: ndarray, shape: tuple[int, ...]) -> ndarray:
    """Return the C-ordered array of an id, with a known shape and the dtype of ``like``."""
    array = type(like)._adopt(array_id)
    array._description = _described(like._described()[0], shape)
    return array
