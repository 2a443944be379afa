"""The keywords of NumPy's generalised ufuncs ``matmul``, ``vecdot``, ``matvec`` and ``vecmat``.

The products themselves work on the last axes. :func:`product` moves axes to the end before, and
casts, moves and stores the result after.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import Any

import numpy as np

from .._core.creation import operand_array
from .._core.ndarray import ndarray, order_number, require_array
from .._runtime import operations
from .._runtime.calls import integers
from .._runtime.dtypes import check_cast, supported
from .._runtime.parameters import refuse_parameter


def moved(a: ndarray, source: tuple[int, ...], destination: tuple[int, ...]) -> ndarray:
    """Return a view with some axes moved."""
    return ndarray._adopt(operations.move_axes(a, len(source), (*source, *destination)))


#: NumPy's signature of each product, for its messages.
_SIGNATURES = {
    "matmul": "(n?,k),(k,m?)->(n?,m?)",
    "matvec": "(m,n),(n)->(m)",
    "vecdot": "(n),(n)->()",
    "vecmat": "(n),(n,m)->(m)",
}
#: How many axes of each operand and of the result a product works on.
_CORES = {"matmul": (2, 2, 2), "matvec": (2, 1, 1), "vecdot": (1, 1, 0), "vecmat": (1, 2, 1)}


def product(
    name: str,
    function: Callable[[ndarray, ndarray], ndarray],
    x1: Any,
    x2: Any,
    out: Any,
    axes: Any,
    axis: Any,
    keepdims: bool,
    casting: str,
    order: str | None,
    dtype: Any,
    signature: Any,
) -> Any:
    """Call a product of two arrays with the keywords of NumPy's generalised ufuncs.

    Raises
    ------
    NotImplementedError
        There is a ``signature``.
    TypeError
        ``axis`` or ``keepdims`` is given for another product than ``vecdot``, or ``casting`` does
        not allow a cast.
    """
    if signature is not None:
        refuse_parameter("signature")
    if name != "vecdot":
        if axis is not np._NoValue:
            raise TypeError(
                f"{name}: axis can only be used with a single shared core dimension, not with the "
                f"ones implied by signature {_SIGNATURES[name]}."
            )
        if keepdims:
            raise TypeError(
                f"{name} does not support keepdims: its signature {_SIGNATURES[name]} requires "
                "multiple operand or output core dimensions."
            )
    layout = order_number(order, "CFAK", "K")
    operands = [operand_array(x1), operand_array(x2)]
    if axis is not np._NoValue:
        if axes is not np._NoValue:
            raise TypeError("cannot specify both 'axis' and 'axes'")
        axes = [index(axis), index(axis), ()]
    places: tuple[int, ...] = ()
    if axes is not np._NoValue:
        listed = [integers(each) for each in axes]
        listed += [()] * (3 - len(listed))
        for each, core in zip(listed, _CORES[name], strict=True):
            if len(each) != core and not (each == () and each is listed[2]):
                raise ValueError(f"{name}: axes item should be {core} axes, not {each}")
        places = listed[2]
        operands = [
            moved(each, where, tuple(range(-len(where), 0)))
            for each, where in zip(operands, listed, strict=False)
        ]
    if dtype is not None:
        wanted = supported(dtype)
        for operand in operands:
            check_cast(operand.dtype, wanted, casting)
        operands = [each.astype(wanted, copy=False) for each in operands]
    made: Any = function(*operands)
    if places:
        made = moved(made, tuple(range(-len(places), 0)), places)
    if keepdims:
        made = made[..., None]
        if axis is not np._NoValue:
            made = moved(made, (-1,), (index(axis),))
    target = out[0] if isinstance(out, tuple) else out
    if target is not None:
        check_cast(made.dtype, require_array(target).dtype, casting)
        target[...] = made
        return target
    return made.copy("F") if layout == order_number("F", "CF") else made
