"""Functions that join, split, repeat and shift arrays, by assignments to slices.

Joining takes one launch for each operand. Functions that gather from many places take one launch.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import prod
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core.creation import as_device_array, asarray, empty, operand_array, zeros
from .._core.lazy_kernels import elementwise
from .._core.ndarray import ndarray
from .._runtime import session
from .._runtime.calls import integers
from .._runtime.dtypes import check_cast, supported
from .views import atleast_1d, atleast_2d, atleast_3d, flip, moveaxis, swapaxes

__all__ = [
    "append",
    "array_split",
    "block",
    "column_stack",
    "concat",
    "concatenate",
    "dsplit",
    "dstack",
    "hsplit",
    "hstack",
    "repeat",
    "resize",
    "roll",
    "rot90",
    "split",
    "stack",
    "tile",
    "unstack",
    "vsplit",
    "vstack",
]

#: ``target[outer, place, inner] = source[outer, at[place], inner]`` for two arrays in C order.
_take = elementwise(
    "raw T source, raw I at, int32 extent, int32 inner",
    "T target",
    "int row = i / inner; int places = at.size();"
    "target = source[(row / places * extent + (int)at[row % places]) * inner + i % inner]",
    "take_along",
)


def axis_of(axis: Any, ndim: int) -> int:
    """Return an axis as a number from 0 on; a negative one counts from the end.

    Raises
    ------
    AxisError
        The array has no such axis.
    """
    number = index(axis)
    if not -ndim <= number < ndim:
        raise np.exceptions.AxisError(number, ndim)
    return number % ndim


def axis_key(axis: int, item: Any) -> tuple[Any, ...]:
    """Return the key that selects a part along one axis, and everything along the others."""
    return (*(slice(None),) * axis, item)


def take_axis(source: ndarray, places: ndarray, axis: int) -> ndarray:
    """Return the elements at places along an axis; the places are not checked."""
    shape = source.shape
    made = empty((*shape[:axis], places.size, *shape[axis + 1 :]), source.dtype)
    if made.size:
        _take(source, places, shape[axis], prod(shape[axis + 1 :]), made)
    return made


def _arrays(given: Any) -> list[ndarray]:
    if isinstance(given, ndarray):
        return list(given)
    arrays = list(given)
    if not all(isinstance(each, ndarray) for each in arrays) and not session.takes_numpys():
        raise TypeError("Only arraycore arrays can be concatenated")
    return [operand_array(each) for each in arrays]


# ---- joining


def concatenate(
    arrays: Sequence[ndarray] | ndarray,
    axis: int | None = 0,
    out: ndarray | None = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> ndarray:
    """Return arrays joined along an existing axis.

    Parameters
    ----------
    arrays : sequence of arrays
        Arrays whose shapes differ only along that axis.
    axis : int or None
        The axis to join along; None flattens the arrays first.
    out : array, optional
        Receives the result and is returned; it has the result's shape.
    dtype : dtype, optional
        The result's dtype, by default the arrays' common one. Not allowed together with ``out``.
    casting : str
        The rule for casts to ``out`` or ``dtype``.
    """
    parts = _arrays(arrays)
    if not parts:
        raise ValueError("need at least one array to concatenate")
    if out is not None and dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were.")
    if axis is None:
        parts, axis = [part.ravel() for part in parts], 0
    first = parts[0]
    if first.ndim == 0:
        raise ValueError("zero-dimensional arrays cannot be concatenated")
    number = axis_of(axis, first.ndim)
    shape = list(first.shape)
    for place, part in enumerate(parts[1:], 1):
        if part.ndim != first.ndim:
            raise ValueError(
                "all the input array dimensions except for the concatenation axis must match "
                f"exactly, but along dimension(s), the array at index 0 has {first.ndim} "
                f"dimension(s) and the array at index {place} has {part.ndim} dimension(s)"
            )
        for each, (one, other) in enumerate(zip(first.shape, part.shape, strict=True)):
            if each != number and one != other:
                raise ValueError(
                    "all the input array dimensions except for the concatenation axis must match "
                    f"exactly, but along dimension {each}, the array at index 0 has size {one} and "
                    f"the array at index {place} has size {other}"
                )
        shape[number] += part.shape[number]
    if out is None:
        wanted = supported(
            np.result_type(*(part.dtype for part in parts)) if dtype is None else dtype
        )
        out = empty(tuple(shape), wanted)
    elif out.shape != tuple(shape):
        raise ValueError("Output array is the wrong shape")
    for part in parts:
        check_cast(part.dtype, out.dtype, casting)
    begin = 0
    for part in parts:
        end = begin + part.shape[number]
        if begin < end:
            out[axis_key(number, slice(begin, end))] = part
        begin = end
    return out


concat = concatenate


def stack(
    arrays: Sequence[ndarray] | ndarray,
    axis: int = 0,
    out: ndarray | None = None,
    *,
    dtype: npt.DTypeLike | None = None,
    casting: str = "same_kind",
) -> ndarray:
    """Return arrays of one shape joined along a new axis."""
    parts = _arrays(arrays)
    if not parts:
        raise ValueError("need at least one array to stack")
    if any(part.shape != parts[0].shape for part in parts):
        raise ValueError("all input arrays must have the same shape")
    number = axis_of(axis, parts[0].ndim + 1)
    parts = [part[axis_key(number, None)] for part in parts]
    return concatenate(parts, number, out, dtype=dtype, casting=casting)


def vstack(
    tup: Sequence[ndarray], *, dtype: npt.DTypeLike | None = None, casting: str = "same_kind"
) -> ndarray:
    """Return arrays joined along the first axis; vectors become rows."""
    return concatenate([atleast_2d(each) for each in _arrays(tup)], 0, dtype=dtype, casting=casting)


def hstack(
    tup: Sequence[ndarray], *, dtype: npt.DTypeLike | None = None, casting: str = "same_kind"
) -> ndarray:
    """Return arrays joined along the second axis, vectors along their only axis."""
    parts = [atleast_1d(each) for each in _arrays(tup)]
    axis = 0 if parts and parts[0].ndim == 1 else 1
    return concatenate(parts, axis, dtype=dtype, casting=casting)


def dstack(tup: Sequence[ndarray]) -> ndarray:
    """Return arrays joined along the third axis."""
    return concatenate([atleast_3d(each) for each in _arrays(tup)], 2)


def column_stack(tup: Sequence[ndarray]) -> ndarray:
    """Return vectors, as columns, and matrices joined along the second axis."""
    columns = [atleast_2d(each).T if each.ndim < 2 else each for each in _arrays(tup)]
    return concatenate(columns, 1)


def block(arrays: Any) -> ndarray:
    """Return nested lists of arrays as one array.

    The innermost lists are joined along the last axis, the lists around them along the axis before
    it, and so on.
    """
    depth = _depth(arrays)
    ndim = max(depth, _most_axes(arrays))
    return _block(arrays, depth, ndim)


def _depth(arrays: Any) -> int:
    if not isinstance(arrays, list):
        return 0
    depths = {_depth(each) for each in arrays}
    if len(depths) != 1:
        raise ValueError("List depths are mismatched." if depths else "Lists cannot be empty")
    return 1 + depths.pop()


def _most_axes(arrays: Any) -> int:
    if isinstance(arrays, list):
        return max(_most_axes(each) for each in arrays)
    return arrays.ndim if isinstance(arrays, ndarray) else np.ndim(arrays)


def _block(arrays: Any, depth: int, ndim: int) -> ndarray:
    if depth == 0:
        whole = as_device_array(arrays)
        return whole[(None,) * (ndim - whole.ndim)].copy()
    return concatenate([_block(each, depth - 1, ndim) for each in arrays], -depth)


def append(arr: ndarray, values: Any, axis: int | None = None) -> ndarray:
    """Return an array with values joined to its end; without an axis both are flattened."""
    return concatenate([operand_array(arr), asarray(values)], axis)


# ---- splitting


def array_split(ary: ndarray, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Split an array into a number of nearly equal parts, or at the given places; return views."""
    ary = operand_array(ary)
    number = axis_of(axis, ary.ndim)
    extent = ary.shape[number]
    try:
        sections = index(indices_or_sections)
    except TypeError:
        places = [0, *integers(indices_or_sections), extent]
    else:
        if sections <= 0:
            raise ValueError("number sections must be larger than 0.")
        least, longer = divmod(extent, sections)
        places = [0]
        for part in range(sections):
            places.append(places[-1] + least + (part < longer))
    return [ary[axis_key(number, slice(begin, end))] for begin, end in pairwise(places)]


