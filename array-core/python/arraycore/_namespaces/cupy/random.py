"""``cupy.random``: arraycore's streams of random numbers, which are neither CuPy's nor NumPy's.

The default dtype is float32, not float64: no browser's device has float64, and Chainer casts the
numbers that it draws without a dtype.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import arraycore.random as _ours
import numpy as np
from arraycore.random import *  # noqa: F403

from ._shared.unsupported import names_of

#: The position of each function's dtype argument; None if it is a keyword argument only.
_DTYPE_AT = {
    "normal": 3,
    "rand": None,
    "randn": None,
    "random": 1,
    "random_sample": 1,
    "ranf": 1,
    "sample": 1,
    "standard_normal": 1,
    "uniform": 3,
}


def _in_float32(function: Callable[..., Any], place: int | None) -> Callable[..., Any]:
    @functools.wraps(function)
    def drawn(*args: Any, **kwargs: Any) -> Any:
        if place is None or len(args) <= place:
            kwargs.setdefault("dtype", np.float32)
        return function(*args, **kwargs)

    return drawn


globals().update(
    {name: _in_float32(getattr(_ours, name), place) for name, place in _DTYPE_AT.items()}
)
_lookup = names_of("cupy.random", "arraycore.random", {})


def __getattr__(name: str) -> Any:
    return _lookup(name)
