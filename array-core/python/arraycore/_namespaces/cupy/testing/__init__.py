"""``cupy.testing``: the assertions that Chainer's tests use, which call NumPy's on the host."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._shared.functions import asnumpy
from . import random

__all__ = [
    "assert_allclose",
    "assert_array_almost_equal",
    "assert_array_almost_equal_nulp",
    "assert_array_equal",
    "assert_array_less",
    "assert_array_max_ulp",
    "random",
]


def _on_the_host(name: str) -> Callable[..., Any]:
    numpys = getattr(np.testing, name)

    def assertion(x: Any, y: Any, *args: Any, **kwargs: Any) -> Any:
        return numpys(asnumpy(x), asnumpy(y), *args, **kwargs)

    assertion.__name__ = assertion.__qualname__ = name
    assertion.__doc__ = f"Copy both arrays to the host and call :func:`numpy.testing.{name}`."
    return assertion


assert_allclose = _on_the_host("assert_allclose")
assert_array_almost_equal = _on_the_host("assert_array_almost_equal")
assert_array_almost_equal_nulp = _on_the_host("assert_array_almost_equal_nulp")
assert_array_equal = _on_the_host("assert_array_equal")
assert_array_less = _on_the_host("assert_array_less")
assert_array_max_ulp = _on_the_host("assert_array_max_ulp")
