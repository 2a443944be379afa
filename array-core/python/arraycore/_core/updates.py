"""Updates ``a[key]`` in place, once for each time that the key selects an element."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime import operations
from .._runtime.scalars import is_scalar
from .creation import asarray
from .indexing import Key, value_words
from .ndarray import ndarray, require_array

_NO_VALUE = -2


def device_value(value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a scalar as it is, and everything else as an array of arraycore."""
    if isinstance(value, ndarray) or is_scalar(value):
        return value
    given = np.asarray(value)
    return asarray(given if isinstance(value, np.ndarray) else given.astype(dtype))


def update(function: Any, a: Any, key: Any, value: Any = None, *, cast: bool = False) -> None:
    """Apply a ufunc to ``a[key]`` in place, once for each time that the key selects an element.

    Parameters
    ----------
    function : ufunc
        A ufunc with one result.
    a : ndarray
        The array to write to.
    key : key
        Any key that indexing accepts.
    value : scalar, array_like or ndarray, optional
        The second operand, broadcast to ``a[key]``.
    cast : bool
        Whether the value is cast to the array's dtype first.
    """
    if function.nout != 1 or function.nin > 2:
        raise NotImplementedError(
            f"arraycore has no {function.__name__}.at: it is there for functions of one result."
        )
    if (function.nin == 2) != (value is not None):
        raise ValueError(
            "second operand needed for ufunc"
            if value is None
            else "second operand provided when ufunc is unary"
        )
    target = require_array(a)
    given = None if value is None else device_value(value, target.dtype)
    parsed = Key(key, target)
    if not parsed.arrays:
        # The key gives a view, in which each element occurs once.
        view = target[key]
        if cast and isinstance(given, ndarray):
            given = given.astype(target.dtype, copy=False)
        function(view, *(() if given is None else (given,)), out=view, casting="unsafe")
        return
    words = (_NO_VALUE,) if given is None else value_words(given)
    operations.key_update(target, function._number, cast, words, parsed.words)
