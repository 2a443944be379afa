"""Plain Python in place of kernels, for debuggers: the function runs for each element, in order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np
import numpy.typing as npt

from .._core.creation import array
from .._core.ndarray import ndarray
from .arguments import type_names
from .errors import coded
from .types import Type, floating_for, of_number, promote


def joined(values: Sequence[Any], floating: str) -> npt.NDArray[Any]:
    """Return numbers as an array, of the dtype that a compiled function would give."""
    kind: Type = reduce(promote, [of_number(value, floating) for value in values])
    name = "int64" if kind.weak and kind.kind == "i" else kind.name
    return np.array(values).astype(name)


def vectorize(
    function: Callable[..., Any], arguments: Sequence[Any], outputs: Sequence[Any]
) -> Any:
    """Call a function for each element of broadcast arguments; return arrays, or ``outputs``.

    An element is a scalar of NumPy's, and a Python number stays one.
    """
    held = [a.get() if isinstance(a, ndarray) else a for a in arguments]
    arrays = [a for a in held if isinstance(a, np.ndarray)]
    shape = np.broadcast_shapes(*(a.shape for a in arrays))
    spread = [np.broadcast_to(a, shape) if isinstance(a, np.ndarray) else a for a in held]
    floating = floating_for(type_names(arguments))
    rows: list[tuple[Any, ...]] = []
    with np.errstate(all="ignore"):
        for index in np.ndindex(shape):
            result = function(*(a[index] if isinstance(a, np.ndarray) else a for a in spread))
            rows.append(result if isinstance(result, tuple) else (result,))
    made = [joined(column, floating).reshape(shape) for column in zip(*rows, strict=True)]
    if not made:
        message = "A call of plain Python without elements does not say what its results are."
        raise coded(ValueError(message), "jit_arguments")
    if outputs:
        for target, values in zip(outputs, made, strict=True):
            target[...] = array(values)
        made_arrays = tuple(outputs)
    else:
        made_arrays = tuple(array(values) for values in made)
    return made_arrays[0] if len(made_arrays) == 1 else made_arrays