def split(ary: ndarray, indices_or_sections: Any, axis: int = 0) -> list[ndarray]:
    """Split an array into a number of equal parts, or at the given places; return views."""
    ary = operand_array(ary)
    try:
        sections = index(indices_or_sections)
    except TypeError:
        pass
    else:
        if sections and ary.shape[axis_of(axis, ary.ndim)] % sections:
            raise ValueError("array split does not result in an equal division")
    return array_split(ary, indices_or_sections, axis)


def vsplit(ary: ndarray, indices_or_sections: Any) -> list[ndarray]:
    """Return views of parts along the first axis."""
    ary = operand_array(ary)
    if ary.ndim < 2:
        raise ValueError("vsplit only works on arrays of 2 or more dimensions")
    return split(ary, indices_or_sections, 0)


def hsplit(ary: ndarray, indices_or_sections: Any) -> list[ndarray]:
    """Return views of parts along the second axis, of a vector along its only one."""
    ary = operand_array(ary)
    if ary.ndim == 0:
        raise ValueError("hsplit only works on arrays of 1 or more dimensions")
    return split(ary, indices_or_sections, 1 if ary.ndim > 1 else 0)


def dsplit(ary: ndarray, indices_or_sections: Any) -> list[ndarray]:
    """Return views of parts along the third axis."""
    ary = operand_array(ary)
    if ary.ndim < 3:
        raise ValueError("dsplit only works on arrays of 3 or more dimensions")
    return split(ary, indices_or_sections, 2)


