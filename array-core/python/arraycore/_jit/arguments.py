"""The arguments of compiled functions, and their types."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._core.creation import as_device_array
from .._core.ndarray import ndarray
from .errors import coded
from .types import INT32_MAX, PYTHON_INT, SMALL_INT, Type, floating_for, of_number


def prepared(name: str, arguments: Sequence[Any]) -> list[Any]:
    """Return arguments as arrays of arraycore and scalars.

    Raises
    ------
    TypeError
        ``jit_arguments``: an argument is neither an array nor a number.
    """
    out: list[Any] = []
    for place, argument in enumerate(arguments, 1):
        if isinstance(argument, (list, tuple)):
            argument = np.asarray(argument)
        if isinstance(argument, np.ndarray):
            argument = argument[()] if argument.ndim == 0 else as_device_array(argument)
        if not isinstance(argument, (ndarray, bool, int, float, complex, np.bool_, np.number)):
            kind = type(argument).__name__
            message = f"{name}(): argument {place} is a {kind}, and neither an array nor a number."
            raise coded(TypeError(message), "jit_arguments")
        out.append(argument)
    return out


def check_count(name: str, wanted: int, given: int) -> None:
    """Raise if a call has another number of arguments than the function has parameters."""
    if wanted != given:
        plural = "" if wanted == 1 else "s"
        message = f"{name}() takes {wanted} argument{plural}, not {given}."
        raise coded(TypeError(message), "jit_arguments")


def type_names(arguments: Sequence[Any]) -> list[str]:
    """Return the dtypes of arrays and of NumPy's scalars among the arguments."""
    return [
        argument.dtype.name for argument in arguments if isinstance(argument, (ndarray, np.generic))
    ]


def types_of(name: str, arguments: Sequence[Any]) -> tuple[tuple[Type, ...], str]:
    """Return the types of arguments, and the dtype of Python's floats in their kernel."""
    floating = floating_for(type_names(arguments))
    kinds = []
    for argument in arguments:
        if isinstance(argument, ndarray):
            kinds.append(Type(argument.dtype.name))
        elif isinstance(argument, int) and not isinstance(argument, bool):
            kinds.append(_whole(name, argument))
        else:
            kinds.append(of_number(argument, floating))
    return tuple(kinds), floating


def _whole(name: str, number: int) -> Type:
    if -INT32_MAX <= number <= INT32_MAX:
        return SMALL_INT
    if -(2**63) <= number < 2**63:
        return PYTHON_INT
    if 0 <= number < 2**64:
        return Type("uint64")
    raise coded(TypeError(f"{name}(): {number} does not fit 64 bits."), "jit_arguments")
