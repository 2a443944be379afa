"""Indexing: the brackets of an array, and how a key is encoded as the 32-bit words of a call.

A key of integers, slices, None and ``...`` gives a view (``src/abi/calls/views.h``). A key with
arrays, lists or bools gives a copy when it is read (``src/abi/calls/indexing.h``). Both need one
call into array-core. Indices from the host are checked here, as NumPy checks them, before they are
uploaded.
"""

from __future__ import annotations

from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from .._runtime import opcodes, operations, session
from .._runtime.calls import call, int64
from .._runtime.dtypes import supported
from .._runtime.opcodes import (
    KEY_CHECKED,
    KEY_FLAT,
    KEY_FLAT_CHECKED,
    KEY_INTEGERS,
    KEY_MASK,
    KEY_OUTSIDE,
    KEY_POSITIONS,
)
from .._runtime.scalars import is_scalar, scalar_words
from .ndarray import ndarray

_INTEGER, _SLICE, _NEWAXIS, _ELLIPSIS = range(4)
_LOWEST, _HIGHEST = -(1 << 63), (1 << 63) - 1
_HALF = 0xFFFFFFFF
_ARRAY = -1
_SMALL = 1 << 31

_NO_INDEX = (
    "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or "
    "boolean arrays are valid indices"
)
_NO_INDEX_ARRAY = "arrays used as indices must be of integer (or boolean) type"


class Key:
    """The key of an index, encoded as the 32-bit words of a call.

    Attributes
    ----------
    words : list of int
        The encoded items. Without ``arrays`` they are the index of a view (``views.h``), otherwise
        a key with arrays (``indexing.h``).
    arrays : list of ndarray
        The arrays whose ids are among the words. They must live until the call is done. Empty for a
        key that gives a view.
    """

    __slots__ = ("arrays", "words")

    def __init__(self, key: Any, of: Any) -> None:
        self.words: list[int] = []
        self.arrays: list[Any] = []
        items = [_item(item) for item in (key if isinstance(key, tuple) else (key,))]
        if not any(isinstance(item, ndarray | np.ndarray) for item in items):
            for item in items:
                self._add_basic(item)
            return
        shape = of.shape
        used = sum(_axes(item) for item in items)
        axis = 0
        for item in items:
            if isinstance(item, ndarray):
                mask = item.dtype.kind == "b"
                self._add_array(KEY_MASK if mask else KEY_INTEGERS, item)
            elif isinstance(item, np.ndarray):
                counts = item.dtype.kind != "b" and used <= len(shape) and axis < len(shape)
                self._add_host(item, of, shape[axis] if counts else None)
            else:
                self._add_basic(item)
            axis += len(shape) - used if item is Ellipsis else _axes(item)

    def _add_basic(self, item: Any) -> None:
        words = self.words
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
            words.append(_INTEGER)
            words += _position(item)

    def _add_array(self, head: int, array: Any) -> None:
        self.words += (head, array._id)
        self.arrays.append(array)

    def _add_host(self, item: npt.NDArray[Any], of: Any, extent: int | None) -> None:
        """Upload a mask or an array of indices from the host. Indices are checked against
        ``extent``, the extent of the axis that they index. ``extent`` is None for a mask. For
        indices it is None if the array has fewer axes than the key needs.
        """
        if item.dtype.kind == "b":
            positions = np.flatnonzero(item).astype(np.int32)
            self._add_array(KEY_POSITIONS, _uploaded(positions, of))
            self.words.append(item.ndim)
            for extent in item.shape:
                self.words += int64(extent)
        elif extent is None:
            self._add_array(KEY_INTEGERS, _uploaded(item.astype(supported(item.dtype)), of))
        else:
            wrong = _outside(item, extent)
            if wrong is None:
                self._add_array(KEY_CHECKED, _uploaded(_from_start(item, extent), of))
            else:  # an error, unless another index broadcasts it away
                self._add_array(KEY_OUTSIDE, _uploaded(np.zeros(item.shape, np.int32), of))
                self.words += _position(wrong)


def flat_words(indices: Any, of: Any) -> tuple[list[int], Any]:
    """Return the words of a key that selects elements by their C-order index, and the array of
    these indices on the device.

    Parameters
    ----------
    indices : ndarray or numpy.ndarray
        Integers; negative ones count from the end.
    of : ndarray
        The array that is indexed.

    Raises
    ------
    IndexError
        An index of the host is out of bounds.
    """
    if isinstance(indices, ndarray):
        return [KEY_FLAT, indices._id, of.ndim], indices
    wrong = _outside(indices, of.size)
    if wrong is not None:
        raise IndexError(f"index {wrong} is out of bounds for axis 0 with size {of.size}")
    held = _uploaded(_from_start(indices, of.size), of)
    return [KEY_FLAT_CHECKED, held._id, of.ndim], held


