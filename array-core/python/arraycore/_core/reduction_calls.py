"""The calls that reduce and accumulate (``src/abi/calls/reductions.h``). Each crosses from Python
into array-core once.
"""

from __future__ import annotations

import struct
from functools import cache
from operator import index
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.exceptions import AxisError

from .._runtime import operations
from .._runtime.calls import integers
from .._runtime.scalars import is_scalar, scalar_words
from .creation import array, operand_array
from .ndarray import ndarray

_INT, _FLOAT = struct.Struct("<i"), struct.Struct("<f")
_IDENTITY, _NUMBER_GIVEN, _NOT_EVEN_IDENTITY = range(3)


#: The default of ``initial``, as in NumPy: the reduction starts with its identity, if it has one.
#: If ``initial`` is None, it starts with the first element, so reducing no elements is an error.
NO_VALUE: Any = np._NoValue


@cache
def _number(name: str) -> int:
    """Return a reduction's place in array-core's table."""
    return operations.reduction_number(name)


def tolerance(name: str, elements: int, is_complex: bool = False) -> float:
    """Return how far a result may be from the exact one, in units in the last place.

    For sums, and reductions made of sums, these are not units of the result. They are units of
    what the same reduction gives for the elements' absolute values.

    Parameters
    ----------
    name : str
        The reduction's name, such as ``"sum"``.
    elements : int
        How many elements are reduced to one.
    is_complex : bool
        Whether the elements are complex.
    """
    bits = operations.reduction_tolerance(_number(name), elements, is_complex)
    value: float = _FLOAT.unpack(_INT.pack(bits))[0]
    return value


def _target(out: Any) -> ndarray | None:
    if isinstance(out, tuple) and len(out) == 1:
        out = out[0]
    if out is not None and not isinstance(out, ndarray):
        raise TypeError(f"Results go to arrays of arraycore's, not to {type(out)}.")
    return out


def reduced(
    which: tuple[int, int],
    a: Any,
    axis: Any = None,
    dtype: npt.DTypeLike | None = None,
    out: Any = None,
    keepdims: bool = False,
    initial: Any = NO_VALUE,
    where: Any = True,
    ddof: float = 0,
) -> Any:
    """Reduce an array.

    ``which`` is the pair of 0 and a reduction's number in array-core's table, or of 1 and a ufunc's
    number. The other parameters are those of :func:`arraycore.sum`.
    """
    source = operand_array(a)
    target = _target(out)
    mask = mask_of(where, bool)
    words = (target, mask, ddof, _initial_words(initial))
    axes = None if axis is None else integers(axis)
    try:
        made = operations.reduce(which, source, dtype, keepdims, axes, *words)
    except AxisError:
        # As in NumPy, a number has one axis for reductions, but not for means.
        means = _of_means()[: 3 if source.dtype.kind in "fc" else 6]
        if source.ndim or axis not in (0, -1) or which in means:
            raise
        made = operations.reduce(which, source, dtype, keepdims, None, *words)
    return type(source)._adopt(made) if target is None else target


@cache
def _of_means() -> tuple[tuple[int, int], ...]:
    """Return the reductions that take no axis of a number; the last three only of integers."""
    return tuple(map(table_row, ("mean", "var", "std", "nanmean", "nanvar", "nanstd")))


def _initial_words(initial: Any) -> tuple[int, ...]:
    if initial is NO_VALUE:
        return (_IDENTITY,)
    if initial is None:
        return (_NOT_EVEN_IDENTITY,)
    if isinstance(initial, ndarray):
        raise NotImplementedError(
            "arraycore takes no array as 'initial': pass float(array), or combine the two results."
        )
    return _NUMBER_GIVEN, *scalar_words(initial)


def mask_of(where: Any, dtype: npt.DTypeLike | None = None) -> ndarray | None:
    """Return the array of a ``where`` argument; None if it is True, as no mask is needed."""
    if where is True:
        return None
    return array(where, dtype) if is_scalar(where) else operand_array(where)


def accumulated(
    function: Any, a: Any, axis: Any, dtype: Any, out: Any, skips_nan: bool = False
) -> Any:
    """Return the running results of a ufunc along an axis."""
    source = operand_array(a)
    target = _target(out)
    made = operations.accumulate(function._number, skips_nan, source, one_axis(axis), dtype, target)
    return type(source)._adopt(made) if target is None else target


def table_row(name: str) -> tuple[int, int]:
    """Return the argument ``which`` of :func:`reduced` for the reduction ``name`` of array-core's
    table.
    """
    return 0, _number(name)


def one_axis(axis: Any) -> int | None:
    """Return an axis as an int. If it is None, return None."""
    return None if axis is None else index(axis)