def unstack(x: ndarray, /, *, axis: int = 0) -> tuple[ndarray, ...]:
    """Return views of an array's parts along an axis, without that axis."""
    x = operand_array(x)
    if x.ndim == 0:
        raise ValueError("Input array must be at least 1-d.")
    return tuple(moveaxis(x, axis, 0))


# ---- repeating


def tile(A: Any, reps: Any) -> ndarray:
    """Return an array repeated as a whole, ``reps`` times along each axis."""
    source = as_device_array(A)
    times = integers(reps)
    ndim = max(source.ndim, len(times))
    times = (1,) * (ndim - len(times)) + times
    shape = (1,) * (ndim - source.ndim) + source.shape
    if any(each < 0 for each in times):
        raise ValueError("negative dimensions are not allowed")
    pairs = [extent for pair in zip(times, shape, strict=True) for extent in pair]
    made = empty(tuple(pairs), source.dtype)
    if made.size:
        made[...] = source.reshape(*(each for extent in shape for each in (1, extent)))
    return made.reshape(*(count * extent for count, extent in zip(times, shape, strict=True)))


def repeat(a: Any, repeats: Any, axis: int | None = None) -> ndarray:
    """Return an array with each element repeated.

    Parameters
    ----------
    a : array_like
        The array to repeat.
    repeats : int or array_like of ints
        The number of repetitions, for all elements or for each along the axis. Those of an array of
        arraycore are read, because the result's size depends on them.
    axis : int or None
        The axis to repeat along; None flattens the array.
    """
    source = as_device_array(a)
    if axis is None or source.ndim == 0:
        source, axis = source.ravel(), 0 if axis is None else axis
    number = axis_of(axis, source.ndim)
    counts = repeats.get() if isinstance(repeats, ndarray) else np.asarray(repeats)
    if counts.dtype.kind not in "iub" or counts.ndim > 1:
        raise TypeError("repeats must be an integer or a sequence of integers")
    if (counts < 0).any():
        raise ValueError("repeats may not contain negative values.")
    extent = source.shape[number]
    if counts.size == 1:
        count = int(counts.ravel()[0])
        shape = source.shape
        made = empty((*shape[: number + 1], count, *shape[number + 1 :]), source.dtype)
        if made.size:
            made[...] = source[axis_key(number + 1, None)]
        return made.reshape(*shape[:number], extent * count, *shape[number + 1 :])
    if counts.size != extent:
        raise ValueError(
            f"operands could not be broadcast together with shape ({extent},) ({counts.size},)"
        )
    places = np.repeat(np.arange(extent, dtype=np.int32), counts)
    return take_axis(source, asarray(places), number)


def resize(a: Any, new_shape: int | tuple[int, ...]) -> ndarray:
    """Return an array of another shape, filled by repeating the elements in C order."""
    source = as_device_array(a).ravel()
    shape = integers(new_shape)
    if any(extent < 0 for extent in shape):
        raise ValueError("all elements of `new_shape` must be non-negative")
    if source.size == 0:
        return zeros(shape, source.dtype)
    size = prod(shape)
    times = -(-size // source.size)
    return tile(source, times)[:size].reshape(*shape)


# ---- shifting and turning


def roll(
    a: ndarray, shift: int | tuple[int, ...], axis: int | tuple[int, ...] | None = None
) -> ndarray:
    """Return an array whose elements are shifted along axes; those at the end move to the front."""
    a = operand_array(a)
    if axis is None:
        if not isinstance(shift, int):
            shift = sum(integers(shift))
        return roll(a.ravel(), shift, 0).reshape(a.shape)
    shifts, axes = np.broadcast_arrays(integers(shift), integers(axis))
    made = a
    total: dict[int, int] = {}
    for by, each in zip(shifts.ravel(), axes.ravel(), strict=True):
        number = axis_of(int(each), a.ndim)
        total[number] = total.get(number, 0) + int(by)
    for number, by in total.items():
        extent = made.shape[number]
        if extent == 0 or by % extent == 0:
            continue
        by %= extent
        parts = (slice(extent - by, None), slice(None, extent - by))
        made = concatenate([made[axis_key(number, part)] for part in parts], number)
    return made.copy() if made is a else made


def rot90(m: ndarray, k: int = 1, axes: tuple[int, int] = (0, 1)) -> ndarray:
    """Return a view turned by ``k`` right angles, from the first axis towards the second."""
    m = operand_array(m)
    first, second = axes
    if len(axes) != 2:
        raise ValueError("len(axes) must be 2.")
    one, other = axis_of(first, m.ndim), axis_of(second, m.ndim)
    if one == other:
        raise ValueError("Axes must be different.")
    turns = k % 4
    if turns == 0:
        return m[...]
    if turns == 2:
        return flip(m, (one, other))
    turned = swapaxes(m, one, other)
    return flip(turned, one) if turns == 1 else flip(turned, other)
