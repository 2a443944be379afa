"""Restores the attributes of ``numpy`` that NumPy 1.24 and NumPy 2 removed.

Chainer needs ``sctypes`` (7.8.1, ``functions.array.as_strided``) and ``float`` (7.8.1,
``functions.array.resize_images``). Objectives that were written for NumPy 1 use the others. A name
that NumPy still has is not changed.
"""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np


def _asscalar(a: Any) -> Any:
    """Return the only element of an array as a Python number, as ``numpy.asscalar`` did."""
    return np.asarray(a).item()


_SCTYPES: dict[str, list[type]] = {
    "int": [np.int8, np.int16, np.int32, np.int64],
    "uint": [np.uint8, np.uint16, np.uint32, np.uint64],
    "float": [np.float16, np.float32, np.float64, np.longdouble],
    "complex": [np.complex64, np.complex128, np.clongdouble],
    "others": [np.bool_, np.object_, np.bytes_, np.str_, np.void],
}

# The first five were aliases of Python's own types.
NAMES: dict[str, Any] = {
    "float": builtins.float,
    "int": builtins.int,
    "complex": builtins.complex,
    "object": builtins.object,
    "str": builtins.str,
    "sctypes": _SCTYPES,
    "float_": np.float64,
    "complex_": np.complex128,
    "unicode_": np.str_,
    "string_": np.bytes_,
    "Inf": np.inf,
    "Infinity": np.inf,
    "infty": np.inf,
    "PINF": np.inf,
    "NINF": -np.inf,
    "NaN": np.nan,
    "NAN": np.nan,
    "product": np.prod,
    "cumproduct": np.cumprod,
    "sometrue": np.any,
    "alltrue": np.all,
    "round_": np.round,
    "in1d": np.isin,
    "asscalar": _asscalar,
}
if hasattr(np, "trapezoid"):  # NumPy 1 has only the old name
    NAMES["trapz"] = np.trapezoid


def install() -> None:
    """Set each name that this NumPy lacks."""
    present = vars(np)
    for name, value in NAMES.items():
        if name not in present:
            setattr(np, name, value)
