"""The array class: an id of array-core's, and operators that are one crossing each."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from . import _library
from ._dtypes import DTYPES

_ADD, _SUBTRACT, _MULTIPLY, _DIVIDE = (
    _library.bridge.ufunc_number(name) for name in ("add", "subtract", "multiply", "divide")
)
_NUMBERS = (int, float)


class ndarray:
    """An n-dimensional array on array-core's device.

    Made by :func:`arraycore.array` and by operations, never directly.
    """

    __slots__ = ("_description", "_id")

    # NumPy's arrays leave mixed operations to this class.
    __array_ufunc__ = None

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

    def __add__(self, other: object) -> ndarray:
        return _binary(_ADD, self, other)

    def __radd__(self, other: object) -> ndarray:
        return _reversed(_ADD, self, other)

    def __sub__(self, other: object) -> ndarray:
        return _binary(_SUBTRACT, self, other)

    def __rsub__(self, other: object) -> ndarray:
        return _reversed(_SUBTRACT, self, other)

    def __mul__(self, other: object) -> ndarray:
        return _binary(_MULTIPLY, self, other)

    def __rmul__(self, other: object) -> ndarray:
        return _reversed(_MULTIPLY, self, other)

    def __truediv__(self, other: object) -> ndarray:
        return _binary(_DIVIDE, self, other)

    def __rtruediv__(self, other: object) -> ndarray:
        return _reversed(_DIVIDE, self, other)


def _binary(operation: int, a: ndarray, other: object) -> ndarray:
    if not isinstance(other, ndarray):
        return _with_number(operation, a, other, 0)
    freed = _library.freed
    if len(freed) > _library.BACKLOG:
        _library.drain()
    freed_a = freed.pop() if freed else 0
    freed_b = freed.pop() if freed else 0
    result = _library.bridge.binary(operation, a._id, other._id, freed_a, freed_b)
    if result < 0:
        _library.recover(result)
        result = _library.check(_library.bridge.binary(operation, a._id, other._id, 0, 0))
    return ndarray(result)


def _reversed(operation: int, a: ndarray, other: object) -> ndarray:
    return _with_number(operation, a, other, 1)


def _with_number(operation: int, a: ndarray, number: object, reversed_: int) -> ndarray:
    if not isinstance(number, _NUMBERS):
        return NotImplemented  # type: ignore[no-any-return]
    kind = 1 if isinstance(number, float) else 3 if isinstance(number, bool) else 0
    value = float(number)
    freed = _library.freed
    if len(freed) > _library.BACKLOG:
        _library.drain()
    freed_a = freed.pop() if freed else 0
    freed_b = freed.pop() if freed else 0
    scalar = _library.bridge.binary_scalar
    result = scalar(operation, a._id, value, kind, reversed_, freed_a, freed_b)
    if result < 0:
        _library.recover(result)
        result = _library.check(scalar(operation, a._id, value, kind, reversed_, 0, 0))
    return ndarray(result)
