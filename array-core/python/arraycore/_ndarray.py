"""The array class: an id of array-core's; its operators are those of ``_operators.py``."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library
from ._dtypes import DTYPES
from ._operators import Operators


class ndarray(Operators):
    """An n-dimensional array on array-core's device.

    Made by :func:`arraycore.array` and by operations, never directly.
    """

    __slots__ = ("_description", "_id")

    def __init__(self, array_id: int) -> None:
        self._id = array_id
        self._description: tuple[int, tuple[int, ...], tuple[int, ...]] | None = None

    # No call into array-core: the garbage collector may run at any moment, within a call too.
    def __del__(self, _note: Any = _library.freed.append) -> None:
        _note(self._id)

    @property
    def shape(self) -> tuple[int, ...]:
        return self._described()[1]

    @property
    def strides(self) -> tuple[int, ...]:
        """Bytes from one element to the next along each axis."""
        return self._described()[2]

    @property
    def dtype(self) -> np.dtype[Any]:
        return DTYPES[self._described()[0]]

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        size = 1
        for extent in self.shape:
            size *= extent
        return size

    def _described(self) -> tuple[int, tuple[int, ...], tuple[int, ...]]:
        if self._description is None:
            self._description = _library.describe(self._id)
        return self._description

    def get(self) -> npt.NDArray[Any]:
        """Return the elements as a NumPy array of the same shape and dtype."""
        out = np.empty(self.shape, self.dtype)
        _library.read(self._id, out)
        return out

    def __repr__(self) -> str:
        return repr(self.get())
