"""NumPy's dtypes by the numbers of array-core's C interface (``src/dtype/dtype.h``)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from .errors import coded

DTYPES: tuple[np.dtype[Any], ...] = tuple(
    np.dtype(name)
    for name in (
        "bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
        "float16", "float32", "float64", "complex64", "complex128",
    )
)  # fmt: skip
_NUMBERS = {dtype: number for number, dtype in enumerate(DTYPES)}


def number_of(dtype: np.dtype[Any]) -> int:
    """Return the number of a dtype.

    Raises
    ------
    TypeError
        array-core has no such dtype.
    """
    try:
        return _NUMBERS[dtype.newbyteorder("=")]
    except KeyError:
        raise coded(TypeError(f"arraycore has no dtype {dtype}."), "unknown_dtype") from None


def check_cast(given: Any, target: np.dtype[Any], casting: str) -> None:
    """Raise if NumPy's casting rule does not allow the cast of a dtype or a number to a dtype.

    Raises
    ------
    TypeError
        The rule does not allow the cast. The message is NumPy's.
    """
    if not np.can_cast(given, target, casting):  # type: ignore[arg-type]
        message = (
            f"Cannot cast array data from {given!r} to {target!r} according to the rule {casting!r}"
        )
        raise coded(TypeError(message), "cannot_cast")


def supported(dtype: npt.DTypeLike | None) -> np.dtype[Any]:
    """Return NumPy's dtype in this machine's byte order; None is float64, as for NumPy.

    Raises
    ------
    TypeError
        array-core has no such dtype.
    """
    return DTYPES[number_of(np.dtype(dtype))]