def _outside(indices: npt.NDArray[Any], extent: int) -> int | None:
    """Return the first index that is out of bounds, or None if there is none."""
    wrong = (indices < -extent) | (indices >= extent)
    return int(indices[wrong].flat[0]) if wrong.any() else None


def _from_start(indices: npt.NDArray[Any], extent: int) -> npt.NDArray[Any]:
    """Return indices as non-negative int32. Negative ones count from the end; all are in bounds."""
    wide = indices.astype(np.int64)  # a short dtype may not hold the extent
    return np.where(wide < 0, wide + extent, wide).astype(np.int32)


def _uploaded(elements: npt.NDArray[Any], like: Any) -> Any:
    elements = np.ascontiguousarray(elements).reshape(elements.shape)
    return type(like)._adopt(session.create(elements.shape, elements, elements.dtype))


def _item(item: Any) -> Any:
    """Return one item of a key: a slice, None, ``...``, an int, or an array of indices.

    Raises
    ------
    IndexError
        Arrays cannot be indexed by the item.
    """
    if item is None or item is Ellipsis or type(item) is int or isinstance(item, slice):
        return item
    if isinstance(item, ndarray):
        if item.dtype.kind not in "biu":
            raise IndexError(_NO_INDEX_ARRAY)
        return np.empty(0, np.intp) if _is_empty_mask(item) else item
    # A bool is an integer for Python, and a mask of 0 dimensions for NumPy.
    if isinstance(item, bool | np.bool_):
        return np.asarray(item)
    if isinstance(item, np.ndarray):  # of 0 dimensions too: NumPy gives a copy for it, no view
        if item.dtype.kind not in "biu":
            raise IndexError(_NO_INDEX_ARRAY)
        return np.empty(0, np.intp) if _is_empty_mask(item) else item
    try:
        return index(item)
    except TypeError:
        pass
    if isinstance(item, list | tuple):
        made = np.asarray(item)
        if made.size == 0:
            return made.astype(np.intp)
        if made.dtype.kind in "biu":
            return made
    raise IndexError(_NO_INDEX)


def _is_empty_mask(item: Any) -> bool:
    """Return whether an item is an empty mask of one axis, which NumPy accepts for any extent."""
    return bool(item.shape == (0,) and item.dtype.kind == "b")


def _axes(item: Any) -> int:
    """Return how many of an array's axes an item indexes."""
    if item is None or item is Ellipsis:
        return 0
    if isinstance(item, ndarray | np.ndarray) and item.dtype.kind == "b":
        return item.ndim
    return 1


def _position(position: int) -> tuple[int, int]:
    """Return an integer index as two words. An index of more than 64 bits becomes the nearest one
    of 64 bits, which is out of bounds too.
    """
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


def value_words(value: Any) -> tuple[int, ...]:
    """Return the words of a value: of an array or a scalar (``src/abi/calls/indexing.h``)."""
    if isinstance(value, ndarray):
        return _ARRAY, value._id
    if not is_scalar(value):
        raise TypeError(f"Unsupported type {type(value)}")
    return scalar_words(value)


class Indexing:
    """The brackets of :class:`arraycore.ndarray`."""

    def __getitem__(self: Any, key: Any) -> ndarray:
        if type(key) is int and -_SMALL <= key < _SMALL:  # what loops over elements ask for
            made = call(opcodes.INDEX, self._id, _INTEGER, key & _HALF, key >> 32 & _HALF)
        else:
            parsed = Key(key, self)
            read = operations.key_read if parsed.arrays else operations.index
            made = read(self, parsed.words)
        return type(self)._adopt(made)  # type: ignore[no-any-return]

    def __setitem__(self: Any, key: Any, value: Any) -> None:
        parsed = Key(key, self)
        if is_scalar(value):
            fill = operations.key_fill if parsed.arrays else operations.fill
            fill(self, value, parsed.words)
            return
        if not isinstance(value, ndarray):
            # NumPy converts the value, so it raises the error if the value does not fit the dtype.
            dtype = value.dtype if isinstance(value, np.ndarray) else self.dtype
            elements = np.asarray(value, supported(dtype), order="C")
            value = type(self)._adopt(session.create(elements.shape, elements, elements.dtype))
        write = operations.key_write if parsed.arrays else operations.assign
        write(self, value, parsed.words)
